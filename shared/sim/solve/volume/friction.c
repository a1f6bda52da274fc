// The friction machine.
//
//   static -> kinetic   |static force| > |maximum static force| = mu0 P along the static force
//   kinetic -> static   |static force| < |kinetic force|; between the two the state stays
//
// The stretch grows in both states; in the kinetic one it is set anew every step so that the static
// force equals the kinetic. So a body that slides at deceleration mu g sticks again at the speed
// (b / k) mu g. Below 1e-9 N there is no direction and nothing breaks.
#include "shared/sim/solve/volume/friction.h"

#define NO_FORCE 1.0e-9 // N

cm_volume_patch cm_volume_patch_of(const cm_volume_region *region, const cm_volume_work *work,
                                   const cm_volume_slip *slip)
{
    cm_volume_patch r = {.work = work, .area = region->area, .slip = *slip};
    cm_volume_middle(region, &r.x, &r.y);
    r.turn = region->axx + region->ayy - region->area * (r.x * r.x + r.y * r.y);
    r.turn = r.turn > 0.0 ? r.turn : 0.0;
    return r;
}

double cm_volume_shear_size(const cm_volume_patch *patch, const cm_volume_shear *shear)
{
    double squared = shear->x * shear->x + shear->y * shear->y;
    if (patch->turn > 0.0) {
        squared += shear->m * shear->m * patch->area / patch->turn;
    }
    return __builtin_sqrt(squared);
}

// Velocity of b relative to a at the middle of the area.
static void slip_at_middle(const cm_volume_patch *r, double *x, double *y)
{
    *x = r->slip.x - r->slip.wn * r->y;
    *y = r->slip.y + r->slip.wn * r->x;
}

// Coulomb friction of coefficient 1 along a field that is (gx, gy) at the middle and turns about
// it; torque about the middle.
static cm_volume_shear coulomb_along(const cm_volume_patch *r, const cm_volume_law *law, double gx,
                                     double gy, double turn)
{
    cm_volume_shear sum = {0.0, 0.0, 0.0};
    if (r->work != NULL) {
        sum = cm_volume_coulomb(r->work, law->stiffness, law->damping, &r->slip, gx + turn * r->y,
                                gy - turn * r->x, turn);
        sum.m -= r->x * sum.y - r->y * sum.x;
        return sum;
    }
    double length = __builtin_sqrt(gx * gx + gy * gy);
    if (length > 1.0e-20) {
        sum.x = r->force * gx / length;
        sum.y = r->force * gy / length;
    }
    return sum;
}

static cm_volume_shear scaled(double s, cm_volume_shear f)
{
    cm_volume_shear r = {s * f.x, s * f.y, s * f.m};
    return r;
}

static void in_plane(const cm_volume_region *region, cm_d3 v, double *x, double *y)
{
    *x = cm_d3_dot(region->t1, v);
    *y = cm_d3_dot(region->t2, v);
}

static cm_d3 from_plane(const cm_volume_region *region, double x, double y)
{
    return cm_d3_mad(cm_d3_scale(x, region->t1), y, region->t2);
}

void cm_volume_stretch_to(const cm_volume_patch *patch, const cm_volume_law *law,
                          const cm_volume_region *region, const cm_volume_shear *shear,
                          cm_volume_bristle *bristle)
{
    double u, v, k = law->tangent_stiffness, b = law->tangent_damping;
    double ka = k * patch->area, kj = k * patch->turn;
    slip_at_middle(patch, &u, &v);
    // a moves at -(u, v) relative to b: f = -k A r + b A (u, v).
    double x = ka > 0.0 ? (b * patch->area * u - shear->x) / ka : 0.0;
    double y = ka > 0.0 ? (b * patch->area * v - shear->y) / ka : 0.0;
    bristle->stretch = from_plane(region, x, y);
    bristle->twist = kj > 0.0 ? (b * patch->turn * patch->slip.wn - shear->m) / kj : 0.0;
}

cm_volume_shear cm_volume_friction_step(const cm_volume_patch *patch, const cm_volume_law *law,
                                        const cm_volume_region *region, double dt,
                                        cm_volume_bristle *bristle, double *grip)
{
    double unused, u, v, x, y, k = law->tangent_stiffness, b = law->tangent_damping;
    grip = grip != NULL ? grip : &unused;
    *grip = 0.0;
    slip_at_middle(patch, &u, &v);
    if (bristle->mode == CM_VOLUME_NONE) {
        bristle->mode = CM_VOLUME_STATIC;
        bristle->stretch = cm_d3_of(0.0, 0.0, 0.0);
        bristle->twist = 0.0;
        dt = 0.0;
    }
    in_plane(region, bristle->stretch, &x, &y); // the plane may have turned
    x -= dt * u;
    y -= dt * v;
    bristle->stretch = from_plane(region, x, y);
    bristle->twist -= dt * patch->slip.wn;
    cm_volume_shear still = {patch->area * (b * u - k * x), patch->area * (b * v - k * y),
                             patch->turn * (b * patch->slip.wn - k * bristle->twist)};
    double size = cm_volume_shear_size(patch, &still);
    cm_volume_shear slide = {0.0, 0.0, 0.0};
    if (bristle->mode == CM_VOLUME_STATIC) {
        if (size <= NO_FORCE) {
            return still;
        }
        cm_volume_shear most = coulomb_along(patch, law, b * u - k * x, b * v - k * y,
                                             b * patch->slip.wn - k * bristle->twist);
        *grip = cm_volume_shear_size(patch, &most);
        if (size <= law->still * *grip) {
            return still;
        }
        slide = scaled(law->kinetic, coulomb_along(patch, law, u, v, patch->slip.wn));
        bristle->mode = CM_VOLUME_KINETIC;
    } else {
        slide = scaled(law->kinetic, coulomb_along(patch, law, u, v, patch->slip.wn));
        if (size < cm_volume_shear_size(patch, &slide)) {
            bristle->mode = CM_VOLUME_STATIC;
            return still;
        }
    }
    cm_volume_stretch_to(patch, law, region, &slide, bristle);
    return slide;
}

double cm_volume_grip(const cm_volume_patch *patch, const cm_volume_law *law,
                      const cm_volume_region *region, const cm_volume_bristle *bristle)
{
    double x, y, turn = patch->slip.wn;
    slip_at_middle(patch, &x, &y);
    if (bristle->mode == CM_VOLUME_STATIC) {
        in_plane(region, cm_d3_scale(-1.0, bristle->stretch), &x, &y);
        turn = -bristle->twist;
    }
    cm_volume_shear along = coulomb_along(patch, law, x, y, turn);
    double size = cm_volume_shear_size(patch, &along);
    return size > 0.0 ? size : law->stiffness * region->volume;
}
