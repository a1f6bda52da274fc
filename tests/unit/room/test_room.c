// Goal: an input that comes late but within the window gives the very ticks it would have given in
// time; later than that it changes nothing; ticks are confirmed in order, once, and replay from
// what was handed over, joins, leaves and messages with them; rewinds are bounded. Method: rooms
// side by side, one with inputs in time, one with the same inputs late by a seeded number of ticks;
// a fresh game fed with the confirmed ticks.
#include "server/room/room.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/hash.h"
#include "shared/base/rng.h"
#include "tests/unit/node/rig.h"

#define PLAYERS 3u
#define TICKS   240u
#define WINDOW  8u // 133 ms at 60 Hz

static cm_room *make_room(const cm_scene *scene, uint32_t rewind_ms)
{
    cm_room_def def = {.scene = scene, .seed = 5, .rewind_ms = rewind_ms, .max_players = 4};
    cm_room *room = NULL;
    cr_assert_eq(cm_room_create(&def, &room), CAROM_OK);
    return room;
}

static void join(cm_room *room, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t player = 99;
        cr_assert_eq(cm_room_join(room, 100 + i, NULL, 0, &player), CAROM_OK);
        cr_assert_eq(player, i);
    }
}

// What player p does at a tick: something new every seventh tick.
static void script(uint32_t player, uint64_t tick, uint8_t bytes[CAROM_INPUT_MAX])
{
    cm_rng rng;
    cm_rng_seed(&rng, player * 1000 + tick / 7);
    float x = cm_rng_range(&rng, -1, 1), z = cm_rng_range(&rng, -1, 1);
    rig_input(bytes, x, z, (uint8_t)cm_rng_below(&rng, 4));
}

// One more player comes and goes, and player 0 talks: what happens before the frame of a tick.
static void act(cm_room *room, uint64_t tick)
{
    uint32_t player;
    uint8_t said = (uint8_t)tick;
    if (tick % 10 == 3) {
        cr_assert_eq(cm_room_join(room, 500 + tick, &said, 1, &player), CAROM_OK);
        cr_assert_eq(player, PLAYERS);
    }
    if (tick % 10 == 8) {
        cm_room_leave(room, PLAYERS);
    }
    if (tick % 4 == 0) {
        cr_assert(cm_room_message(room, 0, &said, 1));
    }
}

// A confirmed tick: its state, and who came, left and said what.
static uint64_t trace_of(const cm_history_slot *slot)
{
    cm_hash hash = cm_hash_begin(slot->hash);
    for (uint32_t i = 0; i < slot->input.event_count; i++) {
        const cm_game_event *event = &slot->input.events[i];
        cm_hash_u32(&hash, (uint32_t)event->type);
        cm_hash_u32(&hash, event->player);
        cm_hash_u64(&hash, event->client_id);
        for (uint32_t k = 0; k < event->size; k++) {
            cm_hash_u32(&hash, event->bytes[k]);
        }
    }
    return cm_hash_end(&hash);
}

typedef struct played {
    uint64_t traces[TICKS + 1];                     // of confirmed ticks
    uint32_t joins, leaves, messages;               // in confirmed ticks
    uint32_t again_joins, again_leaves, again_said; // in ticks that were stepped again
} played;

static void count_again(const cm_room *room, uint64_t tick, uint64_t *before, played *out)
{
    cm_room_stats stats;
    cm_room_stats_get(room, &stats);
    for (uint64_t again = tick - (stats.rewound_ticks - *before); again < tick; again++) {
        out->again_joins += again % 10 == 3;
        out->again_leaves += again % 10 == 8;
        out->again_said += again % 4 == 0;
    }
    *before = stats.rewound_ticks;
}

