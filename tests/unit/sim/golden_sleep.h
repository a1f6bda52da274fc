// The golden scene of sleep, beside those of golden_scenes.c.
#ifndef CM_TESTS_UNIT_SIM_GOLDEN_SLEEP_H
#define CM_TESTS_UNIT_SIM_GOLDEN_SLEEP_H

#include "tests/unit/sim/rig.h"

void cm_golden_sleep_build(cm_rig *rig);
void cm_golden_sleep_drive(carom_world *world, uint32_t tick);

#endif
