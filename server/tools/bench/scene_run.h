// One benchmark scene, or a generated pile, stepped and timed.
#ifndef CM_SERVER_TOOLS_BENCH_SCENE_RUN_H
#define CM_SERVER_TOOLS_BENCH_SCENE_RUN_H

#include "server/tools/bench/quality.h"
#include "server/tools/bench/samples.h"
#include "shared/scene/scene.h"

// A scene of a file; or, without one, a pile of the generator (worlds.h).
typedef struct cm_scene_run_source {
    const cm_scene *scene;
    uint32_t pile_bodies, pile_row, pile_seed;
} cm_scene_run_source;

typedef struct cm_scene_run_options {
    uint32_t steps; // at least 1
    uint32_t from;  // first step that counts, below steps
    uint32_t runs;  // at least 1: every run starts anew; each result is the median over the runs
    bool may_sleep; // as the scene says; otherwise nothing sleeps, since what is measured is work
} cm_scene_run_options;

typedef struct cm_scene_run {
    uint32_t bodies; // that can move
    carom_solver_type solver;
    cm_samples_summary step;    // ms, thread CPU time
    uint64_t hash;              // after the last step
    bool same;                  // every run ended with the same hash, and restoring changed nothing
    double save_us, restore_us; // at the last step, median of CM_SCENE_RUN_SAVES, thread CPU time
    double cold_save_us, cold_restore_us; // the caches full of other things; CM_SCENE_RUN_COLD
    size_t state_bytes;
    cm_quality quality;       // after the last step
    double worst_penetration; // m, of the steps that are watched
    double kinetic_energy;    // J/kg, after the last step
    // For a scene whose joints hold everything that moves: the energy lost since tick 0, as a share
    // of the energy lost until all of it hangs at rest. Otherwise 0.
    double energy_lost;
    uint32_t fell;         // bodies, after the last step (fall.h)
    uint32_t asleep;       // bodies, likewise
    double fastest;        // m/s, of their centres of mass, likewise
    uint64_t contacts_cut; // by the world's limit, of all steps
} cm_scene_run;

// Watched for the worst overlap, in the first run: every so many steps from the first to the last.
#define CM_SCENE_RUN_WATCH_FROM  60u
#define CM_SCENE_RUN_WATCH_TO    360u
#define CM_SCENE_RUN_WATCH_EVERY 5u

#define CM_SCENE_RUN_SAVES       101u
#define CM_SCENE_RUN_COLD        11u
#define CM_SCENE_RUN_FLUSH       (96u << 20) // bytes, more than caches hold

// Steps what the source is. CAROM_ERROR_MEMORY, or what kept it from being measured.
carom_result cm_scene_run_measure(const cm_scene_run_source *source,
                                  const cm_scene_run_options *options, cm_scene_run *run);

#endif
