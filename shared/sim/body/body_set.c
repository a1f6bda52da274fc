// Changing bodies between steps: poses, velocities, forces, impulses, type.
//
// Everything is checked first; a refused call changes nothing. Forces and impulses on a body that
// is not dynamic are accepted and do nothing: the caller need not know what a body is at the
// moment. What changes something wakes what sleeps there (wake.h); a call that says what is so
// already does not.
#include "shared/sim/body/body.h"

#include "shared/base/fpenv.h"
#include "shared/sim/body/locks.h"
#include "shared/sim/state/awake.h"
#include "shared/sim/state/check.h"
#include "shared/sim/state/slots.h"
#include "shared/sim/state/wake.h"

#include <string.h>

// The row of a live body, or why there is none.
static carom_result find(carom_world *world, carom_body_id id, const cm_body **body)
{
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    *body = cm_body_find(world, id);
    return *body != NULL ? CAROM_OK
                         : cm_refuse(&world->error, CAROM_ERROR_STALE_ID, "body", CM_LIVE_BODY);
}

static void changed(carom_world *world, uint32_t slot)
{
    cm_wake_body(world, slot);
    cm_stir_body(world, slot);
}

static bool same(carom_vec3 a, carom_vec3 b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

CM_FP_BODY static void place(carom_world *world, uint32_t slot, carom_vec3 position,
                             carom_quat orientation)
{
    cm_motion *motion = &cm_motions(world)[slot];
    cm_motion before = *motion;
    motion->orientation = cm_quat_normalize(orientation);
    motion->position = cm_origin_to_center(&cm_bodies(world)[slot], position, motion->orientation);
    if (memcmp(&before, motion, sizeof before) != 0) {
        cm_query_forget(world);
        changed(world, slot);
    }
}

carom_result carom_body_set_pose(carom_world *world, carom_body_id body, carom_vec3 position,
                                 carom_quat orientation)
{
    const cm_body *row;
    CM_TRY(find(world, body, &row));
    carom_error *error = &world->error;
    CM_FIELD(cm_check_vec(position, CAROM_POSITION_MAX), "position", "components within 1e7 m");
    CM_FIELD(cm_check_quat(orientation), "orientation", CM_UNIT_QUATERNION);
    cm_fpenv saved = cm_fpenv_enter();
    place(world, body.index, position, orientation);
    cm_fpenv_leave(saved);
    return CAROM_OK;
}

static bool is_zero(carom_vec3 v)
{
    return v.x == 0.0f && v.y == 0.0f && v.z == 0.0f;
}

carom_result carom_body_set_velocity(carom_world *world, carom_body_id body, carom_vec3 linear,
                                     carom_vec3 angular)
{
    const cm_body *row;
    CM_TRY(find(world, body, &row));
    carom_error *error = &world->error;
    CM_FIELD(cm_check_vec(linear, CAROM_VELOCITY_MAX), "linear", "components within 1e6 m/s");
    CM_FIELD(cm_check_vec(angular, CAROM_VELOCITY_MAX), "angular", "components within 1e6 rad/s");
    bool moves = !is_zero(linear) || !is_zero(angular);
    CM_FIELD(row->type == CAROM_BODY_STATIC && moves ? CAROM_ERROR_STATE : CAROM_OK, "body",
             "one that is not static, or zero velocities");
    cm_motion *motion = &cm_motions(world)[body.index];
    if (!same(linear, motion->linear_velocity) || !same(angular, motion->angular_velocity)) {
        cm_wake_body(world, body.index);
        cm_body_note(world, body.index);
    }
    motion->linear_velocity = linear;
    motion->angular_velocity = angular;
    if (row->flags & CM_BODY_MIDWAY) {
        cm_body_change(world, body.index)->flags &= (uint8_t)~CM_BODY_MIDWAY;
    }
    return CAROM_OK;
}

carom_result carom_body_set_force(carom_world *world, carom_body_id body, carom_vec3 force,
                                  carom_vec3 torque)
{
    const cm_body *row;
    CM_TRY(find(world, body, &row));
    carom_error *error = &world->error;
    CM_FIELD(cm_check_vec(force, CAROM_FORCE_MAX), "force", "components within 1e15 N");
    CM_FIELD(cm_check_vec(torque, CAROM_FORCE_MAX), "torque", "components within 1e15 N m");
    if (!same(force, row->force) || !same(torque, row->torque)) {
        cm_wake_body(world, body.index);
        cm_body *writable = cm_body_change(world, body.index);
        writable->force = force;
        writable->torque = torque;
    }
    return CAROM_OK;
}

CM_FP_BODY static carom_result add_force(carom_world *world, uint32_t slot, carom_vec3 force,
                                         carom_vec3 torque)
{
    const cm_body *body = &cm_bodies(world)[slot];
    carom_error *error = &world->error;
    carom_vec3 forces = cm_add(body->applied_force, force);
    carom_vec3 torques = cm_add(body->applied_torque, torque);
    CM_FIELD(cm_check_vec(forces, CAROM_FORCE_MAX), "force", "a sum within 1e15 N");
    CM_FIELD(cm_check_vec(torques, CAROM_FORCE_MAX), "torque", "a sum within 1e15 N m");
    if (!same(forces, body->applied_force) || !same(torques, body->applied_torque)) {
        cm_body *row = cm_body_change(world, slot);
        row->applied_force = forces;
        row->applied_torque = torques;
    }
    return CAROM_OK;
}

carom_result carom_body_apply_force(carom_world *world, carom_body_id body, carom_vec3 force,
                                    carom_vec3 torque)
{
    const cm_body *row;
    CM_TRY(find(world, body, &row));
    carom_error *error = &world->error;
    CM_FIELD(cm_check_vec(force, CAROM_FORCE_MAX), "force", "components within 1e15 N");
    CM_FIELD(cm_check_vec(torque, CAROM_FORCE_MAX), "torque", "components within 1e15 N m");
    if (row->type != CAROM_BODY_DYNAMIC) {
        return CAROM_OK;
    }
    cm_fpenv saved = cm_fpenv_enter();
    carom_result result = add_force(world, body.index, force, torque);
    cm_fpenv_leave(saved);
    if (result == CAROM_OK && !(is_zero(row->applied_force) && is_zero(row->applied_torque))) {
        cm_wake_body(world, body.index);
    }
    return result;
}

CM_FP_BODY static carom_vec3 turned(carom_quat orientation, carom_vec3 v)
{
    return cm_rotate(orientation, v);
}

CM_FP_BODY static carom_vec3 torque_at(const cm_motion *motion, carom_vec3 force, carom_vec3 point)
{
    return cm_cross(cm_sub(point, motion->position), force);
}

carom_result carom_body_apply_local_force(carom_world *world, carom_body_id body, carom_vec3 force,
                                          carom_vec3 torque)
{
    const cm_body *row;
    CM_TRY(find(world, body, &row));
    carom_error *error = &world->error;
    CM_FIELD(cm_check_vec(force, CAROM_FORCE_MAX), "force", "components within 1e15 N");
    CM_FIELD(cm_check_vec(torque, CAROM_FORCE_MAX), "torque", "components within 1e15 N m");
    carom_quat q = cm_motions(world)[body.index].orientation;
    cm_fpenv saved = cm_fpenv_enter();
    force = turned(q, force);
    torque = turned(q, torque);
    cm_fpenv_leave(saved);
    return carom_body_apply_force(world, body, force, torque);
}

carom_result carom_body_apply_force_at(carom_world *world, carom_body_id body, carom_vec3 force,
                                       carom_vec3 point)
{
    const cm_body *row;
    CM_TRY(find(world, body, &row));
    carom_error *error = &world->error;
    CM_FIELD(cm_check_vec(force, CAROM_FORCE_MAX), "force", "components within 1e15 N");
    CM_FIELD(cm_check_vec(point, CAROM_POSITION_MAX), "point", "components within 1e7 m");
    cm_fpenv saved = cm_fpenv_enter();
    carom_vec3 torque = torque_at(&cm_motions(world)[body.index], force, point);
    cm_fpenv_leave(saved);
    return carom_body_apply_force(world, body, force, torque);
}

// v += J / m, w += I^-1 (r x J), with I diagonal in the principal axes; what is locked bears its
// share.
CM_FP_BODY static carom_result add_impulse(cm_motion *motion, const cm_body *body, uint32_t locks,
                                           carom_vec3 impulse, carom_vec3 point, carom_error *error)
{
    carom_vec3 arm = cm_sub(point, motion->position);
    carom_quat axes = cm_quat_mul(motion->orientation, body->inertia_orientation);
    carom_vec3 local = cm_rotate_inverse(axes, cm_cross(arm, impulse));
    carom_vec3 turn =
        cm_vec(local.x / body->inertia.x, local.y / body->inertia.y, local.z / body->inertia.z);
    carom_vec3 linear =
        cm_mul_add(motion->linear_velocity, 1.0f / body->mass, cm_unlocked(locks, impulse));
    carom_vec3 angular = cm_add(motion->angular_velocity, cm_rotate(axes, turn));
    if (locks > CM_LOCKS_LINEAR) {
        cm_mat3 principal = cm_mat3_from_quat(cm_quat_normalize(axes));
        cm_sym3 inverse = cm_locked_inverse(&principal, body->inertia, locks);
        carom_vec3 torque = cm_cross(arm, impulse);
        angular = cm_add(motion->angular_velocity, cm_sym3_mul(&inverse, torque));
    }
    bool held = cm_check_vec(linear, CAROM_VELOCITY_MAX) == CAROM_OK &&
                cm_check_vec(angular, CAROM_VELOCITY_MAX) == CAROM_OK;
    CM_WANT(held, "impulse", "one that leaves the velocity within 1e6");
    motion->linear_velocity = linear;
    motion->angular_velocity = angular;
    return CAROM_OK;
}

carom_result carom_body_apply_impulse(carom_world *world, carom_body_id body, carom_vec3 impulse,
                                      carom_vec3 point)
{
    const cm_body *row;
    CM_TRY(find(world, body, &row));
    carom_error *error = &world->error;
    CM_FIELD(cm_check_vec(impulse, CAROM_FORCE_MAX), "impulse", "components within 1e15 N s");
    CM_FIELD(cm_check_vec(point, CAROM_POSITION_MAX), "point", "components within 1e7 m");
    if (row->type != CAROM_BODY_DYNAMIC) {
        return CAROM_OK;
    }
    cm_fpenv saved = cm_fpenv_enter();
    carom_result result = add_impulse(&cm_motions(world)[body.index], row, cm_locks_of(world, row),
                                      impulse, point, error);
    cm_fpenv_leave(saved);
    if (result == CAROM_OK && !is_zero(impulse)) {
        cm_wake_body(world, body.index);
    }
    return result;
}

carom_result carom_body_set_type(carom_world *world, carom_body_id body, carom_body_type type)
{
    const cm_body *row;
    CM_TRY(find(world, body, &row));
    carom_error *error = &world->error;
    CM_WANT((unsigned)type <= CAROM_BODY_DYNAMIC, "type", "a carom_body_type");
    cm_body other = *row;
    other.flags &= (uint8_t)~CM_BODY_ASLEEP;
    other.island = CM_NONE;
    other.type = (uint8_t)type;
    CM_TRY(cm_check_body(&other, error)); // a dynamic body needs mass and inertia
    for (uint32_t slot = row->first_shape; slot != CM_NONE; slot = cm_shapes(world)[slot].next) {
        bool plane = cm_shapes(world)[slot].type == CAROM_SHAPE_PLANE;
        CM_WANT(!plane || type == CAROM_BODY_STATIC, "type", "static: the body has a plane");
    }
    if (row->type == type) {
        return CAROM_OK;
    }
    cm_wake_body(world, body.index);
    cm_body *writable = cm_body_change(world, body.index);
    writable->flags &= (uint8_t)~CM_BODY_STIRRED; // of a dynamic body it says something else
    writable->type = (uint8_t)type;
    cm_stir_body(world, body.index);
    if (type != CAROM_BODY_DYNAMIC) {
        writable->applied_force = cm_vec(0.0f, 0.0f, 0.0f);
        writable->applied_torque = cm_vec(0.0f, 0.0f, 0.0f);
    }
    if (type == CAROM_BODY_STATIC) {
        cm_motions(world)[body.index].linear_velocity = cm_vec(0.0f, 0.0f, 0.0f);
        cm_motions(world)[body.index].angular_velocity = cm_vec(0.0f, 0.0f, 0.0f);
    }
    return CAROM_OK;
}

carom_result carom_body_set_user_data(carom_world *world, carom_body_id body, uint64_t user_data)
{
    const cm_body *row;
    CM_TRY(find(world, body, &row));
    if (row->user_data != user_data) {
        cm_body_change(world, body.index)->user_data = user_data;
    }
    return CAROM_OK;
}
