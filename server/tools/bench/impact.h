// Measures the collisions of two bodies per second that the pure functions compute.
#ifndef CM_SERVER_TOOLS_BENCH_IMPACT_H
#define CM_SERVER_TOOLS_BENCH_IMPACT_H

#include "carom/impact.h"
#include "server/tools/bench/samples.h"

typedef struct cm_impact_bench {
    const char *model;
    uint32_t collisions;     // of a run
    cm_samples_summary time; // ms of thread CPU time, one sample a run
    double sum;              // of impulses: the same in every run, on every machine
} cm_impact_bench;

// Random spinning bodies that approach; mixed coefficients. which: 0 interpolated, 1 normal, 2
// circle. CAROM_ERROR_MEMORY.
carom_result cm_impact_bench_measure(uint32_t which, uint32_t collisions, uint32_t runs,
                                     cm_impact_bench *bench);

#endif
