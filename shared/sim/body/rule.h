// Pair rules: friction and restitution of two bodies or materials, before the combine rules.
// Private to shared/sim.
#ifndef CM_SIM_BODY_RULE_H
#define CM_SIM_BODY_RULE_H

#include "shared/sim/state/image.h"

// Friction and restitution of two shapes' surfaces: by the rule that names them most closely (two
// bodies, then one, then materials; of those the latest), else by the world's combine rules.
void cm_rule_mix(const carom_world *world, const cm_shape *a, const cm_shape *b, float *friction,
                 float *restitution);

#endif
