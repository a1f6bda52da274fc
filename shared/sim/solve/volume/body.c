// Bodies of the volume solver: from the state into binary64, through the substeps, and back.
//
// Angular momentum is what a free body keeps: a step turns it by half with the angular velocity of
// its start, finds the angular velocity there, turns it whole with that one, and finds the angular
// velocity at the end. So the gyroscopic term is second order and never adds momentum. Kinematic
// bodies keep their velocity and end at position + velocity x dt. Locked axes have no inverse mass.
// A body whose state would not be finite is put to rest where it was. Typical: 100 bodies.
#include "shared/base/mathf.h"
#include "shared/sim/state/wake.h"
#include "shared/sim/solve/volume/volume.h"
#include "shared/sim/state/tell.h"

#define RUNAWAY 1.0e6 // m, m/s, rad/s: of one tick

static double inverse_of(double x)
{
    return x > 0.0 ? 1.0 / x : 0.0;
}

static cm_d3 locked(cm_d3 v, uint8_t x_bit, uint8_t locks)
{
    return cm_d3_of(locks & x_bit ? 0.0 : v.x, locks & (x_bit << 1) ? 0.0 : v.y,
                    locks & (x_bit << 2) ? 0.0 : v.z);
}

static void load_dynamic(const carom_world *world, const cm_volume *volume, const cm_body *body,
                         cm_volume_body *row)
{
    double m = inverse_of((double)body->mass);
    row->dynamic = true;
    row->inertia = cm_d3_from(body->inertia);
    row->principal = cm_dquat_from(body->inertia_orientation);
    row->round = row->inertia.x == row->inertia.y && row->inertia.y == row->inertia.z;
    if (world->state.flags & CM_WORLD_PLANAR) {
        row->locks |= CAROM_LOCK_Z | CAROM_LOCK_RX | CAROM_LOCK_RY;
    }
    row->inverse_mass = locked(cm_d3_of(m, m, m), CAROM_LOCK_X, row->locks);
    cm_d3 force = cm_d3_add(cm_d3_from(body->force), cm_d3_from(body->applied_force));
    cm_d3 gravity = cm_d3_scale((double)body->gravity_scale, cm_d3_from(world->state.gravity));
    row->acceleration = locked(cm_d3_mad(gravity, m, force), CAROM_LOCK_X, row->locks);
    row->torque = cm_d3_add(cm_d3_from(body->torque), cm_d3_from(body->applied_torque));
    row->linear_decay = 1.0 / (1.0 + volume->h * (double)body->linear_damping);
    row->angular_decay = 1.0 / (1.0 + volume->h * (double)body->angular_damping);
    row->velocity = locked(row->velocity, CAROM_LOCK_X, row->locks);
    row->spin = locked(row->spin, CAROM_LOCK_RX, row->locks);
}

void cm_volume_load_bodies(const carom_world *world, cm_volume *volume)
{
    const cm_motion *motions = cm_motions(world);
    volume->body_count = world->state.body_slots;
    for (uint32_t i = 0; i < volume->body_count; i++) {
        const cm_body *body = cm_bodies(world) + i;
        cm_volume_body *row = &volume->bodies[i];
        *row = (cm_volume_body){.locks = body->locks, .round = true};
        row->reports =
            body->alive && ((body->flags & CM_BODY_REPORT) || body->pointer != CAROM_NO_PLAYER);
        if (!body->alive) {
            row->orientation.w = row->rotation.x.x = row->rotation.y.y = row->rotation.z.z = 1.0;
            continue;
        }
        row->position = cm_d3_from(motions[i].position);
        row->orientation = cm_dquat_unit(cm_dquat_from(motions[i].orientation));
        row->rotation = cm_dmat_from_quat(row->orientation);
        if (body->type == CAROM_BODY_STATIC || cm_body_is_asleep(body)) {
            continue;
        }
        row->moving = true;
        row->velocity = cm_d3_from(motions[i].linear_velocity);
        row->spin = cm_d3_from(motions[i].angular_velocity);
        if (body->type == CAROM_BODY_DYNAMIC) {
            load_dynamic(world, volume, body, row);
        }
    }
}

