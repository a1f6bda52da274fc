// Verifying a match: the game is made from the file's scene, module and seed, given each tick's
// events and inputs, and must have the recorded hash after every one.
//
// Another engine, layout or module is said as such before a tick is run: its hashes would differ
// without anything being wrong. Inputs are put to the module's own check, as they were when they
// arrived. At a divergence the next keyframe, if there is one, names body, field and both values. A
// keyframe has no hash on file: it is decoded, and its state must be that of its tick. The chain is
// proved first, and apart: a divergence says more than a broken link.
// 216,000 ticks of a hash each take as long as the simulation does; reading them does not show.
#include "server/record/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/match_db.h"
#include "server/record/playback.h"
#include "shared/sim/inspect.h"

typedef struct replay {
    cm_match_file *file;
    cm_match_info info;
    const carom_module *module;
    carom_game *game;
    cm_replay_report *report;
    uint64_t keyframe;  // tick of the next one; UINT64_MAX: no more
    const char *states; // prefix of files, or NULL
} replay;

static void describe(replay *run, uint64_t tick, const cm_difference *d)
{
    char body[32] = "";
    if (d->body != UINT32_MAX) {
        snprintf(body, sizeof body, "body %u, ", d->body);
    }
    snprintf(run->report->difference, sizeof run->report->difference,
             "at the keyframe of tick %llu: %s%s %u, %s[%u]: recorded %s, replayed %s",
             (unsigned long long)tick, body, d->section, d->row, d->field, d->element, d->first,
             d->second);
}

static bool write_state(const char *prefix, const char *suffix, const carom_game *game)
{
    char path[1024];
    size_t size = cm_game_encode_size(game);
    uint8_t *bytes = malloc(size);
    bool fits = snprintf(path, sizeof path, "%s.%s", prefix, suffix) < (int)sizeof path;
    FILE *file = bytes != NULL && fits ? fopen(path, "wb") : NULL;
    bool wrote = file != NULL && cm_game_encode(game, bytes, size) == size &&
                 fwrite(bytes, 1, size, file) == size;
    if (file != NULL) {
        wrote = fclose(file) == 0 && wrote;
    }
    free(bytes);
    return wrote;
}

// On to the next keyframe, to compare states there. What cannot be read leaves no description.
static void find_difference(replay *run)
{
    uint64_t from = run->report->diverged_tick, at = 0;
    const uint8_t *bytes;
    size_t size;
    cm_match_error ignored;
    cm_recorded_tick tick;
    carom_game *recorded = NULL;
    cm_difference difference;
    if (cm_match_keyframe(run->file, from, &at, &bytes, &size, &ignored) != CAROM_OK ||
        cm_game_create(cm_match_scene(run->file), run->module, run->info.seed, NULL, &recorded) !=
            CAROM_OK) {
        return;
    }
    bool reached = cm_game_decode(recorded, bytes, size) == CAROM_OK;
    while (reached && carom_game_tick(run->game) < at) {
        reached = cm_match_next(run->file, &tick, &ignored) == CAROM_OK &&
                  cm_playback_check_inputs(run->game, &tick, &ignored) == CAROM_OK;
        if (reached) {
            cm_game_tick(run->game, &tick.input);
        }
    }
    if (reached &&
        cm_world_difference(carom_game_world(recorded), carom_game_world(run->game), &difference)) {
        describe(run, at, &difference);
    } else if (reached && cm_game_hash(recorded) == cm_game_hash(run->game)) {
        snprintf(run->report->difference, sizeof run->report->difference,
                 "at the keyframe of tick %llu the states are equal: the recorded hash is wrong",
                 (unsigned long long)at);
    } else if (reached) {
        snprintf(run->report->difference, sizeof run->report->difference,
                 "at the keyframe of tick %llu: the bodies are equal, players or module are not",
                 (unsigned long long)at);
    }
    if (reached && run->states != NULL) {
        run->report->states_written = write_state(run->states, "recorded", recorded) &&
                                      write_state(run->states, "replayed", run->game);
    }
    cm_game_destroy(recorded);
}

static carom_result diverged(replay *run, const cm_recorded_tick *tick, uint64_t hash)
{
    run->report->diverged = true;
    run->report->diverged_tick = tick->tick;
    run->report->recorded_hash = tick->hash;
    run->report->replayed_hash = hash;
    find_difference(run);
    return CAROM_ERROR_DIVERGED;
}

