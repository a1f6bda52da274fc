// Goal: a player to whose join the module says no has a slot and nothing else: neither inputs nor
// messages reach the module, nobody is welcomed or refused before the answer is final, and a tick
// that is stepped again may answer anew. Whom the module kicks plays until that is final. What is
// recorded of both is replayed to the same states.
//
// Method: a room by itself, in which a late input changes what a join finds; a worker with SDK
// clients, of the same build and of another; the recording.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "server/room/room.h"
#include "server/record/replay/replay.h"
#include "tests/unit/node/away.h"
#include "tests/unit/node/rig.h"

#define OPEN  1u // buttons of an input: the gate is open while somebody holds it
#define KICKS 2u // player 1 goes
#define SEATS 2u

typedef struct gate_state {
    uint32_t open, joins, leaves, inputs, messages, present;
} gate_state;

static bool gate_join(carom_game *game, uint32_t player, const uint8_t *data, uint32_t size)
{
    gate_state *s = carom_game_state(game);
    (void)data;
    s->joins++;
    bool in = size == 0 || s->open != 0; // whoever brings data needs an open gate
    s->present += in;
    (void)player;
    return in;
}

static void gate_leave(carom_game *game, uint32_t player)
{
    gate_state *s = carom_game_state(game);
    (void)player;
    s->leaves++;
    s->present--;
}

static void gate_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    gate_state *s = carom_game_state(game);
    s->open = 0;
    for (uint32_t i = 0; i < count; i++) {
        s->open |= inputs[i].bytes[8] & OPEN;
        s->inputs += inputs[i].player == 1;
        if ((inputs[i].bytes[8] & KICKS) != 0 && cm_game_kicked(game) == 0) {
            (void)carom_game_send(game, 1, "bye", 3);
            (void)carom_game_kick(game, 1, CAROM_REASON_GAME_KICKED);
        }
    }
}

static void gate_message(carom_game *game, uint32_t player, const uint8_t *bytes, uint32_t size)
{
    gate_state *s = carom_game_state(game);
    (void)bytes;
    (void)size;
    s->messages += player == 1;
}

static bool gate_may_join(const carom_game *game, const uint8_t *data, uint32_t size)
{
    const gate_state *s = carom_game_state(game);
    (void)data;
    return size > 0 || s->present < SEATS;
}

static const carom_module gate = {.abi = CAROM_MODULE_ABI,
                                  .version = 1,
                                  .name = "gate",
                                  .input_size = RIG_INPUT_SIZE,
                                  .state_size = sizeof(gate_state),
                                  .may_join = gate_may_join,
                                  .join = gate_join,
                                  .leave = gate_leave,
                                  .tick = gate_tick,
                                  .message = gate_message};

// A room -----------------------------------------------------------------------------------

#define JOIN_TICK 6u // of player 1; the input of the tick before it may come late
#define LAST_TICK 40u

typedef struct outcome {
    bool final_by[LAST_TICK + 1];   // whether it was let in for good, by the newest tick
    bool present_at[LAST_TICK + 1]; // whether player 1 was in, in the newest tick
    uint64_t hashes[LAST_TICK + 1]; // of confirmed ticks, with what left under which name
    uint32_t refused_leaves, plain_leaves;
    gate_state end;
} outcome;

static const gate_state *state_of(const cm_room *room)
{
    return carom_game_state(cm_room_game(room));
}

static void put_buttons(cm_room *room, uint32_t player, uint64_t tick, uint8_t buttons)
{
    uint8_t bytes[CAROM_INPUT_MAX];
    uint32_t cost;
    rig_input(bytes, 0.0f, 0.0f, buttons);
    cr_assert_leq(cm_room_input(room, player, tick, bytes, 1000, &cost), CM_INPUT_LATE);
}

