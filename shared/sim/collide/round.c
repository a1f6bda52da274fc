// Spheres and capsules against each other: a segment (of no length, for a sphere) and a radius
// each.
//
// One point at the segments' closest points; two where capsules lie side by side, so that a capsule
// rests on another without rocking, or where they turn, or may be turned, so that an end comes
// within the tick. Closest points of segments after C. Ericson, "Real-Time Collision Detection",
// 2005, 5.1.9. Features: 0 for the single point, 1 and 2 for the ends of a side-by-side overlap
// along a's axis, or a's ends, 3 and 4 for b's. All points are relative to a's position.
#include "shared/sim/collide/narrow.h"

#define PARALLEL_SIN_SQUARED 0.0025f // about 3 degrees
#define SHORT                1.0e-6f

typedef struct segment {
    carom_vec3 center, half; // the ends are center - half, center + half
    float radius;
} segment;

static segment segment_of(const cm_shape *shape, const cm_shape_transform *transform,
                          carom_vec3 origin)
{
    segment s;
    bool capsule = shape->type == CAROM_SHAPE_CAPSULE;
    s.center = cm_sub(transform->position, origin);
    s.half = capsule ? cm_scale(shape->size[1], transform->rotation.y) : cm_vec(0.0f, 0.0f, 0.0f);
    s.radius = shape->size[0];
    return s;
}

// Parameters in [-1, 1] of the closest points.
static void closest(const segment *a, const segment *b, float *s, float *t)
{
    carom_vec3 r = cm_sub(a->center, b->center);
    float aa = cm_dot(a->half, a->half), bb = cm_dot(b->half, b->half);
    float ab = cm_dot(a->half, b->half), ar = cm_dot(a->half, r), br = cm_dot(b->half, r);
    *s = 0.0f;
    *t = 0.0f;
    if (aa > SHORT * SHORT && bb > SHORT * SHORT) {
        float det = aa * bb - ab * ab;
        if (det > 1.0e-6f * aa * bb) {
            *s = cm_clamp((ab * br - ar * bb) / det, -1.0f, 1.0f);
        }
        *t = cm_clamp((ab * *s + br) / bb, -1.0f, 1.0f);
        *s = cm_clamp((ab * *t - ar) / aa, -1.0f, 1.0f);
    } else if (aa > SHORT * SHORT) {
        *s = cm_clamp(-ar / aa, -1.0f, 1.0f);
    } else if (bb > SHORT * SHORT) {
        *t = cm_clamp(br / bb, -1.0f, 1.0f);
    }
}

// From a to b; where the points coincide, across both segments.
static carom_vec3 direction(const segment *a, const segment *b, carom_vec3 d, float distance)
{
    if (distance > SHORT) {
        return cm_scale(1.0f / distance, d);
    }
    carom_vec3 n = cm_cross(a->half, b->half);
    if (cm_length_squared(n) < 1.0e-12f) {
        n = cm_cross(a->half, cm_vec(0.0f, 0.0f, 1.0f));
    }
    if (cm_length_squared(n) < 1.0e-12f) {
        n = cm_cross(b->half, cm_vec(0.0f, 0.0f, 1.0f));
    }
    n = cm_normalize(n);
    return cm_length_squared(n) > 0.5f ? n : cm_fixed_direction();
}

