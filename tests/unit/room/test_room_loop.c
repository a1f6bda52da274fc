// Goal: a room's clock is exact, makes up for a short pause, slows for a long one and says so; what
// it confirms is recorded, each tick once; two rooms in turns are what each is alone. Method: loops
// with times given by hand, a store without a thread, the recording replayed.
#include "server/room/room_loop.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "server/node/recorder.h"
#include "server/record/replay/replay.h"
#include "tests/unit/node/rig.h"
#include "tests/unit/record/recording.h"

#define SECOND UINT64_C(1000000)

static cm_room_loop *make_loop(const cm_scene *scene, uint64_t seed, uint64_t now_us)
{
    cm_room_loop_def def = {
        .scene = scene, .seed = seed, .max_players = 4, .rewind_ms = 133, .now_us = now_us};
    cm_room_loop *loop;
    char error[256] = "";
    cr_assert_eq(cm_room_loop_create(&def, &loop, error, sizeof error), CAROM_OK, "%s", error);
    return loop;
}

static uint32_t turn(cm_room_loop *loop, uint64_t now_us)
{
    uint32_t made = 0;
    cm_room_loop_begin(loop, now_us);
    while (cm_room_loop_step(loop)) {
        while (cm_room_loop_confirm(loop, false) != NULL) {
        }
        made++;
    }
    return made;
}

// NULL with a text where it cannot be made.
static cm_recorder *make_recorder(cm_room_loop *loop, const cm_scene *scene, cm_store *store,
                                  char *error, size_t size)
{
    cm_recorder_def def = {.store = store,
                           .room = cm_room_loop_room(loop),
                           .scene = scene,
                           .match_id = RECORDING_ID,
                           .started_unix_ms = 1,
                           .keyframe_s = 1};
    cm_recorder *recorder;
    if (cm_recorder_create(&def, &recorder, error, size) == CAROM_OK) {
        const cm_sink sink = cm_recorder_sink(recorder);
        cr_assert(cm_room_loop_add_sink(loop, &sink));
    }
    return recorder;
}

// A second sink beside the recorder.
typedef struct witness {
    uint64_t next, hash, durable;
    uint32_t joins, inputs;
    cm_match_end end;
} witness;

static void see_tick(void *context, const cm_confirmed_tick *tick)
{
    witness *seen = context;
    cr_assert_eq(tick->tick, seen->next++);
    seen->hash = tick->hash;
    seen->joins += tick->input.event_count;
    seen->inputs += tick->input.input_count;
}

static void see_durable(void *context, carom_durability durability, uint64_t tick)
{
    witness *seen = context;
    seen->durable = durability == CAROM_DURABILITY_PROCESS ? tick : 0;
}

static void see_end(void *context, cm_match_end how)
{
    witness *seen = context;
    seen->end = how;
}

static uint64_t tick_of(const cm_room_loop *loop)
{
    return cm_room_tick(cm_room_loop_room(loop));
}

Test(room_loop, ticks_are_due_when_they_should_be_for_ever)
{
    cm_scene *scene = rig_scene(1);
    cm_room_loop *loop = make_loop(scene, 1, 7);
    uint32_t rate = cm_room_tick_rate(cm_room_loop_room(loop));
    cr_assert_eq(cm_room_loop_due(loop, 0), 7);
    cr_assert_eq(cm_room_loop_due(loop, rate), 7 + SECOND);
    uint64_t year = UINT64_C(365) * 86400 * rate;
    cr_assert_eq(cm_room_loop_due(loop, year), 7 + UINT64_C(365) * 86400 * SECOND);
    cr_assert_eq(cm_room_loop_due(loop, year + 1) - cm_room_loop_due(loop, year), SECOND / rate);
    cr_assert_eq(turn(loop, 7 + SECOND / rate - 1), 0);
    cr_assert_eq(turn(loop, 7 + SECOND / rate), 1);
    cr_assert_eq(turn(loop, 7), 0, "a clock that goes back makes nothing");
    cm_room_loop_destroy(loop);
    cm_scene_free(scene);
}

static void count_warnings(void *user, int level, const char *json_line)
{
    uint32_t *warnings = user;
    *warnings += level == (int)CM_LOG_WARNING && strstr(json_line, "room clock") != NULL;
}

