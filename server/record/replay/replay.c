// Verifying a match: the game is made from the file's scene, module and seed, given each tick's
// events and inputs, and must have the recorded hash after every one.
//
// A file of another engine, layout or module is reported as such before a tick is run, since its
// hashes would differ without a fault. The chain is proved first, separately; a divergence is
// reported before a broken link, since it names the fault. One thread reads, in order, and hands
// over segments (segment.h) to a pool. At a divergence the next keyframe, if there is one, names
// body, field and both values. 216,000 ticks of a hash each take as long as the simulation does;
// reading adds no measurable time.
#include "server/record/replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/replay/verifier_pool.h"
#include "server/record/format/match_db.h"
#include "server/record/replay/playback.h"

#define WORLDS_OF_A_JOB  2u
#define WORLDS_BYTES_MAX ((uint64_t)2 << 30) // of several jobs

typedef struct replay {
    cm_match_file *file;
    cm_match_info info;
    const carom_module *module;
    cm_replay_report *report;
} replay;

// Passes the match in segments to the pool. A keyframe's bytes are valid until the next one is
// read.
static void hand_over(replay *run, cm_verifier_pool *pool)
{
    cm_segment_keyframe keyframe;
    cm_recorded_tick tick;
    cm_match_error error = {""};
    bool has = run->info.gap_to > 0, goes_on = true;
    carom_result result = CAROM_OK;
    if (has) { // the reader has seen to it that there is one of that tick
        result = cm_match_keyframe(run->file, run->info.gap_to, &keyframe.tick, &keyframe.bytes,
                                   &keyframe.size, &error);
        has = result == CAROM_OK || !cm_verifier_pool_begin(pool, NULL);
    }
    for (uint64_t from = run->info.gap_to + 1; goes_on && result == CAROM_OK;
         from = keyframe.tick + 1) {
        goes_on = cm_verifier_pool_begin(pool, has ? &keyframe : NULL);
        result = goes_on ? cm_match_keyframe(run->file, from, &keyframe.tick, &keyframe.bytes,
                                             &keyframe.size, &error)
                         : CAROM_OK;
        has = goes_on && result == CAROM_OK;
        result = result == CAROM_ERROR_NOT_FOUND ? CAROM_OK : result;
        bool ended = false;
        while (goes_on && result == CAROM_OK && !ended) {
            result = cm_match_next(run->file, &tick, &error);
            goes_on = result != CAROM_OK || cm_verifier_pool_tick(pool, &tick);
            ended = result == CAROM_OK && has && tick.tick == keyframe.tick;
        }
        if (goes_on && (ended || result == CAROM_ERROR_NOT_FOUND)) {
            goes_on = cm_verifier_pool_end(pool, ended ? &keyframe : NULL);
        }
    }
    if (goes_on && result != CAROM_ERROR_NOT_FOUND) {
        cm_verifier_pool_failed(pool, result, &error);
    }
}

static bool write_state(const char *prefix, const char *suffix, const uint8_t *bytes, size_t size)
{
    char path[1024];
    bool fits = snprintf(path, sizeof path, "%s.%s", prefix, suffix) < (int)sizeof path;
    FILE *file = bytes != NULL && fits ? fopen(path, "wb") : NULL;
    bool wrote = file != NULL && fwrite(bytes, 1, size, file) == size;
    if (file != NULL) {
        wrote = fclose(file) == 0 && wrote;
    }
    return wrote;
}

// Merges the outcome of the segments into the report.
static carom_result take_outcome(replay *run, cm_segment_outcome *outcome, const char *states)
{
    cm_replay_report *report = run->report;
    outcome->report.proof = report->proof;
    outcome->report.complete = report->complete;
    outcome->report.other_module_file = report->other_module_file;
    outcome->report.parent = report->parent;
    outcome->report.gap_from = report->gap_from;
    outcome->report.gap_to = report->gap_to;
    *report = outcome->report;
    report->states_written =
        states != NULL && report->diverged &&
        write_state(states, "recorded", outcome->recorded, outcome->recorded_size) &&
        write_state(states, "replayed", outcome->replayed, outcome->replayed_size);
    free(outcome->recorded);
    free(outcome->replayed);
    return outcome->result;
}

static carom_result run_match(replay *run, const cm_replay_options *options)
{
    cm_verifier_pool_def def = {.segment = {.scene = cm_match_scene(run->file),
                                            .module = run->module,
                                            .seed = run->info.seed,
                                            .keep_states = options->states != NULL},
                                .jobs = options->jobs < 1 ? 1
                                        : options->jobs > CM_VERIFIER_POOL_JOBS_MAX
                                            ? CM_VERIFIER_POOL_JOBS_MAX
                                            : options->jobs,
                                .last_tick = run->info.ticks,
                                .progress = options->progress,
                                .context = options->context};
    // At most a thread for each segment, and no more worlds than fit into memory: an untrusted file
    // sets the size of one.
    def.jobs = def.jobs > run->info.keyframes + 1 ? run->info.keyframes + 1 : def.jobs;
    carom_world_def world;
    cm_scene_world_def(def.segment.scene, &world);
    uint64_t fitting = WORLDS_BYTES_MAX / (WORLDS_OF_A_JOB * carom_world_size(&world));
    def.jobs = def.jobs > fitting ? (uint32_t)fitting : def.jobs;
    def.jobs = def.jobs > 0 ? def.jobs : 1;
    cm_verifier_pool *pool;
    carom_result result = cm_verifier_pool_create(&def, &pool);
    if (result != CAROM_OK) {
        return cm_match_wrong(&run->report->error, result, "scene: row 0: %s",
                              carom_result_text(result));
    }
    cm_segment_outcome outcome;
    hand_over(run, pool);
    cm_verifier_pool_finish(pool, &outcome);
    cm_verifier_pool_destroy(pool);
    return take_outcome(run, &outcome, options->states);
}

carom_result cm_replay_verify(const char *path, const cm_replay_options *options,
                              cm_replay_report *report)
{
    static const cm_replay_options none;
    options = options != NULL ? options : &none;
    replay run = {.report = report, .module = options->module};
    memset(report, 0, sizeof *report);
    carom_result result = cm_match_open(path, &run.file, &report->error);
    if (result != CAROM_OK) {
        return result;
    }
    cm_match_info_get(run.file, &run.info);
    report->parent = run.info.parent;
    report->gap_from = run.info.gap_from;
    report->gap_to = run.info.gap_to;
    // A file that the proof cannot read is not simulated: the simulation could not read it either.
    result = cm_match_prove(run.file, options->public_key, &report->proof, &report->error);
    report->complete = report->proof.complete;
    if (result == CAROM_OK) {
        result = cm_playback_check(&run.info, &run.module, &report->error);
    }
    if (result == CAROM_OK) {
        report->other_module_file =
            strcmp(cm_module_file_hash(run.module), run.info.module_file) != 0;
        result = run_match(&run, options);
    }
    cm_match_close(run.file);
    return result;
}
