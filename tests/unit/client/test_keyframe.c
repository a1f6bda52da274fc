// Goal: a world whose keyframe is too large for a message reaches who joins and who comes back, the
// game goes on meanwhile, one encoding serves all who join at once, and a server that lies about
// its parts does no harm. Method: a room of 2,304 cubes by away.h, on a path that loses packets; a
// hostile server by fake_server.h; the inbox of parts by itself.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client-sdk/src/keyframe.h"
#include "shared/base/memory.h"
#include "tests/unit/client/fake_server.h"
#include "tests/unit/node/away.h"

#define SIDE 48u // a keyframe of some four parts

// Of every living player: the own body is in the world that the other one holds.
static void see_each_other(const away *w)
{
    for (uint32_t i = 0; i < 2; i++) {
        carom_body_state state;
        carom_body_id other = carom_client_own_body(w->clients[1 - i]);
        cr_assert_eq(carom_body_get(carom_client_world(w->clients[i]), other, &state), CAROM_OK,
                     "client %u", i);
        cr_assert_eq(away_client_stats(w, i).desyncs, 0);
    }
}

Test(keyframe, comes_in_parts_while_the_game_goes_on)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        away w;
        away_make(&w, &(away_def){.seed = seed, .side = SIDE});
        away_connect(&w, 0);
        uint64_t most = 0, least = UINT64_MAX;
        // The second joins while the keyframe of the first is on its way: its body comes behind.
        away_run(&w, 0.2);
        away_connect(&w, 1);
        bool behind = false;
        while (carom_client_get_state(w.clients[0]) != CAROM_CLIENT_PLAYING) {
            away_step(&w);
            behind = behind ||
                     (away_stats(&w).players == 2 && away_client_stats(&w, 0).keyframe_have > 0);
        }
        cr_assert(behind, "or it shows nothing");
        for (uint32_t i = 0;
             i < 2000 && carom_client_get_state(w.clients[1]) != CAROM_CLIENT_PLAYING; i++) {
            away_step(&w);
            uint64_t size = away_client_stats(&w, 1).keyframe_size;
            most = size > most ? size : most;
            least = size > 0 && size < least ? size : least;
        }
        cr_assert_eq(carom_client_get_state(w.clients[1]), CAROM_CLIENT_PLAYING);
        cr_assert_gt(most, 2u * CM_CONTROL_PART_SIZE, "or it shows nothing");
        cr_assert_eq(most, least);
        cr_assert_eq(away_client_stats(&w, 1).keyframe_size, 0, "whole");
        away_run(&w, 1.0);
        see_each_other(&w);
        cr_assert_eq(away_stats(&w).players, 2);
        away_free(&w);
    }
}

Test(keyframe, one_encoding_serves_all_who_join_at_once)
{
    away w;
    away_make(&w, &(away_def){.seed = 11, .side = SIDE});
    for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
        away_connect(&w, i);
    }
    for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
        away_until(&w, i, CAROM_CLIENT_PLAYING);
    }
    cr_assert_eq(away_stats(&w).keyframes, 1);
    away_free(&w);
}

// It comes back by a second connection, whose keyframe is in parts too.
Test(keyframe, who_comes_back_gets_it_in_parts)
{
    away w;
    away_make(&w, &(away_def){.seed = 5, .side = SIDE, .grace_ms = 15000});
    away_join(&w, 0);
    away_join(&w, 1);
    uint32_t player = carom_client_player(w.clients[1]);
    cm_net_partition(w.net, w.ports[1], true);
    uint64_t size = 0;
    for (uint32_t i = 0; i < 4000 && away_client_stats(&w, 1).comebacks == 0; i++) {
        away_step(&w);
        size = away_client_stats(&w, 1).keyframe_size > 0 ? away_client_stats(&w, 1).keyframe_size
                                                          : size;
    }
    cr_assert_gt(size, CM_CONTROL_PART_SIZE);
    cr_assert_eq(away_client_stats(&w, 1).comebacks, 1);
    away_run(&w, 1.0);
    cr_assert_eq(carom_client_get_state(w.clients[1]), CAROM_CLIENT_PLAYING);
    cr_assert_eq(carom_client_player(w.clients[1]), player);
    see_each_other(&w);
    away_free(&w);
}

