// A sphere or a capsule against a box, in the box's axes.
//
// Outside, the closest points give the normal: exact for a segment, since the squared distance to a
// box is convex and piecewise quadratic along it. A capsule along a face gets two points, where its
// segment enters and leaves the face's column, so that it rests. With the core inside the box the
// face of the least depth pushes it out (ties: lowest axis, positive side). Features: 0 for a
// single point, 1 and 2 for the segment's ends. Where bodies turn fast, or a blow may turn them,
// ends that come within the tick get points besides.
#include "shared/sim/collide/narrow.h"

#define SHORT      1.0e-6f
#define FACE_COS   0.99f  // normals within 8 degrees of a face's use the face
#define FACE_MISS  0.002f // m, by which a face's points may miss the true distance
#define MIN_LENGTH 1.0e-3f

typedef struct core {
    float start[3], along[3]; // from start to start + along, in the box's axes
    float half[3];            // of the box
    float radius;
} core;

static core core_of(const cm_shape *round, const cm_shape_transform *transform, const cm_shape *box,
                    const cm_shape_transform *box_transform)
{
    core c;
    carom_vec3 center = cm_mat3_mul_transpose(box_transform->rotation,
                                              cm_sub(transform->position, box_transform->position));
    carom_vec3 axis = cm_vec(0.0f, 0.0f, 0.0f);
    if (round->type == CAROM_SHAPE_CAPSULE) {
        axis = cm_mat3_mul_transpose(box_transform->rotation,
                                     cm_scale(round->size[1], transform->rotation.y));
    }
    carom_vec3 start = cm_sub(center, axis);
    c.start[0] = start.x, c.start[1] = start.y, c.start[2] = start.z;
    c.along[0] = 2.0f * axis.x, c.along[1] = 2.0f * axis.y, c.along[2] = 2.0f * axis.z;
    for (uint32_t i = 0; i < 3; i++) {
        c.half[i] = box->size[i];
    }
    c.radius = round->size[0];
    return c;
}

static float excess(float x, float half)
{
    return x > half ? x - half : (x < -half ? x + half : 0.0f);
}

// Half the derivative of the squared distance along the segment.
static float slope(const core *c, float t)
{
    float sum = 0.0f;
    for (uint32_t i = 0; i < 3; i++) {
        sum += c->along[i] * excess(c->start[i] + t * c->along[i], c->half[i]);
    }
    return sum;
}

// Finds the point of the segment closest to the box. The slope never falls, and is linear between
// the places at which the segment crosses a face's plane: find the stretch where it changes sign.
static float closest_parameter(const core *c)
{
    float low = 0.0f, high = 1.0f, low_slope = slope(c, 0.0f), high_slope = slope(c, 1.0f);
    if (low_slope >= 0.0f) {
        return 0.0f;
    }
    if (high_slope <= 0.0f) {
        return 1.0f;
    }
    for (uint32_t i = 0; i < 6; i++) {
        float a = c->along[i >> 1], h = i & 1u ? c->half[i >> 1] : -c->half[i >> 1];
        if (cm_abs(a) < SHORT) {
            continue;
        }
        float t = (h - c->start[i >> 1]) / a;
        if (!(t > low && t < high)) {
            continue;
        }
        float here = slope(c, t);
        if (here < 0.0f) {
            low = t;
            low_slope = here;
        } else {
            high = t;
            high_slope = here;
        }
    }
    return low + (high - low) * (low_slope / (low_slope - high_slope));
}

// The stretch of the segment above face `axis`: inside the slabs of the two other axes.
static bool clip_to_column(const core *c, uint32_t axis, float *low, float *high)
{
    *low = 0.0f;
    *high = 1.0f;
    for (uint32_t i = 0; i < 3; i++) {
        if (i == axis) {
            continue;
        }
        float a = c->along[i], p = c->start[i], h = c->half[i];
        if (cm_abs(a) < SHORT) {
            if (cm_abs(p) > h) {
                return false;
            }
            continue;
        }
        float t1 = (-h - p) / a, t2 = (h - p) / a;
        *low = cm_max(*low, cm_min(t1, t2));
        *high = cm_min(*high, cm_max(t1, t2));
    }
    return *high > *low;
}

typedef struct frame {
    const cm_shape_transform *box;
    carom_vec3 round_to_box;
} frame;

// A point on the core at parameter t, with the unit normal (box axes, out of the box) and the
// height of the core's point over the surface along it.
static void add_core_point(const core *c, const frame *f, float t, const float normal[3],
                           float height, uint32_t feature, cm_manifold *manifold)
{
    float out = 0.5f * (height + c->radius); // halfway between both surfaces
    carom_vec3 p = cm_vec(c->start[0] + t * c->along[0] - out * normal[0],
                          c->start[1] + t * c->along[1] - out * normal[1],
                          c->start[2] + t * c->along[2] - out * normal[2]);
    carom_vec3 point = cm_add(cm_mat3_mul(f->box->rotation, p), f->round_to_box);
    cm_manifold_add(manifold, point, f->round_to_box, height - c->radius, feature);
}

static void set_normal(const frame *f, const float normal[3], cm_manifold *manifold)
{
    carom_vec3 n = cm_vec(-normal[0], -normal[1], -normal[2]);
    manifold->normal = cm_mat3_mul(f->box->rotation, n);
}

