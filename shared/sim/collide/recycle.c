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
// The bounds go with the smaller shape, so that dice are looked at as closely as boulders. Pairs
// are looked at CM_LANES at once: one by one this was a seventh of a step of a pyramid.
#include "shared/sim/collide/recycle.h"

#ifndef CM_LANES // those of wide.c
#define CM_LANES 4
#endif
#include "shared/base/lanes.h"

#include <stddef.h>

#define DRIFT_MAX   0.01f // m, of a point of b against a since then: half of the margin
#define DRIFT_SHARE 0.02f // of the thickest ball inside the smaller shape
// The way of what turns against the other over the smaller shape's size: corners that were beyond
// the margin.
#define TURNED_MAX   0.02f // m
#define TURNED_SHARE 0.04f
// Both together: where a platform's points go, and as far as a stack may sway as it settles. At
// half of it a column of thirty falls.
#define ANGLE_MAX 0.01f // rad

// The change of an arm by a turn from `then` to `now`, as a matrix: nothing cancels for small
// turns.
static inline cm_mat3 turn_since(carom_quat now, carom_quat then)
{
    carom_quat q = cm_quat_mul(now, cm_quat_conjugate(then));
    float x = 2.0f * q.x, y = 2.0f * q.y, z = 2.0f * q.z;
    float xx = x * q.x, yy = y * q.y, zz = z * q.z, xy = x * q.y, xz = x * q.z, yz = y * q.z;
    float wx = x * q.w, wy = y * q.w, wz = z * q.w;
    return (cm_mat3){cm_vec(-(yy + zz), xy + wz, xz - wy), cm_vec(xy - wz, -(xx + zz), yz + wx),
                     cm_vec(xz + wy, yz - wx, -(xx + yy))};
}

void cm_recycle_keep(const cm_motion *a, const cm_motion *b, const cm_manifold *manifold,
                     cm_kept_manifold *kept, cm_kept_point *points)
{
    kept->offset = cm_sub(b->position, a->position);
    kept->orientation_a = a->orientation;
    kept->orientation_b = b->orientation;
    kept->normal = manifold->normal;
    for (uint32_t i = 0; i < manifold->point_count; i++) {
        points[i].anchor = manifold->points[i].anchor_a;
        points[i].separation = manifold->points[i].separation;
    }
}

// Both bodies have turned together: what was found turns with them, b's pose against a as it was.
static void carry_along(const cm_motion *a, uint32_t point_count, cm_kept_manifold *kept,
                        cm_kept_point *points)
{
    cm_mat3 turn = turn_since(a->orientation, kept->orientation_a);
    carom_quat q = cm_quat_mul(a->orientation, cm_quat_conjugate(kept->orientation_a));
    kept->orientation_a = a->orientation;
    kept->orientation_b = cm_quat_normalize(cm_quat_mul(q, kept->orientation_b));
    kept->offset = cm_add(kept->offset, cm_mat3_mul(turn, kept->offset));
    kept->normal = cm_normalize(cm_add(kept->normal, cm_mat3_mul(turn, kept->normal)));
    for (uint32_t i = 0; i < point_count; i++) {
        points[i].anchor = cm_add(points[i].anchor, cm_mat3_mul(turn, points[i].anchor));
    }
}

// In lanes ---------------------------------------------------------------------------------------

#define MOTION_FLOATS (sizeof(cm_motion) / sizeof(float))
#define KEPT_FLOATS   (sizeof(cm_kept_manifold) / sizeof(float))
#define POINT_FLOATS  (sizeof(cm_kept_point) / sizeof(float))

_Static_assert(offsetof(cm_kept_manifold, orientation_a) == 12 &&
                   offsetof(cm_kept_manifold, orientation_b) == 28 &&
                   offsetof(cm_kept_manifold, normal) == 44 && KEPT_FLOATS == 14,
               "gathered as fourteen floats");
_Static_assert(offsetof(cm_kept_point, separation) == 12 && POINT_FLOATS == 4,
               "gathered as four floats");

typedef struct turn_lanes {
    cm_fvec x, y, z; // columns
} turn_lanes;

