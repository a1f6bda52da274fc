// Candidate pairs: shared by the step and by measuring.
#ifndef CM_SIM_COLLIDE_BROADPHASE_H
#define CM_SIM_COLLIDE_BROADPHASE_H

#include "shared/sim/state/scratch.h"

// Fills transforms and bounds (grown by margin, and by the motion of `dt` seconds), then pairs in
// canonical order. Returns how many pairs were left out above scratch->pair_room. Writes scratch
// only.
uint32_t cm_find_pairs(const carom_world *world, cm_scratch *scratch, float margin, float dt);

size_t cm_broadphase_scratch_size(const carom_limits *limits);

#endif
