// Golden scenes of hulls, of what falls asleep and wakes, and of the smallest numbers.
#ifndef CM_TESTS_UNIT_SIM_GOLDEN_SMALL_H
#define CM_TESTS_UNIT_SIM_GOLDEN_SMALL_H

#include "tests/unit/sim/rig.h"

void cm_golden_solids_define(carom_world_def *def);
void cm_golden_solids_build(cm_rig *rig);
void cm_golden_sleepers_build(cm_rig *rig);
void cm_golden_sleepers_drive(carom_world *world, uint32_t tick);
void cm_golden_denormals_define(carom_world_def *def);
void cm_golden_denormals_build(cm_rig *rig);

#endif