static void take_confirmed(cm_room *room, bool all, played *out)
{
    const cm_history_slot *slot;
    while ((slot = cm_room_confirm(room, all)) != NULL) {
        out->traces[slot->tick] = trace_of(slot);
        for (uint32_t i = 0; i < slot->input.event_count; i++) {
            out->joins += slot->input.events[i].type == CM_EVENT_JOIN;
            out->leaves += slot->input.events[i].type == CM_EVENT_LEAVE;
            out->messages += slot->input.events[i].type == CM_EVENT_MESSAGE;
        }
    }
}

// Runs a room; input of (player, tick) comes `late` ticks after it was due, 0 to most.
static void play(cm_room *room, uint32_t most, played *out)
{
    cm_rng rng;
    cm_rng_seed(&rng, most);
    memset(out, 0, sizeof *out);
    uint64_t due[PLAYERS][TICKS + 1], before = 0;
    for (uint32_t p = 0; p < PLAYERS; p++) {
        for (uint64_t t = 0; t <= TICKS; t++) {
            due[p][t] = t + (most > 0 ? cm_rng_below(&rng, most + 1) : 0);
        }
    }
    for (uint64_t t = 1; t <= TICKS; t++) {
        act(room, t);
        for (uint32_t p = 0; p < PLAYERS; p++) {
            for (uint64_t at = t > most ? t - most : 2; at <= t; at++) {
                if (due[p][at] == t && at > 1) {
                    uint8_t bytes[CAROM_INPUT_MAX];
                    uint32_t cost;
                    script(p, at, bytes);
                    cm_input_verdict verdict = cm_room_input(room, p, at, bytes, 1000, &cost);
                    cr_assert_leq(verdict, CM_INPUT_LATE, "tick %d at %d: %d", (int)at, (int)t,
                                  (int)verdict);
                }
            }
        }
        cm_room_frame(room);
        count_again(room, t, &before, out);
        take_confirmed(room, t == TICKS, out);
    }
}

Test(room, late_inputs_give_the_ticks_that_inputs_in_time_give)
{
    cm_scene *scene = rig_scene(4);
    static played in_time, late;
    cm_room *a = make_room(scene, 133), *b = make_room(scene, 133);
    cr_assert_eq(cm_room_window(a), WINDOW);
    join(a, PLAYERS);
    join(b, PLAYERS);
    play(a, 0, &in_time);
    // The frame of tick t steps tick t, so an input due then is in time; 8 ticks later the room has
    // stepped 7 ticks beyond it.
    play(b, WINDOW, &late);
    for (uint32_t t = 1; t <= TICKS - WINDOW; t++) {
        cr_assert_eq(in_time.traces[t], late.traces[t], "tick %u", t);
    }
    cr_assert_eq(late.joins, PLAYERS + TICKS / 10);
    cr_assert_eq(late.leaves, TICKS / 10);
    cr_assert_eq(late.messages, TICKS / 4);
    cr_assert_gt(late.again_joins, 10);
    cr_assert_gt(late.again_leaves, 10);
    cr_assert_gt(late.again_said, 10);
    cm_room_stats stats;
    cm_room_stats_get(b, &stats);
    cr_assert_gt(stats.rewinds, 50);
    cr_assert_leq(stats.rewinds, TICKS, "at most once a frame");
    cr_assert_leq(stats.rewound_ticks, stats.rewinds * WINDOW);
    cm_room_stats_get(a, &stats);
    cr_assert_eq(stats.rewinds, 0);
    cm_room_destroy(a);
    cm_room_destroy(b);
    cm_scene_free(scene);
}

Test(room, an_input_beyond_the_window_is_refused)
{
    cm_scene *scene = rig_scene(2);
    cm_room *room = make_room(scene, 133);
    join(room, 1);
    for (int i = 0; i < 30; i++) {
        cm_room_frame(room);
        while (cm_room_confirm(room, false) != NULL) {
        }
    }
    uint8_t bytes[CAROM_INPUT_MAX];
    uint32_t cost;
    rig_input(bytes, 1, 0, 0);
    cr_assert_eq(cm_room_confirmed(room), 30 - WINDOW);
    cr_assert_eq(cm_room_input(room, 0, 30 - WINDOW, bytes, 1000, &cost), CM_INPUT_TOO_OLD);
    cr_assert_eq(cm_room_input(room, 0, 31 - WINDOW, bytes, 1000, &cost), CM_INPUT_LATE);
    cr_assert_eq(cost, WINDOW);
    cm_room_destroy(room);
    cm_scene_free(scene);
}

