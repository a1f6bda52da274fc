// Pieces that joint types are made of; see joint.h. Pure functions of poses and definitions.
#include "shared/base/mathf.h"
#include "shared/sim/joint/joint.h"

#define UNBOUNDED 1.0e30f
#define PI_F      3.14159265f

static cm_joint_row make_row(uint8_t place)
{
    cm_joint_row row = {0};
    row.lower = -UNBOUNDED;
    row.upper = UNBOUNDED;
    row.kind = CM_ROW_RIGID;
    row.place = place;
    row.block = 1;
    return row;
}

static carom_vec3 unit(uint32_t i)
{
    return cm_vec(i == 0 ? 1.0f : 0.0f, i == 1 ? 1.0f : 0.0f, i == 2 ? 1.0f : 0.0f);
}

static float element(carom_vec3 v, uint32_t i)
{
    return i == 0 ? v.x : (i == 1 ? v.y : v.z);
}

void cm_joint_point_rows(const cm_joint_pose *pose, uint8_t place, cm_joint_row *rows)
{
    for (uint32_t i = 0; i < 3; i++) {
        rows[i] = make_row((uint8_t)(place + i));
        rows[i].linear = unit(i);
        rows[i].angular_a = cm_neg(cm_cross(pose->ra, unit(i)));
        rows[i].angular_b = cm_cross(pose->rb, unit(i));
        rows[i].error = element(pose->gap, i);
    }
}

void cm_joint_turn_rows(const cm_joint_pose *pose, uint8_t place, cm_joint_row *rows)
{
    // Twice the vector part, in world axes, of the shorter way round.
    float s = pose->turn.w < 0.0f ? -2.0f : 2.0f;
    carom_vec3 local = cm_vec(s * pose->turn.x, s * pose->turn.y, s * pose->turn.z);
    carom_vec3 turn = cm_mat3_mul(pose->a, local);
    for (uint32_t i = 0; i < 3; i++) {
        rows[i] = make_row((uint8_t)(place + i));
        rows[i].turning = 1;
        rows[i].angular_a = cm_neg(unit(i));
        rows[i].angular_b = unit(i);
        rows[i].error = element(turn, i);
    }
}

cm_joint_row cm_joint_slide_row(const cm_joint_pose *pose, carom_vec3 axis)
{
    cm_joint_row row = make_row(0);
    row.linear = axis;
    row.angular_a = cm_neg(cm_cross(cm_add(pose->ra, pose->gap), axis));
    row.angular_b = cm_cross(pose->rb, axis);
    row.error = cm_dot(pose->gap, axis);
    return row;
}

cm_joint_row cm_joint_spin_row(carom_vec3 axis, float error)
{
    cm_joint_row row = make_row(0);
    row.turning = 1;
    row.angular_a = cm_neg(axis);
    row.angular_b = axis;
    row.error = error;
    return row;
}

void cm_joint_make_block(cm_joint_row *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        rows[i].block = i == 0 ? (uint8_t)count : 0;
    }
}

void cm_joint_make_springs(cm_joint_row *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        rows[i].kind = CM_ROW_SPRING;
        rows[i].block = 1;
    }
}

void cm_joint_make_motor(const cm_joint *joint, float velocity, cm_joint_row *row)
{
    float max = row->turning ? joint->max_torque : joint->max_force;
    row->kind = CM_ROW_MOTOR;
    row->block = 1;
    row->velocity = velocity;
    row->lower = -max;
    row->upper = max;
}

static cm_joint_row limit_row(const cm_joint_row *coordinate, float sign, float limit)
{
    cm_joint_row row = *coordinate;
    row.linear = cm_scale(sign, row.linear);
    row.angular_a = cm_scale(sign, row.angular_a);
    row.angular_b = cm_scale(sign, row.angular_b);
    row.error = sign * (coordinate->error - limit);
    row.kind = CM_ROW_LIMIT;
    row.lower = 0.0f;
    return row;
}

// A spring pulls to its target, the short way round, and no harder than it may.
static void aim(const cm_joint *joint, cm_joint_row *row)
{
    row->error -= joint->target;
    if (row->turning && row->error > PI_F) {
        row->error -= 2.0f * PI_F;
    } else if (row->turning && row->error <= -PI_F) {
        row->error += 2.0f * PI_F;
    }
    row->velocity = joint->target_velocity;
    if (joint->spring_max < CAROM_FORCE_MAX) {
        row->lower = -joint->spring_max;
        row->upper = joint->spring_max;
    }
}

uint32_t cm_joint_free_rows(const cm_joint *joint, const cm_joint_row *coordinate, uint8_t place,
                            cm_joint_row *rows)
{
    uint32_t count = 0;
    if (cm_joint_has_spring(joint)) {
        rows[count] = *coordinate;
        rows[count].place = place;
        aim(joint, &rows[count]);
        cm_joint_make_springs(&rows[count++], 1);
    }
    if (joint->flags & CM_JOINT_MOTOR) {
        rows[count] = *coordinate;
        rows[count].place = (uint8_t)(place + 1);
        float velocity = coordinate->turning ? joint->drive_angular.x : joint->drive_linear.x;
        cm_joint_make_motor(joint, velocity, &rows[count++]);
    }
    if (!(joint->flags & CM_JOINT_LIMITS)) {
        return count;
    }
    if (joint->lower == joint->upper) {
        rows[count] = *coordinate;
        rows[count].error -= joint->lower;
        rows[count++].place = (uint8_t)(place + 2);
        return count;
    }
    if (!coordinate->turning || joint->lower > -PI_F) {
        rows[count] = limit_row(coordinate, 1.0f, joint->lower);
        rows[count++].place = (uint8_t)(place + 2);
    }
    if (!coordinate->turning || joint->upper < PI_F) {
        rows[count] = limit_row(coordinate, -1.0f, joint->upper);
        rows[count++].place = (uint8_t)(place + 3);
    }
    return count;
}

float cm_joint_twist(carom_quat turn)
{
    float s = turn.w < 0.0f ? -1.0f : 1.0f;
    float angle = 2.0f * cm_atan2f(s * turn.x, s * turn.w);
    return angle <= -PI_F ? PI_F : angle;
}
