// Two recordings of the same game, without input timing and with it: the difference is its cost.
#include "server/tools/bench/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/record/replay/replay.h"
#include "server/record/store/store.h"
#include "server/tools/bench/samples.h"
#include "shared/base/rng.h"
#include "shared/scene/scene_json.h"

#define PLAYERS    8u
#define TICK_RATE  60u
#define KEYFRAME_S 10u

static const char scene_text[] =
    "{\"carom\": 1, \"name\": \"recorded\", \"module\": \"sandbox\","
    " \"limits\": {\"bodies\": 512, \"shapes\": 512, \"contacts\": 8192},"
    " \"bodies\": [{\"name\": \"ground\", \"type\": \"static\","
    "   \"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": 0}}]}],"
    " \"arrays\": [{\"name\": \"cube\", \"origin\": [-7.5, 0.2, -7.5], \"count\": [16, 1, 16],"
    "   \"spacing\": [1, 1, 1], \"of\": {\"shapes\": [{\"box\": {\"half_extents\": [0.2, 0.2, "
    "0.2]}, \"density\": 300}]}}]}";

typedef struct recorded {
    cm_store *store;
    cm_match_handle match;
    carom_game *game;
    cm_rng rng;
    float sticks[PLAYERS][2];
    bool with_arrivals;
    double handing_ms;
} recorded;

static void put_f32(uint8_t *bytes, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(bits >> (8 * i));
    }
}

// Sticks that move a little in every tick, as hands do.
static void move_sticks(recorded *run, carom_player_input inputs[PLAYERS])
{
    memset(inputs, 0, PLAYERS * sizeof inputs[0]);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        inputs[i].player = i;
        for (int axis = 0; axis < 2; axis++) {
            float moved = run->sticks[i][axis] + cm_rng_range(&run->rng, -0.1f, 0.1f);
            run->sticks[i][axis] = moved > 1.0f ? 1.0f : moved < -1.0f ? -1.0f : moved;
            put_f32(inputs[i].bytes + 4 * axis, run->sticks[i][axis]);
        }
        inputs[i].bytes[8] = (uint8_t)(cm_rng_below(&run->rng, 60) == 0);
    }
}

static void hand_over(recorded *run, uint64_t tick, const cm_tick_input *input)
{
    cm_arrival arrivals[PLAYERS];
    uint64_t hash = cm_game_hash(run->game);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        arrivals[i] =
            (cm_arrival){(uint8_t)i, false, (int16_t)(20 + (int)cm_rng_below(&run->rng, 16))};
    }
    double begin = cm_bench_thread_ms();
    if (run->with_arrivals) {
        cm_store_input_timing(run->store, run->match, arrivals, PLAYERS);
    }
    cm_store_tick(run->store, run->match, tick, hash, input);
    if (tick % (KEYFRAME_S * TICK_RATE) == 0) {
        size_t size = cm_game_encode_size(run->game);
        uint8_t *bytes = malloc(size);
        if (bytes != NULL && cm_game_encode(run->game, bytes, size) == size) {
            cm_store_keyframe(run->store, run->match, tick, bytes, size);
        }
        free(bytes);
    }
    run->handing_ms += cm_bench_thread_ms() - begin;
}

static void play(recorded *run, uint32_t ticks)
{
    cm_game_event joins[PLAYERS];
    carom_player_input inputs[PLAYERS];
    for (uint32_t i = 0; i < PLAYERS; i++) {
        joins[i] = (cm_game_event){CM_EVENT_JOIN, i, 1 + i, NULL, 0};
    }
    for (uint64_t tick = 1; tick <= ticks; tick++) {
        move_sticks(run, inputs);
        cm_tick_input input = {joins, tick == 1 ? PLAYERS : 0, inputs, PLAYERS};
        cm_game_tick(run->game, &input);
        hand_over(run, tick, &input);
        if (tick % 6 == 0) {
            cm_store_pump(run->store); // by hand, so that one core does it and is not timed
        }
    }
}

