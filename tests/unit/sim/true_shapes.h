// What queries must find, worked out in another way, in binary64: how far a point is from a shape,
// from which follows by bisection where a moving ball first touches it.
#ifndef CM_TESTS_UNIT_SIM_TRUE_SHAPES_H
#define CM_TESTS_UNIT_SIM_TRUE_SHAPES_H

#include "carom/query.h"

// A shape of a world, with the pose of its body as the API tells it.
typedef struct cm_true_shape {
    carom_shape_def def;
    carom_dvec3 position; // of the shape
    carom_dmat3 axes;
} cm_true_shape;

cm_true_shape cm_true_shape_of(const carom_world *world, carom_shape_id shape);

// Distance from the point to the shape; negative inside (of the right sign there, no more).
double cm_true_distance(const cm_true_shape *shape, carom_dvec3 point);

// How far a ball goes from `origin` along the unit vector before it touches the shape: 0 if it does
// at once; negative if it does not within `length`. `depth` is how deep the ball would come, in
// metres, at most: what only grazes is near 0.
double cm_true_cast(const cm_true_shape *shape, carom_dvec3 origin, carom_dvec3 direction,
                    double length, double radius, double *depth);

#endif
