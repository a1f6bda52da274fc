// Convex pieces of the volume solver: what it takes every shape for. Private to shared/sim.
//
// A piece is a convex polyhedron in world axes, relative to an origin that the caller chooses near
// it, in binary64; or a half-space (a plane), which has one face and no vertices. Round shapes are
// faceted with their vertices on the true surface. A body of several shapes is a set of pieces:
// pieces of one body never meet. Formulas: S. Hasegawa, N. Fujii, Y. Koike, M. Sato, "Real-time
// Rigid Body Simulation Based on Volumetric Penalty Method", HAPTICS 2003.
// Typical: 8 vertices, 6 faces.
#ifndef CM_SIM_SOLVE_VOLUME_PIECE_H
#define CM_SIM_SOLVE_VOLUME_PIECE_H

#include "shared/sim/state/image.h"
#include "shared/base/dvec.h"

// A capsule of CM_VOLUME_ROUND segments is the largest: meridians x rings. Cylinders may have more
// segments, up to CAROM_SEGMENTS_MAX.
#define CM_VOLUME_ROUND    32u // most meridians of spheres and capsules
#define CM_VOLUME_VERTICES 520u
#define CM_VOLUME_FACES    560u
#define CM_VOLUME_LOOP     2240u

_Static_assert(2 * CAROM_SEGMENTS_MAX <= CM_VOLUME_VERTICES, "a cylinder fits");
_Static_assert(4 * CM_VOLUME_FACES <= CM_VOLUME_LOOP, "faces of four corners fit");
_Static_assert(6 * CAROM_SEGMENTS_MAX <= CM_VOLUME_LOOP, "a cylinder's loops fit");

typedef struct cm_volume_piece {
    uint32_t vertex_count, face_count;
    bool half_space; // below normals[0] . x = offsets[0]
    bool box;        // center, axes scaled by half extents: supports without a search
    cm_d3 center;
    double size; // radius about the centre; of a half-space 0
    cm_d3 axis[3];
    const uint16_t *first; // loops of faces, counter-clockwise from outside
    const uint16_t *loop;
    cm_d3 vertices[CM_VOLUME_VERTICES];
    cm_d3 normals[CM_VOLUME_FACES]; // outward, unit
    double offsets[CM_VOLUME_FACES];
    uint16_t own_first[CM_VOLUME_FACES + 1];
    uint16_t own_loop[CM_VOLUME_LOOP];
} cm_volume_piece;

// Transform of a shape: position less the origin, rotation in columns.
typedef struct cm_volume_transform {
    cm_d3 position;
    cm_dmat rotation;
} cm_volume_transform;

// A shape in binary64, sizes as in cm_shape. A hull's vertices may be given in their exact places,
// in the order of the hull's; NULL takes the hull's own.
typedef struct cm_volume_form {
    carom_shape_type type;
    double size[4];
    const carom_hull *hull;
    const cm_d3 *vertices;
} cm_volume_form;

bool cm_volume_piece_form(const cm_volume_form *form, const cm_volume_transform *transform,
                          uint32_t segments, cm_volume_piece *piece);

// The piece of a shape. `hull` is a hull's geometry, else NULL; `segments` facets what is round.
// False for a shape that is no piece (a hull that is not there).
bool cm_volume_piece_make(const cm_shape *shape, const carom_hull *hull,
                          const cm_volume_transform *transform, uint32_t segments,
                          cm_volume_piece *piece);

// Axes of a round shape that face the direction `normal`, from the shape outward or inward: a
// sphere's pole, the meridian of a capsule or cylinder. What is round about an axis is the same
// turned about it; so faceted, it rolls as what is round does. Other shapes keep theirs.
cm_dmat cm_volume_facing(carom_shape_type type, const cm_dmat *rotation, cm_d3 normal);
// The middle of a sphere, or the axis of a capsule within its caps: a piece of one or two vertices.
void cm_volume_core(const cm_volume_form *form, const cm_volume_transform *transform,
                    cm_volume_piece *piece);

// Index of the vertex farthest along d, the lowest on ties. Not of half-spaces.
uint32_t cm_volume_support(const cm_volume_piece *piece, cm_d3 d);
// Farthest reach along d: max of d . x; of a half-space only along its normal's direction.
double cm_volume_reach(const cm_volume_piece *piece, cm_d3 d);

#endif