Test(room, a_rewind_costs_at_most_what_is_allowed)
{
    cm_scene *scene = rig_scene(2);
    cm_room *room = make_room(scene, 133);
    join(room, 2);
    for (int i = 0; i < 20; i++) {
        cm_room_frame(room);
        while (cm_room_confirm(room, false) != NULL) {
        }
    }
    uint64_t before = cm_room_hash(room);
    uint8_t bytes[CAROM_INPUT_MAX];
    uint32_t cost = 9;
    rig_input(bytes, 1, 0, 0);
    cr_assert_eq(cm_room_input(room, 0, 16, bytes, 4, &cost), CM_INPUT_BUDGET);
    cr_assert_eq(cost, 0);
    cr_assert_eq(cm_room_input(room, 0, 17, bytes, 4, &cost), CM_INPUT_LATE);
    cr_assert_eq(cost, 4);
    cr_assert_eq(cm_room_input(room, 1, 18, bytes, 0, &cost), CM_INPUT_LATE,
                 "it adds nothing to the rewind that is due");
    cr_assert_eq(cm_room_hash(room), before, "nothing happens before the frame");
    cm_room_frame(room);
    cm_room_stats stats;
    cm_room_stats_get(room, &stats);
    cr_assert_eq(stats.rewinds, 1);
    cr_assert_eq(stats.rewound_ticks, 4);
    cm_room_destroy(room);
    cm_scene_free(scene);
}

Test(room, inputs_that_the_module_refuses_change_nothing)
{
    cm_scene *scene = rig_scene(2);
    cm_room *room = make_room(scene, 133);
    join(room, 1);
    cm_room_frame(room);
    uint8_t bytes[CAROM_INPUT_MAX];
    uint32_t cost;
    rig_input(bytes, __builtin_nanf(""), 0, 0);
    cr_assert_eq(cm_room_input(room, 0, 2, bytes, 100, &cost), CM_INPUT_INVALID);
    rig_input(bytes, 1e30f, 0, 0);
    cr_assert_eq(cm_room_input(room, 0, 2, bytes, 100, &cost), CM_INPUT_INVALID);
    rig_input(bytes, 1, 0, 0);
    cr_assert_eq(cm_room_input(room, 0, 2, bytes, 100, &cost), CM_INPUT_ON_TIME);
    cr_assert_eq(cm_room_input(room, 3, 2, bytes, 100, &cost), CM_INPUT_TOO_OLD, "nobody there");
    cr_assert_eq(cm_room_input(room, 70, 2, bytes, 100, &cost), CM_INPUT_TOO_OLD);
    cm_room_destroy(room);
    cm_scene_free(scene);
}

