// Manifolds kept from one tick to the next while two bodies hardly move against each other.
//
// cm_kept_manifold holds what was found, in world axes: normal and points, the way from one centre
// of mass to the other, separations, and how both bodies were turned. While the bodies have moved
// little against each other since, normal and levers stay as they were; only the separations follow
// the motion, turns included. A lever that followed its body would lean over with it and feed a
// stack's sway: a high stack would not come to rest. Where both have turned together (on a
// platform), all of it turns with them, a hundredth at a time. All of that is state: saved,
// hashed and encoded, so a world that went back reuses what it would have reused. Typical: every
// contact of a pyramid at rest, three of five in a pile in motion, at a fifth of the cost of
// finding them anew.
//
// The bounds go with the smaller shape, so that dice are looked at as closely as boulders.
#include "shared/sim/collide/recycle.h"

#include "shared/sim/body/shape.h"

#define DRIFT_MAX   0.01f // m, of a point of b against a since then: half of the margin
#define DRIFT_SHARE 0.02f // of the thickest ball inside the smaller shape
// The way of what turns against the other over the smaller shape's size: corners that were beyond
// the margin.
#define TURNED_MAX   0.02f // m
#define TURNED_SHARE 0.04f
// Both together: where a platform's points go, and as far as a stack may sway as it settles. At
// half of it a column of thirty falls.
#define ANGLE_MAX 0.01f // rad

// What a turn from `then` to `now` adds to an arm, as a matrix: nothing cancels for small turns.
static inline cm_mat3 turn_since(carom_quat now, carom_quat then)
{
    carom_quat q = cm_quat_mul(now, cm_quat_conjugate(then));
    float x = 2.0f * q.x, y = 2.0f * q.y, z = 2.0f * q.z;
    float xx = x * q.x, yy = y * q.y, zz = z * q.z, xy = x * q.y, xz = x * q.z, yz = y * q.z;
    float wx = x * q.w, wy = y * q.w, wz = z * q.w;
    return (cm_mat3){cm_vec(-(yy + zz), xy + wz, xz - wy), cm_vec(xy - wz, -(xx + zz), yz + wx),
                     cm_vec(xz + wy, yz - wx, -(xx + yy))};
}

// Twice the squared angle of a small turn.
static inline float squared(const cm_mat3 *turn)
{
    return cm_length_squared(turn->x) + cm_length_squared(turn->y) + cm_length_squared(turn->z);
}

static inline cm_mat3 difference(const cm_mat3 *a, const cm_mat3 *b)
{
    return (cm_mat3){cm_sub(a->x, b->x), cm_sub(a->y, b->y), cm_sub(a->z, b->z)};
}

void cm_recycle_keep(const cm_motion *a, const cm_motion *b, const cm_manifold *manifold,
                     cm_kept_manifold *kept)
{
    kept->offset = cm_sub(b->position, a->position);
    kept->orientation_a = a->orientation;
    kept->orientation_b = b->orientation;
    kept->normal = manifold->normal;
    for (uint32_t i = 0; i < manifold->point_count; i++) {
        kept->anchor[i] = manifold->points[i].anchor_a;
        kept->separation[i] = manifold->points[i].separation;
    }
}

// Both bodies have turned together: what was found turns with them, b's pose against a as it was.
static void carry_along(const cm_motion *a, const cm_mat3 *turn, uint32_t point_count,
                        cm_kept_manifold *kept)
{
    carom_quat q = cm_quat_mul(a->orientation, cm_quat_conjugate(kept->orientation_a));
    kept->orientation_a = a->orientation;
    kept->orientation_b = cm_quat_normalize(cm_quat_mul(q, kept->orientation_b));
    kept->offset = cm_add(kept->offset, cm_mat3_mul(*turn, kept->offset));
    kept->normal = cm_normalize(cm_add(kept->normal, cm_mat3_mul(*turn, kept->normal)));
    for (uint32_t i = 0; i < point_count; i++) {
        kept->anchor[i] = cm_add(kept->anchor[i], cm_mat3_mul(*turn, kept->anchor[i]));
    }
}

bool cm_recycle(const cm_motion *a, const cm_motion *b, const cm_recycle_size *size,
                uint32_t point_count, float dt, cm_kept_manifold *kept,
                float separation[CM_MANIFOLD_MAX])
{
    float drift_max = cm_min(DRIFT_MAX, DRIFT_SHARE * size->inner_radius);
    float turned_max = cm_min(TURNED_MAX, TURNED_SHARE * size->inner_radius);
    // What approaches faster is looked at anew.
    carom_vec3 speed = cm_scale(dt, cm_sub(b->linear_velocity, a->linear_velocity));
    cm_mat3 turn_a = turn_since(a->orientation, kept->orientation_a);
    cm_mat3 turn_b = turn_since(b->orientation, kept->orientation_b);
    cm_mat3 turn = difference(&turn_b, &turn_a);
    float reach = 2.0f * size->reach;
    if (!(reach * reach * squared(&turn) < 2.0f * turned_max * turned_max) ||
        !(cm_length_squared(speed) < drift_max * drift_max)) {
        return false;
    }
    // Of a point at r from a's centre of mass, and r - offset from b's.
    carom_vec3 shift = cm_sub(cm_sub(b->position, a->position), kept->offset);
    shift = cm_sub(shift, cm_mat3_mul(turn_b, kept->offset));
    for (uint32_t i = 0; i < point_count; i++) {
        carom_vec3 drift = cm_add(shift, cm_mat3_mul(turn, kept->anchor[i]));
        if (!(cm_length_squared(drift) < drift_max * drift_max)) {
            return false;
        }
        separation[i] = kept->separation[i] + cm_dot(drift, kept->normal);
    }
    if (!(squared(&turn_a) < 2.0f * ANGLE_MAX * ANGLE_MAX)) {
        carry_along(a, &turn_a, point_count, kept);
    }
    return true;
}

void cm_recycle_take(const cm_kept_manifold *kept, const float separation[CM_MANIFOLD_MAX],
                     uint32_t point_count, cm_manifold *manifold)
{
    for (uint32_t i = 0; i < point_count; i++) {
        manifold->points[i].anchor_a = kept->anchor[i];
        manifold->points[i].anchor_b = cm_sub(kept->anchor[i], kept->offset);
        manifold->points[i].separation = separation[i];
    }
    manifold->normal = kept->normal;
    manifold->point_count = point_count;
}
