// Goal: a module's `end` runs once, in a tick of its own, however the match ends in order: what it
// changes is recorded and replayed, what it says reaches who is there before the goodbye. Method: a
// room by itself; a worker with SDK clients that drains, closes a room, is killed.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "server/room/room.h"
#include "server/record/replay/playback.h"
#include "server/record/replay/replay.h"
#include "tests/unit/node/away.h"
#include "tests/unit/node/rig.h"

typedef struct whistle_state {
    uint64_t present; // a bit each
    uint32_t ends, ended_at, ticks_since;
} whistle_state;

static bool whistle_join(carom_game *game, uint32_t player, const uint8_t *data, uint32_t size)
{
    whistle_state *s = carom_game_state(game);
    (void)data;
    (void)size;
    s->present |= UINT64_C(1) << player;
    return true;
}

static void whistle_leave(carom_game *game, uint32_t player)
{
    whistle_state *s = carom_game_state(game);
    s->present &= ~(UINT64_C(1) << player);
}

static void whistle_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    whistle_state *s = carom_game_state(game);
    (void)inputs;
    (void)count;
    s->ticks_since += s->ends;
}

static void whistle_end(carom_game *game)
{
    whistle_state *s = carom_game_state(game);
    s->ends++;
    s->ended_at = (uint32_t)carom_game_tick(game) + 1;
    for (uint32_t player = 0; player < 32; player++) {
        if ((s->present >> player & 1u) != 0) {
            (void)carom_game_send(game, player, "over", 4);
        }
    }
}

static const carom_module whistle = {.abi = CAROM_MODULE_ABI,
                                     .version = 1,
                                     .name = "whistle",
                                     .input_size = RIG_INPUT_SIZE,
                                     .state_size = sizeof(whistle_state),
                                     .join = whistle_join,
                                     .leave = whistle_leave,
                                     .tick = whistle_tick,
                                     .end = whistle_end};

// A room -----------------------------------------------------------------------------------

static cm_room *open_room(const cm_scene *scene, const carom_module *module)
{
    cm_room_def def = {
        .scene = scene, .seed = 5, .rewind_ms = 133, .max_players = 64, .module = module};
    cm_room *room = NULL;
    cr_assert_eq(cm_room_create(&def, &room), CAROM_OK);
    return room;
}

static uint32_t count_ends(cm_room *room, bool all, uint64_t *tick)
{
    uint32_t ends = 0;
    const cm_history_slot *slot;
    while ((slot = cm_room_confirm(room, all)) != NULL) {
        for (uint32_t i = 0; i < slot->input.event_count; i++) {
            if (slot->input.events[i].type == CM_EVENT_END) {
                cr_assert_eq(i + 1, slot->input.event_count, "the last of its tick");
                *tick = slot->tick;
                ends++;
            }
        }
    }
    return ends;
}

Test(end, a_room_makes_one_tick_for_it)
{
    cm_scene *scene = rig_scene(1);
    cm_room *room = open_room(scene, &whistle);
    uint64_t tick = 0;
    for (int i = 0; i < 20; i++) {
        cm_room_frame(room);
        cr_assert_eq(count_ends(room, false, &tick), 0);
    }
    cr_assert(cm_room_end(room));
    cr_assert_eq(cm_room_tick(room), 21);
    const whistle_state *s = carom_game_state(cm_room_game(room));
    cr_expect_eq(s->ends, 1);
    cr_expect_eq(s->ended_at, 21);
    cr_expect_eq(s->ticks_since, 1, "the tick goes on as every one");
    cr_assert(cm_room_end(room), "it has ended");
    cr_assert_eq(cm_room_tick(room), 21);
    cr_expect_eq(count_ends(room, true, &tick), 1);
    cr_expect_eq(tick, 21);
    cm_room_destroy(room);
    room = open_room(scene, NULL); // of a module that does not ask for it
    cm_room_frame(room);
    cr_assert(cm_room_end(room));
    cr_expect_eq(cm_room_tick(room), 1);
    cm_room_destroy(room);
    cm_scene_free(scene);
}

// A late input makes the last tick again, as any other.
Test(end, it_survives_a_rewind)
{
    cm_scene *scene = rig_scene(1);
    cm_room *room = open_room(scene, &whistle);
    uint32_t player, cost;
    uint64_t tick = 0;
    uint8_t bytes[CAROM_INPUT_MAX];
    cr_assert_eq(cm_room_join(room, 9, NULL, 0, &player), CAROM_OK);
    for (int i = 0; i < 10; i++) {
        cm_room_frame(room);
        count_ends(room, false, &tick);
    }
    cr_assert(cm_room_end(room));
    rig_input(bytes, 1.0f, 0.0f, 0);
    cr_assert_eq(cm_room_input(room, player, 9, bytes, 100, &cost), CM_INPUT_LATE);
    cr_expect_eq(count_ends(room, true, &tick), 1);
    cm_room_stats stats;
    cm_room_stats_get(room, &stats);
    cr_expect_eq(stats.rewinds, 1);
    const whistle_state *s = carom_game_state(cm_room_game(room));
    cr_expect_eq(s->ends, 1);
    cm_room_destroy(room);
    cm_scene_free(scene);
}