Test(room, confirmed_ticks_replay_to_their_hashes)
{
    cm_scene *scene = rig_scene(3);
    cm_room *room = make_room(scene, 133);
    carom_game *replay = NULL;
    cr_assert_eq(cm_game_create(scene, &carom_module_sandbox, 5, NULL, &replay), CAROM_OK);
    cr_assert_eq(cm_game_hash(replay), cm_room_hash(room), "tick 0");
    cm_rng rng;
    cm_rng_seed(&rng, 3);
    uint32_t players = 0;
    uint64_t expected = 1;
    for (uint64_t t = 1; t <= 400; t++) {
        if (t % 40 == 1 && players < 4) {
            uint32_t player;
            cr_assert_eq(cm_room_join(room, t, (const uint8_t *)"hello", 5, &player), CAROM_OK);
            players++;
        }
        if (t % 97 == 0) {
            cm_room_leave(room, 1);
            uint32_t player;
            cr_assert_eq(cm_room_join(room, t, NULL, 0, &player), CAROM_OK, "in the same tick");
            cr_assert_eq(player, 1);
        }
        if (t % 11 == 0) {
            cr_assert(cm_room_message(room, 0, (const uint8_t *)"m", 1));
        }
        for (uint32_t p = 0; p < players; p++) {
            uint8_t bytes[CAROM_INPUT_MAX];
            uint32_t cost;
            uint64_t tick = t + 3 - cm_rng_below(&rng, 10);
            rig_input(bytes, cm_rng_range(&rng, -1, 1), 0, (uint8_t)cm_rng_below(&rng, 4));
            cm_room_input(room, p, tick, bytes, 1000, &cost);
        }
        cm_room_frame(room);
        const cm_history_slot *slot;
        while ((slot = cm_room_confirm(room, t == 400)) != NULL) {
            cr_assert_eq(slot->tick, expected++);
            cm_tick_input input = slot->input;
            cm_game_tick(replay, &input);
            cr_assert_eq(cm_game_hash(replay), slot->hash, "tick %d", (int)slot->tick);
        }
    }
    cr_assert_eq(expected, 401);
    cr_assert_eq(cm_game_hash(replay), cm_room_hash(room));
    cm_room_stats stats;
    cm_room_stats_get(room, &stats);
    cr_assert_gt(stats.rewinds, 20);
    cm_game_destroy(replay);
    cm_room_destroy(room);
    cm_scene_free(scene);
}

// A module that says each tick what it was given: a message follows from the very inputs and events
// of its tick, so one of a tick stepped again has to be the one of the last step.
static void echo_message(carom_game *game, uint32_t player, const uint8_t *data, uint32_t size)
{
    (void)carom_game_send(game, player, data, size);
}

static void echo_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (inputs[i].bytes[0] != 0) {
            (void)carom_game_send(game, inputs[i].player, inputs[i].bytes, 2);
        }
    }
}

static const carom_module echo = {.abi = CAROM_MODULE_ABI,
                                  .version = 1,
                                  .name = "echo",
                                  .input_size = 2,
                                  .message = echo_message,
                                  .tick = echo_tick};

static void compare_messages(const cm_history_slot *slot, const carom_game *replay)
{
    uint32_t count;
    const cm_game_message *messages = cm_game_messages(replay, &count);
    cr_assert_eq(slot->message_count, count, "tick %d", (int)slot->tick);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert_eq(slot->messages[i].player, messages[i].player);
        cr_assert_eq(slot->messages[i].size, messages[i].size);
        cr_assert_eq(memcmp(slot->messages[i].bytes, messages[i].bytes, messages[i].size), 0,
                     "tick %d, message %d", (int)slot->tick, (int)i);
    }
}

Test(room, what_the_module_says_is_that_of_the_last_step)
{
    cm_scene *scene = rig_scene(1);
    cm_room_def def = {
        .scene = scene, .seed = 5, .rewind_ms = 133, .max_players = 4, .module = &echo};
    cm_room *room = NULL;
    cr_assert_eq(cm_room_create(&def, &room), CAROM_OK);
    carom_game *replay = NULL;
    cr_assert_eq(cm_game_create(scene, &echo, 5, NULL, &replay), CAROM_OK);
    join(room, PLAYERS);
    cm_rng rng;
    cm_rng_seed(&rng, 9);
    uint32_t said = 0;
    for (uint64_t t = 1; t <= TICKS; t++) {
        uint8_t bytes[CAROM_INPUT_MAX] = {(uint8_t)cm_rng_below(&rng, 3), (uint8_t)t};
        uint32_t cost;
        uint64_t tick = t + 2 - cm_rng_below(&rng, 8);
        cm_room_input(room, cm_rng_below(&rng, PLAYERS), tick, bytes, 1000, &cost);
        if (t % 5 == 0) {
            cr_assert(cm_room_message(room, 1, bytes, 2));
        }
        cm_room_frame(room);
        const cm_history_slot *slot;
        while ((slot = cm_room_confirm(room, t == TICKS)) != NULL) {
            cm_tick_input input = slot->input;
            cm_game_tick(replay, &input);
            compare_messages(slot, replay);
            said += slot->message_count;
        }
    }
    cm_room_stats stats;
    cm_room_stats_get(room, &stats);
    cr_assert_gt(stats.rewinds, 20);
    cr_assert_gt(said, TICKS);
    cm_game_destroy(replay);
    cm_room_destroy(room);
    cm_scene_free(scene);
}

