// Ball and socket: three rows hold the anchors together. A spring pulls the turn to the first one,
// a motor drives the relative spin (its velocity about a's axis; 0 is friction). Source:
// JP2003526160A.
#include "shared/sim/joint/joint.h"

static uint32_t rows(const cm_joint *joint, const cm_joint_pose *pose, cm_joint_row *out)
{
    uint32_t count = 0;
    if (cm_joint_has_spring(joint)) {
        cm_joint_turn_rows(pose, 3, out);
        cm_joint_make_springs(out, 3);
        count = 3;
    }
    if (joint->flags & CM_JOINT_MOTOR) {
        carom_vec3 velocity = cm_mat3_mul(pose->a, joint->drive_angular);
        cm_joint_turn_rows(pose, 6, out + count);
        cm_joint_make_motor(joint, velocity.x, &out[count]);
        cm_joint_make_motor(joint, velocity.y, &out[count + 1]);
        cm_joint_make_motor(joint, velocity.z, &out[count + 2]);
        count += 3;
    }
    cm_joint_point_rows(pose, 0, out + count);
    cm_joint_make_block(out + count, 3);
    return count + 3;
}

static bool no_coordinate(const cm_joint *joint, const cm_joint_pose *pose, cm_joint_row *row)
{
    (void)joint, (void)pose, (void)row;
    return false;
}

const cm_joint_kind cm_joint_ball = {true, rows, no_coordinate};