// Face contact: one or two points.
static void collide_face(const core *c, const frame *f, uint32_t axis, float sign, float margin,
                         cm_manifold *manifold)
{
    float normal[3] = {0.0f, 0.0f, 0.0f}, low, high;
    normal[axis] = sign;
    set_normal(f, normal, manifold);
    if (!clip_to_column(c, axis, &low, &high)) {
        return;
    }
    float length =
        cm_sqrt(c->along[0] * c->along[0] + c->along[1] * c->along[1] + c->along[2] * c->along[2]);
    float ends[2] = {low, high};
    uint32_t count = (high - low) * length > MIN_LENGTH ? 2 : 1;
    for (uint32_t i = 0; i < count; i++) {
        float height = sign * (c->start[axis] + ends[i] * c->along[axis]) - c->half[axis];
        if (height - c->radius <= margin) {
            add_core_point(c, f, ends[i], normal, height, count == 2 ? 1u + i : 0u, manifold);
        }
    }
}

// The core reaches into the box: out through the face of the least depth.
static void collide_deep(const core *c, const frame *f, float margin, cm_manifold *manifold)
{
    float best = 0.0f, best_sign = 1.0f;
    uint32_t best_axis = 3;
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t axis = i >> 1;
        float sign = i & 1u ? -1.0f : 1.0f;
        float p = sign * c->start[axis], q = sign * (c->start[axis] + c->along[axis]);
        float height = cm_min(p, q) - c->half[axis];
        if (best_axis == 3 || height > best) {
            best = height;
            best_axis = axis;
            best_sign = sign;
        }
    }
    collide_face(c, f, best_axis, best_sign, margin, manifold);
    if (manifold->point_count == 0) {
        float normal[3] = {0.0f, 0.0f, 0.0f};
        normal[best_axis] = best_sign;
        bool end = best_sign * c->along[best_axis] < 0.0f;
        add_core_point(c, f, end ? 1.0f : 0.0f, normal, best, 0, manifold);
    }
}

// Ends that may come within the margin along the normal d: as far as the plane there is that faces
// them.
static void add_core_ends(const core *c, const frame *f, float t, const float d[3], float margin,
                          cm_manifold *manifold)
{
    for (uint32_t end = 0; end < 2; end++) {
        float at = (float)end, way = 0.0f, squared = 0.0f, along = 0.0f;
        for (uint32_t i = 0; i < 3; i++) {
            float e = excess(c->start[i] + at * c->along[i], c->half[i]);
            squared += e * e;
            along += e * d[i];
            way += c->along[i] * c->along[i];
        }
        way *= (at - t) * (at - t);
        float distance = cm_sqrt(squared);
        if (way < CM_SAME_END * c->radius * c->radius || !(along > CM_FACING * distance)) {
            continue;
        }
        float gap = (distance - c->radius) * distance / along;
        if (gap <= margin) {
            add_core_point(c, f, at, d, gap + c->radius, 1u + end, manifold);
        }
    }
}

static uint32_t collide_core(const core *c, const frame *f, float margin, float swing,
                             cm_manifold *manifold)
{
    float t = closest_parameter(c), d[3], squared = 0.0f;
    for (uint32_t i = 0; i < 3; i++) {
        d[i] = excess(c->start[i] + t * c->along[i], c->half[i]);
        squared += d[i] * d[i];
    }
    manifold->point_count = 0;
    manifold->normal = cm_fixed_direction();
    float distance = cm_sqrt(squared);
    if (distance - c->radius > margin) {
        return 0;
    }
    if (distance < SHORT) {
        collide_deep(c, f, margin + swing, manifold);
        return manifold->point_count;
    }
    for (uint32_t i = 0; i < 3; i++) {
        d[i] *= 1.0f / distance;
    }
    for (uint32_t i = 0; i < 3; i++) {
        if (cm_abs(d[i]) > FACE_COS) {
            collide_face(c, f, i, d[i] > 0.0f ? 1.0f : -1.0f, margin + swing, manifold);
        }
    }
    // Beside the face: its points miss the closest one.
    float lowest = 1.0e30f;
    for (uint32_t i = 0; i < manifold->point_count; i++) {
        lowest = cm_min(lowest, manifold->points[i].separation);
    }
    if (lowest > distance - c->radius + FACE_MISS) {
        manifold->point_count = 0;
    }
    if (manifold->point_count == 0) {
        set_normal(f, d, manifold);
        add_core_point(c, f, t, d, distance, 0, manifold);
        if (swing > CM_SWINGS * c->radius) {
            add_core_ends(c, f, t, d, margin + swing, manifold);
        }
    }
    return manifold->point_count;
}

uint32_t cm_collide_capsule_box(const cm_shape *a, const cm_shape_transform *transform_a,
                                const cm_shape *b, const cm_shape_transform *transform_b,
                                float margin, float swing, cm_manifold *manifold)
{
    core c = core_of(a, transform_a, b, transform_b);
    frame f = {transform_b, cm_sub(transform_b->position, transform_a->position)};
    return collide_core(&c, &f, margin, swing, manifold);
}

// A core of no length: the slope is zero, the column one point; nothing else differs.
uint32_t cm_collide_sphere_box(const cm_shape *a, const cm_shape_transform *transform_a,
                               const cm_shape *b, const cm_shape_transform *transform_b,
                               float margin, float swing, cm_manifold *manifold)
{
    (void)swing;
    core c = core_of(a, transform_a, b, transform_b);
    frame f = {transform_b, cm_sub(transform_b->position, transform_a->position)};
    return collide_core(&c, &f, margin, 0.0f, manifold);
}
