// Pair rules: friction and restitution of two bodies or materials, before the combine rules.
// Private to shared/sim.
#ifndef CM_SIM_RULE_H
#define CM_SIM_RULE_H

#include "shared/sim/image.h"

// The rules that name a body go with it.
void cm_rule_drop_body(carom_world *world, uint32_t slot);

#endif
