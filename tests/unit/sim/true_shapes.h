// What queries must find, worked out in another way, in binary64: how far apart two shapes are,
// from which follows by bisection where a moving one first touches the other.
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
// One that stands where its def says.
cm_true_shape cm_true_shape_at(const carom_shape_def *def);

// Distance from the point to the shape; negative inside (of the right sign there, no more).
double cm_true_distance(const cm_true_shape *shape, carom_dvec3 point);

// A shape that moves against one that stands. Where both have corners it is their widest gap over
// all directions that can separate them, which is 0 where they touch and not a distance elsewhere.
typedef struct cm_true_pair {
    const cm_true_shape *mover, *target;
    uint32_t axis_count; // of two shapes with corners
    struct cm_true_axis {
        carom_dvec3 axis;
        double mover[2], target[2]; // from, to
    } * axes;
} cm_true_pair;

// False for pairs that this does not know: a cylinder against what has corners or is a cylinder.
bool cm_true_pair_open(cm_true_pair *pair, const cm_true_shape *mover, const cm_true_shape *target);
void cm_true_pair_close(cm_true_pair *pair);
// Their gap when the mover is moved by `way`; its zero is where they touch.
double cm_true_gap(const cm_true_pair *pair, carom_dvec3 way);
// How far the mover goes along the unit vector before they touch: 0 if they do at once; negative if
// they do not within `length`. `depth` is how deep they would come, in metres, at most: what only
// grazes is near 0.
double cm_true_cast(const cm_true_pair *pair, carom_dvec3 direction, double length, double *depth);

#endif
