// Fixed: anchors and turn are held; with a spring both are springs instead. The anchor decides
// where a soft one bends.
#include "shared/sim/joint/joint.h"

static uint32_t rows(const cm_joint *joint, const cm_joint_pose *pose, cm_joint_row *out)
{
    cm_joint_turn_rows(pose, 3, out);
    cm_joint_point_rows(pose, 0, out + 3);
    if (cm_joint_has_spring(joint)) {
        cm_joint_make_springs(out, 6);
    } else {
        cm_joint_make_block(out, 6);
    }
    return 6;
}

static bool no_coordinate(const cm_joint *joint, const cm_joint_pose *pose, cm_joint_row *row)
{
    (void)joint, (void)pose, (void)row;
    return false;
}

const cm_joint_kind cm_joint_fixed = {true, rows, no_coordinate};
