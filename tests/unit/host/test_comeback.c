// Goal: a player whose path breaks has the slot again by itself, from whatever address, and what
// was said meanwhile is neither lost nor heard twice; the slot of one who stays away is given back
// at the end of the grace time, of one who was sent away at once; a pause of the server costs
// nobody anything. Method: the SDK's clients against a whole worker on the virtual net, in virtual
// time, with paths that are cut and healed.
#include "server/host/worker.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/client.h"
#include "client-sdk/src/state.h"
#include "server/host/roster.h"
#include "shared/net/net.h"
#include "tests/unit/host/rig.h"

#define PORT    9400
#define CLIENTS 4u
#define STEP_US 4000u

typedef struct world {
    cm_net *net;
    cm_scene *scene;
    cm_config config;
    cm_worker *worker;
    carom_client *clients[CLIENTS];
    uint16_t ports[CLIENTS];
    uint32_t changes[CLIENTS];
    carom_client_state last[CLIENTS];
    bool stalled; // the worker does not run
    char log[65536];
} world;

static void keep_log(void *user, int level, const char *json_line)
{
    world *w = user;
    size_t used = strlen(w->log);
    (void)level;
    snprintf(w->log + used, sizeof w->log - used, "%s\n", json_line);
}

static uint32_t logged(const world *w, const char *event)
{
    char text[64];
    uint32_t count = 0;
    snprintf(text, sizeof text, "\"event\":\"%s\"", event);
    for (const char *at = w->log; (at = strstr(at, text)) != NULL; at++) {
        count++;
    }
    return count;
}

static void make(world *w, uint64_t seed, uint32_t grace_ms)
{
    memset(w, 0, sizeof *w);
    w->net = cm_net_virtual_create(seed);
    cm_net_use(w->net);
    cm_link_def link = {.latency_us = 25000, .jitter_us = 5000, .loss = 0.01f};
    cm_net_link_port(w->net, PORT, &link);
    w->scene = rig_scene(3);
    cm_config_default(&w->config);
    w->config.insecure = true;
    w->config.max_players = 4;
    w->config.grace_ms = grace_ms;
    cm_worker_def def = {.random = cm_net_random,
                         .config = &w->config,
                         .scene = w->scene,
                         .seed = seed,
                         .now_us = cm_net_now_us(w->net),
                         .started_unix_ms = UINT64_C(1900000000000),
                         .log = keep_log,
                         .user = w};
    char error[256] = "";
    cr_assert_eq(cm_worker_create(&def, &w->worker, error, sizeof error), CAROM_OK, "%s", error);
}

static void release(world *w)
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        carom_client_destroy(w->clients[i]);
    }
    cm_worker_destroy(w->worker);
    cm_scene_free(w->scene);
    cm_net_destroy(w->net);
    cm_net_use(NULL);
}

static void step(world *w)
{
    cm_net_advance(w->net, STEP_US);
    uint64_t now = cm_net_now_us(w->net);
    if (!w->stalled) {
        cm_worker_run_once(w->worker, now);
    }
    for (uint32_t i = 0; i < CLIENTS; i++) {
        if (w->clients[i] != NULL) {
            carom_client_update(w->clients[i], now);
            carom_client_state state = carom_client_get_state(w->clients[i]);
            w->changes[i] += state != w->last[i];
            w->last[i] = state;
        }
    }
}

static void run(world *w, double seconds)
{
    for (double at = 0.0; at < seconds; at += 1e-6 * STEP_US) {
        step(w);
    }
}

static void join(world *w, uint32_t i)
{
    carom_client_def def = carom_default_client_def();
    char name[16];
    snprintf(name, sizeof name, "player %u", i);
    def.random = cm_net_random;
    def.name = name;
    cr_assert_eq(carom_client_create(&def, &w->clients[i]), CAROM_OK);
    cr_assert_eq(carom_client_connect(w->clients[i], "127.0.0.1", PORT, cm_net_now_us(w->net)),
                 CAROM_OK);
    w->ports[i] = cm_net_last_port(w->net);
    run(w, 1.5);
    cr_assert_eq(carom_client_get_state(w->clients[i]), CAROM_CLIENT_PLAYING);
}

static void drive(world *w, uint32_t i, float x)
{
    uint8_t input[CAROM_INPUT_MAX];
    rig_input(input, x, 0.0f, 0);
    cr_assert_eq(carom_client_set_input(w->clients[i], input, RIG_INPUT_SIZE), CAROM_OK);
}

static cm_worker_stats stats_of(const world *w)
{
    cm_worker_stats stats;
    cm_worker_stats_get(w->worker, &stats);
    return stats;
}

// Seconds until the client plays.
static double until_playing(world *w, uint32_t i)
{
    for (uint32_t steps = 0; steps < 10000; steps++) {
        if (carom_client_get_state(w->clients[i]) == CAROM_CLIENT_PLAYING) {
            return 1e-6 * STEP_US * steps;
        }
        step(w);
    }
    cr_assert_fail("%s", carom_reason_text(carom_client_get_reason(w->clients[i])));
    return 0.0;
}

static carom_client_stats client_stats(const world *w, uint32_t i)
{
    carom_client_stats stats;
    carom_client_stats_get(w->clients[i], &stats);
    return stats;
}

