// What a pair does to its bodies in a step.
//
// Three coordinates of their relative motion matter to the normal's damper (along n and the two
// tilts) and three to friction (along t1 and t2 at the middle of the area, and the turn about n).
// With W their inverse mass, D the damper and K the spring over the area, the impulse at the end's
// velocity is h (D + h K) s*, s* = (1 + h W (D + h K))^-1 s. So dampers and stuck friction hold at
// any step; taking the pairs one after another only ever takes energy away. There is no adhesion:
// where the total would pull, it is nothing.
#include "shared/sim/solve/volume/volume.h"

// A coordinate of a pair's relative motion: b less a.
typedef struct axis {
    cm_d3 linear;
    cm_d3 arm_a, arm_b;   // torques of a unit force on each
    cm_d3 turn_a, turn_b; // what they do: inverse inertia times arm
} axis;

static axis make_axis(const cm_volume_body *a, const cm_volume_body *b, cm_d3 at, cm_d3 linear,
                      cm_d3 angular)
{
    axis k = {.linear = linear};
    k.arm_a = cm_d3_add(cm_d3_cross(cm_d3_sub(at, a->position), linear), angular);
    k.arm_b = cm_d3_add(cm_d3_cross(cm_d3_sub(at, b->position), linear), angular);
    if (a->dynamic) {
        k.turn_a = cm_dmat_mul(&a->inverse, k.arm_a);
    }
    if (b->dynamic) {
        k.turn_b = cm_dmat_mul(&b->inverse, k.arm_b);
    }
    return k;
}

static cm_d3 times(cm_d3 a, cm_d3 b)
{
    return cm_d3_of(a.x * b.x, a.y * b.y, a.z * b.z);
}

static double coupling(const cm_volume_body *a, const cm_volume_body *b, const axis *i,
                       const axis *k)
{
    cm_d3 mass = cm_d3_add(a->inverse_mass, b->inverse_mass);
    return cm_d3_dot(i->linear, times(mass, k->linear)) + cm_d3_dot(i->arm_a, k->turn_a) +
           cm_d3_dot(i->arm_b, k->turn_b);
}

static double speed(const cm_volume_body *a, const cm_volume_body *b, const axis *k)
{
    return cm_d3_dot(k->linear, cm_d3_sub(b->velocity, a->velocity)) +
           cm_d3_dot(k->arm_b, b->spin) - cm_d3_dot(k->arm_a, a->spin);
}

// An impulse on a; b gets the opposite.
static void apply(cm_volume_body *a, cm_volume_body *b, const axis *k, double impulse)
{
    cm_d3 p = cm_d3_scale(impulse, k->linear);
    a->velocity = cm_d3_add(a->velocity, times(a->inverse_mass, p));
    b->velocity = cm_d3_sub(b->velocity, times(b->inverse_mass, p));
    a->spin = cm_d3_mad(a->spin, impulse, k->turn_a);
    b->spin = cm_d3_mad(b->spin, -impulse, k->turn_b);
    a->impulse = cm_d3_add(a->impulse, p);
    b->impulse = cm_d3_sub(b->impulse, p);
    a->angular_impulse = cm_d3_mad(a->angular_impulse, impulse, k->arm_a);
    b->angular_impulse = cm_d3_mad(b->angular_impulse, -impulse, k->arm_b);
}

static cm_dmat inverse_mass(const cm_volume_body *a, const cm_volume_body *b, const axis k[3])
{
    cm_dmat w;
    w.x.x = coupling(a, b, &k[0], &k[0]);
    w.y.y = coupling(a, b, &k[1], &k[1]);
    w.z.z = coupling(a, b, &k[2], &k[2]);
    w.x.y = w.y.x = coupling(a, b, &k[0], &k[1]);
    w.x.z = w.z.x = coupling(a, b, &k[0], &k[2]);
    w.y.z = w.z.y = coupling(a, b, &k[1], &k[2]);
    return w;
}

// E (1 + W E)^-1 s
static cm_d3 damped(const cm_dmat *w, const cm_dmat *e, cm_d3 s)
{
    cm_dmat m = cm_dmat_product(w, e);
    m.x.x += 1.0;
    m.y.y += 1.0;
    m.z.z += 1.0;
    cm_dmat inverse = cm_dmat_inverse(&m);
    return cm_dmat_mul(e, cm_dmat_mul(&inverse, s));
}

