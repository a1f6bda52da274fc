// Steering hinge: a is the chassis, b the wheel. The anchors are held, and the cosine of the angle
// between the steering axis s (fixed in a) and the hinge axis h (fixed in b): error s . h less its
// first value. The wheel spins freely about h. Angle, spring, motor and limits are those of h about
// s. Source: JP2003526160A.
//
// a's frame: x is s, y the first direction of h across s. b's frame: x is h.
#include "shared/base/mathf.h"
#include "shared/sim/joint/joint.h"

static bool coordinate(const cm_joint *joint, const cm_joint_pose *pose, cm_joint_row *row)
{
    (void)joint;
    carom_vec3 s = pose->a.x, h = pose->b.x;
    float cosine = cm_dot(s, h), across = 1.0f - cosine * cosine;
    // Rate of h's direction about s: (s - (s . h) h) . (w_b - w_a) / |s x h|^2.
    carom_vec3 axis = cm_mul_add(s, -cosine, h);
    if (across > 1.0e-6f) {
        axis = cm_scale(1.0f / across, axis);
    }
    float angle = cm_atan2f(cm_dot(h, pose->a.z), cm_dot(h, pose->a.y));
    *row = cm_joint_spin_row(axis, angle <= -3.14159265f ? 3.14159265f : angle);
    return true;
}

static uint32_t rows(const cm_joint *joint, const cm_joint_pose *pose, cm_joint_row *out)
{
    cm_joint_row free;
    coordinate(joint, pose, &free);
    uint32_t count = cm_joint_free_rows(joint, &free, 5, out);
    carom_vec3 s = pose->a.x, h = pose->b.x;
    out[count] = cm_joint_spin_row(cm_cross(h, s), cm_dot(s, h) - joint->rest);
    out[count].place = 3;
    cm_joint_point_rows(pose, 0, out + count + 1);
    cm_joint_make_block(out + count, 4);
    return count + 4;
}

const cm_joint_kind cm_joint_steering = {true, rows, coordinate};
