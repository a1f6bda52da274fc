// Goal: a player who is not let in knows why as soon as the server can say it so that nobody else
// could have: after two round trips where the token is no good, after three where the room says no.
// What anybody on the path could have said ends nothing before the client's own time is up.
// Method: away.h, at 50 ms a round trip; the client is asked at every step.
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "client-sdk/src/state.h"
#include "tests/unit/node/away.h"

#define TRIP_S 0.05

// A token that is not good: made here, or used before.
typedef void token_maker(away *a, char text[CAROM_TOKEN_TEXT_MAX]);

static carom_token_def sound(void)
{
    carom_token_def def = carom_default_token_def();
    def.client_id = AWAY_ID + 1;
    def.expires_unix_s = UINT64_C(2000000000);
    def.servers[0] = "127.0.0.1:9400";
    return def;
}

static void issue(away *a, const carom_token_def *def, char text[CAROM_TOKEN_TEXT_MAX])
{
    cr_assert_eq(carom_token_issue(def, &a->keys.keys[0], text, CAROM_TOKEN_TEXT_MAX, NULL),
                 CAROM_OK);
}

static void expired(away *a, char text[CAROM_TOKEN_TEXT_MAX])
{
    carom_token_def def = sound();
    def.expires_unix_s = UINT64_C(1900000000);
    issue(a, &def, text);
}

static void used(away *a, char text[CAROM_TOKEN_TEXT_MAX])
{
    carom_token_def def = sound();
    issue(a, &def, text);
    cr_assert_eq(carom_client_create(&a->client_def, &a->clients[2]), CAROM_OK);
    cr_assert_eq(carom_client_connect_token(a->clients[2], text, cm_net_now_us(a->net)), CAROM_OK);
    away_until(a, 2, CAROM_CLIENT_PLAYING);
}

// For another server, by a player who goes here all the same.
static void of_another_server(away *a, char text[CAROM_TOKEN_TEXT_MAX])
{
    carom_token_def def = sound();
    cm_token_pass pass;
    def.servers[0] = "127.0.0.1:9401";
    issue(a, &def, text);
    cr_assert(cm_token_pass_read(text, &pass));
    pass.servers[0].port = AWAY_PORT;
    cr_assert(cm_token_pass_write(&pass, text, CAROM_TOKEN_TEXT_MAX));
}

static void of_another_address(away *a, char text[CAROM_TOKEN_TEXT_MAX])
{
    carom_token_def def = sound();
    def.bound_address = "127.0.0.2";
    issue(a, &def, text);
}

static void of_who_is_banned(away *a, char text[CAROM_TOKEN_TEXT_MAX])
{
    carom_token_def def = sound();
    cr_assert(cm_worker_ban(a->worker, false, def.client_id));
    issue(a, &def, text);
}

static void from_a_banned_address(away *a, char text[CAROM_TOKEN_TEXT_MAX])
{
    carom_token_def def = sound();
    cr_assert(cm_worker_ban(a->worker, true, htonl(0x7f000001)));
    issue(a, &def, text);
}

static void for_a_full_room(away *a, char text[CAROM_TOKEN_TEXT_MAX])
{
    carom_token_def def = sound();
    away_join(a, 3);
    issue(a, &def, text);
}

static void of_a_server_that_drains(away *a, char text[CAROM_TOKEN_TEXT_MAX])
{
    carom_token_def def = sound();
    away_join(a, 3); // else it would be gone before anybody asked
    issue(a, &def, text);
    cm_worker_drain(a->worker, cm_net_now_us(a->net));
}

static void of_an_unknown_key(away *a, char text[CAROM_TOKEN_TEXT_MAX])
{
    carom_token_def def = sound();
    carom_token_key other = a->keys.keys[0];
    other.secret[5] ^= 1;
    cr_assert_eq(carom_token_issue(&def, &other, text, CAROM_TOKEN_TEXT_MAX, NULL), CAROM_OK);
}

typedef struct row {
    const char *name;
    token_maker *make;
    carom_reason reason;
    uint32_t trips; // 0: the time to connect
} row;

static const row rows[] = {
    {"expired", expired, CAROM_REASON_TOKEN_EXPIRED, 2},
    {"used", used, CAROM_REASON_TOKEN_USED, 2},
    {"another server", of_another_server, CAROM_REASON_TOKEN_SERVER, 2},
    {"another address", of_another_address, CAROM_REASON_TOKEN_ADDRESS, 2},
    {"banned", of_who_is_banned, CAROM_REASON_BANNED, 2},
    {"banned address", from_a_banned_address, CAROM_REASON_BANNED, 2},
    {"full", for_a_full_room, CAROM_REASON_ROOM_FULL, 3},
    {"draining", of_a_server_that_drains, CAROM_REASON_DRAINING, 2},
    {"unknown key", of_an_unknown_key, CAROM_REASON_TOKEN, 0},
};