// Ticks confirmed, replayed in a fresh game as a recording is.
static void take_confirmed(cm_room *room, carom_game *shadow, outcome *out)
{
    const cm_history_slot *slot;
    while ((slot = cm_room_confirm(room, cm_room_tick(room) == LAST_TICK)) != NULL) {
        cm_tick_input input = slot->input;
        cm_game_tick(shadow, &input);
        cr_assert_eq(cm_game_hash(shadow), slot->hash, "tick %llu", (unsigned long long)slot->tick);
        out->hashes[slot->tick] = slot->hash;
        for (uint32_t i = 0; i < input.event_count; i++) {
            const cm_game_event *event = &input.events[i];
            bool refused = event->size == strlen(CM_LEAVE_REFUSED) &&
                           memcmp(event->bytes, CM_LEAVE_REFUSED, event->size) == 0;
            out->refused_leaves += event->type == CM_EVENT_LEAVE && refused;
            out->plain_leaves += event->type == CM_EVENT_LEAVE && event->size == 0;
        }
        if (slot->tick > JOIN_TICK && (slot->refused >> 1 & 1) != 0 && slot->tick < LAST_TICK) {
            cm_room_leave(room, 1);
        }
    }
}

// The gate's keeper says `early` in time and, where another, `late` four ticks after it was due.
static void play(uint8_t early, uint8_t late, outcome *out)
{
    cm_scene *scene = rig_scene(1);
    cm_room_def def = {
        .scene = scene, .seed = 5, .rewind_ms = 133, .max_players = 4, .module = &gate};
    cm_room *room = NULL;
    carom_game *shadow;
    uint32_t player;
    memset(out, 0, sizeof *out);
    cr_assert_eq(cm_room_create(&def, &room), CAROM_OK);
    cr_assert_eq(cm_game_create(scene, &gate, 5, NULL, &shadow), CAROM_OK);
    cr_assert_eq(cm_room_join(room, 7, NULL, 0, &player), CAROM_OK);
    cm_room_frame(room);
    cm_room_welcomed(room, 0);
    for (uint64_t tick = 2; tick <= LAST_TICK; tick++) {
        bool waits = tick == JOIN_TICK - 1 && early != late;
        if (!waits) {
            put_buttons(room, 0, tick, tick < JOIN_TICK - 1 ? early : late);
        }
        if (tick == JOIN_TICK) {
            cr_assert_eq(cm_room_join(room, 8, (const uint8_t *)"?", 1, &player), CAROM_OK);
            cr_assert_eq(player, 1);
        }
        if (tick == JOIN_TICK + 3 && early != late) {
            put_buttons(room, 0, JOIN_TICK - 1, late);
        }
        if (tick == JOIN_TICK + 2) {
            put_buttons(room, 1, tick, OPEN);
            cr_assert(cm_room_message(room, 1, (const uint8_t *)"hello", 5));
        }
        cm_room_frame(room);
        out->present_at[tick] = (cm_room_present(room) >> 1 & 1) != 0;
        out->final_by[tick] = out->present_at[tick] && cm_room_has_let_in(room, 1, JOIN_TICK);
        take_confirmed(room, shadow, out);
    }
    out->end = *state_of(room);
    cm_game_destroy(shadow);
    cm_room_destroy(room);
    cm_scene_free(scene);
}

static void expect_refused(const outcome *out)
{
    cr_assert_eq(out->refused_leaves, 1);
    cr_assert_eq(out->plain_leaves, 0);
    cr_assert_eq(out->end.leaves, 0, "leave is not called for whom join refused");
    cr_assert_eq(out->end.inputs, 0);
    cr_assert_eq(out->end.messages, 0);
}

static void expect_let_in(const outcome *out)
{
    cr_assert_eq(out->refused_leaves + out->plain_leaves, 0);
    cr_assert_gt(out->end.inputs, 20);
    cr_assert_eq(out->end.messages, 1);
}

