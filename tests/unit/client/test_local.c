// Goal: a game alone, or of several at one screen, by the same client API and without a socket: the
// world is the one that inputs and scene give, joins and leaves and messages and events arrive, a
// hostile scene is refused. Method: clients of a local room by updates of any rhythm; the same
// inputs into a bare game as the oracle.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/client_more.h"
#include "client-sdk/src/local.h"
#include "client-sdk/src/state.h"
#include "shared/base/rng.h"
#include "tests/unit/node/rig.h"

#define FRAME_US 16667u

typedef struct table {
    uint32_t joined, left, pings, presses;
    carom_body_id balls[CAROM_PLAYERS_MAX];
} table;

static bool join(carom_game *game, uint32_t player, const uint8_t *data, uint32_t size)
{
    table *s = carom_game_state(game);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = (carom_vec3){2.0f * (float)player, 1.0f, 9.0f};
    shape.radius = 0.5f;
    s->joined++;
    if (size == 1 && data[0] == 'x') {
        return false;
    }
    return carom_body_create(carom_game_world(game), &body, &shape, 1, &s->balls[player]) ==
           CAROM_OK;
}

static void leave(carom_game *game, uint32_t player)
{
    table *s = carom_game_state(game);
    s->left++;
    (void)carom_body_destroy(carom_game_world(game), s->balls[player]);
}

static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    table *s = carom_game_state(game);
    for (uint32_t i = 0; i < count; i++) {
        carom_body_state ball;
        carom_body_id id = s->balls[inputs[i].player];
        s->presses += inputs[i].bytes[8];
        if (carom_body_get(carom_game_world(game), id, &ball) == CAROM_OK) {
            float pull = inputs[i].bytes[8] != 0 ? 3.0f - ball.linear_velocity.x : 0.0f;
            carom_vec3 push = {4.0f * ball.mass * pull, 0.0f, 0.0f};
            (void)carom_body_apply_force(carom_game_world(game), id, push, ball.center_of_mass);
        }
        if (inputs[i].bytes[8] != 0 && carom_game_tick(game) % 20 == 0) {
            const carom_event event = {.kind = 3, .subjects = {inputs[i].player}};
            (void)carom_game_emit(game, &event);
        }
    }
}

static void message(carom_game *game, uint32_t player, const uint8_t *bytes, uint32_t size)
{
    table *s = carom_game_state(game);
    s->pings++;
    (void)carom_game_send_all(game, bytes, size);
    if (size == 3 && memcmp(bytes, "end", 3) == 0) {
        carom_game_close(game);
    }
    if (size == 4 && memcmp(bytes, "kick", 4) == 0) {
        (void)carom_game_kick(game, player, CAROM_REASON_GAME_KICKED);
    }
}

static carom_body_id player_body(const carom_game *game, uint32_t player)
{
    const table *s = carom_game_state(game);
    return s->balls[player];
}

static const carom_module module = {.abi = CAROM_MODULE_ABI,
                                    .version = 1,
                                    .name = "sandbox", // as the scene names it
                                    .input_size = RIG_INPUT_SIZE,
                                    .state_size = sizeof(table),
                                    .public_size = sizeof(table),
                                    .join = join,
                                    .leave = leave,
                                    .tick = tick,
                                    .message = message,
                                    .player_body = player_body};

typedef struct ears {
    uint32_t messages, predicted, confirmed, cancelled;
} ears;

static void on_message(void *user, uint64_t at, const uint8_t *bytes, uint32_t size)
{
    ears *e = user;
    (void)at;
    cr_expect(size >= 3 && bytes[0] != 0);
    e->messages++;
}

static void on_event(void *user, carom_event_phase phase, const carom_event *event,
                     uint64_t predicted_tick)
{
    ears *e = user;
    (void)predicted_tick;
    cr_expect_eq(event->kind, 3);
    e->predicted += phase == CAROM_EVENT_PREDICTED;
    e->confirmed += phase == CAROM_EVENT_CONFIRMED;
    e->cancelled += phase == CAROM_EVENT_CANCELLED;
}

static uint8_t packed[1 << 16];
static uint64_t now_us;

static carom_local *open_room(uint32_t max_players)
{
    cm_scene *scene = rig_scene(4);
    carom_local_def def = carom_default_local_def();
    carom_local *local = NULL;
    def.scene_size = cm_scene_packed_size(scene);
    cr_assert_leq(def.scene_size, sizeof packed);
    cm_scene_pack(scene, packed);
    cm_scene_free(scene);
    def.scene = packed;
    def.module = &module;
    def.seed = 9;
    def.max_players = max_players;
    cr_assert_eq(carom_local_create(&def, &local), CAROM_OK);
    now_us = 1000000;
    return local;
}

