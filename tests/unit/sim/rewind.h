// Rewinding a scene at every tick: save, step 7, restore into another world at another address,
// step 7 with the same calls, and the saved images must be equal byte for byte. A saved image holds
// state only, and scratch is filled with other rubbish in one than in the other: the same in both
// would hide what depends on it.
#ifndef CM_TESTS_UNIT_SIM_REWIND_H
#define CM_TESTS_UNIT_SIM_REWIND_H

#include "tests/unit/sim/golden_scenes.h"

// What happened on the way: a test asks for what its scene is about.
typedef struct cm_rewind_count {
    uint64_t touching; // contacts, summed over the ticks
    uint64_t begins, ends, sleeps, wakes;
    uint64_t dropped, joints_broken;
} cm_rewind_count;

// Aborts the test at the first difference. Portable: through encode and decode.
cm_rewind_count cm_rewind_scene(const cm_golden_scene *scene, bool portable);

void cm_rewind_advance(cm_rig *rig, const cm_golden_scene *scene, uint32_t tick, uint32_t ticks);

#endif
