// Motor, a drive of all six freedoms: velocities of b relative to a, in a's joint frame, each row
// with a force or torque of at most the maximum. With a spring it also pulls to the first pose,
// within the same maxima.
#include "shared/sim/joint/joint.h"

static bool coordinate(const cm_joint *joint, const cm_joint_pose *pose, cm_joint_row *row)
{
    (void)joint;
    *row = cm_joint_slide_row(pose, pose->a.x);
    return true;
}

static uint32_t rows(const cm_joint *joint, const cm_joint_pose *pose, cm_joint_row *out)
{
    carom_vec3 v = cm_mat3_mul(pose->a, joint->drive_linear);
    carom_vec3 w = cm_mat3_mul(pose->a, joint->drive_angular);
    const float velocities[6] = {w.x, w.y, w.z, v.x, v.y, v.z};
    cm_joint_turn_rows(pose, 3, out);
    cm_joint_point_rows(pose, 0, out + 3);
    for (uint32_t i = 0; i < 6; i++) {
        cm_joint_make_motor(joint, velocities[i], &out[i]);
        if (cm_joint_has_spring(joint)) {
            out[i].kind = CM_ROW_SPRING;
        }
    }
    return 6;
}

const cm_joint_kind cm_joint_motor = {false, rows, coordinate};
