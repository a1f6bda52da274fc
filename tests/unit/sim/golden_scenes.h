// Scenes of the golden and the rewind tests, built through the API with constants only (no libm),
// so that every compiler builds the same.
#ifndef CM_TESTS_UNIT_SIM_GOLDEN_SCENES_H
#define CM_TESTS_UNIT_SIM_GOLDEN_SCENES_H

#include "shared/base/hash.h"
#include "tests/unit/sim/rig.h"

typedef struct cm_golden_scene {
    const char *name;
    uint32_t bodies; // limit
    uint32_t ticks;
    void (*build)(cm_rig *rig);
    // Called before each step with the tick about to run: forces, bodies made and destroyed. A
    // function of the world and the tick alone.
    void (*drive)(carom_world *world, uint32_t tick);
    // Changes the world's definition (solver, hulls, planar); may be NULL.
    void (*define)(carom_world_def *def);
} cm_golden_scene;

#define CM_GOLDEN_EVERY  10u
#define CM_GOLDEN_SCENES 13
extern const cm_golden_scene cm_golden_scenes[CM_GOLDEN_SCENES];

// By its name; aborts where there is none.
const cm_golden_scene *cm_golden_find(const char *name);
// A world as the scene wants it, still empty: build() fills it.
cm_rig cm_golden_open(const cm_golden_scene *scene, uint32_t shift);
// Adds what the last step reported: contacts, joints, sleep.
void cm_golden_add_events(const carom_world *world, cm_hash *hash);

#endif