Test(room, slots_are_given_and_given_back)
{
    cm_scene *scene = rig_scene(2);
    cm_room *room = make_room(scene, 0);
    cr_assert_eq(cm_room_window(room), 0);
    join(room, 4);
    uint32_t player;
    cr_assert_eq(cm_room_join(room, 1, NULL, 0, &player), CAROM_ERROR_LIMIT_PLAYERS);
    cm_room_frame(room);
    cr_assert_not_null(cm_room_confirm(room, false), "without a window at once");
    cr_assert_eq(cm_room_present(room), 15);
    cm_room_leave(room, 2);
    cm_room_leave(room, 2);
    cm_room_frame(room);
    cr_assert_not_null(cm_room_confirm(room, false));
    cr_assert_eq(cm_room_present(room), 11);
    cr_assert_eq(cm_room_join(room, 1, NULL, 0, &player), CAROM_OK);
    cr_assert_eq(player, 2);
    cm_room_destroy(room);
    cm_scene_free(scene);
}

Test(room, events_that_do_not_fit_wait_or_are_refused)
{
    cm_scene *scene = rig_scene(2);
    cm_room *room = make_room(scene, 133);
    join(room, 4);
    cm_room_frame(room);
    uint8_t bytes[CAROM_MESSAGE_MAX] = {0};
    for (uint32_t player = 0; player < 4; player++) {
        // Whatever the players before did, a quarter is this one's.
        uint32_t taken = 0;
        while (cm_room_message(room, player, bytes, sizeof bytes)) {
            taken++;
        }
        cr_assert_eq(taken, CM_EVENT_BYTES_MAX / CAROM_MESSAGE_MAX / 4);
        while (cm_room_message(room, player, bytes, 0)) {
            taken++;
        }
        cr_assert_eq(taken, CM_EVENTS_MAX / 4);
    }
    cm_room_leave(room, 1);
    uint32_t joined;
    cr_assert_eq(cm_room_join(room, 5, NULL, 0, &joined), CAROM_OK, "messages leave room for it");
    cr_assert_eq(joined, 1);
    cm_room_frame(room);
    cr_assert_eq(cm_room_present(room), 15);
    cr_assert(!cm_room_message(room, 0, bytes, CAROM_MESSAGE_MAX + 1));
    for (int i = 0; i < 3; i++) {
        cm_room_frame(room);
    }
    cr_assert(cm_room_message(room, 0, bytes, CAROM_MESSAGE_MAX), "the share is free again");
    // Comers and goers alone fill a tick.
    cm_room_frame(room);
    cm_room_leave(room, 3);
    for (int i = 0; i < 127; i++) {
        cr_assert_eq(cm_room_join(room, 6, NULL, 0, &joined), CAROM_OK);
        cr_assert_eq(joined, 3);
        cm_room_leave(room, 3);
    }
    cm_room_leave(room, 1);
    cm_room_leave(room, 2);
    cr_assert_eq(cm_room_join(room, 6, NULL, 0, &joined), CAROM_ERROR_FULL);
    cm_room_frame(room);
    cr_assert_eq(cm_room_present(room), 5, "the second leave waits for room");
    cm_room_frame(room);
    cr_assert_eq(cm_room_present(room), 1);
    cm_room_destroy(room);
    cm_scene_free(scene);
}

