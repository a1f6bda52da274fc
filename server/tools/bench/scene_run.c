// Steps a scene and times each step, then saving and restoring, then measures quality.
//
// Nothing but the step stands between the two clock readings. Every run has a world in fresh
// memory, so that runs differ in address and in nothing else, and must end with the same hash.
#include "server/tools/bench/scene_run.h"

#include <math.h>
#include <stdlib.h>

#include "carom/log.h"
#include "server/tools/bench/energy.h"
#include "server/tools/bench/fall.h"
#include "server/tools/bench/joints.h"
#include "server/tools/bench/worlds.h"

#define CACHE_LINE 64u // bytes of a cache line

typedef struct times {
    double *steps;               // of one run
    double *median, *mean, *p99; // a sample a run, as the rest
    double *save, *restore, *cold_save, *cold_restore;
} times;

#define ROWS 7u // of times, a sample a run each

// Evicts the caches. The code that reads the clock is then run once, since its first run takes 2 to
// 4 us by itself.
static void flush(uint8_t *buffer)
{
    for (size_t i = 0; i < CM_SCENE_RUN_FLUSH; i += CACHE_LINE) {
        ((volatile uint8_t *)buffer)[i]++;
    }
    (void)cm_bench_thread_ms();
}

// Medians of so many saves, then restores; before each of them `cold` is walked, where there is
// one.
static carom_result save_and_restore(carom_world *world, void *image, size_t size, uint32_t count,
                                     uint8_t *cold, double *save_ms, double *restore_ms)
{
    double saves[CM_SCENE_RUN_SAVES], restores[CM_SCENE_RUN_SAVES];
    cm_samples_summary summary;
    carom_result result = CAROM_OK;
    for (uint32_t i = 0; i < count; i++) {
        if (cold != NULL) {
            flush(cold);
        }
        double start = cm_bench_thread_ms();
        size_t written = carom_world_save(world, image, size);
        saves[i] = cm_bench_thread_ms() - start;
        result = written == size ? result : CAROM_ERROR_LIMIT_SIZE;
    }
    for (uint32_t i = 0; i < count && result == CAROM_OK; i++) {
        if (cold != NULL) {
            flush(cold);
        }
        double start = cm_bench_thread_ms();
        result = carom_world_restore(world, image, size);
        restores[i] = cm_bench_thread_ms() - start;
    }
    if (result == CAROM_OK) {
        cm_samples_summarise(saves, count, &summary);
        *save_ms = summary.median;
        cm_samples_summarise(restores, count, &summary);
        *restore_ms = summary.median;
    }
    return result;
}