Test(room_loop, a_long_pause_slows_the_clock_and_is_told)
{
    cm_scene *scene = rig_scene(1);
    cm_room_loop *loop = make_loop(scene, 1, 0);
    uint32_t warnings = 0;
    cm_log log = {count_warnings, &warnings};
    uint32_t rate = cm_room_tick_rate(cm_room_loop_room(loop));
    // A short one is made good.
    cr_assert_eq(turn(loop, 4 * SECOND / rate), 4);
    cr_assert(!cm_room_loop_second(loop, SECOND, &log));
    uint32_t most = 3 + rate / 50;
    cr_assert_eq(turn(loop, 2 * SECOND), most);
    cm_room_loop_stats stats;
    cm_room_loop_stats_get(loop, &stats);
    cr_assert_eq(stats.ticks_behind, 2 * rate - 4 - most);
    cr_assert_eq(turn(loop, 2 * SECOND), 0, "and is forgotten");
    cr_assert(cm_room_loop_second(loop, 2 * SECOND, &log));
    cr_assert_eq(cm_room_loop_rate_permille(loop), (4 + most) * 1000 / (2 * rate));
    cr_assert_eq(warnings, 1);
    cr_assert_eq(turn(loop, 2 * SECOND + SECOND / rate + 1), 1);
    cr_assert(cm_room_loop_second(loop, SECOND, &log), "at its rate again");
    cr_assert_eq(cm_room_loop_rate_permille(loop), 1000);
    cr_assert(!cm_room_loop_second(loop, SECOND, &log));
    cr_assert_eq(warnings, 1);
    cm_room_loop_destroy(loop);
    cm_scene_free(scene);
}

// Whatever the rate does, one warning a minute.
Test(room_loop, a_clock_that_stays_slow_is_told_once_a_minute)
{
    cm_scene *scene = rig_scene(1);
    cm_room_loop *loop = make_loop(scene, 1, 0);
    uint32_t warnings = 0, changes = 0;
    cm_log log = {count_warnings, &warnings};
    (void)turn(loop, 0);
    for (uint64_t second = 1; second <= 150; second++) {
        (void)turn(loop, second * SECOND - second % 7 * 1000);
        changes += cm_room_loop_second(loop, SECOND, &log);
    }
    cr_expect_eq(warnings, 3, "at 1, 61 and 121 s: %u", warnings);
    cr_expect_gt(changes, 20, "players are told of each change: %u", changes);
    cm_room_loop_destroy(loop);
    cm_scene_free(scene);
}

Test(room_loop, a_long_start_is_no_slow_clock)
{
    cm_scene *scene = rig_scene(1);
    cm_room_loop *loop = make_loop(scene, 1, 0);
    uint32_t warnings = 0;
    cm_log log = {count_warnings, &warnings};
    cr_expect_gt(turn(loop, 3 * SECOND), 0);
    cr_expect(!cm_room_loop_second(loop, 3 * SECOND, &log));
    cr_expect_eq(warnings, 0);
    cm_room_loop_destroy(loop);
    cm_scene_free(scene);
}