static void normal_axes(const cm_volume *volume, const cm_volume_pair *pair, axis k[3])
{
    const cm_volume_body *a = &volume->bodies[pair->body_a], *b = &volume->bodies[pair->body_b];
    const cm_volume_region *r = &pair->region;
    cm_d3 at = cm_d3_add(pair->origin, r->point), none = cm_d3_of(0.0, 0.0, 0.0);
    k[0] = make_axis(a, b, at, r->normal, none);
    k[1] = make_axis(a, b, at, none, r->t1);
    k[2] = make_axis(a, b, at, none, r->t2);
}

static void tangent_axes(const cm_volume *volume, const cm_volume_pair *pair, axis k[3])
{
    const cm_volume_body *a = &volume->bodies[pair->body_a], *b = &volume->bodies[pair->body_b];
    const cm_volume_region *r = &pair->region;
    cm_d3 at = cm_d3_add(pair->origin, r->point), none = cm_d3_of(0.0, 0.0, 0.0);
    at = cm_d3_mad(cm_d3_mad(at, pair->rubbing.x, r->t1), pair->rubbing.y, r->t2);
    k[0] = make_axis(a, b, at, r->t1, none);
    k[1] = make_axis(a, b, at, r->t2, none);
    k[2] = make_axis(a, b, at, none, r->normal);
}

cm_volume_slip cm_volume_slip_at(const cm_volume *volume, const cm_volume_pair *pair, double x,
                                 double y, bool start)
{
    const cm_volume_body *a = &volume->bodies[pair->body_a], *b = &volume->bodies[pair->body_b];
    const cm_volume_region *r = &pair->region;
    cm_d3 at = cm_d3_add(pair->origin, r->point);
    at = cm_d3_mad(cm_d3_mad(at, x, r->t1), y, r->t2);
    cm_d3 wa = start ? a->spin0 : a->spin, wb = start ? b->spin0 : b->spin;
    cm_d3 va =
        cm_d3_add(start ? a->velocity0 : a->velocity, cm_d3_cross(wa, cm_d3_sub(at, a->position)));
    cm_d3 vb =
        cm_d3_add(start ? b->velocity0 : b->velocity, cm_d3_cross(wb, cm_d3_sub(at, b->position)));
    cm_d3 v = cm_d3_sub(vb, va), w = cm_d3_sub(wb, wa), rub = cm_d3_add(v, pair->drift);
    cm_volume_slip slip = {cm_d3_dot(r->t1, rub), cm_d3_dot(r->t2, rub), cm_d3_dot(r->normal, v),
                           cm_d3_dot(r->t1, w),   cm_d3_dot(r->t2, w),   cm_d3_dot(r->normal, w)};
    return slip;
}

static void apply_three(cm_volume *volume, const cm_volume_pair *pair, const axis k[3], double x,
                        double y, double z)
{
    cm_volume_body *a = &volume->bodies[pair->body_a], *b = &volume->bodies[pair->body_b];
    apply(a, b, &k[0], x);
    if (y != 0.0) {
        apply(a, b, &k[1], y);
    }
    if (z != 0.0) {
        apply(a, b, &k[2], z);
    }
}

void cm_volume_push_pair(cm_volume *volume, cm_volume_pair *pair)
{
    if (!pair->meets || pair->sensor) {
        return;
    }
    axis k[3];
    double h = volume->h;
    normal_axes(volume, pair, k);
    apply_three(volume, pair, k, h * pair->spring.force, h * pair->spring.mx, h * pair->spring.my);
    if (pair->sticks) {
        double x = cm_d3_dot(pair->region.t1, pair->bristle.stretch);
        double y = cm_d3_dot(pair->region.t2, pair->bristle.stretch);
        double s = -h * volume->law.tangent_stiffness;
        double area = s * pair->rubbing.area;
        tangent_axes(volume, pair, k);
        apply_three(volume, pair, k, area * x, area * y,
                    s * pair->rubbing.turn * pair->bristle.twist);
    }
}

