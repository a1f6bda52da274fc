// Finds where a straight line enters one shape, in closed form. Private to shared/sim.
//
// In binary64, relative to the shape's position, so that a hit is as exact far from the world's
// origin as near it. Pure. Typical: 2 calls a ray.
#ifndef CM_SIM_QUERY_RAY_H
#define CM_SIM_QUERY_RAY_H

#include "shared/base/dvec.h"
#include "shared/sim/state/scratch.h"

typedef struct cm_line {
    cm_d3 origin, direction; // unit
    double length;
} cm_line;

typedef struct cm_entry {
    double distance; // m along the line, 0 to its length; 0 where it begins inside
    cm_d3 normal;    // world, outward; against the line where it begins inside
    cm_d3 point;     // world, on the shape; the line's origin where it begins inside
    bool inside;
} cm_entry;

// False where the line does not meet the shape.
bool cm_line_enter(const cm_line *line, const cm_shape *shape, const cm_shape_transform *transform,
                   cm_entry *entry);

#endif
