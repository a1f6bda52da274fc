// A convex shape as casts, overlaps and closest points see it: a core and all within a radius of
// it, in binary64, about its own position. Private to shared/sim.
#ifndef CM_SIM_QUERY_SOLID_H
#define CM_SIM_QUERY_SOLID_H

#include "shared/base/dvec.h"
#include "shared/sim/state/scratch.h"

typedef enum cm_query_solid_kind {
    CM_SOLID_POINT,
    CM_SOLID_SEGMENT,  // along y
    CM_SOLID_CYLINDER, // axis y
    CM_SOLID_BOX,
    CM_SOLID_HULL,
    CM_SOLID_HALF_SPACE, // below the plane
} cm_query_solid_kind;

typedef struct cm_query_solid {
    cm_query_solid_kind kind;
    cm_dmat axes;
    double half[3]; // box; segment and cylinder: half the length in [1]; cylinder: radius in [0]
    double radius;  // about the core
    double reach;   // no point is farther from the position
    cm_d3 normal;   // of a half-space, world axes
    double offset;
    const carom_hull *hull;
} cm_query_solid;

// False for a hull that is not known there.
bool cm_query_solid_make(const cm_shape *shape, const cm_shape_transform *transform,
                         cm_query_solid *solid);
// A point.
cm_query_solid cm_query_solid_point(void);

// The gap between two solids, radii counted.
typedef struct cm_query_gap {
    double distance; // m; 0 or less where they overlap (how deep is only known of the radii)
    cm_d3 direction; // unit, from b to a; zero where the cores meet
    cm_d3 on_b;      // b's nearest point, from b's position
} cm_query_gap;

// a's position is that of b and `shift`. b alone may be a half-space.
cm_query_gap cm_query_solid_gap(const cm_query_solid *a, cm_d3 shift, const cm_query_solid *b);

#endif
