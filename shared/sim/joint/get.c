// Readings of joints: value and rate of the free coordinate, errors, forces, events.
#include "shared/base/mathf.h"
#include "shared/base/fpenv.h"
#include "shared/sim/joint/joint.h"
#include "shared/sim/state/slots.h"

#include <string.h>

bool carom_joint_is_valid(const carom_world *world, carom_joint_id joint)
{
    return world != NULL && cm_joint_find(world, joint) != NULL;
}

uint32_t carom_world_joint_slots(const carom_world *world)
{
    return world->state.joint_slots;
}

carom_joint_id carom_world_joint_at(const carom_world *world, uint32_t slot)
{
    carom_joint_id id = {0, 0};
    if (slot < world->state.joint_slots && cm_joints(world)[slot].alive) {
        id.index = slot;
        id.generation = cm_joints(world)[slot].generation;
    }
    return id;
}

const carom_joint_event *carom_world_joint_events(const carom_world *world, uint32_t *count)
{
    cm_scratch scratch;
    cm_scratch_map(world, &scratch);
    *count = world->joint_event_count;
    return scratch.joint_events;
}

// Bodies may be so far apart (a decoded world's) that a square has no binary32: the most there is.
static float bounded(float value)
{
    const float most = 3.4e38f;
    return value >= -most && value <= most ? value : value < 0.0f ? -most : most;
}

static carom_vec3 spin_of_b(const carom_world *world, const cm_joint *joint)
{
    carom_vec3 w = cm_motions(world)[joint->body_b].angular_velocity;
    return joint->body_a == CM_NONE ? w
                                    : cm_sub(w, cm_motions(world)[joint->body_a].angular_velocity);
}

static float row_rate(const carom_world *world, const cm_joint *joint, const cm_joint_row *row)
{
    const cm_motion *b = &cm_motions(world)[joint->body_b];
    float rate =
        cm_dot(row->linear, b->linear_velocity) + cm_dot(row->angular_b, b->angular_velocity);
    if (joint->body_a != CM_NONE) {
        const cm_motion *a = &cm_motions(world)[joint->body_a];
        rate +=
            cm_dot(row->angular_a, a->angular_velocity) - cm_dot(row->linear, a->linear_velocity);
    }
    return rate;
}

// The whole turn from the first pose, and how fast it grows or shrinks.
static void whole_turn(const carom_world *world, const cm_joint *joint, const cm_joint_pose *pose,
                       carom_joint_state *state)
{
    float s = pose->turn.w < 0.0f ? -1.0f : 1.0f;
    carom_vec3 v = cm_vec(s * pose->turn.x, s * pose->turn.y, s * pose->turn.z);
    state->value = 2.0f * cm_atan2f(cm_length(v), s * pose->turn.w);
    carom_vec3 w = spin_of_b(world, joint);
    carom_vec3 axis = cm_normalize(cm_mat3_mul(pose->a, v));
    // Without a turn there is no axis: it can only grow.
    state->rate = cm_length_squared(axis) > 0.0f ? cm_dot(axis, w) : cm_length(w);
}

static void errors(const cm_joint *joint, const cm_joint_pose *pose, carom_joint_state *state)
{
    cm_joint_row rows[CM_JOINT_ROWS_MAX];
    uint32_t count = cm_joint_kind_of(joint->type)->rows(joint, pose, rows);
    float linear = 0.0f, angular = 0.0f;
    for (uint32_t i = 0; i < count; i++) {
        float error = rows[i].error;
        if (rows[i].kind == CM_ROW_SPRING || rows[i].kind == CM_ROW_MOTOR ||
            (rows[i].kind == CM_ROW_LIMIT && error > 0.0f)) {
            continue;
        }
        *(rows[i].turning ? &angular : &linear) += error * error;
    }
    state->error = bounded(cm_sqrt(linear));
    state->angular_error = bounded(cm_sqrt(angular));
}

CM_FP_BODY static void get(const carom_world *world, const cm_joint *joint,
                           carom_joint_state *state)
{
    const cm_joint_kind *kind = cm_joint_kind_of(joint->type);
    cm_joint_pose pose;
    cm_joint_row row;
    memset(state, 0, sizeof *state);
    cm_joint_pose_get(world, joint, &pose);
    state->type = (carom_joint_type)joint->type;
    state->body_a = cm_body_id(world, joint->body_a);
    state->body_b = cm_body_id(world, joint->body_b);
    state->is_angle = kind->angle;
    state->attached = cm_joint_holds(joint);
    if (kind->coordinate(joint, &pose, &row)) {
        state->value = row.error;
        state->rate = row_rate(world, joint, &row);
    } else {
        whole_turn(world, joint, &pose, state);
    }
    state->value = bounded(state->value);
    state->rate = bounded(state->rate);
    errors(joint, &pose, state);
    state->force = joint->force;
    state->torque = joint->torque;
    carom_vec3 center_b = cm_motions(world)[joint->body_b].position;
    state->anchor_b = cm_add(center_b, pose.rb);
    state->anchor_a = pose.ra;
    if (joint->body_a != CM_NONE) {
        state->anchor_a = cm_add(cm_motions(world)[joint->body_a].position, pose.ra);
    }
    state->axis = pose.a.x;
    state->axis_b = pose.b.x;
}

carom_result carom_joint_get(const carom_world *world, carom_joint_id joint,
                             carom_joint_state *state)
{
    if (world == NULL || state == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    const cm_joint *row = cm_joint_find(world, joint);
    if (row == NULL) {
        return CAROM_ERROR_STALE_ID;
    }
    cm_fpenv saved = cm_fpenv_enter();
    get(world, row, state);
    cm_fpenv_leave(saved);
    return CAROM_OK;
}

carom_result carom_joint_get_drives(const carom_world *world, carom_joint_id joint,
                                    carom_joint_drives *drives)
{
    if (world == NULL || drives == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    const cm_joint *row = cm_joint_find(world, joint);
    if (row == NULL) {
        return CAROM_ERROR_STALE_ID;
    }
    *drives = (carom_joint_drives){row->drive_linear, row->drive_angular, row->max_force,
                                   row->max_torque,   row->target,        row->target_velocity};
    return CAROM_OK;
}