// R diag(d) R^T
static cm_dmat turned(const cm_dmat *r, cm_d3 d)
{
    cm_dmat t = {cm_d3_scale(d.x, r->x), cm_d3_scale(d.y, r->y), cm_d3_scale(d.z, r->z)};
    cm_dmat rows = {cm_d3_of(r->x.x, r->y.x, r->z.x), cm_d3_of(r->x.y, r->y.y, r->z.y),
                    cm_d3_of(r->x.z, r->y.z, r->z.z)};
    return cm_dmat_product(&t, &rows);
}

static cm_dmat axes_of(const cm_volume_body *row, cm_dquat orientation)
{
    return cm_dmat_from_quat(cm_dquat_mul(orientation, row->principal));
}

static cm_d3 inverse_inertia(const cm_volume_body *row)
{
    return cm_d3_of(inverse_of(row->inertia.x), inverse_of(row->inertia.y),
                    inverse_of(row->inertia.z));
}

// The inverse of the inertia within the axes that are free.
static cm_dmat inverse_of_free(const cm_dmat *inertia, uint8_t locks)
{
    cm_dmat m = *inertia;
    cm_d3 *columns[3] = {&m.x, &m.y, &m.z};
    for (uint32_t k = 0; k < 3; k++) {
        if (locks & (CAROM_LOCK_RX << k)) {
            m.x = locked(m.x, CAROM_LOCK_RX, (uint8_t)(CAROM_LOCK_RX << k));
            m.y = locked(m.y, CAROM_LOCK_RX, (uint8_t)(CAROM_LOCK_RX << k));
            m.z = locked(m.z, CAROM_LOCK_RX, (uint8_t)(CAROM_LOCK_RX << k));
            *columns[k] = cm_d3_of(k == 0, k == 1, k == 2);
        }
    }
    m = cm_dmat_inverse(&m);
    for (uint32_t k = 0; k < 3; k++) {
        if (locks & (CAROM_LOCK_RX << k)) {
            *columns[k] = cm_d3_of(0.0, 0.0, 0.0);
        }
    }
    return m;
}

void cm_volume_begin_step(const carom_world *world, cm_volume *volume)
{
    for (uint32_t i = 0; i < volume->body_count; i++) {
        cm_volume_body *row = &volume->bodies[i];
        if (!row->moving) {
            continue;
        }
        row->velocity0 = row->velocity;
        row->spin0 = row->spin;
        row->rotation = cm_dmat_from_quat(row->orientation);
        if (!row->dynamic) {
            continue;
        }
        cm_dmat axes = axes_of(row, row->orientation);
        if (row->locks >= CAROM_LOCK_RX) {
            cm_dmat inertia = turned(&axes, row->inertia);
            row->inverse = inverse_of_free(&inertia, row->locks);
        } else {
            row->inverse = turned(&axes, inverse_inertia(row));
        }
    }
    const cm_shape *shapes = cm_shapes(world);
    for (uint32_t i = 0; i < world->state.shape_slots; i++) {
        if (shapes[i].alive) {
            const cm_volume_body *row = &volume->bodies[shapes[i].body];
            cm_volume_shape *shape = &volume->shapes[i];
            shape->position = cm_d3_add(row->position, cm_dmat_mul(&row->rotation, shape->local));
            shape->rotation = cm_dmat_product(&row->rotation, &shape->turn);
        }
    }
}

void cm_volume_push_bodies(cm_volume *volume)
{
    for (uint32_t i = 0; i < volume->body_count; i++) {
        cm_volume_body *row = &volume->bodies[i];
        if (row->dynamic) {
            row->velocity = cm_d3_mad(row->velocity, volume->h, row->acceleration);
            row->velocity = cm_d3_scale(row->linear_decay, row->velocity);
            row->spin = cm_d3_mad(row->spin, volume->h, cm_dmat_mul(&row->inverse, row->torque));
            row->spin = cm_d3_scale(row->angular_decay, row->spin);
        }
    }
}

