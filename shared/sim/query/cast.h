// A solid on a straight way, or standing, against one shape. Private to shared/sim.
#ifndef CM_SIM_QUERY_CAST_H
#define CM_SIM_QUERY_CAST_H

#include "shared/sim/query/ray.h"
#include "shared/sim/query/solid.h"

// A solid that moves: where it begins, and its way (of no length: it stands).
typedef struct cm_mover {
    cm_query_solid solid;
    cm_line line;
} cm_mover;

// Finds where it first touches the shape; false if it does not, or may be if it does so farther
// than `most` metres along its way.
bool cm_mover_enter(const cm_mover *mover, const cm_shape *shape,
                    const cm_shape_transform *transform, double most, cm_entry *entry);
// Returns true if it overlaps or touches the shape where it begins. The entry has no normal.
bool cm_mover_overlaps(const cm_mover *mover, const cm_shape *shape,
                       const cm_shape_transform *transform, cm_entry *entry);
// The entry of every shape that it overlaps.
cm_entry cm_mover_inside(const cm_mover *mover);
// The shape's nearest point to it where it begins, if within `most` metres.
bool cm_mover_nearest(const cm_mover *mover, const cm_shape *shape,
                      const cm_shape_transform *transform, double most, cm_entry *entry);

#endif
