// Collisions of two bodies as pure functions: JP3308685B2 and saharan's article of 2012.
//
// The arithmetic is that of core.h, which the solver shares; here are the checks, the body
// axes of the sources and the energies.
#include "shared/sim/solve/impulse/core.h"

#include <string.h>

static bool is_finite(double a)
{
    return a - a == 0.0;
}

static bool vec_is_finite(carom_dvec3 a)
{
    return is_finite(a.x) && is_finite(a.y) && is_finite(a.z);
}

static bool sym_is_finite(const carom_dsym3 *m)
{
    return vec_is_finite(cm_d3_of(m->xx, m->yy, m->zz)) &&
           vec_is_finite(cm_d3_of(m->xy, m->xz, m->yz));
}

// By leading minors; a tensor worse than 1e-12 of that is singular.
static bool is_definite(const carom_dsym3 *m)
{
    double two = m->xx * m->yy - m->xy * m->xy;
    double three = m->xx * (m->yy * m->zz - m->yz * m->yz) -
                   m->xy * (m->xy * m->zz - m->yz * m->xz) +
                   m->xz * (m->xy * m->yz - m->yy * m->xz);
    return m->xx > 0.0 && m->yy > 0.0 && m->zz > 0.0 && two > 1.0e-12 * m->xx * m->yy &&
           three > 1.0e-12 * m->xx * m->yy * m->zz;
}

static bool is_rotation(const carom_dmat3 *s)
{
    const double allowed = 1.0e-6;
    double dots[] = {cm_d3_dot(s->x, s->x) - 1.0, cm_d3_dot(s->y, s->y) - 1.0,
                     cm_d3_dot(s->z, s->z) - 1.0, cm_d3_dot(s->x, s->y),
                     cm_d3_dot(s->x, s->z),       cm_d3_dot(s->y, s->z)};
    for (int i = 0; i < 6; i++) {
        if (dots[i] > allowed || dots[i] < -allowed) {
            return false;
        }
    }
    return cm_d3_dot(cm_d3_cross(s->x, s->y), s->z) > 0.0;
}

// 0..1, or for a pair's own negative.
static bool is_coefficient(double a)
{
    return a >= 0.0 && a <= 1.0;
}