// Where the next keyframe is, from a tick on.
static carom_result seek_keyframe(replay *run, uint64_t from)
{
    const uint8_t *bytes;
    size_t size;
    carom_result result =
        cm_match_keyframe(run->file, from, &run->keyframe, &bytes, &size, &run->report->error);
    if (result == CAROM_ERROR_NOT_FOUND) {
        run->keyframe = UINT64_MAX;
        return CAROM_OK;
    }
    return result;
}

// Decodes the keyframe of this very tick into `recorded`.
static carom_result decode_keyframe(replay *run, uint64_t tick, carom_game *recorded)
{
    const uint8_t *bytes;
    size_t size;
    cm_match_error *error = &run->report->error;
    carom_result result = cm_match_keyframe(run->file, tick, &run->keyframe, &bytes, &size, error);
    if (result == CAROM_OK && cm_game_decode(recorded, bytes, size) != CAROM_OK) {
        return cm_match_wrong(error, CAROM_ERROR_CORRUPT,
                              "keyframes: row %llu: packed: no state of this scene",
                              (unsigned long long)tick);
    }
    return result;
}

// The keyframe of the tick in hand, if there is one, against the state.
static carom_result check_keyframe(replay *run, const cm_recorded_tick *tick, uint64_t hash)
{
    carom_game *recorded = NULL;
    if (run->keyframe != tick->tick) {
        return CAROM_OK;
    }
    carom_result result =
        cm_game_create(cm_match_scene(run->file), run->module, run->info.seed, NULL, &recorded);
    if (result == CAROM_OK) {
        result = decode_keyframe(run, tick->tick, recorded);
    }
    if (result == CAROM_OK && cm_game_hash(recorded) != hash) {
        cm_recorded_tick wrong = *tick;
        wrong.hash = cm_game_hash(recorded);
        result = diverged(run, &wrong, hash);
    } else if (result == CAROM_OK) {
        run->report->keyframes++;
        result = seek_keyframe(run, tick->tick + 1);
    }
    if (recorded != NULL) {
        cm_game_destroy(recorded);
    }
    return result;
}

static carom_result run_ticks(replay *run, cm_replay_progress *progress, void *context)
{
    cm_recorded_tick tick;
    while (true) {
        carom_result result = cm_match_next(run->file, &tick, &run->report->error);
        if (result != CAROM_OK) {
            return result == CAROM_ERROR_NOT_FOUND ? CAROM_OK : result;
        }
        if (progress != NULL && !progress(context, tick.tick)) {
            run->report->stopped = true;
            return CAROM_OK;
        }
        if (tick.tick > 0) {
            result = cm_playback_check_inputs(run->game, &tick, &run->report->error);
            if (result != CAROM_OK) {
                return result;
            }
            cm_game_tick(run->game, &tick.input);
        }
        uint64_t hash = cm_game_hash(run->game);
        if (hash != tick.hash) {
            return diverged(run, &tick, hash);
        }
        result = check_keyframe(run, &tick, hash);
        if (result != CAROM_OK) {
            return result;
        }
        run->report->verified_ticks = tick.tick;
        run->report->final_hash = hash;
    }
}

carom_result cm_replay_verify(const char *path, const cm_replay_options *options,
                              cm_replay_report *report)
{
    static const cm_replay_options none;
    options = options != NULL ? options : &none;
    replay run = {.report = report, .states = options->states, .module = options->module};
    memset(report, 0, sizeof *report);
    carom_result result = cm_match_open(path, &run.file, &report->error);
    if (result != CAROM_OK) {
        return result;
    }
    cm_match_info_get(run.file, &run.info);
    // What cannot be read by the proof cannot be read by the simulation either.
    result = cm_match_prove(run.file, options->public_key, &report->proof, &report->error);
    report->complete = report->proof.complete;
    if (result == CAROM_OK) {
        result = cm_playback_check(&run.info, &run.module, &report->error);
    }
    if (result == CAROM_OK) {
        result =
            cm_game_create(cm_match_scene(run.file), run.module, run.info.seed, NULL, &run.game);
        if (result != CAROM_OK) {
            cm_match_wrong(&report->error, result, "scene: row 0: %s", carom_result_text(result));
        }
    }
    if (result == CAROM_OK) {
        result = seek_keyframe(&run, 0);
    }
    if (result == CAROM_OK) {
        result = run_ticks(&run, options->progress, options->context);
    }
    cm_game_destroy(run.game);
    cm_match_close(run.file);
    return result;
}
