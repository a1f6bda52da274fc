// Convex shapes as the general narrow phase sees them: polyhedra placed in world axes, cores with a
// radius, the features that touch, and the clipping of one by another. Private to shared/sim.
//
// Everything is in world axes, relative to the position of the first shape, so that precision does
// not fall far from the origin. All of it is pure and lives on the stack.
#ifndef CM_SIM_COLLIDE_CONVEX_H
#define CM_SIM_COLLIDE_CONVEX_H

#include "shared/sim/collide/narrow.h"
#include "shared/sim/state/hull.h"

#define CM_FEATURE_POINTS 64u  // most vertices of a face
#define CM_CLIP_POINTS    128u // of a face clipped by another

// A hull or a box as it is placed. Rows behind the last vertex and face repeat the first, so that
// lanes may read them.
typedef struct cm_poly {
    uint32_t vertex_count, face_count, edge_count;
    carom_vec3 center; // of its box
    carom_vec3 middle; // of the ball inside
    float inner_radius;
    float reach; // no vertex is farther from the center
    float bend;  // as of carom_hull
    float vertices[3][CM_HULL_VERTICES];
    float normals[3][CM_HULL_FACE_ROWS];
    float offsets[CM_HULL_FACE_ROWS];
    const uint16_t *first;
    const uint8_t *loop, *loop_edges;
    const cm_hull_edge *edges;
} cm_poly;

static inline carom_vec3 cm_poly_vertex(const cm_poly *poly, uint32_t i)
{
    return cm_vec(poly->vertices[0][i], poly->vertices[1][i], poly->vertices[2][i]);
}

static inline carom_vec3 cm_poly_normal(const cm_poly *poly, uint32_t face)
{
    return cm_vec(poly->normals[0][face], poly->normals[1][face], poly->normals[2][face]);
}

// False for a shape that is neither box nor hull, or a hull that is not known there.
bool cm_poly_make(const cm_shape *shape, const cm_shape_transform *transform, carom_vec3 origin,
                  cm_poly *poly);
// The vertex farthest along d; the first of several.
uint32_t cm_poly_support(const cm_poly *poly, carom_vec3 d);

typedef enum cm_core_kind {
    CM_CORE_POINT,
    CM_CORE_SEGMENT,
    CM_CORE_CYLINDER,
    CM_CORE_POLY,
} cm_core_kind;

// Any shape but a plane: a core, and all within `radius` of it.
typedef struct cm_core {
    cm_core_kind kind;
    carom_vec3 center;
    cm_mat3 rotation;
    carom_vec3 axis;     // unit: the segment's and the cylinder's
    float half;          // half the length along it
    float girth;         // of a cylinder: its radius
    float radius;        // about the core: spheres and capsules
    const cm_poly *poly; // of CM_CORE_POLY
} cm_core;

// `poly` is room that must live as long as the core. False as cm_poly_make.
bool cm_core_make(const cm_shape *shape, const cm_shape_transform *transform, carom_vec3 origin,
                  cm_poly *poly, cm_core *core);
carom_vec3 cm_core_support(const cm_core *core, carom_vec3 d);

// gjk.c ------------------------------------------------------------------------------------------

typedef struct cm_gjk {
    float distance;        // between the cores; 0 where they overlap
    carom_vec3 on_a, on_b; // closest points
    carom_vec3 direction;  // unit, from a to b; zero where they overlap
    uint32_t iterations;
} cm_gjk;

// Closest points of two cores (E. Gilbert, D. Johnson, S. Keerthi, 1988).
void cm_gjk_distance(const cm_core *a, const cm_core *b, cm_gjk *result);

// clip.c -----------------------------------------------------------------------------------------

// A point, a segment or a polygon of a shape's surface, with the name of each edge: the one that
// leaves point i.
typedef struct cm_feature {
    uint32_t count;
    carom_vec3 points[CM_FEATURE_POINTS];
    carom_vec3 normal; // of a polygon, unit, outward; its points run counter-clockwise about it
    uint32_t id;       // which feature of the shape, below 128
} cm_feature;

// A contact before it is in a manifold: `p` on the surface of the incident shape.
typedef struct cm_clip_point {
    carom_vec3 p;
    float separation; // over the reference face's plane
    uint32_t feature;
} cm_clip_point;

// Points of `incident` (grown by radius) within the sides of the polygon `reference` and within
// margin of its plane: at most CM_CLIP_POINTS.
//   BITS    FEATURE
//   0..6    edge before the point: of the incident feature, or 64 + side of the reference
//   7..13   edge after it
//   14..20  incident feature's id
//   21..27  reference feature's id
//   28      the reference is b (set by the caller)
uint32_t cm_clip(const cm_feature *reference, const cm_feature *incident, float radius,
                 float margin, cm_clip_point *list);
// Keeps the deepest, the farthest from it, and the two that span the most area: at most 4, in
// order.
uint32_t cm_clip_reduce(cm_clip_point *list, uint32_t count, carom_vec3 normal);

// hull_apart.c: of a box or a hull and a hull (both with their hulls), whether they are surely
// farther apart than margin; no where that is not found out at once.
bool cm_hulls_apart(const cm_shape *a, const cm_shape_transform *transform_a,
                    const cm_shape_transform *transform_b, float margin);
// hull.c: two polyhedra. convex_plane.c: a cylinder or hull over a plane. convex.c: all the rest.
uint32_t cm_collide_polys(const cm_poly *a, const cm_poly *b, carom_vec3 a_to_b, float margin,
                          cm_manifold *manifold);
uint32_t cm_collide_convex_plane(const cm_shape *a, const cm_shape_transform *transform_a,
                                 const cm_shape *b, const cm_shape_transform *transform_b,
                                 float margin, cm_manifold *manifold);
uint32_t cm_collide_cores(const cm_core *a, const cm_core *b, float margin, cm_manifold *manifold);

// Face of a polyhedron as a feature.
void cm_poly_face(const cm_poly *poly, uint32_t face, cm_feature *feature);

#endif