static double refuse(away *a, const char *token)
{
    cr_assert_eq(carom_client_create(&a->client_def, &a->clients[0]), CAROM_OK);
    cr_assert_eq(carom_client_connect_token(a->clients[0], token, cm_net_now_us(a->net)), CAROM_OK);
    away_step(a);
    return 1e-6 * AWAY_STEP_US + away_until(a, 0, CAROM_CLIENT_IDLE);
}

Test(refused, as_soon_as_the_server_can_say_it)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const row *r = &rows[i];
        away a;
        char token[CAROM_TOKEN_TEXT_MAX];
        away_make(&a,
                  &(away_def){.seed = 20 + i, .tokens = true, .max_players = 1, .lossless = true});
        r->make(&a, token);
        double took = refuse(&a, token);
        printf("refused: %s: %.0f ms, %.1f round trips: %s\n", r->name, 1e3 * took, took / TRIP_S,
               carom_reason_text(carom_client_get_reason(a.clients[0])));
        cr_expect_eq(carom_client_get_reason(a.clients[0]), r->reason, "%s", r->name);
        // A turn of 4 ms at each end of each trip.
        double least = r->trips > 0 ? TRIP_S * r->trips : 5.0;
        cr_expect_geq(took, least, "%s", r->name);
        cr_expect_leq(took, least + 0.012 * (r->trips + 1), "%s: %f", r->name, took);
        away_free(&a);
    }
}

// Seen: a machine that started an hour ahead and was then set right let nobody in until its server
// was started again, since tokens had ended by the clock of the start.
Test(refused, tokens_end_by_the_clock_as_it_is_set)
{
    away a;
    char token[CAROM_TOKEN_TEXT_MAX];
    away_make(&a, &(away_def){.seed = 30, .tokens = true, .max_players = 1, .lossless = true});
    expired(&a, token);
    refuse(&a, token);
    cr_assert_eq(carom_client_get_reason(a.clients[0]), CAROM_REASON_TOKEN_EXPIRED);
    cm_worker_set_wall_clock(a.worker, UINT64_C(1899996400000)); // an hour back
    carom_client_destroy(a.clients[0]);
    cr_assert_eq(carom_client_create(&a.client_def, &a.clients[0]), CAROM_OK);
    cr_assert_eq(carom_client_connect_token(a.clients[0], token, cm_net_now_us(a.net)), CAROM_OK);
    away_until(&a, 0, CAROM_CLIENT_PLAYING);
    away_free(&a);
}

// Whose user data begins with 7, and not while three play.
static bool is_liked(const carom_game *game, const uint8_t *user_data, uint32_t size)
{
    uint32_t there = 0;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        there += cm_game_player_present(game, player);
    }
    return size == 2 && user_data[0] == 7 && there < 3;
}

static void knock(away *a, uint32_t i, uint8_t first)
{
    const uint8_t data[2] = {first, 0};
    char token[CAROM_TOKEN_TEXT_MAX];
    carom_token_def def = sound();
    def.client_id += i;
    def.user_data = a->client_def.user_data = data; // copied by both
    def.user_data_size = a->client_def.user_data_size = sizeof data;
    if (a->def.tokens) {
        issue(a, &def, token);
    }
    carom_client_destroy(a->clients[i]);
    cr_assert_eq(carom_client_create(&a->client_def, &a->clients[i]), CAROM_OK);
    uint64_t now = cm_net_now_us(a->net);
    cr_assert_eq(a->def.tokens ? carom_client_connect_token(a->clients[i], token, now)
                               : carom_client_connect(a->clients[i], "127.0.0.1", AWAY_PORT, now),
                 CAROM_OK);
    away_step(a);
}

// The rules themselves say no: to somebody, and to anybody while the game is as it is. A slot is
// given to nobody for it, and who is there notices nothing.
static void be_picky(bool tokens)
{
    static carom_module picky;
    away a;
    picky = carom_module_sandbox;
    picky.name = "picky";
    picky.may_join = is_liked;
    away_make(&a, &(away_def){.seed = 31, .tokens = tokens, .lossless = true, .module = &picky});
    for (uint32_t i = 0; i < 3; i++) {
        knock(&a, i, 8);
        double took = 1e-6 * AWAY_STEP_US + away_until(&a, i, CAROM_CLIENT_IDLE);
        cr_expect_eq(carom_client_get_reason(a.clients[i]), CAROM_REASON_GAME_REFUSED);
        cr_expect_leq(took, 3 * TRIP_S + 0.048);
        cr_expect_eq(away_stats(&a).players, i);
        knock(&a, i, 7);
        away_until(&a, i, CAROM_CLIENT_PLAYING);
    }
    away_run(&a, 0.5);
    knock(&a, 3, 7);
    away_until(&a, 3, CAROM_CLIENT_IDLE);
    cr_expect_eq(carom_client_get_reason(a.clients[3]), CAROM_REASON_GAME_REFUSED);
    carom_client_disconnect(a.clients[0], cm_net_now_us(a.net));
    away_until(&a, 0, CAROM_CLIENT_IDLE);
    away_run(&a, 0.5);
    knock(&a, 3, 7); // now there is room
    away_until(&a, 3, CAROM_CLIENT_PLAYING);
    cr_expect_eq(carom_client_get_state(a.clients[1]), CAROM_CLIENT_PLAYING);
    cr_expect_eq(away_stats(&a).players, 3);
    away_free(&a);
}

