// Messages of a step: counted in the world's statistics and told to its handler (carom/log.h).
// Private to shared/sim.
#ifndef CM_SIM_STATE_TELL_H
#define CM_SIM_STATE_TELL_H

#include "shared/sim/state/image.h"

// `body`: a slot, or CM_NONE. A count of 0 says nothing.
void cm_tell(carom_world *world, carom_log_code code, uint32_t body, uint64_t count);

#endif
