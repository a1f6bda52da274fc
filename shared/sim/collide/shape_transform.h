// World poses of shapes and their boxes: what the broad phase begins with.
#ifndef CM_SIM_COLLIDE_SHAPE_TRANSFORM_H
#define CM_SIM_COLLIDE_SHAPE_TRANSFORM_H

#include "shared/sim/state/scratch.h"

// World pose of a shape.
cm_shape_transform cm_shape_transform_of(const carom_world *world, uint32_t slot);
// Into its row of the transforms.
void cm_update_shape_transform(const carom_world *world, cm_scratch *scratch, uint32_t slot);

// The same of many shapes, none a plane, and their boxes, grown by `margin` and by the motion of
// `dt` seconds, into the bounds.
void cm_update_shape_transforms(const carom_world *world, cm_scratch *scratch,
                                const uint32_t *slots, uint32_t count, float margin, float dt);

// The box of a shape, not of a plane, as it is placed.
cm_aabb cm_shape_bounds(const cm_shape *shape, const cm_shape_transform *transform);

#endif
