// The debug build's check of every step: a second world, restored from the saved image with rubbish
// everywhere else, at another address and with another width of lanes, is stepped beside the first,
// and every byte of the state they save must be equal. What differs was influenced by something
// that is not state. Only in builds with CM_CHECK_STEPS (BUILD=debug).
#ifndef CM_SIM_STEP_SHADOW_H
#define CM_SIM_STEP_SHADOW_H

#include "shared/sim/state/image.h"

#if defined(CM_CHECK_STEPS)

// A world to step beside this one; NULL without memory (that step is not checked).
carom_world *cm_shadow_open(const carom_world *world);
// Compares and releases. A difference names tick, section, row, field and both values, and aborts.
void cm_shadow_close(carom_world *shadow, const carom_world *world);

#endif
#endif
