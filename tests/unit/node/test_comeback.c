// Goal: a player whose path breaks has the slot again by itself, from whatever address, and what
// was said meanwhile is neither lost nor heard twice; a pause of the server costs nobody anything.
// Method: away.h.
#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/unit/node/away.h"

Test(comeback, who_was_cut_off_for_five_seconds_has_the_slot_again)
{
    double worst = 0.0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        away w;
        away_make(&w, &(away_def){.seed = seed, .grace_ms = 15000});
        away_join(&w, 0);
        away_join(&w, 1);
        away_drive(&w, 1, 0.7f);
        uint32_t player = carom_client_player(w.clients[1]);
        carom_body_id body = carom_client_own_body(w.clients[1]);
        cm_net_partition(w.net, AWAY_PORT,
                         true); // whatever a client opens: the server is not there
        away_run(&w, 5.0);
        cr_assert_eq(carom_client_get_state(w.clients[1]), CAROM_CLIENT_UNSTABLE);
        cm_net_partition(w.net, AWAY_PORT, false);
        for (uint32_t i = 0; i < 2; i++) {
            double took = away_until(&w, i, CAROM_CLIENT_PLAYING);
            worst = took > worst ? took : worst;
        }
        away_run(&w, 1.0);
        cr_assert_eq(carom_client_player(w.clients[1]), player);
        cr_assert_eq(carom_client_own_body(w.clients[1]).index, body.index);
        cr_assert_eq(carom_client_own_body(w.clients[1]).generation, body.generation);
        cr_assert_eq(away_stats(&w).players, 2);
        cr_assert_eq(away_logged(&w, "player left"), 0);
        cr_assert_eq(away_client_stats(&w, 1).desyncs, 0);
        away_free(&w);
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
        away w;
        away_make(&w, &(away_def){.seed = seed, .grace_ms = 15000});
        away_join(&w, 0);
        away_join(&w, 1);
        uint32_t player = carom_client_player(w.clients[1]);
        cm_net_partition(w.net, w.ports[1], true);
        for (uint32_t i = 0; i < 1000 && away_client_stats(&w, 1).comebacks == 0; i++) {
            away_step(&w);
            worst += 1e-6 * AWAY_STEP_US / 12.0;
        }
        cr_assert_eq(away_client_stats(&w, 1).comebacks, 1);
        away_run(&w, 1.0);
        cr_assert_eq(carom_client_get_state(w.clients[1]), CAROM_CLIENT_PLAYING);
        cr_assert_eq(carom_client_player(w.clients[1]), player);
        cr_assert_eq(away_stats(&w).players, 2);
        cr_assert_eq(away_logged(&w, "player came back"), 1);
        cr_assert_eq(away_client_stats(&w, 0).comebacks, 0, "nobody else noticed");
        // And again, by the ticket of the second welcome.
        cm_net_partition(w.net, cm_net_last_port(w.net), true);
        away_run(&w, 3.0);
        cr_assert_eq(away_client_stats(&w, 1).comebacks, 2);
        cr_assert_eq(carom_client_get_state(w.clients[1]), CAROM_CLIENT_PLAYING);
        cr_assert_eq(carom_client_player(w.clients[1]), player);
        away_free(&w);
    }
    printf("comeback: another address, back after %.2f s on average\n", worst);
    cr_assert_leq(worst, 2.0);
}

// 10 s in which the server does nothing: everybody waits, and goes on.
Test(comeback, a_stall_of_the_server_kicks_nobody)
{
    away w;
    away_make(&w, &(away_def){.seed = 5, .grace_ms = 15000});
    for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
        away_join(&w, i);
        away_drive(&w, i, 0.1f * (float)i);
    }
    w.stalled = true;
    away_run(&w, 10.0);
    w.stalled = false;
    for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
        cr_assert_leq(away_until(&w, i, CAROM_CLIENT_PLAYING), 2.0);
    }
    away_run(&w, 2.0);
    for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
        cr_assert_eq(carom_client_get_state(w.clients[i]), CAROM_CLIENT_PLAYING);
        cr_assert_eq(carom_client_player(w.clients[i]), i);
    }
    cr_assert_eq(away_stats(&w).players, AWAY_CLIENTS);
    cr_assert_eq(away_logged(&w, "player left"), 0);
    away_free(&w);
}

