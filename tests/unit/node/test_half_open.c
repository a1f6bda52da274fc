// Goal: a client that thinks that it is in, while its server still waits to hear that it got
// ENet's VERIFY_CONNECT, comes in as soon as its path carries again, or hears that it is out; and a
// client whose server died while it joined, at whatever moment, joins the next one.
// Method: away.h; the path is cut, or the server dies, with a datagram on its way.
#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/unit/node/away.h"

// The client's acknowledgement is on its way as the path is cut, for so many seconds.
static void connect_half(away *a, uint64_t seed, double cut_s)
{
    away_make(a, &(away_def){.seed = seed, .tokens = true, .lossless = true});
    away_connect(a, 0);
    (void)away_until(a, 0, CAROM_CLIENT_JOINING);
    cm_net_partition(a->net, a->ports[0], true);
    away_run(a, cut_s);
    cr_assert_eq(carom_client_get_state(a->clients[0]), CAROM_CLIENT_JOINING);
    cm_net_partition(a->net, a->ports[0], false);
}

// By ENet alone VERIFY_CONNECT goes after 0.25, 0.75, 1.75 and 3.75 s, and then at 7.75, too late.
Test(half_open, who_was_not_heard_to_be_in_comes_in)
{
    double worst = 0.0;
    for (uint64_t seed = 50; seed < 58; seed++) {
        away a;
        connect_half(&a, seed, 3.8);
        double took = away_until(&a, 0, CAROM_CLIENT_PLAYING);
        worst = took > worst ? took : worst;
        cr_assert_eq(away_stats(&a).players, 1);
        away_free(&a);
    }
    printf("half open: playing %.2f s after the path's return at the most\n", worst);
    cr_assert_lt(worst, 1.0);
}

// Its token is used up: no other try can let it in.
Test(half_open, who_is_given_up_is_told)
{
    away a;
    connect_half(&a, 60, 4.95);
    cr_assert_lt(away_until(&a, 0, CAROM_CLIENT_IDLE), 0.2);
    cr_assert_eq(carom_client_get_reason(a.clients[0]), CAROM_REASON_TIMEOUT);
    cr_assert_eq(away_stats(&a).peers, 0);
    away_free(&a);
}

// A CONNECT is on its way, with a cookie that nobody can open any more.
Test(half_open, who_asked_a_server_that_died_asks_the_next)
{
    double worst = 0.0;
    for (uint64_t seed = 70; seed < 78; seed++) {
        away a;
        away_make(&a, &(away_def){.seed = seed, .tokens = seed % 2 == 0, .lossless = true});
        away_connect(&a, 0);
        away_run(&a, 0.068);
        cr_assert_eq(away_stats(&a).refused[CM_DATAGRAM_COOKIE], 0);
        away_restart(&a);
        double took = away_until(&a, 0, CAROM_CLIENT_PLAYING);
        worst = took > worst ? took : worst;
        cr_assert_gt(away_stats(&a).refused[CM_DATAGRAM_COOKIE], 0, "it came too late");
        away_free(&a);
    }
    printf("half open: playing %.2f s after its server's death at the most\n", worst);
    cr_assert_lt(worst, 2.0);
}

// The same silence, but its CONNECT was heard: another would say that the token is used up.
Test(half_open, who_only_waits_for_the_answer_keeps_its_keys)
{
    away a;
    away_make(&a, &(away_def){.seed = 80, .tokens = true, .lossless = true});
    away_connect(&a, 0);
    away_run(&a, 0.068);
    cm_net_link_port(a.net, a.ports[0], &(cm_link_def){.loss = 1.0f}); // what is under way arrives
    away_run(&a, 0.95);
    cm_net_link_port(a.net, a.ports[0], &(cm_link_def){.loss = 0.0f});
    uint64_t before = away_client_stats(&a, 0).bytes_in;
    away_run(&a, 0.2);
    cr_assert_eq(carom_client_get_state(a.clients[0]), CAROM_CLIENT_CONNECTING);
    cr_assert_gt(away_client_stats(&a, 0).bytes_in, before, "a challenge to its second hello");
    cr_assert_lt(away_until(&a, 0, CAROM_CLIENT_PLAYING), 1.0);
    cr_assert_eq(away_stats(&a).refused[CM_DATAGRAM_USED], 0);
    away_free(&a);
}

// The server is killed so long after a client began to join, another one goes on with its match
// down_s later; seconds until it plays, from the death on.
static double join_over_death(uint64_t seed, double after_s, double down_s, bool tokens)
{
    away a;
    away_make(
        &a,
        &(away_def){.seed = seed, .record = true, .tokens = tokens, .max_players = tokens ? 2 : 0});
    away_join(&a, 0);
    away_connect(&a, 1);
    away_run(&a, after_s / 2.0);
    cm_store_pump(a.store); // a commit on the way: its join may be recorded or not
    away_run(&a, after_s / 2.0);
    a.stalled = true;
    away_crash(&a);
    away_run(&a, down_s);
    a.stalled = false;
    double took = down_s;
    if (carom_client_get_state(a.clients[1]) == CAROM_CLIENT_PLAYING) {
        took += away_until(&a, 1, CAROM_CLIENT_UNSTABLE);
    }
    took += away_until(&a, 1, CAROM_CLIENT_PLAYING);
    away_run(&a, 0.8);
    for (uint32_t i = 0; i < 2; i++) {
        cr_assert_eq(carom_client_get_state(a.clients[i]), CAROM_CLIENT_PLAYING, "seed %u",
                     (unsigned)seed);
    }
    cr_assert_eq(away_stats(&a).players, 2, "of a death %.3f s after its connect", after_s);
    away_free(&a);
    return took;
}

// Each moment of a join, from its first hello to its first inputs: with a token that was used to
// open the connection that died, or without any.
Test(half_open, who_joins_while_its_server_dies_joins_the_next_one)
{
    double worst = 0.0, sum = 0.0;
    uint32_t count = 0;
    for (uint32_t step = 0; step < 40; step++, count++) {
        double took = join_over_death(100 + step, 0.012 * step, 0.3, step % 4 != 3);
        worst = took > worst ? took : worst;
        sum += took;
    }
    printf("half open: joined %.2f s after its server's death in the mean, %.2f s at the most\n",
           sum / count, worst);
    cr_assert_lt(worst, 2.0);
}
