// The section of a shape by a plane: what a body of a planar world weighs. Private to shared/sim.
#ifndef CM_SIM_BODY_MASS_SLICE_H
#define CM_SIM_BODY_MASS_SLICE_H

#include "shared/sim/state/image.h"

// A sheet of unit density. Zero where the plane misses the shape.
typedef struct cm_slice {
    double area, center[3], tensor[3][3]; // inertia about the centre, in the body's axes
} cm_slice;

// The plane goes through the body's origin, across the unit vector `normal` of the body's axes.
// turn: rotation matrix of the shape in the body, rows first; hull: of a hull, else NULL. A plane
// has no section.
cm_slice cm_slice_of(const cm_shape *shape, double turn[3][3], const carom_hull *hull,
                     const double normal[3]);

#endif
