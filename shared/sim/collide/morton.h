// Places along a curve that keeps what is near together: keys to sort boxes by.
#ifndef CM_SIM_COLLIDE_MORTON_H
#define CM_SIM_COLLIDE_MORTON_H

#include "shared/sim/state/scratch.h"

// A key of 30 bits for each box that ids names: its centre's place in a grid of 1,024 cells a side
// over all centres, along a Morton curve. Finite whatever the boxes are.
void cm_morton_keys(const cm_aabb *bounds, const uint32_t *ids, uint32_t count, uint32_t *keys);

#endif