static carom_result measure_saves(carom_world *world, times *t, uint32_t index, cm_scene_run *run)
{
    size_t size = carom_world_save_size(world);
    void *image = malloc(size);
    uint8_t *cold = calloc(CM_SCENE_RUN_FLUSH, 1);
    carom_result result = CAROM_ERROR_MEMORY;
    if (image != NULL && cold != NULL) {
        result = save_and_restore(world, image, size, CM_SCENE_RUN_SAVES, NULL, &t->save[index],
                                  &t->restore[index]);
        if (result == CAROM_OK) {
            result = save_and_restore(world, image, size, CM_SCENE_RUN_COLD, cold,
                                      &t->cold_save[index], &t->cold_restore[index]);
        }
    }
    free(image);
    free(cold);
    if (result == CAROM_OK) {
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

// The world of the source at tick 0: NULL without memory.
static carom_result open_source(const cm_scene_run_source *source, bool may_sleep,
                                carom_world **world)
{
    if (source->scene == NULL) {
        *world = cm_bench_pile(source->pile_bodies, source->pile_row, source->pile_seed);
        return *world == NULL ? CAROM_ERROR_MEMORY : CAROM_OK;
    }
    carom_world_def def;
    cm_scene_world_def(source->scene, &def);
    def.sleep = def.sleep && may_sleep;
    *world = cm_bench_world_new(&def);
    return *world == NULL ? CAROM_ERROR_MEMORY : cm_scene_populate(source->scene, *world);
}

// The start values against which the quality of a run is measured.
typedef struct beginning {
    cm_quality_joint *joints;
    uint32_t joint_count;
    double energy, hanging; // J/kg; hanging: HUGE_VAL where not everything hangs
    double *heights;        // fall.h
} beginning;

static carom_result look_at_start(const cm_scene_run_source *source, const carom_world *world,
                                  beginning *start, cm_scene_run *run)
{
    run->bodies = count_movable(world);
    start->heights = cm_fall_begin(world);
    if (start->heights == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    if (source->scene == NULL) {
        return CAROM_OK;
    }
    carom_result result =
        cm_bench_joints_load(source->scene, world, &start->joints, &start->joint_count);
    if (result == CAROM_OK) {
        start->energy = cm_energy_total(world);
        result = cm_energy_hanging(world, start->joints, start->joint_count, &start->hanging);
    }
    return result;
}

static double fastest_of(const carom_world *world)
{
    double fastest = 0.0;
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        carom_body_state state;
        if (carom_body_get(world, carom_world_body_at(world, slot), &state) == CAROM_OK &&
            state.type == CAROM_BODY_DYNAMIC) {
            const carom_vec3 v = state.linear_velocity;
            fastest = fmax(fastest, hypot(hypot((double)v.x, (double)v.y), (double)v.z));
        }
    }
    return fastest;
}

static carom_result look_at_end(const carom_world *world, const beginning *start, cm_scene_run *run)
{
    carom_world_stats stats;
    carom_world_stats_get(world, &stats);
    run->asleep = stats.sleeping;
    run->contacts_cut = stats.log_counts[CAROM_LOG_CONTACTS_CUT];
    run->fastest = fastest_of(world);
    run->fell = cm_fall_count(world, start->heights);
    run->hash = carom_world_hash(world);
    run->same = true;
    run->kinetic_energy = cm_energy_kinetic(world);
    if (start->joint_count > 0 && start->hanging < start->energy) {
        run->energy_lost =
            (start->energy - cm_energy_total(world)) / (start->energy - start->hanging);
    }
    return cm_quality_of_world(world, start->joints, start->joint_count, &run->quality);
}

static carom_result run_once(const cm_scene_run_source *source, carom_world *world,
                             const cm_scene_run_options *options, uint32_t index, times *t,
                             cm_scene_run *run)
{
    beginning start = {.hanging = HUGE_VAL};
    carom_result result = CAROM_OK;
    if (index == 0) {
        result = look_at_start(source, world, &start, run);
    }
    for (uint32_t i = 0; i < options->steps && result == CAROM_OK; i++) {
        double before = cm_bench_thread_ms();
        carom_world_step(world);
        t->steps[i] = cm_bench_thread_ms() - before;
        if (index == 0) {
            result = watch(world, i + 1, start.joints, start.joint_count, run);
        }
    }
    if (result == CAROM_OK) {
        cm_samples_summary summary;
        cm_samples_summarise(t->steps + options->from, options->steps - options->from, &summary);
        t->median[index] = summary.median;
        t->mean[index] = summary.mean;
        t->p99[index] = summary.p99;
        result = index == 0 ? look_at_end(world, &start, run) : CAROM_OK;
        run->same = run->same && carom_world_hash(world) == run->hash;
    }
    free(start.joints);
    free(start.heights);
    return result == CAROM_OK ? measure_saves(world, t, index, run) : result;
}

static double median(double *samples, uint32_t count)
{
    cm_samples_summary summary;
    cm_samples_summarise(samples, count, &summary);
    return summary.median;
}

carom_result cm_scene_run_measure(const cm_scene_run_source *source,
                                  const cm_scene_run_options *options, cm_scene_run *run)
{
    size_t runs = options->runs;
    double *memory = calloc(options->steps + ROWS * runs, sizeof *memory);
    if (memory == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    double *rows = memory + options->steps;
    times t = {memory,          rows,
               rows + runs,     rows + 2 * runs,
               rows + 3 * runs, rows + 4 * runs,
               rows + 5 * runs, rows + 6 * runs};
    *run = (cm_scene_run){.solver = CAROM_SOLVER_SOFT};
    if (source->scene != NULL) {
        carom_world_def def;
        cm_scene_world_def(source->scene, &def);
        run->solver = def.solver.type;
    }
    carom_result result = CAROM_OK;
    for (uint32_t i = 0; i < options->runs && result == CAROM_OK; i++) {
        carom_world *world = NULL;
        result = open_source(source, options->may_sleep, &world);
        if (result == CAROM_OK) {
            result = run_once(source, world, options, i, &t, run);
        }
        cm_bench_world_free(world);
    }
    if (result == CAROM_OK) {
        run->step.median = median(t.median, options->runs);
        run->step.mean = median(t.mean, options->runs);
        run->step.p99 = median(t.p99, options->runs);
        run->save_us = 1e3 * median(t.save, options->runs);
        run->restore_us = 1e3 * median(t.restore, options->runs);
        run->cold_save_us = 1e3 * median(t.cold_save, options->runs);
        run->cold_restore_us = 1e3 * median(t.cold_restore, options->runs);
    }
    free(memory);
    return result;
}
