// Golden scenes of the solvers beside soft: billiards, circles, mechanism, touch.
#ifndef CM_TESTS_UNIT_SIM_GOLDEN_SOLVERS_H
#define CM_TESTS_UNIT_SIM_GOLDEN_SOLVERS_H

#include "tests/unit/sim/rig.h"

void cm_golden_billiards_define(carom_world_def *def);
void cm_golden_billiards_build(cm_rig *rig);
void cm_golden_circles_define(carom_world_def *def);
void cm_golden_circles_build(cm_rig *rig);
void cm_golden_circles_drive(carom_world *world, uint32_t tick);
// Built and driven as the scene of joints.
void cm_golden_mechanism_define(carom_world_def *def);
void cm_golden_touch_define(carom_world_def *def);
void cm_golden_touch_build(cm_rig *rig);
void cm_golden_touch_drive(carom_world *world, uint32_t tick);

#endif
