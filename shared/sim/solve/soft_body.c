// Bodies of the soft-step solver: forces, gyroscopic torque, poses, limits.
//
// Kinematic bodies keep their velocity and end the tick exactly at position + velocity x dt. A body
// whose velocity or pose would not be finite is put to rest at the pose it had at the start of the
// tick. Typical: 1,000 bodies x 4 substeps.
#include "shared/sim/solve/soft.h"

#define MAX_SPEED    400.0f      // m/s
#define MAX_ROTATION 0.78539816f // rad a substep: pi / 4

static float inverse(float x)
{
    return x > 0.0f ? 1.0f / x : 0.0f;
}

// R diag(d) R^T
static cm_sym3 turned_diagonal(const cm_mat3 *r, carom_vec3 d)
{
    carom_vec3 x = cm_scale(d.x, r->x), y = cm_scale(d.y, r->y), z = cm_scale(d.z, r->z);
    cm_sym3 m;
    m.xx = x.x * r->x.x + y.x * r->y.x + z.x * r->z.x;
    m.xy = x.x * r->x.y + y.x * r->y.y + z.x * r->z.y;
    m.xz = x.x * r->x.z + y.x * r->y.z + z.x * r->z.z;
    m.yy = x.y * r->x.y + y.y * r->y.y + z.y * r->z.y;
    m.yz = x.y * r->x.z + y.y * r->y.z + z.y * r->z.z;
    m.zz = x.z * r->x.z + y.z * r->y.z + z.z * r->z.z;
    return m;
}

static void prepare_dynamic(const carom_world *world, const cm_soft *soft, const cm_body *body,
                            cm_soft_inertia *row, cm_soft_mass *mass)
{
    row->inverse_mass = inverse(body->mass);
    carom_vec3 force = cm_add(body->force, body->applied_force);
    mass->acceleration =
        cm_mul_add(cm_scale(body->gravity_scale, world->state.gravity), row->inverse_mass, force);
    mass->torque = cm_add(body->torque, body->applied_torque);
    mass->inertia = body->inertia;
    mass->inverse_inertia =
        cm_vec(inverse(body->inertia.x), inverse(body->inertia.y), inverse(body->inertia.z));
    mass->linear_decay = 1.0f / (1.0f + soft->h * body->linear_damping);
    mass->angular_decay = 1.0f / (1.0f + soft->h * body->angular_damping);
    mass->round = body->inertia.x == body->inertia.y && body->inertia.y == body->inertia.z;
    if (mass->round) {
        float i = mass->inverse_inertia.x;
        row->inverse = (cm_sym3){i, 0.0f, 0.0f, i, 0.0f, i};
    }
}

static cm_mat3 principal_axes(const cm_motion *motion, const cm_body *body, carom_quat turn)
{
    carom_quat q = cm_quat_mul(turn, motion->orientation);
    return cm_mat3_from_quat(cm_quat_normalize(cm_quat_mul(q, body->inertia_orientation)));
}

void cm_soft_prepare_bodies(const carom_world *world, cm_soft *soft)
{
    const cm_motion *motions = cm_motions(world);
    const cm_body *bodies = cm_bodies(world);
    // The last row is for lanes that are not used.
    soft->bodies[soft->body_count] = (cm_soft_body){.turn = {0.0f, 0.0f, 0.0f, 1.0f}};
    soft->inertias[soft->body_count] = (cm_soft_inertia){0};
    for (uint32_t i = 0; i < soft->body_count; i++) {
        cm_soft_body *row = &soft->bodies[i];
        cm_soft_inertia *inertia = &soft->inertias[i];
        cm_soft_mass *mass = &soft->masses[i];
        *row = (cm_soft_body){.turn = {0.0f, 0.0f, 0.0f, 1.0f}};
        *inertia = (cm_soft_inertia){0};
        soft->gains[i] = (cm_soft_gain){0};
        *mass = (cm_soft_mass){.type = bodies[i].type, .alive = bodies[i].alive};
        if (!bodies[i].alive || bodies[i].type == CAROM_BODY_STATIC) {
            continue;
        }
        inertia->moving = 1;
        row->v = motions[i].linear_velocity;
        row->w = motions[i].angular_velocity;
        soft->gains[i].mark_v = row->v;
        soft->gains[i].mark_w = row->w;
        if (bodies[i].type == CAROM_BODY_DYNAMIC) {
            prepare_dynamic(world, soft, &bodies[i], inertia, mass);
            if (!mass->round) {
                cm_mat3 axes = principal_axes(&motions[i], &bodies[i], row->turn);
                inertia->inverse = turned_diagonal(&axes, mass->inverse_inertia);
            }
        }
    }
}

// One Newton step of the implicit gyroscopic equation, in the principal axes, where it is stable
// for any spin (E. Catto, "Physics for Game Programmers: Numerical Methods", GDC 2015).
static carom_vec3 gyroscopic(const cm_mat3 *axes, const cm_soft_mass *mass, carom_vec3 w, float h)
{
    carom_vec3 b = cm_mat3_mul_transpose(*axes, w);
    carom_vec3 i = mass->inertia, ib = cm_mul(i, b);
    carom_vec3 f = cm_scale(h, cm_cross(b, ib));
    // Columns of I + h (skew(b) I - skew(I b)).
    carom_vec3 c1 = cm_vec(i.x, h * (b.z * i.x - ib.z), h * (ib.y - b.y * i.x));
    carom_vec3 c2 = cm_vec(h * (ib.z - b.z * i.y), i.y, h * (b.x * i.y - ib.x));
    carom_vec3 c3 = cm_vec(h * (b.y * i.z - ib.y), h * (ib.x - b.x * i.z), i.z);
    carom_vec3 c23 = cm_cross(c2, c3);
    float det = cm_dot(c1, c23);
    if (!(cm_abs(det) > 1.0e-30f)) {
        return w;
    }
    float s = 1.0f / det;
    carom_vec3 d = cm_vec(s * cm_dot(f, c23), s * cm_dot(f, cm_cross(c3, c1)),
                          s * cm_dot(f, cm_cross(c1, c2)));
    return cm_mat3_mul(*axes, cm_sub(b, d));
}

