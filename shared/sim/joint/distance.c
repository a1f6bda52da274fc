// Distance: one row along the line between the anchors. Alone it holds the first length; with a
// spring (to the first length), a motor (a winch) or limits (lengths) these hold instead. Anchors
// on top of each other have no direction: a's axis serves.
#include "shared/sim/joint/joint.h"

#define SHORTEST 1.0e-6f // m

static bool coordinate(const cm_joint *joint, const cm_joint_pose *pose, cm_joint_row *row)
{
    float length = cm_length(pose->gap);
    carom_vec3 along = length > SHORTEST ? cm_scale(1.0f / length, pose->gap) : pose->a.x;
    *row = cm_joint_slide_row(pose, along);
    row->angular_a = cm_neg(cm_cross(pose->ra, along));
    row->error = length - joint->rest;
    return true;
}

static uint32_t rows(const cm_joint *joint, const cm_joint_pose *pose, cm_joint_row *out)
{
    cm_joint_row free;
    cm_joint relative = *joint;
    coordinate(joint, pose, &free);
    relative.lower -= joint->rest;
    relative.upper -= joint->rest;
    uint32_t count = cm_joint_free_rows(&relative, &free, 1, out);
    if (count == 0) {
        out[count++] = free;
    }
    return count;
}

const cm_joint_kind cm_joint_distance = {false, rows, coordinate};
