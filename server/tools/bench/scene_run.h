// One benchmark scene, stepped and timed.
#ifndef CM_SERVER_TOOLS_BENCH_SCENE_RUN_H
#define CM_SERVER_TOOLS_BENCH_SCENE_RUN_H

#include "server/tools/bench/quality.h"
#include "server/tools/bench/samples.h"
#include "shared/scene/scene.h"

typedef struct cm_scene_run_options {
    uint32_t steps; // at least 1
    uint32_t from;  // first step that counts, below steps
    uint32_t runs;  // at least 1: every run starts anew; each figure is the median of the runs'
} cm_scene_run_options;

typedef struct cm_scene_run {
    uint32_t bodies; // that can move
    carom_solver_type solver;
    cm_samples_summary step;    // ms, thread CPU time
    uint64_t hash;              // after the last step
    bool same;                  // every run ended with the same hash, and restoring changed nothing
    double save_us, restore_us; // at the last step, median of CM_SCENE_RUN_SAVES, thread CPU time
    size_t state_bytes;
    cm_quality quality;       // after the last step
    double worst_penetration; // m, of the steps that are watched
    double kinetic_energy;    // J/kg, after the last step
} cm_scene_run;

// Watched for the worst overlap, in the first run: every so many steps from the first to the last.
#define CM_SCENE_RUN_WATCH_FROM  60u
#define CM_SCENE_RUN_WATCH_TO    360u
#define CM_SCENE_RUN_WATCH_EVERY 5u

#define CM_SCENE_RUN_SAVES       101u

// Steps the scene of `path`, which became `scene`. CAROM_ERROR_MEMORY, or what kept the scene from
// being measured.
carom_result cm_scene_run_measure(const char *path, const cm_scene *scene,
                                  const cm_scene_run_options *options, cm_scene_run *run);

#endif
