// Boxes and hulls as polyhedra in world axes. A box has the numbering of its corners' sign bits (x
// 1, y 2, z 4) and faces -x +x -y +y -z +z. Typical: 8 vertices, 6 faces, 12 edges.
#include "shared/sim/collide/convex.h"

#ifndef CM_LANES // those of wide.c
#define CM_LANES 4
#endif
#include "shared/base/lanes.h"

#include <string.h>

static const uint16_t box_first[7] = {0, 4, 8, 12, 16, 20, 24};
static const uint8_t box_loop[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                                     2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
// From vertex 0 to 1 as face 0 runs.
static const cm_hull_edge box_edges[12] = {
    {{0, 4}, {0, 2}}, {{4, 6}, {0, 5}}, {{6, 2}, {0, 3}}, {{2, 0}, {0, 4}},
    {{1, 3}, {1, 4}}, {{3, 7}, {1, 3}}, {{7, 5}, {1, 5}}, {{5, 1}, {1, 2}},
    {{0, 1}, {2, 4}}, {{5, 4}, {2, 5}}, {{6, 7}, {3, 5}}, {{3, 2}, {3, 4}},
};

// Of each place in the loops: the edge that leaves it.
static const uint8_t box_loop_edges[24] = {0, 1,  2, 3,  4, 5,  6, 7, 8, 7, 9,  0,
                                           2, 10, 5, 11, 3, 11, 4, 8, 9, 6, 10, 1};

static void make_box(const cm_shape *shape, const cm_shape_transform *transform, carom_vec3 at,
                     cm_poly *poly)
{
    const carom_vec3 *axis = &transform->rotation.x;
    poly->vertex_count = 8;
    poly->face_count = 6;
    poly->edge_count = 12;
    poly->center = poly->middle = at;
    poly->inner_radius = cm_min(cm_min(shape->size[0], shape->size[1]), shape->size[2]);
    poly->reach = shape->size[0] + shape->size[1] + shape->size[2];
    poly->bend = 0.707f;
    poly->first = box_first;
    poly->loop = box_loop;
    poly->loop_edges = box_loop_edges;
    poly->edges = box_edges;
    for (uint32_t i = 0; i < 8; i++) {
        carom_vec3 v = at;
        for (uint32_t k = 0; k < 3; k++) {
            v = cm_mul_add(v, i >> k & 1u ? shape->size[k] : -shape->size[k], axis[k]);
        }
        poly->vertices[0][i] = v.x;
        poly->vertices[1][i] = v.y;
        poly->vertices[2][i] = v.z;
    }
    for (uint32_t i = 0; i < CM_HULL_LANES; i++) {
        uint32_t f = i < 6 ? i : 0, k = f >> 1;
        carom_vec3 n = f & 1u ? axis[k] : cm_neg(axis[k]);
        poly->normals[0][i] = n.x;
        poly->normals[1][i] = n.y;
        poly->normals[2][i] = n.z;
        poly->offsets[i] = cm_dot(n, at) + shape->size[k];
    }
}

static const uint32_t lane_numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};

// Rows from these on, turned into world axes.
CM_LANES_INLINE cm_fvec turn_rows(const cm_fvec rotation[3], const float *x, const float *y,
                                  const float *z)
{
    return cm_fvec_mix(cm_lanes_load(x), rotation[0], cm_lanes_load(y), rotation[1],
                       cm_lanes_load(z), rotation[2]);
}

static void make_hull(const carom_hull *hull, const cm_shape_transform *transform, carom_vec3 at,
                      cm_poly *poly)
{
    const carom_vec3 *column = &transform->rotation.x;
    const float(*vertices)[CM_HULL_VERTICES] = hull->vertex_rows;
    const float(*normals)[CM_HULL_FACE_ROWS] = hull->normal_rows;
    cm_fvec rotation[3], position = cm_fvec_set(at.x, at.y, at.z);
    for (uint32_t k = 0; k < 3; k++) {
        rotation[k] = cm_fvec_set(column[k].x, column[k].y, column[k].z);
    }
    poly->vertex_count = hull->vertex_count;
    poly->face_count = hull->face_count;
    poly->edge_count = hull->edge_count;
    poly->center = cm_add(at, cm_mat3_mul(transform->rotation, hull->center));
    poly->middle = cm_add(at, cm_mat3_mul(transform->rotation, hull->middle));
    poly->inner_radius = hull->inner_radius;
    poly->reach = hull->half.x + hull->half.y + hull->half.z;
    poly->bend = hull->bend;
    poly->first = hull->first;
    poly->loop = hull->loop;
    poly->loop_edges = hull->loop_edges;
    poly->edges = hull->edges;
    for (uint32_t i = 0; i < hull->vertex_count; i += CM_LANES) {
        cm_fvec v = cm_fvec_add(
            position, turn_rows(rotation, vertices[0] + i, vertices[1] + i, vertices[2] + i));
        cm_lanes_store(poly->vertices[0] + i, v.x);
        cm_lanes_store(poly->vertices[1] + i, v.y);
        cm_lanes_store(poly->vertices[2] + i, v.z);
    }
    for (uint32_t f = 0; f < hull->face_count; f += CM_LANES) {
        cm_fvec n = turn_rows(rotation, normals[0] + f, normals[1] + f, normals[2] + f);
        cm_lanes_store(poly->normals[0] + f, n.x);
        cm_lanes_store(poly->normals[1] + f, n.y);
        cm_lanes_store(poly->normals[2] + f, n.z);
        cm_lanes_store(poly->offsets + f,
                       cm_fvec_dot(n, position) + cm_lanes_load(hull->offsets + f));
    }
}

