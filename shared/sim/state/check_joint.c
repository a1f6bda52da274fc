// A joint's row may hold these values, by itself: for creation, for changes and for decode. Bodies
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

#define SPRING         "0 to 1e15"
#define ONE_COORDINATE "the default: for springs of a hinge, prismatic, steering or distance joint"

static carom_result check_spring(const cm_joint *joint, carom_error *error)
{
    bool stiff = (joint->flags & CM_JOINT_SPRING_STIFFNESS) != 0;
    CM_WANT(!(stiff && (joint->flags & CM_JOINT_SPRING_HERTZ)), "spring", "a carom_spring_type");
    CM_FIELD(cm_check_float(joint->spring[0], 0.0f, SPRING_MAX),
             stiff ? "spring_stiffness" : "spring_hertz", SPRING);
    CM_FIELD(cm_check_float(joint->spring[1], 0.0f, SPRING_MAX),
             stiff ? "spring_damping" : "spring_damping_ratio", SPRING);
    bool spring = (joint->flags & (CM_JOINT_SPRING_HERTZ | CM_JOINT_SPRING_STIFFNESS)) != 0;
    bool one = spring && cm_joint_may(joint->type, CM_JOINT_LIMITS); // one free coordinate
    CM_FIELD(cm_check_float(joint->target, -LENGTH_MAX, LENGTH_MAX), "spring_target",
             "-2e7 to 2e7");
    CM_FIELD(cm_check_float(joint->target_velocity, -CAROM_VELOCITY_MAX, CAROM_VELOCITY_MAX),
             "spring_velocity", "within 1e6");
    CM_FIELD(cm_check_float(joint->spring_max, 0.0f, CAROM_FORCE_MAX), "spring_max", "0 to 1e15");
    CM_WANT(one || joint->target == 0.0f, "spring_target", ONE_COORDINATE);
    CM_WANT(one || joint->target_velocity == 0.0f, "spring_velocity", ONE_COORDINATE);
    CM_WANT(one || !spring || joint->spring_max == CAROM_FORCE_MAX, "spring_max", ONE_COORDINATE);
    return CAROM_OK;
}

static carom_result check_limits(const cm_joint *joint, carom_error *error)
{
    bool lengths = joint->type == CAROM_JOINT_DISTANCE;
    float low = lengths ? 0.0f : -LENGTH_MAX;
    const char *expected = lengths ? "0 to 2e7 m" : "-2e7 to 2e7";
    CM_FIELD(cm_check_float(joint->lower, low, LENGTH_MAX), "lower", expected);
    CM_FIELD(cm_check_float(joint->upper, low, LENGTH_MAX), "upper", expected);
    CM_WANT(joint->lower <= joint->upper, "lower", "at most upper");
    return CAROM_OK;
}

static carom_result check_drives(const cm_joint *joint, carom_error *error)
{
    CM_FIELD(cm_check_vec(joint->drive_linear, CAROM_VELOCITY_MAX), "motor_velocity",
             "within 1e6 m/s");
    CM_FIELD(cm_check_vec(joint->drive_angular, CAROM_VELOCITY_MAX), "motor_velocity",
             "within 1e6 rad/s");
    CM_FIELD(cm_check_float(joint->max_force, 0.0f, CAROM_FORCE_MAX), "motor_max", "0 to 1e15");
    CM_FIELD(cm_check_float(joint->max_torque, 0.0f, CAROM_FORCE_MAX), "motor_max", "0 to 1e15");
    return CAROM_OK;
}

static carom_result check_frames(const cm_joint *joint, carom_error *error)
{
    CM_FIELD(cm_check_vec(joint->anchor_a, LENGTH_MAX), "anchor", "within 2e7 m of its body");
    CM_FIELD(cm_check_vec(joint->anchor_b, LENGTH_MAX), "anchor_b", "within 2e7 m of its body");
    CM_FIELD(cm_check_quat(joint->frame_a), "axis", "a direction");
    CM_FIELD(cm_check_quat(joint->frame_b), "axis", "a direction");
    CM_FIELD(cm_check_float(joint->rest, -1.0f, 4.0f * LENGTH_MAX), "anchor_b", "within 4e7 m");
    return CAROM_OK;
}

// Checks what a step left: decoded bytes may hold anything.
static carom_result check_forces(const cm_joint *joint)
{
    for (uint32_t i = 0; i < CM_JOINT_ROWS_MAX; i++) {
        CM_TRY(cm_check_float(joint->impulse[i], -IMPULSE_MAX, IMPULSE_MAX));
    }
    CM_TRY(cm_check_float(joint->force, 0.0f, IMPULSE_MAX));
    return cm_check_float(joint->torque, 0.0f, IMPULSE_MAX);
}

carom_result cm_check_joint(const cm_joint *joint, carom_error *error)
{
    CM_WANT(joint->alive <= 1 && joint->type <= CAROM_JOINT_MOTOR, "type", "a carom_joint_type");
    CM_WANT(joint->flags <= CM_JOINT_FLAGS, "type", "known flags");
    bool limits = (joint->flags & CM_JOINT_LIMITS) != 0;
    bool motor = (joint->flags & CM_JOINT_MOTOR) != 0;
    CM_WANT(!limits || cm_joint_may(joint->type, CM_JOINT_LIMITS), "has_limits",
            "false: joints of this type have no limits");
    CM_WANT(!motor || cm_joint_may(joint->type, CM_JOINT_MOTOR), "has_motor",
            "false: joints of this type have no motor");
    CM_TRY(check_frames(joint, error));
    CM_TRY(check_limits(joint, error));
    CM_TRY(check_drives(joint, error));
    CM_TRY(check_spring(joint, error));
    CM_FIELD(cm_check_float(joint->break_force, 0.0f, CAROM_FORCE_MAX), "break_force",
             "0 to 1e15 N");
    CM_FIELD(cm_check_float(joint->break_torque, 0.0f, CAROM_FORCE_MAX), "break_torque",
             "0 to 1e15 N m");
    CM_FIELD(cm_check_float(joint->friction, 0.0f, LENGTH_MAX), "friction", "0 to 2e7 m");
    CM_WANT(joint->friction == 0.0f || joint->type <= CAROM_JOINT_HINGE, "friction",
            "0: balls and hinges have it");
    CM_FIELD(cm_check_float(joint->epsilon, -1.0f, CAROM_SOFTNESS_MAX), "epsilon",
             "0 to 1e3, or -1 for the solver's");
    CM_FIELD(cm_check_float(joint->gamma, -1.0f, 1.0f), "gamma", "0 to 1, or -1 for the solver's");
    return check_forces(joint);
}