typedef struct motion_lanes {
    cm_fvec position, velocity;
    cm_f orientation[4];
} motion_lanes;

CM_LANES_INLINE motion_lanes load_motions(const cm_motion *motions, const uint32_t *index)
{
    cm_f low[8], high[8];
    cm_lanes_gather(&motions[0].position.x, MOTION_FLOATS, index, low);
    cm_lanes_gather(&motions[0].position.x + 8, MOTION_FLOATS, index, high);
    return (motion_lanes){
        {low[0], low[1], low[2]}, {low[7], high[0], high[1]}, {low[3], low[4], low[5], low[6]}};
}

// As turn_since.
CM_LANES_INLINE turn_lanes turned_since(const cm_f now[4], const cm_f then[4])
{
    cm_f bx = -then[0], by = -then[1], bz = -then[2], bw = then[3];
    cm_f qx = now[3] * bx + now[0] * bw + now[1] * bz - now[2] * by;
    cm_f qy = now[3] * by - now[0] * bz + now[1] * bw + now[2] * bx;
    cm_f qz = now[3] * bz + now[0] * by - now[1] * bx + now[2] * bw;
    cm_f qw = now[3] * bw - now[0] * bx - now[1] * by - now[2] * bz;
    cm_f two = cm_lanes_set(2.0f), x = two * qx, y = two * qy, z = two * qz;
    cm_f xx = x * qx, yy = y * qy, zz = z * qz, xy = x * qy, xz = x * qz, yz = y * qz;
    cm_f wx = x * qw, wy = y * qw, wz = z * qw;
    return (turn_lanes){{-(yy + zz), xy + wz, xz - wy},
                        {xy - wz, -(xx + zz), yz + wx},
                        {xz + wy, yz - wx, -(xx + yy)}};
}

CM_LANES_INLINE cm_fvec times(const turn_lanes *m, cm_fvec v)
{
    return cm_fvec_mix(v.x, m->x, v.y, m->y, v.z, m->z);
}

// Twice the squared angle of a small turn.
CM_LANES_INLINE cm_f squared(const turn_lanes *turn)
{
    return cm_fvec_dot(turn->x, turn->x) + cm_fvec_dot(turn->y, turn->y) +
           cm_fvec_dot(turn->z, turn->z);
}

// Bits of the lanes whose manifold holds, and of those of them whose bodies have turned together.
CM_LANES_INLINE uint32_t look(const cm_motion *motions, const cm_kept_manifold *manifolds,
                              const cm_kept_point *kept_points, const cm_recycle_pairs *pairs,
                              uint32_t at, float dt,
                              float separation[CM_MANIFOLD_MAX][CM_RECYCLE_MAX], uint32_t *together)
{
    motion_lanes a = load_motions(motions, pairs->a + at), b = load_motions(motions, pairs->b + at);
    cm_f kept[14], last[8], two = cm_lanes_set(2.0f);
    cm_lanes_gather(&manifolds[0].offset.x, KEPT_FLOATS, pairs->row + at, kept);
    cm_lanes_gather(&manifolds[0].offset.x + 6, KEPT_FLOATS, pairs->row + at, last);
    memcpy(kept + 8, last + 2, 6 * sizeof last[0]);
    cm_f inner = cm_lanes_load(pairs->inner_radius + at);
    cm_f drift_max = cm_lanes_min(cm_lanes_set(DRIFT_MAX), cm_lanes_set(DRIFT_SHARE) * inner);
    cm_f turned_max = cm_lanes_min(cm_lanes_set(TURNED_MAX), cm_lanes_set(TURNED_SHARE) * inner);
    cm_f bound = drift_max * drift_max;
    // Pairs that approach faster are looked at anew.
    cm_fvec speed = cm_fvec_scale(cm_lanes_set(dt), cm_fvec_sub(b.velocity, a.velocity));
    turn_lanes turn_a = turned_since(a.orientation, kept + 3);
    turn_lanes turn_b = turned_since(b.orientation, kept + 7);
    turn_lanes turn = {cm_fvec_sub(turn_b.x, turn_a.x), cm_fvec_sub(turn_b.y, turn_a.y),
                       cm_fvec_sub(turn_b.z, turn_a.z)};
    cm_f reach = two * cm_lanes_load(pairs->reach + at);
    cm_mask holds =
        cm_lanes_greater(two * turned_max * turned_max, reach * reach * squared(&turn)) &
        cm_lanes_greater(bound, cm_fvec_dot(speed, speed));
    // Of a point at r from a's centre of mass, and r - offset from b's.
    cm_fvec offset = {kept[0], kept[1], kept[2]}, normal = {kept[11], kept[12], kept[13]};
    cm_fvec shift = cm_fvec_sub(cm_fvec_sub(b.position, a.position), offset);
    shift = cm_fvec_sub(shift, times(&turn_b, offset));
    cm_f points = cm_lanes_load(pairs->points + at);
    cm_f point[4];
    for (uint32_t i = 0; i < CM_MANIFOLD_MAX; i++) {
        if (i == 2 && !cm_lanes_any(cm_lanes_greater(points, two))) {
            break;
        }
        cm_lanes_gather4(&kept_points[i].anchor.x, POINT_FLOATS, pairs->point + at, point);
        cm_fvec anchor = {point[0], point[1], point[2]};
        cm_fvec drift = cm_fvec_add(shift, times(&turn, anchor));
        holds &= cm_lanes_greater(bound, cm_fvec_dot(drift, drift)) |
                 cm_lanes_at_most(points, cm_lanes_set((float)i));
        cm_lanes_store(separation[i] + at, point[3] + cm_fvec_dot(drift, normal));
    }
    *together = cm_lanes_true(
        holds & ~cm_lanes_greater(cm_lanes_set(2.0f * ANGLE_MAX * ANGLE_MAX), squared(&turn_a)));
    return cm_lanes_true(holds);
}