// One who leaves while its keyframe is on its way takes nobody else's with it.
Test(keyframe, who_leaves_early_disturbs_nobody)
{
    away w;
    away_make(&w, &(away_def){.seed = 6, .side = SIDE});
    away_connect(&w, 0);
    away_connect(&w, 1);
    while (away_client_stats(&w, 0).keyframe_have == 0) {
        away_step(&w);
    }
    carom_client_destroy(w.clients[0]);
    w.clients[0] = NULL;
    away_until(&w, 1, CAROM_CLIENT_PLAYING);
    away_run(&w, 1.0);
    cr_assert_eq(away_stats(&w).players, 1);
    away_free(&w);
}

typedef struct liar {
    fake_server server;
    carom_client *client;
} liar;

static void begin_lie(liar *l, uint32_t keyframe_size)
{
    static const cm_link_def fast = {.latency_us = 1000};
    fake_server_make(&l->server, 3, 4, &fast);
    l->server.auto_welcome = false;
    carom_client_def def = carom_default_client_def();
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    cr_assert_eq(carom_client_create(&def, &l->client), CAROM_OK);
    cr_assert_eq(
        carom_client_connect(l->client, "127.0.0.1", FAKE_PORT, cm_net_now_us(l->server.net)),
        CAROM_OK);
    while (l->server.hellos == 0) {
        fake_play(&l->server, l->client, 0.01);
    }
    if (keyframe_size == 0) {
        return; // no welcome either
    }
    const carom_module *module = cm_module_find("sandbox");
    uint8_t scene[4096];
    cr_assert_leq(cm_scene_packed_size(l->server.scene), sizeof scene);
    cm_scene_pack(l->server.scene, scene);
    cm_control welcome = {.type = CM_CONTROL_WELCOME,
                          .tick_rate = 60,
                          .view_rate = 30,
                          .input_rate = 60,
                          .module = module->name,
                          .module_version = module->version,
                          .module_abi = module->abi,
                          .scene = {scene, cm_scene_packed_size(l->server.scene)},
                          .keyframe_size = keyframe_size};
    fake_server_control(&l->server, &welcome);
}

static void send_part(liar *l, size_t size)
{
    static uint8_t zeros[CM_CONTROL_PART_SIZE];
    cm_control part = {.type = CM_CONTROL_KEYFRAME_PART, .payload = {zeros, size}};
    fake_server_control(&l->server, &part);
    fake_play(&l->server, l->client, 0.5);
}

static void end_lie(liar *l)
{
    carom_client_destroy(l->client);
    fake_server_free(&l->server);
}

Test(keyframe, parts_of_another_size_end_the_join)
{
    static const size_t lies[] = {1, CM_CONTROL_PART_SIZE - 1};
    for (uint32_t i = 0; i < 2; i++) {
        liar l;
        begin_lie(&l, 3 * CM_CONTROL_PART_SIZE);
        send_part(&l, CM_CONTROL_PART_SIZE);
        cr_assert_eq(carom_client_get_state(l.client), CAROM_CLIENT_JOINING);
        send_part(&l, lies[i]);
        cr_assert_eq(carom_client_get_state(l.client), CAROM_CLIENT_IDLE);
        cr_assert_eq(carom_client_get_reason(l.client), CAROM_REASON_MALFORMED);
        end_lie(&l);
    }
}

Test(keyframe, a_part_of_no_welcome_ends_the_connection)
{
    liar l;
    begin_lie(&l, 0);
    send_part(&l, 1);
    cr_assert_eq(carom_client_get_reason(l.client), CAROM_REASON_MALFORMED);
    end_lie(&l);
}