bool cm_poly_make(const cm_shape *shape, const cm_shape_transform *transform, carom_vec3 origin,
                  cm_poly *poly)
{
    carom_vec3 at = cm_sub(transform->position, origin);
    if (shape->type == CAROM_SHAPE_BOX) {
        make_box(shape, transform, at, poly);
        return true;
    }
    if (shape->type != CAROM_SHAPE_HULL || !transform->hull) {
        return false;
    }
    make_hull(transform->hull, transform, at, poly);
    return true;
}

uint32_t cm_poly_support(const cm_poly *poly, carom_vec3 d)
{
    cm_fvec toward = cm_fvec_set(d.x, d.y, d.z);
    cm_f most = cm_lanes_set(-3.0e38f);
    cm_mask at = {0}, here;
    memcpy(&here, lane_numbers, sizeof here);
    for (uint32_t i = 0; i < poly->vertex_count; i += CM_LANES) {
        cm_fvec v = {cm_lanes_load(poly->vertices[0] + i), cm_lanes_load(poly->vertices[1] + i),
                     cm_lanes_load(poly->vertices[2] + i)};
        cm_f along = cm_fvec_dot(v, toward);
        cm_mask farther = cm_lanes_greater(along, most);
        most = cm_lanes_select(farther, along, most);
        at = cm_lanes_pick(farther, here, at);
        here += CM_LANES;
    }
    int32_t number[CM_LANES];
    memcpy(number, &at, sizeof number);
    uint32_t best = CM_HULL_VERTICES - 1;
    uint32_t lanes = cm_lanes_true(cm_lanes_at_most(cm_lanes_set(cm_lanes_most(most)), most));
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t i = (uint32_t)number[__builtin_ctz(lanes)];
        best = i < best ? i : best;
    }
    return best;
}

void cm_poly_face(const cm_poly *poly, uint32_t face, cm_feature *feature)
{
    uint32_t first = poly->first[face];
    feature->count = poly->first[face + 1] - first;
    feature->normal = cm_poly_normal(poly, face);
    feature->id = face;
    for (uint32_t i = 0; i < feature->count; i++) {
        feature->points[i] = cm_poly_vertex(poly, poly->loop[first + i]);
    }
}

bool cm_core_make(const cm_shape *shape, const cm_shape_transform *transform, carom_vec3 origin,
                  cm_poly *poly, cm_core *core)
{
    core->center = cm_sub(transform->position, origin);
    core->rotation = transform->rotation;
    core->axis = transform->rotation.y;
    core->half = core->girth = core->radius = 0.0f;
    core->poly = NULL;
    switch (shape->type) {
    case CAROM_SHAPE_SPHERE:
        core->kind = CM_CORE_POINT;
        core->radius = shape->size[0];
        return true;
    case CAROM_SHAPE_CAPSULE:
        core->kind = CM_CORE_SEGMENT;
        core->radius = shape->size[0];
        core->half = shape->size[1];
        return true;
    case CAROM_SHAPE_CYLINDER:
        core->kind = CM_CORE_CYLINDER;
        core->girth = shape->size[0];
        core->half = shape->size[1];
        return true;
    default:
        core->kind = CM_CORE_POLY;
        core->poly = poly;
        return cm_poly_make(shape, transform, origin, poly);
    }
}

carom_vec3 cm_core_support(const cm_core *core, carom_vec3 d)
{
    if (core->kind == CM_CORE_POLY) {
        return cm_poly_vertex(core->poly, cm_poly_support(core->poly, d));
    }
    if (core->kind == CM_CORE_POINT) {
        return core->center;
    }
    float along = cm_dot(d, core->axis);
    carom_vec3 end = cm_mul_add(core->center, along < 0.0f ? -core->half : core->half, core->axis);
    if (core->kind == CM_CORE_SEGMENT) {
        return end;
    }
    // Summed from the other two axes: nothing cancels, so the point stays in the cap's plane.
    carom_vec3 out = cm_scale(cm_dot(d, core->rotation.x), core->rotation.x);
    out = cm_mul_add(out, cm_dot(d, core->rotation.z), core->rotation.z);
    float length = cm_length(out);
    // Straight up or down the whole cap is as far: its middle.
    return length > 1.0e-6f * cm_abs(along) ? cm_mul_add(end, core->girth / length, out) : end;
}