static carom_result record(const cm_scene *scene, const char *folder, uint32_t ticks, recorded *run,
                           char path[1024])
{
    cm_store_def store = {.directory = folder};
    cm_match_def match = {.match_id = 1,
                          .scene = scene,
                          .module = "sandbox",
                          .module_version = carom_module_sandbox.version,
                          .seed = 7};
    carom_result result = cm_store_create(&store, &run->store);
    if (result == CAROM_OK) {
        result = cm_store_begin(run->store, &match, &run->match);
    }
    if (result == CAROM_OK) {
        snprintf(path, 1024, "%s", cm_store_path(run->store, run->match));
        result = cm_game_create(scene, &carom_module_sandbox, match.seed, NULL, &run->game);
    }
    if (result == CAROM_OK) {
        play(run, ticks);
        cm_store_end(run->store, run->match, CM_MATCH_ENDED);
    }
    cm_store_destroy(run->store);
    cm_game_destroy(run->game);
    return result;
}

static carom_result read_sizes(const char *path, cm_match_info *info)
{
    cm_match_file *file;
    cm_match_error error;
    carom_result result = cm_match_open(path, &file, &error);
    if (result == CAROM_OK) {
        cm_match_info_get(file, info);
        cm_match_close(file);
    }
    return result;
}

// One recording, and its size on disk; the one with input timing is verified as well.
static carom_result measure(const cm_scene *scene, const char *folder, uint32_t seconds,
                            bool with_arrivals, cm_match_info *info, cm_recording_cost *cost)
{
    char path[1024] = "";
    recorded run = {.with_arrivals = with_arrivals};
    cm_rng_seed(&run.rng, 11);
    carom_result result = record(scene, folder, seconds * TICK_RATE, &run, path);
    if (result == CAROM_OK) {
        result = read_sizes(path, info);
    }
    cost->tick_us = run.handing_ms * 1e3 / (seconds * TICK_RATE);
    for (uint32_t jobs = 1; jobs <= 2 && result == CAROM_OK && with_arrivals; jobs++) {
        cm_replay_options options = {.jobs = jobs};
        cm_replay_report report;
        double begin = cm_bench_thread_ms(), wall = cm_bench_wall_ms();
        result = cm_replay_verify(path, &options, &report);
        cost->verify_s[jobs - 1] = 1e-3 * (cm_bench_wall_ms() - wall);
        if (jobs == 1) {
            cost->verify_x_realtime = seconds * 1e3 / (cm_bench_thread_ms() - begin);
        }
        if (result == CAROM_OK && report.proof.verdict != CM_PROOF_CONSISTENT) {
            result = CAROM_ERROR_DIVERGED;
        }
    }
    if (path[0] != '\0') {
        unlink(path);
    }
    return result;
}

carom_result cm_recording_measure(const char *folder, uint32_t seconds, cm_recording_cost *cost)
{
    cm_scene *scene;
    cm_scene_error error;
    cm_match_info without, with;
    memset(cost, 0, sizeof *cost);
    carom_result result = cm_scene_from_json(scene_text, strlen(scene_text), &scene, &error);
    if (result != CAROM_OK) {
        return result;
    }
    cost->bodies = 256;
    cost->players = PLAYERS;
    result = measure(scene, folder, seconds, false, &without, cost);
    if (result == CAROM_OK) {
        result = measure(scene, folder, seconds, true, &with, cost);
    }
    cm_scene_free(scene);
    rmdir(folder);
    if (result == CAROM_OK) {
        double ticks = seconds * TICK_RATE;
        cost->input_bytes_per_tick = (double)without.input_bytes / ticks;
        cost->arrival_bytes_per_tick =
            (double)with.input_bytes / ticks - cost->input_bytes_per_tick;
        cost->keyframe_bytes_per_hour = (double)with.keyframe_bytes * 3600.0 / seconds;
        cost->file_bytes_per_tick = (double)with.bytes / ticks;
    }
    return result;
}