Test(keyframe, parts_that_are_no_world_end_the_join)
{
    liar l;
    begin_lie(&l, CM_CONTROL_PART_SIZE + 1);
    send_part(&l, CM_CONTROL_PART_SIZE);
    send_part(&l, 1);
    cr_assert_eq(carom_client_get_reason(l.client), CAROM_REASON_MALFORMED);
    end_lie(&l);
}

// A server that stops in the middle: the client waits no longer than for a welcome.
Test(keyframe, one_that_stops_is_given_up)
{
    liar l;
    begin_lie(&l, 3 * CM_CONTROL_PART_SIZE);
    send_part(&l, CM_CONTROL_PART_SIZE);
    fake_play(&l.server, l.client, 40.0);
    cr_assert_eq(carom_client_get_state(l.client), CAROM_CLIENT_IDLE);
    cr_assert_eq(carom_client_get_reason(l.client), CAROM_REASON_TIMEOUT);
    end_lie(&l);
}

// One whose parts come, slowly: whatever the whole takes, it is waited for.
Test(keyframe, slow_parts_are_waited_for)
{
    liar l;
    begin_lie(&l, 6 * CM_CONTROL_PART_SIZE);
    for (uint32_t i = 0; i < 5; i++) {
        send_part(&l, CM_CONTROL_PART_SIZE);
        fake_play(&l.server, l.client, 10.0);
        cr_assert_eq(carom_client_get_state(l.client), CAROM_CLIENT_JOINING, "part %u", i);
    }
    end_lie(&l);
}

static cm_keyframe_state put(cm_keyframe_inbox *inbox, cm_control_type type, const uint8_t *bytes,
                             size_t size)
{
    cm_control control = {.type = type, .payload = {bytes, size}};
    return cm_keyframe_inbox_put(inbox, &cm_by_malloc, &control, bytes, size);
}

Test(keyframe, what_waits_is_bounded_and_in_order)
{
    static uint8_t large[1u << 20];
    cm_keyframe_inbox inbox = {.welcome = NULL};
    cm_control welcome = {.type = CM_CONTROL_WELCOME, .keyframe_size = CM_CONTROL_PART_SIZE + 7};
    cr_assert(cm_keyframe_inbox_begin(&inbox, &cm_by_malloc, &welcome, (const uint8_t *)"w", 1));
    cr_assert_eq(put(&inbox, CM_CONTROL_GAME_MESSAGE, (const uint8_t *)"one", 3), CM_KEYFRAME_MORE);
    cr_assert_eq(put(&inbox, CM_CONTROL_KEYFRAME_PART, large, CM_CONTROL_PART_SIZE),
                 CM_KEYFRAME_MORE);
    cr_assert_eq(put(&inbox, CM_CONTROL_GAME_MESSAGE, (const uint8_t *)"second", 6),
                 CM_KEYFRAME_MORE);
    cr_assert_eq(put(&inbox, CM_CONTROL_KEYFRAME_PART, large, 7), CM_KEYFRAME_WHOLE);
    cr_assert_eq(inbox.have, CM_CONTROL_PART_SIZE + 7);
    const uint8_t *bytes;
    size_t size;
    cr_assert(cm_keyframe_inbox_next(&inbox, &bytes, &size));
    cr_assert(size == 3 && memcmp(bytes, "one", 3) == 0);
    cr_assert(cm_keyframe_inbox_next(&inbox, &bytes, &size));
    cr_assert(size == 6 && memcmp(bytes, "second", 6) == 0);
    cr_assert(!cm_keyframe_inbox_next(&inbox, &bytes, &size));
    uint32_t taken = 0;
    while (taken < 100 &&
           put(&inbox, CM_CONTROL_WORLD_CHANGE, large, sizeof large) == CM_KEYFRAME_MORE) {
        taken++;
    }
    cr_assert_eq(taken, CM_KEYFRAME_BEHIND_MAX / sizeof large - 1);
    cm_keyframe_inbox_clear(&inbox, &cm_by_malloc);
    cr_assert_null(inbox.welcome);
}