Test(end, a_full_tick_leaves_it_to_the_next)
{
    cm_scene *scene = rig_scene(1);
    cm_room *room = open_room(scene, &whistle);
    uint32_t player, full = 0;
    uint64_t tick = 0;
    for (uint64_t i = 0; i < 4; i++) {
        cr_assert_eq(cm_room_join(room, 1 + i, NULL, 0, &player), CAROM_OK);
    }
    cm_room_frame(room);
    for (uint32_t i = 0; i < CM_EVENTS_MAX; i++) {
        (void)cm_room_message(room, i % 4, (const uint8_t *)"a", 1);
    }
    for (uint64_t i = 4; i < 64; i++) { // 192 messages, 60 joins, 4 leaves
        cr_assert_eq(cm_room_join(room, 1 + i, NULL, 0, &player), CAROM_OK);
    }
    for (uint32_t i = 0; i < 4; i++) {
        cm_room_leave(room, i);
    }
    while (!cm_room_end(room)) {
        full++;
        cr_assert_eq(count_ends(room, false, &tick), 0);
    }
    cr_expect_eq(full, 1);
    cr_expect_eq(count_ends(room, true, &tick), 1);
    cr_expect_eq(tick, 3);
    cm_room_destroy(room);
    cm_scene_free(scene);
}

// A server ---------------------------------------------------------------------------------

typedef struct heard {
    uint32_t words;
    bool was_playing;
} heard;

static heard heard_by[AWAY_CLIENTS];
static away town;

static void hear(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size)
{
    heard *h = user;
    (void)tick;
    h->words += size == 4 && memcmp(bytes, "over", 4) == 0;
    h->was_playing = carom_client_get_state(town.clients[h - heard_by]) == CAROM_CLIENT_PLAYING;
}

static away *open_town(uint64_t seed)
{
    memset(heard_by, 0, sizeof heard_by);
    away_make(&town, &(away_def){.seed = seed, .record = true, .module = &whistle});
    for (uint32_t i = 0; i < 2; i++) {
        town.client_def.message = hear;
        town.client_def.user = &heard_by[i];
        away_join(&town, i);
    }
    away_run(&town, 0.5);
    return &town;
}

// The last words wait until the recording has what they tell of.
static void run_writing(away *a, double seconds)
{
    for (double at = 0.0; at < seconds; at += 0.02) {
        away_run(a, 0.02);
        cm_store_pump(a->store);
    }
}

static void expect_told(const away *a, carom_reason reason)
{
    for (uint32_t i = 0; i < 2; i++) {
        cr_expect_eq(heard_by[i].words, 1, "client %u", i);
        cr_expect(heard_by[i].was_playing, "before the goodbye");
        cr_expect_eq(carom_client_get_state(a->clients[i]), CAROM_CLIENT_IDLE);
        cr_expect_eq(carom_client_get_reason(a->clients[i]), reason);
    }
}

Test(end, a_drain_ends_the_match_and_the_recording_plays_it)
{
    away *a = open_town(50);
    cm_worker_drain(a->worker, cm_net_now_us(a->net));
    run_writing(a, 1.0);
    expect_told(a, CAROM_REASON_DRAINING);
    char path[256];
    snprintf(path, sizeof path, "%s",
             cm_store_path(a->store, cm_hosted_room_match(cm_worker_room_at(a->worker, 0))));
    cm_match_file *file = away_recording(a);
    cm_match_info info;
    cm_match_info_get(file, &info);
    cr_expect_eq(info.end, CM_MATCH_DRAINED);
    cm_match_error error = {0};
    cm_playback *playback;
    cr_assert_eq(cm_playback_apply(file, &whistle, &playback, &error), CAROM_OK, "%s",
                 error.message);
    cr_assert_eq(cm_playback_seek(playback, info.ticks, &error), CAROM_OK, "%s", error.message);
    const whistle_state *s = carom_game_state(cm_playback_game(playback));
    cr_expect_eq(s->ends, 1);
    cr_expect_eq(s->ended_at, info.ticks, "its tick is the last one");
    cm_playback_close(playback);
    cm_replay_report report;
    const cm_replay_options options = {.module = &whistle};
    cr_expect_eq(cm_replay_verify(path, &options, &report), CAROM_OK, "%s %s", report.error.message,
                 report.difference);
    cr_expect_eq(report.verified_ticks, info.ticks);
    away_free(a);
}

Test(end, a_closed_room_ends_its_match)
{
    away *a = open_town(51);
    cr_assert(cm_worker_close(a->worker, ""));
    run_writing(a, 1.0);
    expect_told(a, CAROM_REASON_ROOM_ENDED);
    away_free(a);
}

// Nothing runs at a kill; the match goes on, and ends once.
Test(end, a_killed_server_ends_no_match)
{
    away *a = open_town(52);
    cm_store_pump(a->store);
    away_crash(a);
    const whistle_state *s =
        carom_game_state(cm_room_game(cm_hosted_room_room(cm_worker_room_at(a->worker, 0))));
    cr_expect_eq(s->ends, 0);
    away_run(a, 5.0);
    cm_worker_drain(a->worker, cm_net_now_us(a->net));
    s = carom_game_state(cm_room_game(cm_hosted_room_room(cm_worker_room_at(a->worker, 0))));
    cr_expect_eq(s->ends, 1);
    away_free(a);
}