// What decays (friction, damping) would creep through the denormal numbers, where processors take a
// hundred times as long; below this nothing moves by a bit in a year.
static inline float settled(float x)
{
    return cm_abs(x) < CM_SOFT_TINY ? 0.0f : x;
}

static carom_vec3 settled_vec(carom_vec3 v)
{
    return cm_vec(settled(v.x), settled(v.y), settled(v.z));
}

static carom_vec3 limited(carom_vec3 v, float limit)
{
    float squared = cm_length_squared(v);
    return squared > limit * limit ? cm_scale(limit / cm_sqrt(squared), v) : v;
}

void cm_soft_integrate_velocities(const carom_world *world, cm_soft *soft)
{
    const cm_motion *motions = cm_motions(world);
    const cm_body *bodies = cm_bodies(world);
    float h = soft->h, max_spin = MAX_ROTATION / h;
    for (uint32_t i = 0; i < soft->body_count; i++) {
        cm_soft_body *row = &soft->bodies[i];
        cm_soft_mass *mass = &soft->masses[i];
        if (!mass->alive || mass->type != CAROM_BODY_DYNAMIC) {
            continue;
        }
        cm_soft_gain *gain = &soft->gains[i];
        gain->v = cm_add(gain->v, cm_sub(row->v, gain->mark_v));
        gain->w = cm_add(gain->w, cm_sub(row->w, gain->mark_w));
        carom_vec3 w = row->w;
        if (mass->round) {
            w = cm_mul_add(w, h * mass->inverse_inertia.x, mass->torque);
        } else {
            cm_mat3 axes = principal_axes(&motions[i], &bodies[i], row->turn);
            cm_sym3 inverse_inertia = turned_diagonal(&axes, mass->inverse_inertia);
            w = gyroscopic(&axes, mass, w, h);
            w = cm_mul_add(w, h, cm_sym3_mul(&inverse_inertia, mass->torque));
        }
        carom_vec3 v = cm_mul_add(row->v, h, mass->acceleration);
        v = cm_mul_add(gain->v, mass->linear_decay, v);
        w = cm_mul_add(gain->w, mass->angular_decay, w);
        row->v = limited(settled_vec(v), MAX_SPEED);
        row->w = limited(settled_vec(w), max_spin);
        if (!cm_vec_is_finite(row->v) || !cm_vec_is_finite(row->w)) {
            row->v = row->w = cm_vec(0.0f, 0.0f, 0.0f); // spares its neighbours
            gain->v = gain->w = row->v;
            mass->broken = 1;
        }
        gain->mark_v = row->v;
        gain->mark_w = row->w;
    }
}

void cm_soft_mark(cm_soft *soft)
{
    for (uint32_t i = 0; i < soft->body_count; i++) {
        soft->gains[i].mark_v = soft->bodies[i].v;
        soft->gains[i].mark_w = soft->bodies[i].w;
    }
}

void cm_soft_gain_since_mark(cm_soft *soft)
{
    for (uint32_t i = 0; i < soft->body_count; i++) {
        cm_soft_gain *gain = &soft->gains[i];
        gain->v = cm_add(gain->v, cm_sub(soft->bodies[i].v, gain->mark_v));
        gain->w = cm_add(gain->w, cm_sub(soft->bodies[i].w, gain->mark_w));
    }
}

void cm_soft_integrate_poses(cm_soft *soft)
{
    for (uint32_t i = 0; i < soft->body_count; i++) {
        cm_soft_body *row = &soft->bodies[i];
        if (soft->masses[i].alive && soft->masses[i].type != CAROM_BODY_STATIC) {
            row->shift = cm_mul_add(row->shift, soft->h, row->v);
            row->turn = cm_quat_integrate(row->turn, cm_scale(soft->h, row->w));
        }
    }
}

void cm_soft_store_bodies(carom_world *world, const cm_soft *soft)
{
    cm_motion *motions = cm_motions(world);
    for (uint32_t i = 0; i < soft->body_count; i++) {
        const cm_soft_body *row = &soft->bodies[i];
        const cm_soft_mass *mass = &soft->masses[i];
        if (!mass->alive || mass->type == CAROM_BODY_STATIC) {
            continue;
        }
        cm_motion *motion = &motions[i];
        carom_vec3 position = cm_add(motion->position, row->shift);
        if (mass->type == CAROM_BODY_KINEMATIC) {
            position = cm_mul_add(motion->position, soft->dt, row->v);
        }
        carom_quat orientation = cm_quat_normalize(cm_quat_mul(row->turn, motion->orientation));
        if (mass->broken || !cm_vec_is_finite(position) || !cm_quat_is_finite(orientation) ||
            !cm_vec_is_finite(row->v) || !cm_vec_is_finite(row->w)) {
            motion->linear_velocity = motion->angular_velocity = cm_vec(0.0f, 0.0f, 0.0f);
            world->stats.bodies_put_to_rest++;
            continue;
        }
        motion->position = position;
        motion->orientation = orientation;
        motion->linear_velocity = row->v;
        motion->angular_velocity = row->w;
    }
}
