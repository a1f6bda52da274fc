// The golden scene of manifolds that are kept.
#ifndef CM_TESTS_UNIT_SIM_GOLDEN_REST_H
#define CM_TESTS_UNIT_SIM_GOLDEN_REST_H

#include "tests/unit/sim/rig.h"

void cm_golden_rest_define(carom_world_def *def);
void cm_golden_rest_build(cm_rig *rig);
void cm_golden_rest_drive(carom_world *world, uint32_t tick);

#endif
