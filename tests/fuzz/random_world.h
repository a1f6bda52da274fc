// Worlds from seeds, for fuzzing: every solver that is built, every shape, joint and option, sane
// and absurd values, and calls that must be refused. Everything follows from the seed.
#ifndef CM_TESTS_FUZZ_RANDOM_WORLD_H
#define CM_TESTS_FUZZ_RANDOM_WORLD_H

#include "carom/world.h"
#include "shared/base/rng.h"

#define CM_RANDOM_HULLS 4u

typedef struct cm_random_world {
    cm_rng rng;
    carom_hull *owned[CM_RANDOM_HULLS];
    const carom_hull *hulls[CM_RANDOM_HULLS]; // sorted; hull_count of them
    uint32_t hull_count;
    carom_world_def def;
    carom_world *world;
    bool tame; // values as a scene would have them
    uint32_t refused;
} cm_random_world;

// False without memory.
bool cm_random_world_open(cm_random_world *random, uint64_t seed);
void cm_random_world_close(cm_random_world *random);

// A second world of the same definition; free() it.
carom_world *cm_random_world_twin(const cm_random_world *random);

// Some change through the API: forces, velocities, bodies and joints that come and go, nonsense.
void cm_random_world_disturb(cm_random_world *random);

#endif