static carom_result check_body(const carom_impact_body *body)
{
    if (!vec_is_finite(body->center) || !vec_is_finite(body->velocity) ||
        !vec_is_finite(body->angular_velocity) || !vec_is_finite(body->attitude.x) ||
        !vec_is_finite(body->attitude.y) || !vec_is_finite(body->attitude.z) ||
        !is_finite(body->friction) || !is_finite(body->restitution)) {
        return CAROM_ERROR_NOT_FINITE;
    }
    if (!body->immovable && (!is_finite(body->mass) || !sym_is_finite(&body->inertia))) {
        return CAROM_ERROR_NOT_FINITE;
    }
    bool massive = body->immovable || (body->mass > 0.0 && is_definite(&body->inertia));
    bool sound = massive && is_rotation(&body->attitude) && is_coefficient(body->friction) &&
                 is_coefficient(body->restitution);
    return sound ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

carom_result carom_impact_check(const carom_impact_case *input)
{
    if (input == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    for (int i = 0; i < 2; i++) {
        carom_result result = check_body(&input->bodies[i]);
        if (result != CAROM_OK) {
            return result;
        }
    }
    if (!vec_is_finite(input->point) || !vec_is_finite(input->normal) ||
        !is_finite(input->friction) || !is_finite(input->restitution)) {
        return CAROM_ERROR_NOT_FINITE;
    }
    double length = cm_d3_length(input->normal);
    bool sound = length > 1.0e-150 && is_finite(length) && input->friction <= 1.0 &&
                 input->restitution <= 1.0 &&
                 !(input->bodies[0].immovable && input->bodies[1].immovable);
    return sound ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

static cm_impulse_side side_of(const carom_impact_body *body, carom_dvec3 point)
{
    cm_impulse_side side = {0};
    side.r = cm_d3_sub(point, body->center);
    side.v = body->velocity;
    side.w = cm_dmat_mul(&body->attitude, body->angular_velocity);
    if (!body->immovable) {
        double m = 1.0 / body->mass;
        carom_dsym3 inverse = cm_dsym_inverse(&body->inertia);
        side.inverse_mass = cm_d3_of(m, m, m);
        side.inverse = cm_dsym_turn(&body->attitude, &inverse);
    }
    return side;
}

// N of length 1 from body 1 to body 2; `sign` is that of the N given.
static carom_dvec3 direct_normal(const carom_impact_case *input, double *sign)
{
    carom_dvec3 n = cm_d3_scale(1.0 / cm_d3_length(input->normal), input->normal);
    double along = 0.0;
    for (int i = 0; i < 2; i++) {
        if (!input->bodies[i].immovable) {
            double lever = cm_d3_dot(cm_d3_sub(input->point, input->bodies[i].center), n);
            along += i == 0 ? lever : -lever;
        }
    }
    *sign = along < 0.0 ? -1.0 : 1.0;
    return cm_d3_scale(*sign, n);
}

double carom_impact_energy(const carom_impact_body *body)
{
    if (body->immovable) {
        return 0.0;
    }
    carom_dvec3 momentum = cm_dsym_mul(&body->inertia, body->angular_velocity);
    return 0.5 * (body->mass * cm_d3_dot(body->velocity, body->velocity) +
                  cm_d3_dot(body->angular_velocity, momentum));
}

typedef struct setting {
    cm_impulse_side sides[2];
    carom_dvec3 normal; // from 1 to 2
    double sign;
    carom_dvec3 v0;
    double mu, epsilon;
    bool acts;
} setting;

static setting set_up(const carom_impact_case *input)
{
    const carom_impact_body *one = &input->bodies[0], *two = &input->bodies[1];
    setting s = {.sides = {side_of(one, input->point), side_of(two, input->point)}};
    s.normal = direct_normal(input, &s.sign);
    s.v0 = cm_impulse_relative(&s.sides[0], &s.sides[1]);
    s.mu = input->friction >= 0.0 ? input->friction : one->friction * two->friction;
    s.epsilon =
        input->restitution >= 0.0 ? input->restitution : one->restitution * two->restitution;
    s.acts = input->regardless || cm_d3_dot(s.v0, s.normal) > 0.0;
    return s;
}

// The terms without the response first, then the response of `impulse`.
static void finish(const carom_impact_case *input, setting *s, carom_dvec3 impulse,
                   carom_impact *out)
{
    out->impulse = impulse;
    out->before = s->v0;
    out->friction = s->mu;
    out->restitution = s->epsilon;
    for (int i = 0; i < 2; i++) {
        const carom_impact_body *body = &input->bodies[i];
        carom_impact_body moved = *body;
        double sign = i == 0 ? 1.0 : -1.0;
        out->arms[i] = cm_dmat_mul_transpose(&body->attitude, s->sides[i].r);
        out->impulses[i] = cm_d3_scale(sign, cm_dmat_mul_transpose(&body->attitude, impulse));
        moved.velocity = body->velocity;
        if (!body->immovable) {
            // (8) to (11) in the source's axes: W does not go to the world and back.
            carom_dsym3 inverse = cm_dsym_inverse(&body->inertia);
            moved.velocity = cm_d3_mad(body->velocity, sign / body->mass, impulse);
            moved.angular_velocity =
                cm_d3_add(body->angular_velocity,
                          cm_dsym_mul(&inverse, cm_d3_cross(out->arms[i], out->impulses[i])));
        }
        out->velocities[i] = moved.velocity;
        out->spins[i] = moved.angular_velocity;
        out->world_spins[i] = cm_dmat_mul(&body->attitude, moved.angular_velocity);
        out->energy_before += carom_impact_energy(body);
        out->energy_after += carom_impact_energy(&moved);
        s->sides[i].v = out->velocities[i];
        s->sides[i].w = out->world_spins[i];
    }
    out->after = cm_impulse_relative(&s->sides[0], &s->sides[1]);
}

static carom_impact_branch branch_of(double mu, double epsilon)
{
    bool corner = (mu == 0.0 || mu == 1.0) && (epsilon == 0.0 || epsilon == 1.0);
    if (!corner) {
        return CAROM_IMPACT_BILINEAR;
    }
    if (mu == 0.0) {
        return epsilon == 0.0 ? CAROM_IMPACT_F00 : CAROM_IMPACT_F01;
    }
    return epsilon == 0.0 ? CAROM_IMPACT_F10 : CAROM_IMPACT_F11;
}

carom_result carom_impact_interpolated(const carom_impact_case *input, carom_impact *out)
{
    memset(out, 0, sizeof *out);
    carom_result result = carom_impact_check(input);
    if (result != CAROM_OK) {
        return result;
    }
    setting s = set_up(input);
    carom_dvec3 impulse = {0};
    if (s.acts) {
        carom_dsym3 vf = cm_impulse_response(&s.sides[0], &s.sides[1]);
        impulse = cm_impulse_interpolate(&vf, s.normal, s.v0, s.mu, s.epsilon);
        out->branch = branch_of(s.mu, s.epsilon);
    }
    finish(input, &s, impulse, out);
    return CAROM_OK;
}

carom_result carom_impact_corner_impulses(const carom_impact_case *input, carom_impact_corners *out)
{
    memset(out, 0, sizeof *out);
    carom_result result = carom_impact_check(input);
    if (result != CAROM_OK) {
        return result;
    }
    setting s = set_up(input);
    out->velocity = s.v0;
    out->response = cm_impulse_response(&s.sides[0], &s.sides[1]);
    out->f00 = cm_impulse_interpolate(&out->response, s.normal, s.v0, 0.0, 0.0);
    out->f01 = cm_impulse_interpolate(&out->response, s.normal, s.v0, 0.0, 1.0);
    out->f10 = cm_impulse_interpolate(&out->response, s.normal, s.v0, 1.0, 0.0);
    out->f11 = cm_impulse_interpolate(&out->response, s.normal, s.v0, 1.0, 1.0);
    return CAROM_OK;
}

carom_result carom_impact_energy_map(const carom_impact_case *input, uint32_t rows,
                                     uint32_t columns, double *energies)
{
    if (input == NULL || rows < 2 || columns < 2) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_impact_case at = *input;
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t k = 0; k < columns; k++) {
            carom_impact impact;
            at.friction = (double)k / (double)(columns - 1);
            at.restitution = (double)i / (double)(rows - 1);
            carom_result result = carom_impact_interpolated(&at, &impact);
            if (result != CAROM_OK) {
                return result;
            }
            energies[(size_t)i * columns + k] = impact.energy_after;
        }
    }
    return CAROM_OK;
}

carom_result carom_impact_normal(const carom_impact_case *input, carom_impact *out)
{
    memset(out, 0, sizeof *out);
    carom_result result = carom_impact_check(input);
    if (result != CAROM_OK) {
        return result;
    }
    setting s = set_up(input);
    carom_dvec3 n = cm_d3_scale(s.sign, s.normal); // the source's n: as given
    carom_dvec3 impulse = {0};
    for (int i = 0; i < 2; i++) {
        const cm_impulse_side *side = &s.sides[i];
        carom_dvec3 turn = cm_dsym_mul(&side->inverse, cm_d3_cross(side->r, n));
        out->denominator += side->inverse_mass.x + cm_d3_dot(n, cm_d3_cross(turn, side->r));
    }
    out->approach = -cm_d3_dot(s.v0, n);
    if (s.acts) {
        out->magnitude = out->approach * (s.epsilon + 1.0) / out->denominator;
        impulse = cm_d3_scale(out->magnitude, n);
        out->branch = CAROM_IMPACT_NORMAL;
    }
    finish(input, &s, impulse, out);
    return CAROM_OK;
}

static double flat_cross(const double a[2], const double b[2])
{
    return a[0] * b[1] - a[1] * b[0];
}

double carom_impact_flat(carom_impact_flat_body *body_1, carom_impact_flat_body *body_2,
                         const double normal[2], double restitution)
{
    carom_impact_flat_body *bodies[2] = {body_1, body_2};
    double den = 0.0, approach = 0.0; // vR = n.(v2 - v1)
    for (int i = 0; i < 2; i++) {
        const carom_impact_flat_body *b = bodies[i];
        double v = normal[0] * (b->velocity[0] - b->spin * b->r[1]) +
                   normal[1] * (b->velocity[1] + b->spin * b->r[0]);
        double lever = flat_cross(b->r, normal);
        approach += i == 0 ? -v : v;
        den += b->immovable ? 0.0 : 1.0 / b->mass + lever * lever / b->inertia;
    }
    if (!(approach > 0.0) || !(den > 0.0)) {
        return 0.0;
    }
    double j = approach * (restitution + 1.0) / den;
    for (int i = 0; i < 2; i++) {
        carom_impact_flat_body *b = bodies[i];
        double push = i == 0 ? j : -j;
        if (!b->immovable) {
            b->velocity[0] += push * normal[0] / b->mass;
            b->velocity[1] += push * normal[1] / b->mass;
            b->spin += push * flat_cross(b->r, normal) / b->inertia;
        }
    }
    return j;
}