Test(unwanted, an_answer_is_final_when_no_rewind_reaches_it)
{
    outcome in_time, flipped;
    play(OPEN, OPEN, &in_time);
    expect_let_in(&in_time);
    play(0, OPEN, &flipped);
    expect_let_in(&flipped);
    cr_assert_not(flipped.present_at[JOIN_TICK + 1], "refused at first");
    cr_assert(flipped.present_at[JOIN_TICK + 3], "and let in by the late input");
    cr_assert(in_time.final_by[JOIN_TICK], "all inputs had come");
    cr_assert_not(flipped.final_by[JOIN_TICK + 2]);
    cr_assert(flipped.final_by[JOIN_TICK + 3], "with the late one all have come");
    play(0, 0, &in_time);
    expect_refused(&in_time);
    play(OPEN, 0, &flipped);
    expect_refused(&flipped);
    cr_assert(flipped.present_at[JOIN_TICK + 1]);
    cr_assert_not(flipped.present_at[JOIN_TICK + 3]);
    for (uint64_t tick = 0; tick <= LAST_TICK; tick++) {
        cr_assert_not(flipped.final_by[tick] || in_time.final_by[tick], "at tick %d", (int)tick);
    }
}

// One newcomer at a time: what the module is asked about the second is asked of a state that has
// the first, however many come between two ticks.
Test(unwanted, promised_seats_count)
{
    cm_scene *scene = rig_scene(1);
    cm_room_def def = {
        .scene = scene, .seed = 5, .rewind_ms = 133, .max_players = 8, .module = &gate};
    cm_room *room = NULL;
    uint32_t player, in = 0, asked_again = 0;
    cr_assert_eq(cm_room_create(&def, &room), CAROM_OK);
    for (uint32_t tick = 0; tick < 5; tick++) {
        for (uint32_t i = 0; i < 3; i++) {
            carom_result result = cm_room_join(room, 1 + 3 * tick + i, NULL, 0, &player);
            in += result == CAROM_OK;
            asked_again += result == CAROM_ERROR_FULL;
            cr_assert(result != CAROM_ERROR_STATE || in == SEATS);
        }
        cm_room_frame(room);
    }
    cr_assert_eq(in, SEATS);
    cr_assert_eq(asked_again, 2 * SEATS);
    cm_room_destroy(room);
    cm_scene_free(scene);
}

// State ------------------------------------------------------------------------------------

static void tick_with(carom_game *game, uint32_t type, uint32_t player, uint32_t size)
{
    cm_game_event event = {
        .type = type, .player = player, .bytes = (const uint8_t *)"?", .size = size};
    cm_tick_input input = {.events = &event, .event_count = 1};
    cm_game_tick(game, &input);
}

// Of a game that goes another way, then back by an image and by an encoding.
static void expect_restored(carom_game *game, const cm_scene *scene)
{
    carom_game *other;
    uint64_t hash = cm_game_hash(game);
    static uint8_t image[1 << 20], bytes[1 << 20];
    size_t saved = cm_game_save(game, image, sizeof image);
    size_t size = cm_game_encode_size(game);
    cr_assert_lt(size, sizeof bytes);
    cr_assert_eq(cm_game_encode(game, bytes, size), size);
    cr_assert_eq(cm_game_create(scene, &gate, 5, NULL, &other), CAROM_OK);
    cr_assert_neq(cm_game_hash(other), hash);
    cr_assert_eq(cm_game_restore(other, image, saved), CAROM_OK);
    cr_assert_eq(cm_game_hash(other), hash);
    tick_with(other, CM_EVENT_LEAVE, 1, 0);
    cr_assert_eq(cm_game_decode(other, bytes, size), CAROM_OK);
    cr_assert_eq(cm_game_hash(other), hash);
    cr_assert_eq(cm_game_refused(other), cm_game_refused(game));
    cr_assert_eq(cm_game_kicked(other), cm_game_kicked(game));
    bytes[17] ^= 4; // refused, of a player who is not there
    cr_assert_eq(cm_game_decode(other, bytes, size),
                 cm_game_refused(game) | cm_game_kicked(game) ? CAROM_ERROR_CORRUPT : CAROM_OK);
    cm_game_destroy(other);
}

