// Goal: a client whose thread is slow gets worse to look at, and never later: its inputs are made
// and accepted, the steps of an update have a bound, and soon after the thread is fast again all is
// as before. Method: a real client on the virtual net against the fake server, in virtual time;
// update is called rarely, or each step that it makes is charged to the clock.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "client-sdk/src/state.h"
#include "tests/unit/client/fake_server.h"

#define RTT_US    100000u
#define STEPS_MAX 32u // round trip, view interval, a few

typedef struct player {
    fake_server server;
    carom_client *client;
    uint64_t free_us; // when its thread gets to the next update
    uint64_t most;    // steps in one update
    bool shoved;      // the server does what no client can foresee: views have to be corrected
} player;

static void player_make(player *p, uint64_t seed)
{
    static const cm_link_def link = {.latency_us = RTT_US / 2, .jitter_us = 5000, .loss = 0.01f};
    memset(p, 0, sizeof *p);
    fake_server_make(&p->server, seed, 8, &link);
    carom_client_def def = carom_default_client_def();
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    cr_assert_eq(carom_client_create(&def, &p->client), CAROM_OK);
    cr_assert_eq(
        carom_client_connect(p->client, "127.0.0.1", FAKE_PORT, cm_net_now_us(p->server.net)),
        CAROM_OK);
}

static void player_free(player *p)
{
    carom_client_destroy(p->client);
    fake_server_free(&p->server);
}

static carom_client_stats stats_of(const player *p)
{
    carom_client_stats stats;
    carom_client_stats_get(p->client, &stats);
    return stats;
}

static carom_body_state own_body(const player *p)
{
    carom_body_state state;
    carom_body_id own = cm_game_player_body(p->server.game, p->server.player);
    cr_assert_eq(carom_body_get(carom_game_world(p->server.game), own, &state), CAROM_OK);
    return state;
}

static void shove(player *p, float newton_seconds)
{
    carom_vec3 push = {0.0f, 0.0f, newton_seconds};
    carom_body_apply_impulse(carom_game_world(p->server.game),
                             cm_game_player_body(p->server.game, p->server.player), push,
                             own_body(p).center_of_mass);
}

// The server is always on time; an update costs `charge_us` a step, and comes `every_us` at most.
static void play(player *p, double seconds, uint64_t every_us, uint64_t charge_us)
{
    for (uint64_t us = 0; us < (uint64_t)(seconds * 1.0e6); us += 2000) {
        cm_net_advance(p->server.net, 2000);
        fake_server_run(&p->server);
        if (p->shoved && us % 100000 == 0) {
            shove(p, us % 200000 == 0 ? 200.0f : -200.0f);
        }
        uint64_t now = cm_net_now_us(p->server.net);
        if (now < p->free_us) {
            continue;
        }
        float x = now / 700000 % 2 == 0 ? 0.6f : -0.6f;
        uint8_t input[9] = {0};
        memcpy(input, &x, 4);
        (void)carom_client_set_input(p->client, input, sizeof input);
        uint64_t before = stats_of(p).predicted_steps;
        carom_client_update(p->client, now);
        uint64_t steps = stats_of(p).predicted_steps - before;
        p->most = steps > p->most ? steps : p->most;
        uint64_t busy = steps * charge_us;
        if (p->client->predictor != NULL) {
            p->client->predictor->work_s = 1.0e-6 * (double)busy; // as a clock would have told
        }
        p->free_us = now + (busy > every_us ? busy : every_us);
    }
}

// Plays well, badly, and well again.
static void starve(const char *name, uint64_t every_us, uint64_t charge_us, double most_missed)
{
    player p;
    player_make(&p, 11);
    play(&p, 4.0, 2000, 0);
    cr_assert_eq(carom_client_get_state(p.client), CAROM_CLIENT_PLAYING);
    uint64_t missed = p.server.missed, from = carom_game_tick(p.server.game);
    carom_client_stats start = stats_of(&p);
    p.most = 0;
    p.shoved = true;
    play(&p, 20.0, every_us, charge_us);
    p.shoved = false;
    missed = p.server.missed - missed;
    uint64_t ticks = carom_game_tick(p.server.game) - from;
    carom_client_stats bad = stats_of(&p);
    fprintf(stderr,
            "client_starved: %s: %.2f%% of inputs refused, at most %llu steps in an update, %.1f "
            "steps a tick\n",
            name, 100.0 * (double)missed / (double)ticks, (unsigned long long)p.most,
            (double)(bad.predicted_steps - start.predicted_steps) / (double)ticks);
    cr_assert_lt((double)missed, most_missed * (double)ticks);
    cr_assert_leq(p.most, STEPS_MAX);
    cr_assert_gt(bad.reconciles, start.reconciles + 20);
    carom_client_pose pose;
    cr_assert_eq(carom_client_body_pose(p.client, carom_client_own_body(p.client), &pose),
                 CAROM_OK);
    carom_vec3 there = own_body(&p).position;
    cr_assert_float_eq(pose.position.x, there.x, 2.0f, "the own body is shown, if badly");
    cr_assert_float_eq(pose.position.z, there.z, 2.0f);
    // A second later nothing is left of it.
    play(&p, 1.0, 2000, 0);
    missed = p.server.missed;
    carom_client_stats again = stats_of(&p);
    play(&p, 4.0, 2000, 0);
    carom_client_stats end = stats_of(&p);
    double error =
        (end.error_sum - again.error_sum) / (double)(end.error_count - again.error_count);
    cr_assert_lt(error, 0.01, "%f", error);
    cr_assert_leq(p.server.missed - missed, 1);
    cr_assert_lt(end.predicted_tick - end.server_tick, 16);
    player_free(&p);
}

Test(client_starved, five_updates_a_second)
{
    starve("5 updates a second", 200000, 0, 0.01);
}

Test(client_starved, each_step_takes_five_milliseconds)
{
    starve("5 ms a step", 2000, 5000, 0.01);
}

Test(client_starved, each_step_takes_thirty_milliseconds)
{
    // By the phases of updates and views between 0.5 and 3% over seeds.
    starve("30 ms a step", 2000, 30000, 0.03);
}

// A machine that draws seldom but steps fast: what its player does is shown as at 60 frames a
// second. (Where a round trip is shorter than a frame each view begins anew, which is worse.)
Test(client_starved, rare_frames_are_as_right_as_frequent_ones)
{
    static const uint64_t every_us[] = {16000, 33000, 66000, 100000};
    for (uint32_t i = 0; i < sizeof every_us / sizeof every_us[0]; i++) {
        player p;
        player_make(&p, 12);
        play(&p, 4.0, every_us[i], 0);
        carom_client_stats before = stats_of(&p);
        uint64_t missed = p.server.missed, from = carom_game_tick(p.server.game);
        p.most = 0;
        play(&p, 20.0, every_us[i], 0);
        carom_client_stats after = stats_of(&p);
        double errors = (double)(after.error_count - before.error_count);
        double error = (after.error_sum - before.error_sum) / errors;
        double ticks = (double)(carom_game_tick(p.server.game) - from);
        fprintf(stderr, "client_starved: each %u ms: %.2f mm, %.2f%% of inputs refused\n",
                (unsigned)(every_us[i] / 1000), 1e3 * error,
                100.0 * (double)(p.server.missed - missed) / ticks);
        cr_expect_gt(errors, 50.0);
        cr_expect_lt(error, 0.005, "each %u ms: %f", (unsigned)(every_us[i] / 1000), error);
        cr_expect_leq(p.most, STEPS_MAX);
        player_free(&p);
    }
}
