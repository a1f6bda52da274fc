// The golden scene of joints, beside those of golden_scenes.c.
#ifndef CM_TESTS_UNIT_SIM_GOLDEN_JOINTS_H
#define CM_TESTS_UNIT_SIM_GOLDEN_JOINTS_H

#include "tests/unit/sim/rig.h"

void cm_golden_joints_build(cm_rig *rig);
void cm_golden_joints_drive(carom_world *world, uint32_t tick);

#endif
