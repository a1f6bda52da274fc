// Friction of a pair at the end of a step: the cone, sliding, and stopping.
//
// The measure is the impulse along the normal of this very step. What sticks with more than mu_0 of
// it breaks; what slides gets mu of it, unless that would turn the motion round: then the pair
// stops and sticks.
#include "shared/sim/solve/volume/axis.h"

#include "shared/sim/body/mass.h"

#define SINGULAR 1.0e-9 // of the whole: less of a determinant, eigenvalue or square is none

cm_d3 cm_volume_slip_speeds(const cm_volume_pair *pair, const cm_volume_body *a,
                            const cm_volume_body *b)
{
    cm_d3 s = cm_volume_speeds(a, b, pair->across);
    s.x += cm_d3_dot(pair->region.t1, pair->drift);
    s.y += cm_d3_dot(pair->region.t2, pair->drift);
    return s;
}

static double size_of(const cm_volume_pair *pair, cm_d3 impulse)
{
    cm_volume_shear shear = {impulse.x, impulse.y, impulse.z};
    return cm_volume_shear_size(&pair->patch, &shear);
}

// Stretches the contact so that its static force is impulse / h at the velocities `slip`.
static void stretch_to(const cm_volume *volume, cm_volume_pair *pair, cm_d3 impulse,
                       const cm_volume_slip *slip)
{
    double rate = 1.0 / volume->h;
    cm_volume_shear held = {rate * impulse.x, rate * impulse.y, rate * impulse.z};
    cm_volume_patch patch = pair->patch;
    patch.slip = *slip;
    cm_volume_stretch_to(&patch, &pair->law, &pair->region, &held, &pair->bristle);
}

// The impulse that takes all of the slip s away, w being the pair's inverse mass. False where locks
// or bodies that nothing moves leave some of it: then the impulse that takes the rest.
static bool stop_of(const cm_dmat *w, cm_d3 s, cm_d3 *stop)
{
    double diagonal = w->x.x * w->y.y * w->z.z;
    if (cm_d3_dot(w->x, cm_d3_cross(w->y, w->z)) > SINGULAR * diagonal) {
        cm_dmat inverse = cm_dmat_inverse(w);
        *stop = cm_dmat_mul(&inverse, s);
        return true;
    }
    // Of less than full rank. The turn is brought to the scale of the other two; then what w's
    // eigenvectors can move is stopped along each.
    double scale = w->z.z > 0.0 ? __builtin_sqrt(0.5 * (w->x.x + w->y.y) / w->z.z) : 1.0;
    scale = scale > 0.0 ? scale : 1.0;
    double v[3] = {s.x, s.y, scale * s.z}, p[3] = {0.0, 0.0, 0.0}, values[3], axes[3][3];
    double m[3][3] = {{w->x.x, w->y.x, scale * w->z.x},
                      {w->x.y, w->y.y, scale * w->z.y},
                      {scale * w->x.z, scale * w->y.z, scale * scale * w->z.z}};
    double all = v[0] * v[0] + v[1] * v[1] + v[2] * v[2], left = all;
    cm_eigen(m, values, axes);
    double most = cm_d_max(values[0], cm_d_max(values[1], values[2]));
    for (uint32_t i = 0; i < 3; i++) {
        if (values[i] > SINGULAR * most) {
            double along = axes[0][i] * v[0] + axes[1][i] * v[1] + axes[2][i] * v[2];
            for (uint32_t j = 0; j < 3; j++) {
                p[j] += along / values[i] * axes[j][i];
            }
            left -= along * along;
        }
    }
    *stop = cm_d3_of(p[0], p[1], scale * p[2]);
    return left <= SINGULAR * all;
}

// Friction of the size `size` against a slip that cannot all be stopped: as viscous as gives that
// size at this slip, at the velocities that it leaves, so that it turns nothing round.
static cm_d3 viscous(const cm_volume_pair *pair, const cm_dmat *w, cm_d3 s, double size)
{
    const cm_volume_patch *r = &pair->patch;
    double square = r->turn > 0.0 ? r->turn / r->area : 0.0;
    double slip = __builtin_sqrt(s.x * s.x + s.y * s.y + square * s.z * s.z);
    double x = slip > 0.0 ? size / slip : 0.0;
    cm_dmat e = {cm_d3_of(x, 0.0, 0.0), cm_d3_of(0.0, x, 0.0), cm_d3_of(0.0, 0.0, x * square)};
    e = cm_volume_response(w, &e);
    return cm_dmat_mul(&e, s);
}

// A contact that sticks with more than the cone holds breaks, and slides in this step: friction
// acts against the slip, not along the stretch, which lags behind a slip that turns.
static void hold_in_cone(const cm_volume *volume, cm_volume_pair *pair, cm_volume_body *a,
                         cm_volume_body *b)
{
    double one = pair->grip * pair->normal_impulse.x;
    if (size_of(pair, pair->friction_impulse) <= pair->law.still * one) {
        return;
    }
    cm_volume_apply(a, b, pair->across, cm_d3_scale(-1.0, pair->friction_impulse));
    cm_d3 s = cm_volume_slip_speeds(pair, a, b);
    pair->friction_impulse = viscous(pair, &pair->inverse_mass, s, pair->law.kinetic * one);
    cm_volume_apply(a, b, pair->across, pair->friction_impulse);
    cm_volume_slip slip = cm_volume_slip_at(volume, pair, 0.0, 0.0, false);
    stretch_to(volume, pair, pair->friction_impulse, &slip);
    pair->bristle.mode = CM_VOLUME_KINETIC;
}

static void slide(const cm_volume *volume, cm_volume_pair *pair, cm_volume_body *a,
                  cm_volume_body *b)
{
    double share = pair->normal_impulse.x / pair->normal_force; // both of this step: N s a N
    cm_d3 f = cm_d3_of(share * pair->shear.x, share * pair->shear.y, share * pair->shear.m);
    cm_d3 s = cm_volume_slip_speeds(pair, a, b), stop;
    cm_dmat w = pair->inverse_mass;
    if (!(pair->patch.turn > 0.0)) { // a point: no turn
        w.x.z = w.y.z = w.z.x = w.z.y = s.z = 0.0;
        w.z.z = 1.0;
    }
    double size = size_of(pair, f);
    if (!stop_of(&w, s, &stop)) {
        pair->friction_impulse = viscous(pair, &w, s, size);
    } else if (size_of(pair, stop) < size) {
        const cm_volume_slip none = {0};
        pair->friction_impulse = stop;
        stretch_to(volume, pair, stop, &none);
        pair->bristle.mode = CM_VOLUME_STATIC;
    } else {
        pair->friction_impulse = f;
    }
    cm_volume_apply(a, b, pair->across, pair->friction_impulse);
}

void cm_volume_settle_friction(const cm_volume *volume, cm_volume_pair *pair, cm_volume_body *a,
                               cm_volume_body *b)
{
    if (pair->sticks) {
        hold_in_cone(volume, pair, a, b);
    } else {
        slide(volume, pair, a, b);
    }
}
