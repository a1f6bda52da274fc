// What values a joint's row may hold, by itself: for creation, for changes and for decode. Bodies
// are the caller's to check.
#include "shared/sim/state/check.h"

#define LENGTH_MAX  2.0e7f // m, of anchors (the world's are places) and limits
#define SPRING_MAX  1.0e15f
#define IMPULSE_MAX 3.4e38f

bool cm_joint_may(uint32_t type, uint32_t flag)
{
    const uint8_t both = CM_JOINT_LIMITS | CM_JOINT_MOTOR;
    const uint8_t may[] = {
        [CAROM_JOINT_BALL] = CM_JOINT_MOTOR,
        [CAROM_JOINT_HINGE] = both,
        [CAROM_JOINT_PRISMATIC] = both,
        [CAROM_JOINT_STEERING] = both,
        [CAROM_JOINT_FIXED] = 0,
        [CAROM_JOINT_DISTANCE] = both,
        [CAROM_JOINT_MOTOR] = CM_JOINT_MOTOR,
    };
    return (may[type] & flag) != 0;
}

static carom_result check_spring(const cm_joint *joint)
{
    CM_TRY(cm_check_float(joint->spring[0], 0.0f, SPRING_MAX));
    CM_TRY(cm_check_float(joint->spring[1], 0.0f, SPRING_MAX));
    bool both =
        (joint->flags & CM_JOINT_SPRING_HERTZ) && (joint->flags & CM_JOINT_SPRING_STIFFNESS);
    return both ? CAROM_ERROR_ARGUMENT : CAROM_OK;
}

static carom_result check_limits(const cm_joint *joint)
{
    float low = joint->type == CAROM_JOINT_DISTANCE ? 0.0f : -LENGTH_MAX;
    CM_TRY(cm_check_float(joint->lower, low, LENGTH_MAX));
    CM_TRY(cm_check_float(joint->upper, low, LENGTH_MAX));
    return joint->lower <= joint->upper ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

carom_result cm_check_joint(const cm_joint *joint)
{
    if (joint->alive > 1 || joint->type > CAROM_JOINT_MOTOR || joint->flags > CM_JOINT_FLAGS) {
        return CAROM_ERROR_ARGUMENT;
    }
    if (((joint->flags & CM_JOINT_LIMITS) && !cm_joint_may(joint->type, CM_JOINT_LIMITS)) ||
        ((joint->flags & CM_JOINT_MOTOR) && !cm_joint_may(joint->type, CM_JOINT_MOTOR))) {
        return CAROM_ERROR_ARGUMENT;
    }
    CM_TRY(cm_check_vec(joint->anchor_a, LENGTH_MAX));
    CM_TRY(cm_check_vec(joint->anchor_b, LENGTH_MAX));
    CM_TRY(cm_check_quat(joint->frame_a));
    CM_TRY(cm_check_quat(joint->frame_b));
    CM_TRY(cm_check_float(joint->rest, -1.0f, 4.0f * LENGTH_MAX));
    CM_TRY(check_limits(joint));
    CM_TRY(cm_check_vec(joint->drive_linear, CM_VELOCITY_MAX));
    CM_TRY(cm_check_vec(joint->drive_angular, CM_VELOCITY_MAX));
    CM_TRY(cm_check_float(joint->max_force, 0.0f, CM_FORCE_MAX));
    CM_TRY(cm_check_float(joint->max_torque, 0.0f, CM_FORCE_MAX));
    CM_TRY(check_spring(joint));
    CM_TRY(cm_check_float(joint->break_force, 0.0f, CM_FORCE_MAX));
    CM_TRY(cm_check_float(joint->break_torque, 0.0f, CM_FORCE_MAX));
    CM_TRY(cm_check_float(joint->epsilon, -1.0f, CM_SOFTNESS_MAX));
    CM_TRY(cm_check_float(joint->gamma, -1.0f, 1.0f));
    for (uint32_t i = 0; i < CM_JOINT_ROWS_MAX; i++) {
        CM_TRY(cm_check_float(joint->impulse[i], -IMPULSE_MAX, IMPULSE_MAX));
    }
    CM_TRY(cm_check_float(joint->force, 0.0f, IMPULSE_MAX));
    return cm_check_float(joint->torque, 0.0f, IMPULSE_MAX);
}
