// A hull or a cylinder over a half-space. A hull touches with its lowest vertices, four at most
// (the deepest, and those that span the most area). A cylinder touches with the rim of its lower
// cap at the deepest point and a quarter turn to each side and across, and with the deepest point
// of the upper cap: on its face it stands on four points, on its side it rolls on two, exactly
// below its axis. Features: the vertex of a hull; 0 to 3 about the lower rim, 4 the upper.
#include "shared/sim/collide/convex.h"

#define UPRIGHT 0.001f // sine of the tilt below which the four points stand fixed in the body

typedef struct ground {
    carom_vec3 normal;
    float height; // of the shape's position
} ground;

static void add_candidate(cm_clip_point *list, uint32_t *count, const ground *g, carom_vec3 at,
                          float margin, uint32_t feature)
{
    float separation = g->height + cm_dot(g->normal, at);
    if (separation <= margin) {
        list[(*count)++] = (cm_clip_point){at, separation, feature};
    }
}

static uint32_t cylinder_points(const cm_shape *a, const cm_shape_transform *transform,
                                const ground *g, float margin, cm_clip_point *list)
{
    carom_vec3 axis = transform->rotation.y;
    float along = cm_dot(g->normal, axis);
    carom_vec3 lower = cm_scale(along > 0.0f ? -a->size[1] : a->size[1], axis);
    carom_vec3 down = cm_sub(cm_scale(along, axis), g->normal);
    float tilt = cm_length(down);
    down = tilt > UPRIGHT ? cm_scale(1.0f / tilt, down) : transform->rotation.x;
    down = cm_scale(a->size[0], down);
    carom_vec3 beside = cm_cross(axis, down);
    uint32_t count = 0;
    add_candidate(list, &count, g, cm_add(lower, down), margin, 0);
    add_candidate(list, &count, g, cm_add(lower, beside), margin, 1);
    add_candidate(list, &count, g, cm_sub(lower, down), margin, 2);
    add_candidate(list, &count, g, cm_sub(lower, beside), margin, 3);
    if (tilt > UPRIGHT) {
        add_candidate(list, &count, g, cm_sub(down, lower), margin, 4);
    }
    return count;
}

// Four of a hull's vertices. What is thin has vertices over each other: the higher of two would
// hold nothing. So a vertex counts for less, the higher it is over the lowest: its way from there
// is shortened, to nothing at the margin.
static uint32_t choose_vertices(cm_clip_point *list, uint32_t count, carom_vec3 normal,
                                float margin)
{
    cm_clip_point near[CM_HULL_VERTICES];
    uint32_t lowest = 0;
    if (count <= CM_MANIFOLD_MAX) {
        return count;
    }
    for (uint32_t i = 1; i < count; i++) {
        lowest = list[i].separation < list[lowest].separation ? i : lowest;
    }
    for (uint32_t i = 0; i < count; i++) {
        float part = 1.0f - (list[i].separation - list[lowest].separation) / margin;
        near[i].p = cm_scale(cm_max(part, 0.0f), cm_sub(list[i].p, list[lowest].p));
        near[i].separation = list[i].separation;
        near[i].feature = i;
    }
    count = cm_clip_reduce(near, count, normal);
    for (uint32_t i = 0; i < count; i++) { // ascending
        list[i] = list[near[i].feature];
    }
    return count;
}

uint32_t cm_collide_convex_plane(const cm_shape *a, const cm_shape_transform *transform_a,
                                 const cm_shape *b, const cm_shape_transform *transform_b,
                                 float margin, cm_manifold *manifold)
{
    cm_clip_point list[CM_HULL_VERTICES];
    uint32_t count = 0;
    ground g;
    g.normal = cm_mat3_mul(transform_b->rotation, cm_vec(b->size[0], b->size[1], b->size[2]));
    g.height = cm_dot(g.normal, cm_sub(transform_a->position, transform_b->position)) - b->size[3];
    if (a->type == CAROM_SHAPE_CYLINDER) {
        count = cylinder_points(a, transform_a, &g, margin, list);
    } else if (transform_a->hull) {
        for (uint32_t i = 0; i < transform_a->hull->vertex_count; i++) {
            carom_vec3 at = cm_mat3_mul(transform_a->rotation, transform_a->hull->vertices[i]);
            add_candidate(list, &count, &g, at, margin, i);
        }
    }
    count = choose_vertices(list, count, g.normal, margin);
    carom_vec3 a_to_b = cm_sub(transform_b->position, transform_a->position);
    manifold->point_count = 0;
    manifold->normal = cm_neg(g.normal);
    for (uint32_t i = 0; i < count; i++) {
        carom_vec3 p = cm_mul_add(list[i].p, -0.5f * list[i].separation, g.normal);
        cm_manifold_add(manifold, p, a_to_b, list[i].separation, list[i].feature);
    }
    return count;
}