Test(room, ticks_of_the_window_can_be_looked_at)
{
    cm_scene *scene = rig_scene(2);
    cm_room *room = make_room(scene, 133);
    uint64_t hashes[40];
    for (uint64_t t = 1; t < 40; t++) {
        cm_room_frame(room);
        hashes[t] = cm_room_hash(room);
        while (cm_room_confirm(room, false) != NULL) {
        }
    }
    const carom_game *game = cm_room_game_at(room, 35);
    cr_assert_not_null(game);
    cr_assert_eq(cm_game_hash(game), hashes[35]);
    cr_assert_null(cm_room_game_at(room, 40));
    cr_assert_null(cm_room_game_at(room, 20));
    cm_room_destroy(room);
    cm_scene_free(scene);
}

// Of the messages confirmed until now, those of each player so far; each has to be the next one.
// A keyframe is of the tick that was asked for, and not of the newest.
Test(room, each_tick_of_the_window_is_encoded_as_it_was)
{
    cm_scene *scene = rig_scene(3);
    cm_room *room = make_room(scene, 133);
    carom_game *game = NULL;
    cr_assert_eq(cm_game_create(scene, &carom_module_sandbox, 5, NULL, &game), CAROM_OK);
    join(room, 1);
    uint64_t hashes[31];
    size_t size = 0;
    for (uint64_t tick = 1; tick <= 30; tick++) {
        uint8_t bytes[CAROM_INPUT_MAX];
        uint32_t cost;
        script(0, tick, bytes);
        cm_room_input(room, 0, tick, bytes, 100, &cost);
        cm_room_frame(room);
        hashes[tick] = cm_room_hash(room);
        while (cm_room_confirm(room, false) != NULL) {
        }
    }
    for (uint64_t tick = 30 - WINDOW; tick <= 30; tick++) {
        const uint8_t *bytes = cm_room_encode(room, tick, &size);
        cr_assert_not_null(bytes);
        cr_assert_eq(cm_game_decode(game, bytes, size), CAROM_OK);
        cr_assert_eq(cm_game_hash(game), hashes[tick], "tick %d", (int)tick);
    }
    cr_assert(cm_room_has_encoded(room));
    cm_room_frame(room);
    cr_assert_not(cm_room_has_encoded(room), "not in this tick");
    cr_assert_null(cm_room_encode(room, 32, &size), "not stepped yet");
    cr_assert_null(cm_room_encode(room, 12, &size), "out of the history");
    cm_game_destroy(game);
    cm_room_destroy(room);
    cm_scene_free(scene);
}

static void count_messages(cm_room *room, uint32_t seen[8])
{
    const cm_history_slot *slot;
    while ((slot = cm_room_confirm(room, false)) != NULL) {
        for (uint32_t i = 0; i < slot->input.event_count; i++) {
            const cm_game_event *event = &slot->input.events[i];
            if (event->type == CM_EVENT_MESSAGE) {
                cr_assert_eq(event->size, 1);
                cr_assert_eq(event->bytes[0], seen[event->player]++ & 0xff);
            }
        }
    }
}