// q turned by the rotation vector v, exactly.
static cm_dquat turn(cm_dquat q, cm_d3 v)
{
    double squared = 0.25 * cm_d3_dot(v, v), s, c;
    if (squared < 1.0e-3) { // to the last place
        s = 1.0 - squared * (1.0 / 6.0 - squared * (1.0 / 120.0 - squared * (1.0 / 5040.0)));
        c = 1.0 - squared * (0.5 - squared * (1.0 / 24.0 - squared * (1.0 / 720.0)));
    } else {
        double half = __builtin_sqrt(squared);
        s = cm_sin(half) / half;
        c = cm_cos(half);
    }
    cm_dquat d = {0.5 * s * v.x, 0.5 * s * v.y, 0.5 * s * v.z, c};
    return cm_dquat_unit(cm_dquat_mul(d, q));
}

static cm_d3 spin_of(const cm_volume_body *row, cm_dquat orientation, cm_d3 momentum)
{
    cm_dmat axes = axes_of(row, orientation);
    cm_d3 l = cm_dmat_mul_transpose(&axes, momentum), i = inverse_inertia(row);
    return cm_dmat_mul(&axes, cm_d3_of(i.x * l.x, i.y * l.y, i.z * l.z));
}

static void turn_body(cm_volume_body *row, double h)
{
    if (row->round || !row->dynamic || row->locks >= CAROM_LOCK_RX) {
        row->orientation = turn(row->orientation, cm_d3_scale(h, row->spin));
        return;
    }
    cm_dmat axes = axes_of(row, row->orientation);
    cm_d3 w = cm_dmat_mul_transpose(&axes, row->spin);
    w = cm_d3_of(row->inertia.x * w.x, row->inertia.y * w.y, row->inertia.z * w.z);
    cm_d3 momentum = cm_dmat_mul(&axes, w);
    cm_dquat half = turn(row->orientation, cm_d3_scale(0.5 * h, row->spin));
    cm_d3 middle = spin_of(row, half, momentum);
    row->orientation = turn(row->orientation, cm_d3_scale(h, middle));
    row->spin = spin_of(row, row->orientation, momentum);
}

void cm_volume_move_bodies(cm_volume *volume)
{
    for (uint32_t i = 0; i < volume->body_count; i++) {
        cm_volume_body *row = &volume->bodies[i];
        if (row->moving) {
            row->position = cm_d3_mad(row->position, volume->h, row->velocity);
            turn_body(row, volume->h);
        }
    }
}

static bool is_bounded(cm_d3 v)
{
    return cm_d_abs(v.x) <= RUNAWAY && cm_d_abs(v.y) <= RUNAWAY && cm_d_abs(v.z) <= RUNAWAY;
}

void cm_volume_store_bodies(carom_world *world, const cm_volume *volume)
{
    double rate = 1.0 / volume->dt;
    for (uint32_t i = 0; i < volume->body_count; i++) {
        const cm_volume_body *row = &volume->bodies[i];
        cm_motion *motion = cm_motions(world) + i;
        cm_d3 force = cm_d3_scale(rate, row->impulse);
        cm_d3 torque = cm_d3_scale(rate, row->angular_impulse);
        bool told = row->reports && is_bounded(cm_d3_scale(1.0e-9, force)) &&
                    is_bounded(cm_d3_scale(1.0e-9, torque));
        carom_vec3 none = cm_vec(0.0f, 0.0f, 0.0f);
        cm_body_set_contact(world, i, told ? cm_d3_round(force) : none,
                            told ? cm_d3_round(torque) : none);
        if (!row->moving) {
            continue;
        }
        cm_d3 position = row->position;
        if (!row->dynamic) {
            position = cm_d3_mad(cm_d3_from(motion->position), volume->dt, row->velocity);
        }
        cm_d3 shift = cm_d3_sub(position, cm_d3_from(motion->position));
        carom_quat q = {(float)row->orientation.x, (float)row->orientation.y,
                        (float)row->orientation.z, (float)row->orientation.w};
        if (!is_bounded(row->velocity) || !is_bounded(row->spin) || !is_bounded(shift) ||
            !cm_quat_is_finite(q)) {
            motion->linear_velocity = motion->angular_velocity = cm_vec(0.0f, 0.0f, 0.0f);
            cm_tell(world, CAROM_LOG_BODY_PUT_TO_REST, i, 1);
            continue;
        }
        motion->position = cm_d3_round(position);
        motion->orientation = q;
        motion->linear_velocity = cm_d3_round(row->velocity);
        motion->angular_velocity = cm_d3_round(row->spin);
    }
}