static carom_client *make_client(ears *e, const char *user_data)
{
    carom_client_def def = carom_default_client_def();
    carom_client *client;
    def.module = &module;
    def.predict_cost_ns = 1000;
    def.user = e;
    def.message = on_message;
    def.event = on_event;
    def.name = "me";
    def.user_data = (const uint8_t *)user_data;
    def.user_data_size = (uint32_t)strlen(user_data);
    cr_assert_eq(carom_client_create(&def, &client), CAROM_OK);
    return client;
}

static void play(carom_client **clients, uint32_t count, uint32_t frames, uint32_t frame_us)
{
    for (uint32_t i = 0; i < frames; i++) {
        now_us += frame_us;
        for (uint32_t k = 0; k < count; k++) {
            carom_client_update(clients[k], now_us);
        }
    }
}

static void press(carom_client *client, uint8_t button)
{
    uint8_t input[CAROM_INPUT_MAX];
    rig_input(input, 0.0f, 0.0f, button);
    cr_assert_eq(carom_client_set_input(client, input, RIG_INPUT_SIZE), CAROM_OK);
}

static float x_of(const carom_client *client, carom_body_id body)
{
    carom_client_pose pose;
    cr_assert_eq(carom_client_body_pose(client, body, &pose), CAROM_OK);
    return pose.position.x;
}

Test(client_local, a_player_alone)
{
    carom_local *local = open_room(1);
    ears e = {0};
    carom_client *me = make_client(&e, ""), *other = make_client(&e, "");
    cr_assert_eq(carom_client_open_local(me, local, now_us), CAROM_OK);
    cr_expect_eq(carom_client_open_local(me, local, now_us), CAROM_ERROR_STATE);
    cr_expect_eq(carom_client_open_local(other, local, now_us), CAROM_ERROR_FULL);
    play(&me, 1, 20, FRAME_US);
    cr_assert_eq(carom_client_get_state(me), CAROM_CLIENT_PLAYING);
    carom_client_roster_row row;
    cr_expect_eq(carom_client_roster(me, &row, 1), 1);
    cr_expect_str_eq(row.name, "me");
    float before = x_of(me, carom_client_own_body(me));
    press(me, 1);
    play(&me, 1, 6, FRAME_US);
    cr_expect_gt(x_of(me, carom_client_own_body(me)), before,
                 "it moves within a tenth of a second");
    cr_assert_eq(carom_client_send(me, "ping", 4), CAROM_OK);
    cr_assert_eq(carom_client_send_unreliable(me, "pong", 4), CAROM_OK);
    play(&me, 1, 200, FRAME_US);
    cr_expect_geq(e.predicted, e.confirmed, "each was predicted");
    cr_expect_gt(e.confirmed, 5);
    play(&me, 1, 100, 50000); // 20 frames a second
    press(me, 0);
    play(&me, 1, 60, FRAME_US);
    uint32_t size;
    const table *s = carom_client_public_state(me, &size);
    carom_client_stats stats;
    carom_client_stats_get(me, &stats);
    printf("local: alone: lead %.1f ticks, %u events, %u cancelled, error at most %g m\n",
           (double)stats.input_lead, e.confirmed, e.cancelled, stats.error_max);
    cr_expect_eq(s->pings, 2, "of both kinds");
    cr_expect_eq(e.messages, 2);
    cr_expect_gt(e.confirmed, 20);
    cr_expect_eq(e.cancelled, 0);
    cr_expect_eq(stats.desyncs + stats.packets_refused, 0);
    cr_expect_eq(stats.error_max, 0.0, "all inputs are known");
    cr_expect_eq(e.predicted, e.confirmed, "each was predicted");
    cr_expect_lt(stats.predicted_tick - stats.server_tick, 8);
    carom_client_destroy(me);
    carom_client_destroy(other);
    carom_local_destroy(local);
}