// Players that fill every tick cannot have another one's message refused, nor reordered.
Test(room, a_full_tick_makes_messages_wait_in_order)
{
    cm_scene *scene = rig_scene(2);
    cm_room_def def = {.scene = scene, .seed = 5, .max_players = 8};
    cm_room *room = NULL;
    cr_assert_eq(cm_room_create(&def, &room), CAROM_OK);
    join(room, 8);
    cm_room_frame(room);
    cr_assert_not_null(cm_room_confirm(room, false));
    uint32_t sent[8] = {0}, seen[8] = {0}, late = 0;
    for (uint32_t tick = 0; tick < 60; tick++) {
        for (uint32_t player = 1; player < 8 && tick < 40; player++) {
            uint8_t byte = (uint8_t)sent[player];
            while (cm_room_message(room, player, &byte, 1)) {
                byte = (uint8_t)++sent[player];
            }
        }
        uint8_t byte = (uint8_t)sent[0];
        if (tick < 40) {
            cr_assert(cm_room_message(room, 0, &byte, 1), "tick %u", tick);
            sent[0]++;
        }
        cm_room_frame(room);
        count_messages(room, seen);
        late = sent[0] - seen[0] > late ? sent[0] - seen[0] : late;
    }
    for (uint32_t player = 0; player < 8; player++) {
        cr_assert_eq(seen[player], sent[player]);
    }
    cr_assert_gt(sent[1], 500, "its part of each tick");
    cr_assert_leq(late, 2);
    cm_room_destroy(room);
    cm_scene_free(scene);
}

Test(room, what_waited_of_one_who_left_is_not_said_by_the_next)
{
    cm_scene *scene = rig_scene(2);
    cm_room *room = make_room(scene, 0);
    join(room, 4);
    cm_room_frame(room);
    cr_assert_not_null(cm_room_confirm(room, false));
    uint8_t bytes[1] = {0};
    for (uint32_t player = 0; player < 4; player++) {
        while (cm_room_message(room, player, bytes, 1)) {
        }
    }
    cm_room_leave(room, 3);
    uint32_t joined;
    cr_assert_eq(cm_room_join(room, 9, NULL, 0, &joined), CAROM_OK);
    cr_assert_eq(joined, 3);
    for (int i = 0; i < 3; i++) {
        cm_room_frame(room);
        const cm_history_slot *slot = cm_room_confirm(room, false);
        for (uint32_t n = 0; n < slot->input.event_count; n++) {
            cr_assert(slot->input.events[n].type != CM_EVENT_MESSAGE ||
                      slot->input.events[n].player != 3);
        }
    }
    cm_room_destroy(room);
    cm_scene_free(scene);
}

// A clock that goes on by a millisecond whenever it is read.
static double count_readings(void *context)
{
    uint32_t *readings = context;
    return 1e-3 * (double)++*readings;
}

// Its profile is of all ticks stepped, and a clock changes no tick.
Test(room, a_profile_adds_up_and_changes_nothing)
{
    cm_scene *scene = rig_scene(4);
    static played with, without;
    cm_room *a = make_room(scene, 133), *b = make_room(scene, 133);
    uint32_t readings = 0;
    join(a, PLAYERS);
    join(b, PLAYERS);
    cm_room_set_clock(a, count_readings, &readings);
    play(a, WINDOW, &with);
    play(b, WINDOW, &without);
    cr_assert_eq(memcmp(&with, &without, sizeof with), 0);
    cm_room_stats stats;
    cm_room_profile profile;
    cm_room_stats_get(a, &stats);
    cm_room_profile_get(a, &profile);
    cr_assert_eq(profile.ticks, TICKS + stats.rewound_ticks);
    double ticks = (double)profile.ticks;
    const double *stage = profile.stage_s;
    cr_assert_float_eq(stage[CAROM_STAGE_HASH], 1e-3 * ticks, 1e-6 * ticks);
    cr_assert_float_eq(stage[CAROM_STAGE_SAVE], 1e-3 * ticks, 1e-6 * ticks);
    cr_assert_gt(stage[CAROM_STAGE_SOLVE], 0.0);
    cr_assert_gt(stage[CAROM_STAGE_SLEEP], 0.0);
    double parts = 0.0;
    for (uint32_t i = 0; i < CAROM_STAGE_STEP; i++) {
        parts += stage[i];
    }
    cr_assert_leq(parts, stage[CAROM_STAGE_STEP] + 1e-6);
    cm_room_profile_get(b, &profile);
    cr_assert_eq(profile.stage_s[CAROM_STAGE_SAVE], 0.0);
    cm_room_destroy(a);
    cm_room_destroy(b);
    cm_scene_free(scene);
}
