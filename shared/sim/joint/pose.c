// The pose of a joint, from the poses of its bodies.
#include "shared/sim/joint/joint.h"

// The larger root first, so that nothing is divided by little.
carom_quat cm_quat_of_basis(carom_vec3 x, carom_vec3 y, carom_vec3 z)
{
    carom_quat q;
    float trace = x.x + y.y + z.z;
    if (trace > 0.0f) {
        float s = 2.0f * cm_sqrt(1.0f + trace);
        q = (carom_quat){(y.z - z.y) / s, (z.x - x.z) / s, (x.y - y.x) / s, 0.25f * s};
    } else if (x.x >= y.y && x.x >= z.z) {
        float s = 2.0f * cm_sqrt(1.0f + x.x - y.y - z.z);
        q = (carom_quat){0.25f * s, (x.y + y.x) / s, (z.x + x.z) / s, (y.z - z.y) / s};
    } else if (y.y >= z.z) {
        float s = 2.0f * cm_sqrt(1.0f + y.y - x.x - z.z);
        q = (carom_quat){(x.y + y.x) / s, 0.25f * s, (y.z + z.y) / s, (z.x - x.z) / s};
    } else {
        float s = 2.0f * cm_sqrt(1.0f + z.z - x.x - y.y);
        q = (carom_quat){(z.x + x.z) / s, (y.z + z.y) / s, 0.25f * s, (x.y - y.x) / s};
    }
    return cm_quat_normalize(q);
}

void cm_joint_pose_turned(carom_quat frame_a, carom_quat frame_b, cm_joint_pose *pose)
{
    pose->a = cm_mat3_from_quat(frame_a);
    pose->b = cm_mat3_from_quat(frame_b);
    pose->turn = cm_quat_mul(cm_quat_conjugate(frame_a), frame_b);
}

void cm_joint_pose_get(const carom_world *world, const cm_joint *joint, cm_joint_pose *pose)
{
    const cm_motion *b = &cm_motions(world)[joint->body_b];
    carom_quat frame_a = joint->frame_a;
    carom_vec3 apart = b->position;
    pose->ra = joint->anchor_a;
    if (joint->body_a != CM_NONE) {
        const cm_motion *a = &cm_motions(world)[joint->body_a];
        pose->ra = cm_rotate(a->orientation, joint->anchor_a);
        frame_a = cm_quat_mul(a->orientation, joint->frame_a);
        apart = cm_sub(b->position, a->position);
    }
    pose->rb = cm_rotate(b->orientation, joint->anchor_b);
    pose->gap = cm_sub(cm_add(apart, pose->rb), pose->ra);
    cm_joint_pose_turned(frame_a, cm_quat_mul(b->orientation, joint->frame_b), pose);
}