// A server that is so busy that it looks at its socket only now and then answers who comes back,
// but never in time to let in. It lives, and the slot is kept: the client waits until it has time.
Test(comeback, a_busy_server_that_answers_is_waited_for)
{
    away w;
    away_make(&w, &(away_def){.seed = 6, .grace_ms = 15000, .timeout_ms = 60000});
    away_join(&w, 0);
    away_join(&w, 1);
    uint32_t player = carom_client_player(w.clients[1]);
    cm_net_partition(w.net, w.ports[1], true);
    for (uint32_t i = 0; i < 13; i++) {
        w.stalled = true;
        away_run(&w, 1.6);
        w.stalled = false;
        away_step(&w);
    }
    cr_assert_eq(carom_client_get_state(w.clients[1]), CAROM_CLIENT_UNSTABLE, "after 21 s: %s",
                 carom_reason_text(carom_client_get_reason(w.clients[1])));
    cr_assert_eq(away_client_stats(&w, 1).comebacks, 0, "it was busy for all of that time");
    away_until(&w, 1, CAROM_CLIENT_PLAYING);
    cr_assert_eq(away_client_stats(&w, 1).comebacks, 1);
    cr_assert_eq(carom_client_player(w.clients[1]), player);
    away_free(&w);
}

// The server let in by a second link, and none of it arrived: that link is given up, which takes
// the slot from nobody. What the client says on it still arrives.
Test(comeback, a_link_that_is_given_up_leaves_no_room)
{
    away w;
    away_make(&w, &(away_def){.seed = 8, .grace_ms = 15000, .lossless = true});
    away_join(&w, 0);
    away_join(&w, 1);
    uint32_t player = carom_client_player(w.clients[1]);
    cm_net_partition(w.net, w.ports[1], true);
    for (uint32_t i = 0; i < 1000 && away_logged(&w, "player came back") == 0; i++) {
        away_step(&w);
    }
    cm_net_link_port_down(w.net, cm_net_last_port(w.net), &(cm_link_def){.loss = 1.0f});
    away_run(&w, 5.0);
    cr_expect_eq(away_logged(&w, "player left"), 0);
    cr_expect_eq(away_logged(&w, "player came back"), 2);
    cr_assert_eq(carom_client_get_state(w.clients[1]), CAROM_CLIENT_PLAYING, "%s",
                 carom_reason_text(carom_client_get_reason(w.clients[1])));
    cr_expect_eq(carom_client_player(w.clients[1]), player);
    cr_expect_eq(away_client_stats(&w, 1).comebacks, 1);
    away_free(&w);
}

// Everybody is told who is there, with name and own body, and who is away.
Test(comeback, a_roster_tells_who_is_there_and_who_is_away)
{
    away w;
    away_make(&w, &(away_def){.seed = 7, .grace_ms = 15000});
    away_join(&w, 0);
    away_join(&w, 1);
    away_run(&w, 0.5);
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
    away_run(&w, 0.5);
    cr_assert_eq(carom_client_roster(w.clients[0], rows, CAROM_PLAYERS_MAX), 1);
    away_free(&w);
}

static uint32_t joining;

static void ask_clock(void *user, carom_client_state state, carom_reason reason)
{
    (void)reason;
    if (state == CAROM_CLIENT_JOINING) {
        const carom_client_stats s = away_client_stats(user, 0);
        joining++;
        cr_expect_eq(s.predicted_at, 0.0, "%f", s.predicted_at);
        cr_expect_eq(s.interpolated_at, 0.0, "%f", s.interpolated_at);
    }
}

// Between the welcome and the first view a client has no clock, and says so to its callbacks.
Test(comeback, no_tick_is_drawn_until_a_view_came)
{
    away w;
    away_make(&w, &(away_def){.seed = 3, .grace_ms = 15000});
    w.client_def.state_changed = ask_clock;
    w.client_def.user = &w;
    joining = 0;
    away_join(&w, 0);
    cr_expect_gt(away_client_stats(&w, 0).predicted_at, 0.0);
    cm_net_partition(w.net, w.ports[0], true);
    away_run(&w, 3.0);
    (void)away_until(&w, 0, CAROM_CLIENT_PLAYING);
    cr_expect_eq(away_client_stats(&w, 0).comebacks, 1);
    cr_expect_eq(joining, 2);
    away_free(&w);
}
