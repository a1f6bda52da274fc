// Goal: a client plays over a path as bad as its developer wants it, the same from the same seed.
// Method: a real client on a net without delay or loss, against a fake server; what the client
// measures of the path is what was asked for.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "carom/client_more.h"
#include "tests/unit/client/fake_server.h"

static carom_client *open_client(const fake_server *server, const carom_client_link *path)
{
    carom_client_def def = carom_default_client_def();
    carom_client *client;
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    cr_assert_eq(carom_client_create(&def, &client), CAROM_OK);
    cr_assert_eq(carom_client_simulate_link(client, path), CAROM_OK);
    cr_assert_eq(carom_client_connect(client, "127.0.0.1", FAKE_PORT, cm_net_now_us(server->net)),
                 CAROM_OK);
    return client;
}

static carom_client_stats play(const carom_client_link *path, uint64_t seed)
{
    fake_server server;
    carom_client_link link = path != NULL ? *path : (carom_client_link){.loss = 0.0f};
    carom_client_stats stats;
    fake_server_make(&server, 41, 4, NULL);
    link.seed = seed;
    carom_client *client = open_client(&server, path != NULL ? &link : NULL);
    fake_play(&server, client, 12.0);
    cr_expect_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING);
    carom_client_stats_get(client, &stats);
    carom_client_disconnect(client, cm_net_now_us(server.net));
    fake_play(&server, client, 1.0);
    cr_expect_eq(carom_client_get_state(client), CAROM_CLIENT_IDLE);
    cr_expect_eq(carom_client_get_reason(client), CAROM_REASON_LEFT);
    carom_client_destroy(client);
    fake_server_free(&server);
    return stats;
}

Test(client_bad_path, is_as_bad_as_it_was_asked_for)
{
    static const carom_client_link paths[] = {
        {.loss = 0.0f},
        {.latency_ms = 30, .jitter_ms = 5, .loss = 0.01f},
        {.latency_ms = 100, .jitter_ms = 20, .loss = 0.05f},
    };
    carom_client_stats straight = play(NULL, 1);
    for (uint32_t i = 0; i < 3; i++) {
        carom_client_stats stats = play(&paths[i], 1);
        double share =
            (double)stats.packets_lost / (double)(stats.view_packets + stats.packets_lost);
        double late = (double)stats.rtt_ms - straight.rtt_ms - 2.0 * paths[i].latency_ms;
        printf("bad path: %u+-%u ms, %.0f%%: round trip %u ms, %.1f%% lost\n", paths[i].latency_ms,
               paths[i].jitter_ms, 100.0 * (double)paths[i].loss, stats.rtt_ms, 100.0 * share);
        cr_expect_geq(late, -(double)paths[i].jitter_ms);
        cr_expect_leq(late, paths[i].jitter_ms + 12.0, "and an update's time twice");
        cr_expect_float_eq(share, (double)paths[i].loss, 0.02 * (i > 0));
        cr_expect_eq(stats.desyncs, 0);
    }
}

Test(client_bad_path, follows_from_its_seed)
{
    static const carom_client_link path = {.latency_ms = 60, .jitter_ms = 30, .loss = 0.1f};
    carom_client_stats a = play(&path, 7), b = play(&path, 7), c = play(&path, 8);
    cr_expect_eq(a.packets_lost, b.packets_lost);
    cr_expect_eq(a.bytes_in, b.bytes_in);
    cr_expect_eq(a.bytes_out, b.bytes_out);
    cr_expect_neq(a.bytes_in, c.bytes_in);
}

Test(client_bad_path, changes_while_it_is_played_over)
{
    fake_server server;
    carom_client_stats stats;
    carom_client_link path = {.latency_ms = 20};
    fake_server_make(&server, 42, 4, NULL);
    carom_client *client = open_client(&server, &path);
    fake_play(&server, client, 3.0);
    carom_client_stats_get(client, &stats);
    cr_expect_lt(stats.rtt_ms, 60);
    path.latency_ms = 150;
    cr_expect_eq(carom_client_simulate_link(client, &path), CAROM_OK);
    fake_play(&server, client, 8.0);
    carom_client_stats_get(client, &stats);
    cr_expect_gt(stats.rtt_ms, 200);
    path.loss = 1.0f;
    cr_expect_eq(carom_client_simulate_link(client, &path), CAROM_OK);
    fake_play(&server, client, 2.0);
    cr_expect_eq(carom_client_get_state(client), CAROM_CLIENT_UNSTABLE);
    cr_expect_eq(carom_client_simulate_link(client, NULL), CAROM_OK);
    fake_play(&server, client, 3.0);
    cr_expect_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING);
    carom_client_destroy(client);
    fake_server_free(&server);
}

Test(client_bad_path, refuses_what_no_path_is)
{
    const carom_client_link wrong[] = {{.latency_ms = CAROM_CLIENT_LATENCY_MAX_MS + 1},
                                       {.latency_ms = 5, .jitter_ms = 6},
                                       {.loss = -0.1f},
                                       {.loss = 1.1f},
                                       {.loss = NAN}};
    const carom_client_link path = {.latency_ms = 5};
    fake_server server;
    fake_server_make(&server, 43, 1, NULL);
    carom_client *client = open_client(&server, NULL);
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_expect_eq(carom_client_simulate_link(client, &wrong[i]), CAROM_ERROR_ARGUMENT, "%u", i);
    }
    cr_expect_eq(carom_client_simulate_link(NULL, &path), CAROM_ERROR_ARGUMENT);
    cr_expect_eq(carom_client_simulate_link(client, &path), CAROM_ERROR_STATE, "it is connected");
    carom_client_destroy(client);
    fake_server_free(&server);
}
