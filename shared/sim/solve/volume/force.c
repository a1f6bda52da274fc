// Forces of a pair on its bodies in a step.
//
// Springs push at once. Dampers and stuck friction act at the velocities that they leave: with W
// the inverse mass of the pair's coordinates, D the damper and K the spring over the area, the
// impulse is E (1 + W E)^-1 s, E = h (D + h K). So they hold at any step. Pair after pair they are
// a product of contractions. Taken once, that product is not symmetric, and a spring stiff for the
// step can gain energy from it: walls of bricks creep. So each takes half of its E on the way forth
// and half on the way back, in the opposite order: the product is then of the form A^T A, and only
// takes energy away. There is no adhesion: where the total would pull, it is nothing.
#include "shared/sim/solve/volume/axis.h"

static cm_volume_axis make_axis(const cm_volume_body *a, const cm_volume_body *b, cm_d3 at,
                                cm_d3 linear, cm_d3 angular)
{
    cm_volume_axis k = {.linear = linear};
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

static cm_volume_axis make_turn(const cm_volume_body *a, const cm_volume_body *b, cm_d3 angular)
{
    cm_volume_axis k = {.arm_a = angular, .arm_b = angular};
    if (a->dynamic) {
        k.turn_a = cm_dmat_mul(&a->inverse, angular);
    }
    if (b->dynamic) {
        k.turn_b = cm_dmat_mul(&b->inverse, angular);
    }
    return k;
}

static double coupling(cm_d3 mass, const cm_volume_axis *i, const cm_volume_axis *k)
{
    return cm_d3_dot(i->linear, cm_volume_times(mass, k->linear)) + cm_d3_dot(i->arm_a, k->turn_a) +
           cm_d3_dot(i->arm_b, k->turn_b);
}

cm_dmat cm_volume_inverse_mass(const cm_volume_body *a, const cm_volume_body *b,
                               const cm_volume_axis k[3])
{
    cm_d3 mass = cm_d3_add(a->inverse_mass, b->inverse_mass);
    cm_dmat w;
    w.x.x = coupling(mass, &k[0], &k[0]);
    w.y.y = coupling(mass, &k[1], &k[1]);
    w.z.z = coupling(mass, &k[2], &k[2]);
    w.x.y = w.y.x = coupling(mass, &k[0], &k[1]);
    w.x.z = w.z.x = coupling(mass, &k[0], &k[2]);
    w.y.z = w.z.y = coupling(mass, &k[1], &k[2]);
    return w;
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
    cm_d3 v = cm_d3_sub(vb, va), w = cm_d3_sub(wb, wa), surface = cm_d3_add(v, pair->drift);
    cm_volume_slip slip = {cm_d3_dot(r->t1, surface), cm_d3_dot(r->t2, surface),
                           cm_d3_dot(r->normal, v),   cm_d3_dot(r->t1, w),
                           cm_d3_dot(r->t2, w),       cm_d3_dot(r->normal, w)};
    return slip;
}

void cm_volume_make_axes(cm_volume_pair *pair, const cm_volume_body *a, const cm_volume_body *b)
{
    const cm_volume_region *r = &pair->region;
    cm_d3 at = cm_d3_add(pair->origin, r->point), none = cm_d3_of(0.0, 0.0, 0.0);
    pair->along[0] = make_axis(a, b, at, r->normal, none);
    pair->along[1] = make_turn(a, b, r->t1);
    pair->along[2] = make_turn(a, b, r->t2);
    if (!(pair->normal_force > 0.0)) {
        return;
    }
    at = cm_d3_mad(cm_d3_mad(at, pair->patch.x, r->t1), pair->patch.y, r->t2);
    pair->across[0] = make_axis(a, b, at, r->t1, none);
    pair->across[1] = make_axis(a, b, at, r->t2, none);
    pair->across[2] = make_turn(a, b, r->normal);
    pair->inverse_mass = cm_volume_inverse_mass(a, b, pair->across);
}

static void push_normal(const cm_volume *volume, cm_volume_pair *pair, cm_volume_body *a,
                        cm_volume_body *b)
{
    const cm_volume_region *r = &pair->region;
    cm_volume_axis *k = pair->along;
    double h = volume->h, half = 0.5 * h * pair->law.damping;
    if (!volume->deepest) { // there all of it stands in the spring
        cm_dmat w = cm_volume_inverse_mass(a, b, k);
        cm_dmat e = {cm_d3_of(half * r->area, half * r->ay, -half * r->ax),
                     cm_d3_of(half * r->ay, half * r->ayy, -half * r->axy),
                     cm_d3_of(-half * r->ax, -half * r->axy, half * r->axx)};
        pair->damper = cm_volume_response(&w, &e);
    }
    pair->normal_impulse =
        cm_d3_of(h * pair->spring.force, h * pair->spring.mx, h * pair->spring.my);
    cm_volume_apply(a, b, k, pair->normal_impulse);
}

static void push_stuck(const cm_volume *volume, cm_volume_pair *pair, cm_volume_body *a,
                       cm_volume_body *b)
{
    double h = volume->h, stiffness = h * pair->law.tangent_stiffness;
    double half = 0.5 * h * (pair->law.tangent_damping + stiffness);
    double area = half * pair->patch.area, turn = half * pair->patch.turn;
    cm_dmat e = {cm_d3_of(area, 0.0, 0.0), cm_d3_of(0.0, area, 0.0), cm_d3_of(0.0, 0.0, turn)};
    pair->stuck = cm_volume_response(&pair->inverse_mass, &e);
    area = -stiffness * pair->patch.area;
    turn = -stiffness * pair->patch.turn;
    pair->friction_impulse = cm_d3_of(area * cm_d3_dot(pair->region.t1, pair->bristle.stretch),
                                      area * cm_d3_dot(pair->region.t2, pair->bristle.stretch),
                                      turn * pair->bristle.twist);
    cm_volume_apply(a, b, pair->across, pair->friction_impulse);
}

void cm_volume_push_pair(cm_volume *volume, cm_volume_pair *pair)
{
    if (!pair->meets || pair->sensor || pair->is_implicit) {
        return;
    }
    cm_volume_body *a = &volume->bodies[pair->body_a], *b = &volume->bodies[pair->body_b];
    cm_volume_make_axes(pair, a, b);
    push_normal(volume, pair, a, b);
    pair->friction_impulse = cm_d3_of(0.0, 0.0, 0.0);
    if (pair->normal_force > 0.0 && pair->sticks) {
        push_stuck(volume, pair, a, b);
    }
}

static void damp_normal(const cm_volume *volume, cm_volume_pair *pair, cm_volume_body *a,
                        cm_volume_body *b)
{
    if (!volume->deepest) {
        cm_d3 p = cm_dmat_mul(&pair->damper, cm_volume_speeds(a, b, pair->along));
        pair->normal_impulse = cm_d3_add(pair->normal_impulse, p);
        cm_volume_apply(a, b, pair->along, p);
    }
}

static void damp_stuck(cm_volume_pair *pair, cm_volume_body *a, cm_volume_body *b)
{
    if (pair->sticks) {
        cm_d3 p = cm_dmat_mul(&pair->stuck, cm_volume_slip_speeds(pair, a, b));
        pair->friction_impulse = cm_d3_add(pair->friction_impulse, p);
        cm_volume_apply(a, b, pair->across, p);
    }
}

void cm_volume_damp_pair(cm_volume *volume, cm_volume_pair *pair)
{
    if (pair->meets && !pair->sensor && !pair->is_implicit) {
        cm_volume_body *a = &volume->bodies[pair->body_a], *b = &volume->bodies[pair->body_b];
        damp_normal(volume, pair, a, b);
        damp_stuck(pair, a, b);
    }
}

void cm_volume_report(cm_volume *volume, const cm_volume_pair *pair)
{
    cm_volume_body *a = &volume->bodies[pair->body_a], *b = &volume->bodies[pair->body_b];
    if (!a->reports && !b->reports) {
        return;
    }
    const double p[6] = {pair->normal_impulse.x,   pair->normal_impulse.y,
                         pair->normal_impulse.z,   pair->friction_impulse.x,
                         pair->friction_impulse.y, pair->friction_impulse.z};
    for (uint32_t i = 0; i < 6; i++) {
        const cm_volume_axis *k = i < 3 ? &pair->along[i] : &pair->across[i - 3];
        if (p[i] != 0.0) {
            a->impulse = cm_d3_mad(a->impulse, p[i], k->linear);
            b->impulse = cm_d3_mad(b->impulse, -p[i], k->linear);
            a->angular_impulse = cm_d3_mad(a->angular_impulse, p[i], k->arm_a);
            b->angular_impulse = cm_d3_mad(b->angular_impulse, -p[i], k->arm_b);
        }
    }
}

void cm_volume_settle_pair(cm_volume *volume, cm_volume_pair *pair)
{
    if (!pair->meets || pair->sensor || pair->is_implicit) {
        return;
    }
    cm_volume_body *a = &volume->bodies[pair->body_a], *b = &volume->bodies[pair->body_b];
    damp_stuck(pair, a, b);
    damp_normal(volume, pair, a, b);
    if (pair->normal_impulse.x < 0.0) {
        cm_volume_apply(a, b, pair->along, cm_d3_scale(-1.0, pair->normal_impulse));
        pair->normal_impulse = cm_d3_of(0.0, 0.0, 0.0);
    }
    pair->impulse += pair->normal_impulse.x;
    if (pair->normal_force > 0.0) {
        cm_volume_settle_friction(volume, pair, a, b);
    }
    cm_volume_report(volume, pair);
}