uint32_t cm_recycle(const cm_motion *motions, cm_kept_manifold *kept, cm_kept_point *points,
                    cm_recycle_pairs *pairs, float dt,
                    float separation[CM_MANIFOLD_MAX][CM_RECYCLE_MAX])
{
    uint32_t used = (1u << pairs->count) - 1u, holding = 0, turned = 0;
    for (uint32_t i = pairs->count; i % CM_LANES != 0; i++) {
        pairs->row[i] = pairs->row[0];
        pairs->point[i] = pairs->point[0];
        pairs->a[i] = pairs->a[0];
        pairs->b[i] = pairs->b[0];
        pairs->points[i] = pairs->reach[i] = pairs->inner_radius[i] = 0.0f;
    }
    for (uint32_t at = 0; at < pairs->count; at += CM_LANES) {
        uint32_t together;
        holding |= look(motions, kept, points, pairs, at, dt, separation, &together) << at;
        turned |= together << at;
    }
    for (turned &= used; turned != 0; turned &= turned - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(turned);
        carry_along(&motions[pairs->a[i]], (uint32_t)pairs->points[i], &kept[pairs->row[i]],
                    &points[pairs->point[i]]);
    }
    return holding & used;
}

typedef float four __attribute__((vector_size(16)));

_Static_assert(offsetof(cm_manifold_point, anchor_a) == 0 &&
                   offsetof(cm_manifold_point, anchor_b) == 12 &&
                   offsetof(cm_manifold_point, separation) == 24,
               "the fourth float behind each belongs to the next");

static inline four load_four(const float *from)
{
    four value;
    memcpy(&value, from, sizeof value);
    return value;
}

void cm_recycle_take(const cm_kept_manifold *kept, const cm_kept_point *points,
                     const float separation[CM_MANIFOLD_MAX], uint32_t point_count,
                     cm_manifold *manifold)
{
    // Four floats at a time; the fourth of each is written over.
    four offset = load_four(&kept->offset.x);
    for (uint32_t i = 0; i < point_count; i++) {
        cm_manifold_point *to = &manifold->points[i];
        four anchor = load_four(&points[i].anchor.x), anchor_b = anchor - offset;
        memcpy(&to->anchor_a, &anchor, sizeof anchor);
        memcpy(&to->anchor_b, &anchor_b, sizeof anchor_b);
        to->separation = separation[i];
    }
    manifold->normal = kept->normal;
    manifold->point_count = point_count;
}
