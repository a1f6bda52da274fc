// Counts the bodies that fell: their origins sank by more than half of the height of the body at
// the start.
#ifndef CM_SERVER_TOOLS_BENCH_FALL_H
#define CM_SERVER_TOOLS_BENCH_FALL_H

#include "carom/world.h"

// By body slot, the height of an origin below which the body fell, m; -HUGE_VAL for what cannot
// move. NULL: out of memory. The caller frees it.
double *cm_fall_begin(const carom_world *world);

// Of the slots that were there at the beginning.
uint32_t cm_fall_count(const carom_world *world, const double *heights);

#endif
