// The intersection of two convex pieces as a polyhedron. Private to shared/sim.
//
// D. E. Muller, F. P. Preparata, "Finding the intersection of two convex polyhedra", 1978: about a
// common interior point o the plane n . (x - o) = d becomes the point n / d; the facets of the
// convex hull of these points are the vertices of the intersection, its vertices are the faces.
// Everything here works in one block of memory that the caller owns (250 kB), and leaves nothing in
// it that a later call reads.
// Typical: 6 to 10 planes, 8 to 12 vertices, some 20 triangles.
#ifndef CM_SIM_SOLVE_VOLUME_POLY_H
#define CM_SIM_SOLVE_VOLUME_POLY_H

#include "shared/sim/solve/volume/piece.h"

#define CM_VOLUME_PLANES (2 * CM_VOLUME_FACES + 4) // and four that enclose the rest
#define CM_VOLUME_FACETS (2 * CM_VOLUME_PLANES)

// Least slack of an interior point: less is no volume, m.
#define CM_VOLUME_THIN 1.0e-9

typedef struct cm_volume_facet {
    uint16_t plane[3]; // vertices of the hull, counter-clockwise from outside
    uint16_t next[3];  // facet across the edge from plane[k] to plane[k + 1]
    cm_d3 vertex;      // of the intersection, relative to o
} cm_volume_facet;

typedef struct cm_volume_work {
    // The planes whose half-spaces meet, relative to o; the first four are artificial.
    uint32_t plane_count;
    cm_d3 normals[CM_VOLUME_PLANES];
    double offsets[CM_VOLUME_PLANES];
    cm_d3 interior; // o
    // The hull of the dual points.
    uint32_t facet_count;
    cm_volume_facet facets[CM_VOLUME_FACETS];
    uint8_t seen[CM_VOLUME_FACETS];
    uint16_t list[CM_VOLUME_FACETS];
    uint16_t start[CM_VOLUME_PLANES];
    // The result: vertices and the loops of its faces, counter-clockwise from outside.
    uint32_t vertex_count, face_count;
    cm_d3 vertices[CM_VOLUME_FACETS]; // in the axes of the pieces
    cm_d3 flat[CM_VOLUME_FACETS];     // x, y in the contact plane and height over it (region.c)
    uint16_t first[CM_VOLUME_PLANES + 1];
    uint16_t loop[3 * CM_VOLUME_FACETS];
    bool clipped; // the dual hull failed its checks and the pieces were clipped instead
} cm_volume_work;

// Moves *x to where the least slack of the half-spaces n . x <= d is largest, or is `enough`.
// Returns the slack there (negative: outside). A simplex method: the direction of steepest ascent
// of the active planes. Needs not start inside.
double cm_volume_inside(const cm_d3 *normals, const double *offsets, uint32_t count, double enough,
                        cm_d3 *x);

// The intersection of a and b into work's result. `near` is a point in or near it; `enough` a slack
// that is good enough for o. False where they share no volume.
bool cm_volume_intersect(const cm_volume_piece *a, const cm_volume_piece *b, cm_d3 near,
                         double enough, cm_volume_work *work);

// The same polyhedron by clipping every face's plane by the others: slower, for checks and where
// the hull fails. Needs work's planes. False where nothing is left.
bool cm_volume_clip(cm_volume_work *work, double size);

// Volume of the result, by tetrahedra from its first vertex.
double cm_volume_of(const cm_volume_work *work);

#endif
