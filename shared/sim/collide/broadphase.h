// Candidate pairs: shared by the step and by measuring.
#ifndef CM_SIM_COLLIDE_BROADPHASE_H
#define CM_SIM_COLLIDE_BROADPHASE_H

#include "shared/sim/state/stage.h"

// Fills places and bounds (grown by margin, and by the motion of `dt` seconds), then pairs in
// canonical order. Returns how many pairs were left out above limits.contacts. Writes scratch only.
uint32_t cm_find_pairs(const carom_world *world, cm_scratch *scratch, float margin, float dt);

// Two shapes that filters, joints and what their bodies are let collide (of which one is active).
bool cm_may_meet(const carom_world *world, const cm_scratch *scratch, uint32_t a, uint32_t b);

#endif
