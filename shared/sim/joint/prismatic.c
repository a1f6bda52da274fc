// Prismatic: the turn is held, and the anchors' gap across the axis fixed in a. Position, spring,
// motor and limits are along that axis. Source: JP2003526160A.
#include "shared/sim/joint/joint.h"

static bool coordinate(const cm_joint *joint, const cm_joint_pose *pose, cm_joint_row *row)
{
    (void)joint;
    *row = cm_joint_slide_row(pose, pose->a.x);
    return true;
}

static uint32_t rows(const cm_joint *joint, const cm_joint_pose *pose, cm_joint_row *out)
{
    cm_joint_row free;
    coordinate(joint, pose, &free);
    uint32_t count = cm_joint_free_rows(joint, &free, 5, out);
    cm_joint_turn_rows(pose, 0, out + count);
    out[count + 3] = cm_joint_slide_row(pose, pose->a.y);
    out[count + 3].place = 3;
    out[count + 4] = cm_joint_slide_row(pose, pose->a.z);
    out[count + 4].place = 4;
    cm_joint_make_block(out + count, 5);
    return count + 5;
}

const cm_joint_kind cm_joint_prismatic = {false, rows, coordinate};
