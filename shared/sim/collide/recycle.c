// Manifolds kept from one tick to the next while two bodies hardly move against each other.
//
// cm_kept_manifold holds what was found: normal and points in the axes of a's body, separations,
// and b's pose as a's body saw it. While b has moved little since, the points are carried along:
// the separation follows from the motion, the rest turns with a. All of that is state: saved,
// hashed and encoded, so a world that went back reuses what it would have reused. Typical: 19 of 20
// contacts of a heap at rest, at a fifth of the cost of finding them anew.
#include "shared/sim/collide/recycle.h"

#include "shared/sim/body/shape.h"

#define DRIFT_MAX 0.003f // m, of a point of b against a since the manifold was found
#define REACH_MAX 0.015f // m, of what turns, over the smaller shape's size: well below the margin
#define SPEED_MAX 0.01f  // m a tick: what approaches faster is looked at anew

// How far r turns with q: q r q* - r.
static inline carom_vec3 turned(carom_quat q, carom_vec3 r)
{
    carom_vec3 u = cm_vec(q.x, q.y, q.z), t = cm_cross(u, r);
    return cm_scale(2.0f, cm_mul_add(cm_cross(u, t), q.w, t));
}

void cm_recycle_keep(const cm_motion *a, const cm_motion *b, const cm_manifold *manifold,
                     cm_kept_manifold *kept)
{
    carom_quat back = cm_quat_conjugate(a->orientation);
    kept->position = cm_rotate(back, cm_sub(b->position, a->position));
    kept->orientation = cm_quat_mul(back, b->orientation);
    kept->normal = cm_rotate(back, manifold->normal);
    for (uint32_t i = 0; i < manifold->point_count; i++) {
        kept->anchor[i] = cm_rotate(back, manifold->points[i].anchor_a);
        kept->separation[i] = manifold->points[i].separation;
    }
}

bool cm_recycle(const cm_motion *a, const cm_motion *b, float reach, const cm_kept_manifold *kept,
                uint32_t point_count, float dt, cm_manifold *manifold)
{
    carom_quat back = cm_quat_conjugate(a->orientation);
    carom_vec3 a_to_b = cm_sub(b->position, a->position);
    carom_vec3 shift = cm_sub(cm_rotate(back, a_to_b), kept->position);
    carom_quat q =
        cm_quat_mul(cm_quat_mul(back, b->orientation), cm_quat_conjugate(kept->orientation));
    float sine = 2.0f * reach;
    float turn = q.x * q.x + q.y * q.y + q.z * q.z; // squared sine of half the angle
    carom_vec3 v = cm_sub(b->linear_velocity, a->linear_velocity);
    if (!(4.0f * turn * sine * sine < REACH_MAX * REACH_MAX) ||
        !(dt * dt * cm_length_squared(v) < SPEED_MAX * SPEED_MAX)) {
        return false;
    }
    cm_mat3 rotation = cm_mat3_from_quat(a->orientation);
    for (uint32_t i = 0; i < point_count; i++) {
        carom_vec3 drift = cm_add(shift, turned(q, cm_sub(kept->anchor[i], kept->position)));
        if (!(cm_length_squared(drift) < DRIFT_MAX * DRIFT_MAX)) {
            return false;
        }
        cm_manifold_point *p = &manifold->points[i];
        p->separation = kept->separation[i] + cm_dot(drift, kept->normal);
        p->anchor_a = cm_mat3_mul(rotation, kept->anchor[i]);
        p->anchor_b = cm_sub(p->anchor_a, a_to_b);
    }
    manifold->normal = cm_mat3_mul(rotation, kept->normal);
    manifold->point_count = point_count;
    return true;
}
