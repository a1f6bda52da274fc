// Boxes and hulls as polyhedra in world axes. A box has the numbering of its corners' sign bits (x
// 1, y 2, z 4) and faces -x +x -y +y -z +z. Typical: 8 vertices, 6 faces, 12 edges.
#include "shared/sim/collide/convex.h"

static const uint16_t box_first[7] = {0, 4, 8, 12, 16, 20, 24};
static const uint8_t box_loop[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                                     2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
// From vertex 0 to 1 as face 0 runs.
static const cm_hull_edge box_edges[12] = {
    {{0, 4}, {0, 2}}, {{4, 6}, {0, 5}}, {{6, 2}, {0, 3}}, {{2, 0}, {0, 4}},
    {{1, 3}, {1, 4}}, {{3, 7}, {1, 3}}, {{7, 5}, {1, 5}}, {{5, 1}, {1, 2}},
    {{0, 1}, {2, 4}}, {{5, 4}, {2, 5}}, {{6, 7}, {3, 5}}, {{3, 2}, {3, 4}},
};

static void make_box(const cm_shape *shape, const cm_shape_transform *transform, carom_vec3 at,
                     cm_poly *poly)
{
    const carom_vec3 *axis = &transform->rotation.x;
    poly->vertex_count = 8;
    poly->face_count = 6;
    poly->edge_count = 12;
    poly->center = at;
    poly->first = box_first;
    poly->loop = box_loop;
    poly->edges = box_edges;
    for (uint32_t i = 0; i < 8; i++) {
        carom_vec3 v = at;
        for (uint32_t k = 0; k < 3; k++) {
            v = cm_mul_add(v, i >> k & 1u ? shape->size[k] : -shape->size[k], axis[k]);
        }
        poly->vertices[i] = v;
    }
    for (uint32_t f = 0; f < 6; f++) {
        uint32_t k = f >> 1;
        poly->normals[f] = f & 1u ? axis[k] : cm_neg(axis[k]);
        poly->offsets[f] = cm_dot(poly->normals[f], at) + shape->size[k];
    }
}

static void make_hull(const carom_hull *hull, const cm_shape_transform *transform, carom_vec3 at,
                      cm_poly *poly)
{
    poly->vertex_count = hull->vertex_count;
    poly->face_count = hull->face_count;
    poly->edge_count = hull->edge_count;
    poly->center = cm_add(at, cm_mat3_mul(transform->rotation, hull->center));
    poly->first = hull->first;
    poly->loop = hull->loop;
    poly->edges = hull->edges;
    for (uint32_t i = 0; i < hull->vertex_count; i++) {
        poly->vertices[i] = cm_add(at, cm_mat3_mul(transform->rotation, hull->vertices[i]));
    }
    for (uint32_t f = 0; f < hull->face_count; f++) {
        poly->normals[f] = cm_mat3_mul(transform->rotation, hull->normals[f]);
        poly->offsets[f] = cm_dot(poly->normals[f], at) + hull->offsets[f];
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
    uint32_t best = 0;
    float most = cm_dot(poly->vertices[0], d);
    for (uint32_t i = 1; i < poly->vertex_count; i++) {
        float here = cm_dot(poly->vertices[i], d);
        if (here > most) {
            most = here;
            best = i;
        }
    }
    return best;
}

void cm_poly_face(const cm_poly *poly, uint32_t face, cm_feature *feature)
{
    uint32_t first = poly->first[face];
    feature->count = poly->first[face + 1] - first;
    feature->normal = poly->normals[face];
    feature->id = face;
    for (uint32_t i = 0; i < feature->count; i++) {
        feature->points[i] = poly->vertices[poly->loop[first + i]];
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
        return core->poly->vertices[cm_poly_support(core->poly, d)];
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