Test(room_loop, what_is_confirmed_is_recorded, .init = recording_setup, .fini = recording_teardown)
{
    enum { TICKS = 150 };
    cm_scene *scene = rig_scene(3);
    cm_room_loop *loop = make_loop(scene, 5, 0);
    cm_store *store = recording_store(false);
    char error[256] = "";
    cm_recorder *recorder = make_recorder(loop, scene, store, error, sizeof error);
    cr_assert_not_null(recorder, "%s", error);
    witness seen = {.next = 1};
    const cm_sink sink = {
        .context = &seen, .confirmed = see_tick, .durable = see_durable, .ended = see_end};
    cr_assert(cm_room_loop_add_sink(loop, &sink));
    cm_room *room = cm_room_loop_room(loop);
    uint32_t player;
    cr_assert_eq(cm_room_join(room, 9, NULL, 0, &player), CAROM_OK);
    for (uint64_t tick = 1; tick <= TICKS; tick++) {
        uint8_t input[CAROM_INPUT_MAX];
        uint32_t cost;
        rig_input(input, tick % 40 < 20 ? 1.0f : -1.0f, 0.5f, 0);
        cm_room_input(room, player, tick % 7 == 0 && tick > 10 ? tick - 3 : tick, input, 100,
                      &cost);
        cr_assert_eq(turn(loop, cm_room_loop_due(loop, tick)), 1);
    }
    cr_assert_eq(cm_room_confirmed(room), TICKS - cm_room_window(room));
    while (cm_room_loop_confirm(loop, true) != NULL) {
    }
    cm_room_loop_end(loop, CM_MATCH_ENDED);
    uint64_t hash = cm_room_hash(room);
    cm_store_flush(store);
    cm_match_status status;
    cm_store_status(store, cm_recorder_match(recorder), &status);
    cr_assert(status.durable, "%s", status.error);
    cr_assert_eq(status.committed_tick, TICKS);
    uint64_t durable;
    cr_assert_eq(cm_recorder_durable(recorder, SECOND, &durable), CAROM_DURABILITY_PROCESS);
    cm_room_loop_durable(loop, CAROM_DURABILITY_PROCESS, durable);
    cr_assert_eq(seen.next, TICKS + 1, "each tick once, in order");
    cr_assert_eq(seen.hash, hash);
    cr_assert_eq(seen.joins, 1);
    cr_assert_gt(seen.inputs, 4);
    cr_assert_eq(seen.durable, TICKS);
    cr_assert_eq(seen.end, CM_MATCH_ENDED);
    cm_recorder_destroy(recorder);
    cm_store_destroy(store);
    cm_replay_report report;
    cr_assert_eq(cm_replay_verify(recording_path(), NULL, &report), CAROM_OK, "%s",
                 report.error.message);
    cr_assert(report.complete);
    cr_assert_eq(report.verified_ticks, TICKS);
    cr_assert_eq(report.final_hash, hash);
    cm_room_loop_destroy(loop);
    cm_scene_free(scene);
}

Test(room_loop, a_record_that_cannot_be_made_says_where, .init = recording_setup,
     .fini = recording_teardown)
{
    cm_scene *scene = rig_scene(1);
    cm_room_loop *first = make_loop(scene, 5, 0), *second = make_loop(scene, 5, 0);
    cm_store *store = recording_store(false);
    char error[256] = "";
    cm_recorder *recorder = make_recorder(first, scene, store, error, sizeof error);
    cr_assert_not_null(recorder, "%s", error);
    cr_assert_null(make_recorder(second, scene, store, error, sizeof error), "the same file again");
    cr_assert(strstr(error, "match file") != NULL, "%s", error);
    cr_assert_eq(turn(second, SECOND / 60), 1, "it goes on without");
    cm_store_destroy(store);
    cm_recorder_destroy(recorder);
    cm_room_loop_destroy(first);
    cm_room_loop_destroy(second);
    cm_scene_free(scene);
}

Test(room_loop, rooms_in_turns_are_what_each_is_alone)
{
    cm_scene *scenes[2] = {rig_scene(2), rig_scene(4)};
    cm_room_loop *together[2], *alone[2];
    for (uint32_t i = 0; i < 2; i++) {
        together[i] = make_loop(scenes[i], 3 + i, i * 5000);
        alone[i] = make_loop(scenes[i], 3 + i, i * 5000);
    }
    for (uint64_t now = 0; now < SECOND; now += 4000) {
        turn(together[0], now);
        turn(together[1], now);
    }
    for (uint32_t i = 0; i < 2; i++) {
        for (uint64_t now = 0; now < SECOND; now += 4000) {
            turn(alone[i], now);
        }
        cr_assert_gt(tick_of(alone[i]), 50);
        cr_assert_eq(tick_of(alone[i]), tick_of(together[i]));
        cr_assert_eq(cm_room_hash(cm_room_loop_room(alone[i])),
                     cm_room_hash(cm_room_loop_room(together[i])));
    }
    for (uint32_t i = 0; i < 2; i++) {
        cm_room_loop_destroy(together[i]);
        cm_room_loop_destroy(alone[i]);
        cm_scene_free(scenes[i]);
    }
}
