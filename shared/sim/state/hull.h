// A convex hull as the simulation reads it. Private to shared/sim.
//
// Canonical form: vertices ascending by (x, y, z), each face's loop begins with its lowest vertex,
// faces ascend by loop. So the same set of points gives the same hull, bit for bit, and the id is a
// hash of what stands here. One block of 7 kB, immutable, outside the image: a shape's row names it
// by its id. Typical: 8 to 20 vertices.
#ifndef CM_SIM_STATE_HULL_H
#define CM_SIM_STATE_HULL_H

#include "carom/hull.h"

// Of a polyhedron of V vertices: at most 2V - 4 faces, 3V - 6 edges, each edge in two loops.
#define CM_HULL_VERTICES CAROM_HULL_VERTICES_MAX
#define CM_HULL_FACES    (2 * CM_HULL_VERTICES - 4)
#define CM_HULL_EDGES    (3 * CM_HULL_VERTICES - 6)
#define CM_HULL_LOOP     (2 * CM_HULL_EDGES)
// Faces are looked at in lanes, up to this many at once: rows behind the last one repeat the first.
#define CM_HULL_LANES     8u
#define CM_HULL_FACE_ROWS (CM_HULL_FACES + CM_HULL_LANES - CM_HULL_FACES % CM_HULL_LANES)

// From vertex 0 to vertex 1 as face 0 runs; face 1 runs the other way.
typedef struct cm_hull_edge {
    uint8_t vertex[2];
    uint8_t face[2];
} cm_hull_edge;

struct carom_hull {
    uint64_t id;
    carom_allocator allocator;
    uint32_t vertex_count, face_count, edge_count;
    carom_vec3 vertices[CM_HULL_VERTICES]; // behind the last one: the first
    carom_vec3 normals[CM_HULL_FACE_ROWS]; // unit, outward; likewise
    float offsets[CM_HULL_FACE_ROWS];      // normal . x of the face; likewise
    // The same vertices and normals by coordinate, for lanes.
    float vertex_rows[3][CM_HULL_VERTICES], normal_rows[3][CM_HULL_FACE_ROWS];
    uint16_t first[CM_HULL_FACES + 1]; // of each face in `loop`
    uint8_t loop[CM_HULL_LOOP];
    uint8_t loop_edges[CM_HULL_LOOP]; // the edge that leaves that vertex
    cm_hull_edge edges[CM_HULL_EDGES];
    carom_vec3 center, half; // of the box of the vertices
    carom_vec3 middle;       // the centroid
    float bend;              // least cosine of half the angle between two faces that share an edge
    float outer_radius;      // of the smallest ball about the shape's position
    float inner_radius;      // of the largest ball about the centroid
    // Exact integrals over the polyhedron, of unit density.
    double volume;
    double centroid[3];
    double tensor[3][3]; // inertia about the centroid
};

#endif
