// Steps a scene and times each step, then saving and restoring, then measures quality.
//
// Nothing but the step stands between the two clock readings. Every run has a world in fresh
// memory, so that runs differ in address and in nothing else, and must end with the same hash.
#include "server/tools/bench/scene_run.h"

#include <stdlib.h>

#include "server/tools/bench/joints.h"
#include "server/tools/bench/worlds.h"

typedef struct times {
    double *steps;                                // of one run
    double *median, *mean, *p99, *save, *restore; // a sample a run
} times;

static carom_result save_and_restore(carom_world *world, double *save_ms, double *restore_ms,
                                     cm_scene_run *run)
{
    double saves[CM_SCENE_RUN_SAVES], restores[CM_SCENE_RUN_SAVES];
    cm_samples_summary summary;
    size_t size = carom_world_save_size(world);
    void *image = malloc(size);
    if (image == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    carom_result result = CAROM_OK;
    for (uint32_t i = 0; i < CM_SCENE_RUN_SAVES; i++) {
        double start = cm_bench_thread_ms();
        size_t written = carom_world_save(world, image, size);
        saves[i] = cm_bench_thread_ms() - start;
        result = written == size ? result : CAROM_ERROR_LIMIT_SIZE;
    }
    for (uint32_t i = 0; i < CM_SCENE_RUN_SAVES && result == CAROM_OK; i++) {
        double start = cm_bench_thread_ms();
        result = carom_world_restore(world, image, size);
        restores[i] = cm_bench_thread_ms() - start;
    }
    free(image);
    if (result == CAROM_OK) {
        cm_samples_summarise(saves, CM_SCENE_RUN_SAVES, &summary);
        *save_ms = summary.median;
        cm_samples_summarise(restores, CM_SCENE_RUN_SAVES, &summary);
        *restore_ms = summary.median;
        run->state_bytes = size;
        run->same = run->same && carom_world_hash(world) == run->hash;
    }
    return result;
}

static uint32_t count_movable(const carom_world *world)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        carom_body_state state;
        count += carom_body_get(world, carom_world_body_at(world, slot), &state) == CAROM_OK &&
                 state.type == CAROM_BODY_DYNAMIC;
    }
    return count;
}

// A collapse overlaps for some twenty steps: a watch of every fifth sees it.
static carom_result watch(const carom_world *world, uint32_t step, const cm_quality_joint *joints,
                          uint32_t joint_count, cm_scene_run *run)
{
    if (step < CM_SCENE_RUN_WATCH_FROM || step > CM_SCENE_RUN_WATCH_TO ||
        step % CM_SCENE_RUN_WATCH_EVERY != 0) {
        return CAROM_OK;
    }
    cm_quality quality;
    carom_result result = cm_quality_of_world(world, joints, joint_count, &quality);
    if (result == CAROM_OK && quality.max_penetration > run->worst_penetration) {
        run->worst_penetration = quality.max_penetration;
    }
    return result;
}

static carom_result run_once(const char *path, const cm_scene *scene, carom_world *world,
                             const cm_scene_run_options *options, uint32_t index, times *t,
                             cm_scene_run *run)
{
    cm_quality_joint *joints = NULL;
    uint32_t joint_count = 0;
    carom_result result = cm_scene_populate(scene, world);
    if (result == CAROM_OK && index == 0) {
        run->bodies = count_movable(world);
        result = cm_bench_joints_load(path, scene, world, &joints, &joint_count);
    }
    if (result != CAROM_OK) {
        return result;
    }
    for (uint32_t i = 0; i < options->steps && result == CAROM_OK; i++) {
        double start = cm_bench_thread_ms();
        carom_world_step(world);
        t->steps[i] = cm_bench_thread_ms() - start;
        result = index == 0 ? watch(world, i + 1, joints, joint_count, run) : CAROM_OK;
    }
    cm_samples_summary summary;
    cm_samples_summarise(t->steps + options->from, options->steps - options->from, &summary);
    t->median[index] = summary.median;
    t->mean[index] = summary.mean;
    t->p99[index] = summary.p99;
    uint64_t hash = carom_world_hash(world);
    if (index == 0 && result == CAROM_OK) {
        run->hash = hash;
        run->same = true;
        run->kinetic_energy = cm_quality_kinetic_energy(world);
        result = cm_quality_of_world(world, joints, joint_count, &run->quality);
    }
    run->same = run->same && hash == run->hash;
    free(joints);
    if (result == CAROM_OK) {
        result = save_and_restore(world, &t->save[index], &t->restore[index], run);
    }
    return result;
}

static double median(double *samples, uint32_t count)
{
    cm_samples_summary summary;
    cm_samples_summarise(samples, count, &summary);
    return summary.median;
}

carom_result cm_scene_run_measure(const char *path, const cm_scene *scene,
                                  const cm_scene_run_options *options, cm_scene_run *run)
{
    size_t runs = options->runs;
    double *memory = calloc(options->steps + 5 * runs, sizeof *memory);
    if (memory == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    double *rows = memory + options->steps;
    times t = {memory, rows, rows + runs, rows + 2 * runs, rows + 3 * runs, rows + 4 * runs};
    carom_world_def def;
    cm_scene_world_def(scene, &def);
    def.sleep = false; // what is measured is work
    *run = (cm_scene_run){.solver = def.solver.type};
    carom_result result = CAROM_OK;
    for (uint32_t i = 0; i < options->runs && result == CAROM_OK; i++) {
        carom_world *world = cm_bench_world_new(&def);
        result =
            world == NULL ? CAROM_ERROR_MEMORY : run_once(path, scene, world, options, i, &t, run);
        cm_bench_world_free(world);
    }
    if (result == CAROM_OK) {
        run->step.median = median(t.median, options->runs);
        run->step.mean = median(t.mean, options->runs);
        run->step.p99 = median(t.p99, options->runs);
        run->save_us = 1e3 * median(t.save, options->runs);
        run->restore_us = 1e3 * median(t.restore, options->runs);
    }
    free(memory);
    return result;
}