Test(comeback, who_was_cut_off_for_five_seconds_has_the_slot_again)
{
    double worst = 0.0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        world w;
        make(&w, seed, 15000);
        join(&w, 0);
        join(&w, 1);
        drive(&w, 1, 0.7f);
        uint32_t player = carom_client_player(w.clients[1]);
        carom_body_id body = carom_client_own_body(w.clients[1]);
        cm_net_partition(w.net, PORT, true); // whatever a client opens: the server is not there
        run(&w, 5.0);
        cr_assert_eq(carom_client_get_state(w.clients[1]), CAROM_CLIENT_UNSTABLE);
        cm_net_partition(w.net, PORT, false);
        for (uint32_t i = 0; i < 2; i++) {
            double took = until_playing(&w, i);
            worst = took > worst ? took : worst;
        }
        run(&w, 1.0);
        cr_assert_eq(carom_client_player(w.clients[1]), player);
        cr_assert_eq(carom_client_own_body(w.clients[1]).index, body.index);
        cr_assert_eq(carom_client_own_body(w.clients[1]).generation, body.generation);
        cr_assert_eq(stats_of(&w).players, 2);
        cr_assert_eq(logged(&w, "player left"), 0);
        cr_assert_eq(client_stats(&w, 1).desyncs, 0);
        release(&w);
    }
    printf("comeback: cut off for 5 s, playing %.2f s after the path's return at the most\n",
           worst);
    cr_assert_leq(worst, 2.0);
}

// The old address is dead for ever, as after a change of network.
Test(comeback, another_address_is_as_good)
{
    double worst = 0.0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        world w;
        make(&w, seed, 15000);
        join(&w, 0);
        join(&w, 1);
        uint32_t player = carom_client_player(w.clients[1]);
        cm_net_partition(w.net, w.ports[1], true);
        for (uint32_t i = 0; i < 1000 && client_stats(&w, 1).comebacks == 0; i++) {
            step(&w);
            worst += 1e-6 * STEP_US / 12.0;
        }
        cr_assert_eq(client_stats(&w, 1).comebacks, 1);
        run(&w, 1.0);
        cr_assert_eq(carom_client_get_state(w.clients[1]), CAROM_CLIENT_PLAYING);
        cr_assert_eq(carom_client_player(w.clients[1]), player);
        cr_assert_eq(stats_of(&w).players, 2);
        cr_assert_eq(logged(&w, "player came back"), 1);
        cr_assert_eq(client_stats(&w, 0).comebacks, 0, "nobody else noticed");
        // And again, by the ticket of the second welcome.
        cm_net_partition(w.net, cm_net_last_port(w.net), true);
        run(&w, 3.0);
        cr_assert_eq(client_stats(&w, 1).comebacks, 2);
        cr_assert_eq(carom_client_get_state(w.clients[1]), CAROM_CLIENT_PLAYING);
        cr_assert_eq(carom_client_player(w.clients[1]), player);
        release(&w);
    }
    printf("comeback: another address, back after %.2f s on average\n", worst);
    cr_assert_leq(worst, 2.0);
}

// 10 s in which the server does nothing: everybody waits, and goes on.
Test(comeback, a_stall_of_the_server_kicks_nobody)
{
    world w;
    make(&w, 5, 15000);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        join(&w, i);
        drive(&w, i, 0.1f * (float)i);
    }
    w.stalled = true;
    run(&w, 10.0);
    w.stalled = false;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        cr_assert_leq(until_playing(&w, i), 2.0);
    }
    run(&w, 2.0);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        cr_assert_eq(carom_client_get_state(w.clients[i]), CAROM_CLIENT_PLAYING);
        cr_assert_eq(carom_client_player(w.clients[i]), i);
    }
    cr_assert_eq(stats_of(&w).players, CLIENTS);
    cr_assert_eq(logged(&w, "player left"), 0);
    release(&w);
}

// The body of a player who is cut off stops being driven after half a second; the slot is kept for
// the grace time and not longer; then the ticket is worth nothing.
Test(comeback, a_slot_is_kept_for_the_grace_time)
{
    world w;
    make(&w, 6, 4000);
    w.config.timeout_ms = 2000;
    join(&w, 0);
    drive(&w, 0, 1.0f);
    join(&w, 1);
    cr_assert_eq(stats_of(&w).players, 2);
    cm_net_partition(w.net, PORT, true);
    run(&w, 3.8);
    cr_assert_eq(logged(&w, "player left"), 0);
    run(&w, 13.0);
    cr_assert_eq(logged(&w, "player left"), 2);
    cr_assert_eq(stats_of(&w).players, 0);
    cr_assert_eq(carom_client_get_state(w.clients[0]), CAROM_CLIENT_IDLE);
    cr_assert_eq(carom_client_get_reason(w.clients[0]), CAROM_REASON_TIMEOUT);
    release(&w);
}

// Everybody is told who is there, with name and own body, and who is away.
Test(comeback, a_roster_tells_who_is_there_and_who_is_away)
{
    world w;
    make(&w, 7, 15000);
    join(&w, 0);
    join(&w, 1);
    run(&w, 0.5);
    carom_client_roster_row rows[CAROM_PLAYERS_MAX];
    for (uint32_t i = 0; i < 2; i++) {
        cr_assert_eq(carom_client_roster(w.clients[i], rows, CAROM_PLAYERS_MAX), 2);
        cr_assert_str_eq(rows[0].name, "player 0");
        cr_assert_str_eq(rows[1].name, "player 1");
        cr_assert_eq(rows[i].body.index, carom_client_own_body(w.clients[i]).index);
        cr_assert(!rows[0].away && !rows[1].away);
        cr_assert_gt(rows[1].rtt_ms, 20);
    }
    carom_client_destroy(w.clients[1]);
    w.clients[1] = NULL;
    run(&w, 0.5);
    cr_assert_eq(carom_client_roster(w.clients[0], rows, CAROM_PLAYERS_MAX), 1);
    release(&w);
}
