// Measures the cost of a rollback: restore a past tick and step forward again, saving every tick.
#ifndef CM_SERVER_TOOLS_BENCH_REWIND_H
#define CM_SERVER_TOOLS_BENCH_REWIND_H

#include "carom/world.h"
#include "server/tools/bench/samples.h"

#define CM_REWIND_START 120u // tick to which it goes back

typedef struct cm_rewind {
    cm_samples_summary time; // ms of wall time, one sample a rewind
    bool hash_equal; // every rewind came out with the hash, and every saved byte, of the first
} cm_rewind;

// A world at tick 0, run to tick CM_REWIND_START + ticks and rewound `repeats` times by `ticks`.
// CAROM_ERROR_MEMORY, or what failed.
carom_result cm_rewind_measure(carom_world *world, uint32_t ticks, uint32_t repeats,
                               cm_rewind *rewind);

#endif