Test(refused, by_the_game_itself)
{
    be_picky(false);
}

Test(refused, by_the_game_itself_with_a_token)
{
    be_picky(true);
}

// An answer without a tag is not the end: the server learns the key, and the client is let in.
Test(refused, a_hint_ends_nothing)
{
    away a;
    char token[CAROM_TOKEN_TEXT_MAX];
    away_make(&a, &(away_def){.seed = 30, .tokens = true, .lossless = true});
    carom_token_keys keys = a.keys;
    keys.keys[0].secret[5] ^= 1;
    of_an_unknown_key(&a, token);
    cr_assert_eq(carom_client_create(&a.client_def, &a.clients[0]), CAROM_OK);
    cr_assert_eq(carom_client_connect_token(a.clients[0], token, cm_net_now_us(a.net)), CAROM_OK);
    away_run(&a, 1.0);
    cr_assert_eq(carom_client_get_state(a.clients[0]), CAROM_CLIENT_CONNECTING);
    cr_assert_gt(away_stats(&a).refused[CM_DATAGRAM_TOKEN], 0);
    cm_worker_set_keys(a.worker, &keys);
    away_until(&a, 0, CAROM_CLIENT_PLAYING);
    away_free(&a);
}

static void turn(cm_host *host, away *a, uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) {
        cm_transport_event event;
        cm_transport_begin(cm_host_transport(host), cm_net_now_us(a->net), UINT64_C(1900000000));
        while (cm_transport_poll(cm_host_transport(host), &event)) {
        }
        cm_transport_flush(cm_host_transport(host));
        away_step(a);
    }
}

static void dial(away *a, uint32_t i, uint32_t servers)
{
    char token[CAROM_TOKEN_TEXT_MAX];
    carom_token_def def = sound();
    def.client_id += i;
    def.servers[0] = "127.0.0.1:9401";
    def.servers[1] = servers > 1 ? "127.0.0.1:9400" : NULL;
    issue(a, &def, token);
    cr_assert_eq(carom_client_create(&a->client_def, &a->clients[i]), CAROM_OK);
    cr_assert_eq(carom_client_connect_token(a->clients[i], token, cm_net_now_us(a->net)), CAROM_OK);
}

// A server without a place now: the token's next one is asked, and where that was the last the
// player knows.
Test(refused, a_full_server_leads_to_the_next)
{
    away a;
    away_make(&a, &(away_def){.seed = 31, .tokens = true, .lossless = true});
    cm_host_def def = {.listen = CM_ADDRESS_IPV4(127, 0, 0, 1, AWAY_PORT + 1),
                       .peers = 1,
                       .timeout_ms = 10000,
                       .keys = &a.keys};
    char error[256] = "";
    cm_host *host = cm_host_create(&def, error, sizeof error);
    cr_assert_not_null(host, "%s", error);
    cm_address address = CM_ADDRESS_IPV4(127, 0, 0, 1, AWAY_PORT + 1);
    cm_link_def link = {.latency_us = 25000};
    cm_net_link_port(a.net, AWAY_PORT + 1, &link);
    cm_gate_set_addresses(cm_host_gate(host), &address, 1);
    dial(&a, 2, 1); // has the one place of that host
    turn(host, &a, 50);
    cr_assert_eq(carom_client_get_state(a.clients[2]), CAROM_CLIENT_JOINING);
    dial(&a, 0, 2);
    dial(&a, 1, 1);
    turn(host, &a, 100); // 400 ms: two round trips there, four here, and turns of 4 ms
    cr_assert_eq(carom_client_get_state(a.clients[0]), CAROM_CLIENT_PLAYING);
    cr_assert_eq(carom_client_get_state(a.clients[1]), CAROM_CLIENT_IDLE);
    cr_assert_eq(carom_client_get_reason(a.clients[1]), CAROM_REASON_ROOM_FULL);
    cr_assert_eq(away_stats(&a).players, 1);
    cm_host_destroy(host);
    away_free(&a);
}