// Two at one screen, and one who comes and goes, see the same; who leaves is left.
Test(client_local, several_at_one_screen)
{
    carom_local *local = open_room(3);
    ears e[3] = {{0}};
    carom_client *clients[3];
    for (uint32_t i = 0; i < 3; i++) {
        clients[i] = make_client(&e[i], "");
        cr_assert_eq(carom_client_open_local(clients[i], local, now_us), CAROM_OK);
        play(clients, i + 1, 20, FRAME_US);
        cr_assert_eq(carom_client_get_state(clients[i]), CAROM_CLIENT_PLAYING);
        cr_expect_eq(carom_client_player(clients[i]), i);
    }
    cm_rng rng;
    cm_rng_seed(&rng, 3);
    for (uint32_t i = 0; i < 100; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            press(clients[k], (uint8_t)cm_rng_below(&rng, 2));
        }
        play(clients, 3, 1 + cm_rng_below(&rng, 6), FRAME_US / (1 + cm_rng_below(&rng, 3)));
    }
    carom_client_disconnect(clients[2], now_us);
    press(clients[0], 0);
    press(clients[1], 0);
    play(clients, 3, 120, FRAME_US);
    cr_expect_eq(carom_client_get_state(clients[2]), CAROM_CLIENT_IDLE);
    cr_expect_eq(carom_client_get_reason(clients[2]), CAROM_REASON_LEFT);
    uint32_t size;
    const table *a = carom_client_public_state(clients[0], &size);
    cr_expect_eq(a->joined, 3);
    cr_expect_eq(a->left, 1);
    const carom_world *first = carom_client_world(clients[0]),
                      *second = carom_client_world(clients[1]);
    cr_expect_eq(carom_world_hash(first), carom_world_hash(second));
    for (uint32_t i = 0; i < 2; i++) {
        carom_client_stats stats;
        carom_client_stats_get(clients[i], &stats);
        cr_expect_eq(stats.desyncs + stats.packets_refused, 0);
        cr_expect_eq(stats.late_reports, 0, "no input is late");
        cr_expect_gt(stats.lead_reports, 300);
    }
    cr_assert_eq(carom_client_open_local(clients[2], local, now_us), CAROM_OK, "the place is free");
    play(clients, 3, 20, FRAME_US);
    cr_expect_eq(carom_client_get_state(clients[2]), CAROM_CLIENT_PLAYING);
    for (uint32_t i = 0; i < 3; i++) {
        carom_client_destroy(clients[i]);
    }
    carom_local_destroy(local);
}

Test(client_local, the_rules_refuse_send_away_and_end)
{
    carom_local *local = open_room(4);
    ears e = {0};
    carom_client *refused = make_client(&e, "x"), *me = make_client(&e, "");
    cr_assert_eq(carom_client_open_local(refused, local, now_us), CAROM_OK);
    play(&refused, 1, 20, FRAME_US);
    cr_expect_eq(carom_client_get_reason(refused), CAROM_REASON_GAME_REFUSED);
    for (uint32_t i = 0; i < 2; i++) {
        const char *word = i == 0 ? "kick" : "end";
        cr_assert_eq(carom_client_open_local(me, local, now_us), CAROM_OK);
        play(&me, 1, 20, FRAME_US);
        cr_assert_eq(carom_client_get_state(me), CAROM_CLIENT_PLAYING);
        cr_assert_eq(carom_client_send(me, word, (uint32_t)strlen(word)), CAROM_OK);
        play(&me, 1, 20, FRAME_US);
        cr_expect_eq(carom_client_get_reason(me),
                     i == 0 ? CAROM_REASON_GAME_KICKED : CAROM_REASON_ROOM_ENDED);
        cr_expect_eq(e.messages, i + 1, "its last word came");
    }
    carom_client_destroy(refused);
    carom_client_destroy(me);
    carom_local_destroy(local);
}

// A place is free again however its player went: by its own will, refused, or sent away.
Test(client_local, one_after_another_in_one_place)
{
    carom_local *local = open_room(1);
    ears e = {0};
    carom_client *refused = make_client(&e, "x"), *me = make_client(&e, "");
    cr_assert_eq(carom_client_open_local(refused, local, now_us), CAROM_OK);
    play(&refused, 1, 20, FRAME_US);
    cr_expect_eq(carom_client_get_reason(refused), CAROM_REASON_GAME_REFUSED);
    for (uint32_t i = 0; i < 4; i++) {
        cr_assert_eq(carom_client_open_local(me, local, now_us), CAROM_OK, "round %u", i);
        play(&me, 1, 20, FRAME_US);
        cr_assert_eq(carom_client_get_state(me), CAROM_CLIENT_PLAYING, "round %u", i);
        uint32_t size;
        const table *s = carom_client_public_state(me, &size);
        cr_expect_eq(s->joined, i + 2);
        cr_expect_eq(s->left, i); // the refused one was never in
        if (i % 2 == 0) {
            cr_assert_eq(carom_client_send(me, "kick", 4), CAROM_OK);
            play(&me, 1, 20, FRAME_US);
            cr_expect_eq(carom_client_get_reason(me), CAROM_REASON_GAME_KICKED);
        } else {
            carom_client_disconnect(me, now_us);
            play(&me, 1, 1, FRAME_US);
        }
    }
    carom_client_destroy(refused);
    carom_client_destroy(me);
    carom_local_destroy(local);
}

