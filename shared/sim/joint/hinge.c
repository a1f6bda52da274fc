// Hinge: three rows hold the anchors, two hold b's axis along a's: with p, q across a's axis and a2
// the axis in b, errors q . a2 and p . a2. Angle, spring, motor and limits are about a's axis.
// Source: JP2003526160A.
#include "shared/sim/joint/joint.h"

static bool coordinate(const cm_joint *joint, const cm_joint_pose *pose, cm_joint_row *row)
{
    (void)joint;
    *row = cm_joint_spin_row(pose->a.x, cm_joint_twist(pose->turn));
    return true;
}

static cm_joint_row tilt_row(const cm_joint_pose *pose, carom_vec3 across)
{
    cm_joint_row row = cm_joint_spin_row(cm_cross(pose->b.x, across), 0.0f);
    row.error = cm_dot(across, pose->b.x);
    return row;
}

static uint32_t rows(const cm_joint *joint, const cm_joint_pose *pose, cm_joint_row *out)
{
    uint32_t count = 0;
    if (cm_joint_has_free_rows(joint)) {
        cm_joint_row free;
        coordinate(joint, pose, &free);
        count = cm_joint_free_rows(joint, &free, 5, out);
    }
    out[count] = tilt_row(pose, pose->a.z);
    out[count].place = 3;
    out[count + 1] = tilt_row(pose, pose->a.y);
    out[count + 1].place = 4;
    cm_joint_point_rows(pose, 0, out + count + 2);
    cm_joint_make_block(out + count, 5);
    return count + 5;
}

const cm_joint_kind cm_joint_hinge = {true, rows, coordinate};