Test(unwanted, who_is_refused_or_kicked_is_state)
{
    cm_scene *scene = rig_scene(1);
    carom_game *game;
    uint64_t hashes[5];
    cr_assert_eq(cm_game_create(scene, &gate, 5, NULL, &game), CAROM_OK);
    static uint8_t image[1 << 20];
    tick_with(game, CM_EVENT_JOIN, 1, 0);
    size_t saved = cm_game_save(game, image, sizeof image);
    hashes[0] = cm_game_hash(game);
    cr_assert_eq(carom_game_kick(game, 2, CAROM_REASON_GAME_KICKED), CAROM_ERROR_NOT_FOUND);
    cr_assert_eq(carom_game_kick(game, 1, CAROM_REASON_NONE), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_game_kick(game, 1, CAROM_REASON_COUNT), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(cm_game_hash(game), hashes[0]);
    cr_assert_eq(carom_game_kick(game, 1, CAROM_REASON_GAME_KICKED), CAROM_OK);
    hashes[1] = cm_game_hash(game);
    expect_restored(game, scene);
    cr_assert_eq(carom_game_kick(game, 1, CAROM_REASON_FLOOD), CAROM_OK, "the first reason counts");
    cr_assert_eq(cm_game_hash(game), hashes[1]);
    cr_assert_eq(cm_game_restore(game, image, saved), CAROM_OK);
    cr_assert_eq(cm_game_hash(game), hashes[0]);
    cr_assert_eq(carom_game_kick(game, 1, CAROM_REASON_FLOOD), CAROM_OK);
    hashes[2] = cm_game_hash(game);
    cr_assert(hashes[0] != hashes[1] && hashes[1] != hashes[2] && hashes[0] != hashes[2]);
    tick_with(game, CM_EVENT_LEAVE, 1, 0);
    cr_assert_eq(cm_game_kicked(game), 0);
    tick_with(game, CM_EVENT_JOIN, 3, 1);
    cr_assert_eq(cm_game_refused(game), 8);
    cr_assert_not(cm_game_player_present(game, 3));
    cr_assert(cm_game_has_slot(game, 3));
    cr_assert_eq(carom_game_kick(game, 3, CAROM_REASON_FLOOD), CAROM_ERROR_NOT_FOUND);
    expect_restored(game, scene);
    tick_with(game, CM_EVENT_LEAVE, 3, 0);
    cr_assert_eq(cm_game_refused(game), 0);
    cm_game_destroy(game);
    cm_scene_free(scene);
}

// A worker ---------------------------------------------------------------------------------

static void hold(away *a, uint32_t i, uint8_t buttons)
{
    uint8_t input[CAROM_INPUT_MAX];
    rig_input(input, 0.0f, 0.0f, buttons);
    cr_assert_eq(carom_client_set_input(a->clients[i], input, RIG_INPUT_SIZE), CAROM_OK);
}

static void expect_recording(away *a, uint32_t joins, uint32_t refused_leaves)
{
    cm_match_file *file = away_recording(a);
    cm_match_error error;
    cm_recorded_tick tick;
    uint32_t came = 0, refused = 0;
    while (cm_match_next(file, &tick, &error) == CAROM_OK) {
        for (uint32_t i = 0; i < tick.input.event_count; i++) {
            came += tick.input.events[i].type == CM_EVENT_JOIN;
            refused += tick.input.events[i].type == CM_EVENT_LEAVE && tick.input.events[i].size > 0;
        }
    }
    cr_assert_eq(came, joins);
    cr_assert_eq(refused, refused_leaves);
    cm_match_close(file);
}

static char last_words[8];

static void hear(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size)
{
    (void)user;
    (void)tick;
    snprintf(last_words, sizeof last_words, "%.*s", (int)size, (const char *)bytes);
}

Test(unwanted, a_client_hears_it_when_it_is_final)
{
    away a;
    const away_def def = {.seed = 11, .lossless = true, .record = true, .module = &gate};
    away_make(&a, &def);
    away_join(&a, 0);
    a.client_def.user_data = (const uint8_t *)"?";
    a.client_def.user_data_size = 1;
    away_connect(&a, 1);
    away_until(&a, 1, CAROM_CLIENT_IDLE);
    cr_assert_eq(carom_client_get_reason(a.clients[1]), CAROM_REASON_GAME_REFUSED);
    cr_assert_eq(away_logged(&a, "client refused"), 1);
    cr_assert_eq(away_client_stats(&a, 1).server_tick, 0, "it was never welcomed");
    hold(&a, 0, OPEN);
    away_run(&a, 0.5);
    a.client_def.message = hear;
    away_join(&a, 2); // by an open gate, into the slot that the other gave back
    hold(&a, 0, KICKS);
    away_run(&a, 0.5);
    cr_assert_eq(carom_client_get_state(a.clients[2]), CAROM_CLIENT_PLAYING, "not durable yet");
    cm_store_pump(a.store);
    away_until(&a, 2, CAROM_CLIENT_IDLE);
    cr_assert_eq(carom_client_get_reason(a.clients[2]), CAROM_REASON_GAME_KICKED);
    cr_assert_str_eq(last_words, "bye", "what the module said in the tick of the kick");
    cr_assert_eq(carom_client_get_state(a.clients[0]), CAROM_CLIENT_PLAYING);
    const gate_state *s =
        carom_game_state(cm_room_game(cm_hosted_room_room(cm_worker_room_at(a.worker, 0))));
    away_run(&a, 0.1);
    cr_assert_eq(s->leaves, 1);
    expect_recording(&a, 3, 1);
    away_free(&a);
}

// Three who come at once to two seats.
Test(unwanted, newcomers_are_asked_about_one_by_one)
{
    away a;
    const away_def def = {.seed = 12, .lossless = true, .module = &gate};
    away_make(&a, &def);
    for (uint32_t i = 0; i < 3; i++) {
        away_connect(&a, i);
    }
    away_run(&a, 2.0);
    uint32_t playing = 0, refused = 0;
    for (uint32_t i = 0; i < 3; i++) {
        playing += carom_client_get_state(a.clients[i]) == CAROM_CLIENT_PLAYING;
        refused += carom_client_get_reason(a.clients[i]) == CAROM_REASON_GAME_REFUSED;
    }
    cr_assert_eq(playing, SEATS);
    cr_assert_eq(refused, 1);
    away_free(&a);
}

// Builds -----------------------------------------------------------------------------------

static char client_log[4096];

static void keep_log(void *user, carom_log_level level, const char *text)
{
    (void)user;
    (void)level;
    size_t used = strlen(client_log);
    snprintf(client_log + used, sizeof client_log - used, "%s\n", text);
}

Test(unwanted, another_build_is_refused_before_a_slot)
{
    static const char ours[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    static const char theirs[] = "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    static carom_module server, client;
    server = client = gate;
    server.source = ours;
    client.source = theirs;
    away a;
    const away_def def = {.seed = 13, .lossless = true, .module = &server};
    away_make(&a, &def);
    a.client_def.module = &client;
    a.client_def.log = keep_log;
    away_connect(&a, 0);
    away_until(&a, 0, CAROM_CLIENT_IDLE);
    cr_assert_eq(carom_client_get_reason(a.clients[0]), CAROM_REASON_MODULE_OTHER);
    cr_assert(strstr(a.log, ours) != NULL && strstr(a.log, theirs) != NULL, "%s", a.log);
    cr_assert(strstr(client_log, ours) != NULL && strstr(client_log, theirs) != NULL, "%s",
              client_log);
    cr_assert_eq(away_logged(&a, "player joined"), 0);
    a.client_def.module = &server;
    away_join(&a, 1);
    away_free(&a);
}