// The room may go before its clients, and a pause is none of the game's time.
Test(client_local, ends_and_pauses)
{
    carom_local *local = open_room(2);
    ears e = {0};
    carom_client *me = make_client(&e, "");
    carom_client_stats before, after;
    cr_assert_eq(carom_client_open_local(me, local, now_us), CAROM_OK);
    play(&me, 1, 60, FRAME_US);
    carom_client_stats_get(me, &before);
    now_us += UINT64_C(3600000000);
    play(&me, 1, 60, FRAME_US);
    carom_client_stats_get(me, &after);
    cr_expect_eq(carom_client_get_state(me), CAROM_CLIENT_PLAYING);
    cr_expect_lt(after.server_tick - before.server_tick, 60 + 10);
    carom_local_destroy(local);
    play(&me, 1, 2, FRAME_US);
    cr_expect_eq(carom_client_get_state(me), CAROM_CLIENT_IDLE);
    cr_expect_eq(carom_client_get_reason(me), CAROM_REASON_ROOM_ENDED);
    carom_client_destroy(me);
}

Test(client_local, a_hostile_scene_is_refused)
{
    carom_local *local = open_room(1);
    carom_local_def def = carom_default_local_def();
    cm_rng rng;
    cm_rng_seed(&rng, 11);
    carom_local_destroy(local);
    def.scene = packed;
    def.module = &module;
    cr_expect_eq(carom_local_create(&def, &local), CAROM_ERROR_ARGUMENT, "no bytes");
    def.scene_size = 400;
    def.max_players = 0;
    cr_expect_eq(carom_local_create(&def, &local), CAROM_ERROR_ARGUMENT);
    def.max_players = CAROM_PLAYERS_MAX + 1;
    cr_expect_eq(carom_local_create(&def, &local), CAROM_ERROR_ARGUMENT);
    def.max_players = 1;
    uint32_t refused = 0;
    for (uint32_t i = 0; i < 300; i++) {
        uint8_t wrong[400];
        memcpy(wrong, packed, sizeof wrong);
        def.scene = wrong;
        def.scene_size = 1 + cm_rng_below(&rng, sizeof wrong);
        wrong[cm_rng_below(&rng, (uint32_t)def.scene_size)] ^=
            (uint8_t)(1 + cm_rng_below(&rng, 255));
        carom_result result = carom_local_create(&def, &local);
        refused += result != CAROM_OK;
        cr_expect_eq(local != NULL, result == CAROM_OK);
        carom_local_destroy(local);
    }
    cr_expect_gt(refused, 200);
}

static void say_input(carom_client *client, uint64_t tick, uint8_t button)
{
    uint8_t bytes[CM_PACKET_MAX];
    cm_input_packet packet = {.newest_tick = (uint32_t)tick, .count = 1};
    rig_input(packet.inputs[0], 0.0f, 0.0f, button);
    size_t size = cm_input_packet_write(&packet, RIG_INPUT_SIZE, bytes, sizeof bytes);
    cr_assert(cm_transport_send(client->link, CM_CONNECTION_ONLY, CM_SEND_PACKET, bytes, size));
}

// One further ahead than is kept takes no nearer one's place.
Test(client_local, an_input_too_far_ahead_is_passed_over)
{
    carom_local *local = open_room(1);
    ears e = {0};
    carom_client *me = make_client(&e, "");
    cr_assert_eq(carom_client_open_local(me, local, now_us), CAROM_OK);
    play(&me, 1, 20, FRAME_US);
    uint64_t tick = carom_game_tick(local->game);
    say_input(me, tick + CM_LOCAL_AHEAD - 1, 1);
    say_input(me, tick + 2 * CM_LOCAL_AHEAD - 1, 0);
    const uint8_t *input = cm_local_input(local, 0, tick + CM_LOCAL_AHEAD - 1);
    cr_assert_not_null(input, "it was the last that is kept");
    cr_expect_eq(input[8], 1);
    cr_expect_null(cm_local_input(local, 0, tick + 2 * CM_LOCAL_AHEAD - 1));
    say_input(me, tick, 1);
    cr_expect_eq(cm_local_input(local, 0, tick)[8], 0, "that tick was made");
    carom_client_destroy(me);
    carom_local_destroy(local);
}