// Both ends of the stretch in which parallel capsules overlap; none where they only meet end to
// end.
static void add_side_by_side(const segment *a, const segment *b, carom_vec3 a_to_b, float margin,
                             cm_manifold *manifold)
{
    float aa = cm_dot(a->half, a->half), bb = cm_dot(b->half, b->half);
    carom_vec3 cross = cm_cross(a->half, b->half);
    if (aa < SHORT || bb < SHORT || cm_dot(cross, cross) > PARALLEL_SIN_SQUARED * aa * bb) {
        return;
    }
    carom_vec3 r = cm_sub(b->center, a->center);
    float middle = cm_dot(r, a->half) / aa, reach = cm_abs(cm_dot(b->half, a->half)) / aa;
    float low = cm_max(-1.0f, middle - reach), high = cm_min(1.0f, middle + reach);
    if (high - low < 0.1f) {
        return;
    }
    float ends[2] = {low, high};
    for (uint32_t i = 0; i < 2; i++) {
        carom_vec3 p = cm_mul_add(a->center, ends[i], a->half);
        float t = cm_clamp(cm_dot(cm_sub(p, b->center), b->half) / bb, -1.0f, 1.0f);
        carom_vec3 q = cm_mul_add(b->center, t, b->half);
        float gap = cm_dot(cm_sub(q, p), manifold->normal);
        float separation = gap - a->radius - b->radius;
        if (separation <= margin) {
            carom_vec3 point = cm_mul_add(p, a->radius + 0.5f * separation, manifold->normal);
            cm_manifold_add(manifold, point, a_to_b, separation, 1u + i);
        }
    }
}

// Ends that may come within the margin along the normal, b's against a and a's against b.
static void add_ends_of(const segment *own, const segment *other, float s, bool second,
                        carom_vec3 a_to_b, float margin, cm_manifold *manifold)
{
    carom_vec3 out = second ? cm_neg(manifold->normal) : manifold->normal;
    float length = cm_dot(own->half, own->half), squared = cm_dot(other->half, other->half);
    for (uint32_t i = 0; i < 2 && manifold->point_count < CM_MANIFOLD_MAX; i++) {
        float at = i ? 1.0f : -1.0f, way = (at - s) * (at - s) * length;
        carom_vec3 p = cm_mul_add(own->center, at, own->half);
        float u = cm_dot(cm_sub(p, other->center), other->half);
        u = squared > SHORT ? cm_clamp(u / squared, -1.0f, 1.0f) : 0.0f;
        carom_vec3 d = cm_sub(cm_mul_add(other->center, u, other->half), p);
        float distance = cm_length(d), along = cm_dot(d, out);
        if (way < CM_SAME_END * own->radius * own->radius || !(along > CM_FACING * distance)) {
            continue;
        }
        float gap = (distance - own->radius - other->radius) * distance / along;
        if (gap <= margin) {
            carom_vec3 point = cm_mul_add(p, own->radius + 0.5f * gap, out);
            cm_manifold_add(manifold, point, a_to_b, gap, (second ? 3u : 1u) + i);
        }
    }
}

uint32_t cm_collide_round(const cm_shape *a, const cm_shape_transform *transform_a,
                          const cm_shape *b, const cm_shape_transform *transform_b, float margin,
                          float swing, cm_manifold *manifold)
{
    segment sa = segment_of(a, transform_a, transform_a->position);
    segment sb = segment_of(b, transform_b, transform_a->position);
    float s, t;
    closest(&sa, &sb, &s, &t);
    carom_vec3 p = cm_mul_add(sa.center, s, sa.half), q = cm_mul_add(sb.center, t, sb.half);
    carom_vec3 d = cm_sub(q, p);
    float distance = cm_length(d), separation = distance - sa.radius - sb.radius;
    manifold->point_count = 0;
    manifold->normal = direction(&sa, &sb, d, distance);
    if (separation > margin) {
        return 0;
    }
    carom_vec3 a_to_b = sb.center;
    add_side_by_side(&sa, &sb, a_to_b, margin, manifold);
    if (manifold->point_count == 0) {
        carom_vec3 point = cm_mul_add(p, sa.radius + 0.5f * separation, manifold->normal);
        cm_manifold_add(manifold, point, a_to_b, separation, 0);
        if (swing > CM_SWINGS * cm_min(sa.radius, sb.radius)) {
            add_ends_of(&sa, &sb, s, false, a_to_b, margin + swing, manifold);
            add_ends_of(&sb, &sa, t, true, a_to_b, margin + swing, manifold);
        }
    }
    return manifold->point_count;
}
