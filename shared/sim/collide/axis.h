// The direction along which two cores are least deep in each other, or farthest apart. Private to
// shared/sim/collide.
#ifndef CM_SIM_COLLIDE_AXIS_H
#define CM_SIM_COLLIDE_AXIS_H

#include "shared/sim/collide/convex.h"

typedef struct cm_axis {
    carom_vec3 normal; // unit, from a to b
    float separation;  // of the cores along it; negative: overlap
} cm_axis;

// For cores that overlap or nearly do; not for two polyhedra (hull.c).
cm_axis cm_axis_search(const cm_core *a, const cm_core *b);
// A point against a cylinder: closest points and direction, also inside. `a` is the point.
void cm_axis_point_cylinder(const cm_core *a, const cm_core *b, cm_axis *axis, cm_gjk *closest);

#endif