// The normal's damper. Returns the share of the force at the step's start that is left, which
// friction follows; 0 where the contact would have pulled.
static double settle_normal(cm_volume *volume, cm_volume_pair *pair)
{
    cm_volume_body *a = &volume->bodies[pair->body_a], *b = &volume->bodies[pair->body_b];
    double h = volume->h, push = h * pair->spring.force;
    if (volume->deepest) { // all of it stands in the spring
        pair->impulse += push;
        return 1.0;
    }
    axis k[3];
    const cm_volume_region *r = &pair->region;
    double hb = h * volume->law.damping;
    normal_axes(volume, pair, k);
    cm_dmat w = inverse_mass(a, b, k);
    cm_dmat e = {cm_d3_of(hb * r->area, hb * r->ay, -hb * r->ax),
                 cm_d3_of(hb * r->ay, hb * r->ayy, -hb * r->axy),
                 cm_d3_of(-hb * r->ax, -hb * r->axy, hb * r->axx)};
    cm_d3 s = cm_d3_of(speed(a, b, &k[0]), speed(a, b, &k[1]), speed(a, b, &k[2]));
    cm_d3 p = damped(&w, &e, s);
    if (push + p.x < 0.0) {
        apply_three(volume, pair, k, -push, -h * pair->spring.mx, -h * pair->spring.my);
        return 0.0;
    }
    apply_three(volume, pair, k, p.x, p.y, p.z);
    pair->impulse += push + p.x;
    double share = pair->pressed > 0.0 ? (push + p.x) / (h * pair->pressed) : 0.0;
    return share < 1.0 ? share : 1.0;
}

// How the surfaces move against each other, along the tangent axes.
static cm_d3 rubbing_speed(const cm_volume *volume, const cm_volume_pair *pair, const axis k[3])
{
    const cm_volume_body *a = &volume->bodies[pair->body_a], *b = &volume->bodies[pair->body_b];
    return cm_d3_of(speed(a, b, &k[0]) + cm_d3_dot(k[0].linear, pair->drift),
                    speed(a, b, &k[1]) + cm_d3_dot(k[1].linear, pair->drift), speed(a, b, &k[2]));
}

static void settle_stuck(cm_volume *volume, cm_volume_pair *pair, const axis k[3])
{
    cm_volume_body *a = &volume->bodies[pair->body_a], *b = &volume->bodies[pair->body_b];
    double h = volume->h, d = h * (volume->law.tangent_damping + h * volume->law.tangent_stiffness);
    double area = d * pair->rubbing.area, turn = d * pair->rubbing.turn;
    cm_dmat w = inverse_mass(a, b, k);
    cm_dmat e = {cm_d3_of(area, 0.0, 0.0), cm_d3_of(0.0, area, 0.0), cm_d3_of(0.0, 0.0, turn)};
    cm_d3 s = rubbing_speed(volume, pair, k);
    cm_d3 p = damped(&w, &e, s);
    apply_three(volume, pair, k, p.x, p.y, p.z);
}

// Kinetic friction. Where it would turn the motion round within the step, the pair stops and
// sticks, stretched so that it is held by what stopped it.
static void settle_sliding(cm_volume *volume, cm_volume_pair *pair, const axis k[3], double share)
{
    cm_volume_body *a = &volume->bodies[pair->body_a], *b = &volume->bodies[pair->body_b];
    double h = volume->h;
    cm_volume_shear f = {share * pair->shear.x, share * pair->shear.y, share * pair->shear.m};
    cm_d3 s = rubbing_speed(volume, pair, k);
    cm_dmat w = inverse_mass(a, b, k);
    if (!(pair->rubbing.turn > 0.0)) { // a point: no turn
        w.x.z = w.y.z = w.z.x = w.z.y = s.z = 0.0;
        w.z.z = 1.0;
    }
    cm_dmat inverse = cm_dmat_inverse(&w);
    cm_d3 stop = cm_dmat_mul(&inverse, s);
    cm_volume_shear held = {stop.x / h, stop.y / h, stop.z / h};
    double wanted = cm_volume_shear_size(&pair->rubbing, &held);
    if (!(wanted < cm_volume_shear_size(&pair->rubbing, &f))) {
        apply_three(volume, pair, k, h * f.x, h * f.y, h * f.m);
        return;
    }
    apply_three(volume, pair, k, stop.x, stop.y, stop.z);
    cm_volume_rubbing still = pair->rubbing;
    still.slip = (cm_volume_slip){0};
    cm_volume_stretch_to(&still, &volume->law, &pair->region, &held, &pair->bristle);
    pair->bristle.mode = CM_VOLUME_STATIC;
}

void cm_volume_settle_pair(cm_volume *volume, cm_volume_pair *pair)
{
    if (!pair->meets || pair->sensor) {
        return;
    }
    double share = settle_normal(volume, pair);
    if (share <= 0.0) {
        return;
    }
    axis k[3];
    tangent_axes(volume, pair, k);
    if (pair->sticks) {
        settle_stuck(volume, pair, k);
    } else {
        settle_sliding(volume, pair, k, share);
    }
}
