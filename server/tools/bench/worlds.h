// Worlds for measurements: in memory of their own, and from a generator.
#ifndef CM_SERVER_TOOLS_BENCH_WORLDS_H
#define CM_SERVER_TOOLS_BENCH_WORLDS_H

#include "carom/world.h"

// Memory for a world of this definition, and the world in it: NULL without memory or where a limit
// is above its maximum. Freed with cm_bench_world_free.
carom_world *cm_bench_world_new(const carom_world_def *def);
void cm_bench_world_free(carom_world *world);

// The towers scene's generator: ground, four walls and `count` cubes of 1 m in layers of 10 by 10,
// 1.2 m apart, each shifted by up to 0.1 m in x and z by a fixed sequence. With 1,000 cubes it is
// tests/scenes/bench/B0_towers1000.json, body for body. NULL without memory.
carom_world *cm_bench_towers(uint32_t count);

// The tumbling piles' generator: ground, four walls and `count` cubes of 1 m, turned at random, in
// layers of `row` by `row`, 1.75 m apart. With CM_BENCH_SEED, 1,000 cubes in rows of 10 are
// tests/scenes/bench/B_pile1000.json, 5,000 in rows of 20 E_pile5000.json. NULL without memory.
#define CM_BENCH_SEED 12345u
carom_world *cm_bench_pile(uint32_t count, uint32_t row, uint32_t seed);

#endif
