// Golden scenes of hulls and of the smallest numbers.
#ifndef CM_TESTS_UNIT_SIM_GOLDEN_SMALL_H
#define CM_TESTS_UNIT_SIM_GOLDEN_SMALL_H

#include "tests/unit/sim/rig.h"

void cm_golden_solids_define(carom_world_def *def);
void cm_golden_solids_build(cm_rig *rig);
void cm_golden_denormals_define(carom_world_def *def);
void cm_golden_denormals_build(cm_rig *rig);

#endif
