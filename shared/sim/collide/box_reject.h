// Pairs of boxes that a plane separates, four at a time.
#ifndef CM_SIM_COLLIDE_BOX_REJECT_H
#define CM_SIM_COLLIDE_BOX_REJECT_H

#include "shared/sim/state/scratch.h"

// Bit i: the boxes of slots a[i] and b[i] are apart by more than margins[i].
uint32_t cm_reject_boxes(const cm_place *places, const cm_shape *shapes, const uint32_t a[4],
                         const uint32_t b[4], const float margins[4]);

#endif
