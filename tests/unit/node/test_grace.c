// Goal: the slot of a player who was cut off is kept for the grace time and not longer, by whoever
// has its newest ticket and nobody else; a player who was sent away, or left, keeps nothing. What
// happens to it is in the recording. Method: away.h.
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "client-sdk/src/state.h"
#include "tests/unit/node/away.h"

// The server itself gave the connection up; the slot is there all the same.
Test(grace, a_kept_slot_waits_after_the_servers_own_timeout)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        away a;
        away_make(&a, &(away_def){.seed = seed, .timeout_ms = 2000});
        away_join(&a, 0);
        away_join(&a, 1);
        carom_body_id body = carom_client_own_body(a.clients[1]);
        cm_net_partition(a.net, AWAY_PORT, true);
        away_run(&a, 6.0);
        cr_assert_eq(away_logged(&a, "player lost"), 2);
        cr_assert_eq(away_stats(&a).players, 0);
        cm_net_partition(a.net, AWAY_PORT, false);
        for (uint32_t i = 0; i < 2; i++) {
            cr_assert_leq(away_until(&a, i, CAROM_CLIENT_PLAYING), 2.0);
            cr_assert_eq(carom_client_player(a.clients[i]), i);
        }
        cr_assert_eq(carom_client_own_body(a.clients[1]).index, body.index);
        cr_assert_eq(carom_client_own_body(a.clients[1]).generation, body.generation);
        cr_assert_eq(away_logged(&a, "player came back"), 2);
        cr_assert_eq(away_logged(&a, "player left"), 0);
        away_free(&a);
    }
}

typedef struct found {
    uint64_t zeros_tick, leave_tick; // of player 0
    uint32_t joins, leaves;
} found;

// When player 0's inputs became zeros, and when it left, as the recording has it.
static found read_recording(away *a)
{
    static const uint8_t zeros[CAROM_INPUT_MAX];
    found f = {0};
    cm_match_file *file = away_recording(a);
    cm_match_error error = {""};
    cm_recorded_tick tick;
    while (cm_match_next(file, &tick, &error) == CAROM_OK) {
        for (uint32_t i = 0; i < tick.input.input_count; i++) {
            const carom_player_input *input = &tick.input.inputs[i];
            bool zero = memcmp(input->bytes, zeros, sizeof zeros) == 0;
            f.zeros_tick = input->player != 0 ? f.zeros_tick : zero ? tick.tick : 0;
        }
        for (uint32_t i = 0; i < tick.input.event_count; i++) {
            const cm_game_event *event = &tick.input.events[i];
            f.joins += event->type == CM_EVENT_JOIN;
            f.leaves += event->type == CM_EVENT_LEAVE;
            f.leave_tick =
                event->type == CM_EVENT_LEAVE && event->player == 0 ? tick.tick : f.leave_tick;
        }
    }
    cr_assert_str_empty(error.message);
    cm_match_close(file);
    return f;
}

// The body of who is cut off is driven no more after half a second; its slot ends with the grace
// time, whether the server gave up the connection before or not.
Test(grace, ends_in_the_recording)
{
    for (uint32_t timeout_ms = 2000; timeout_ms <= 4000; timeout_ms += 2000) {
        away a;
        away_make(&a, &(away_def){.seed = 6,
                                  .grace_ms = 4000,
                                  .timeout_ms = timeout_ms,
                                  .record = true,
                                  .lossless = true});
        away_join(&a, 0);
        away_drive(&a, 0, 1.0f);
        away_join(&a, 1);
        uint64_t cut = away_stats(&a).tick;
        cm_net_partition(a.net, a.ports[0], true);
        a.clients[0]->def.reconnect = false;
        away_run(&a, 3.8);
        cr_assert_eq(away_logged(&a, "player left"), 0);
        away_run(&a, 2.0);
        cr_assert_eq(away_logged(&a, "player left"), 1);
        cr_assert_eq(away_stats(&a).players, 1);
        away_run(&a, 12.0);
        cr_assert_eq(carom_client_get_reason(a.clients[0]), CAROM_REASON_TIMEOUT);
        found f = read_recording(&a);
        // 500 and 4,000 ms at 60 a second; the last datagram may be 40 ms old, or just come.
        cr_assert_geq(f.zeros_tick, cut + 27);
        cr_assert_leq(f.zeros_tick, cut + 34);
        cr_assert_geq(f.leave_tick, cut + 237);
        cr_assert_leq(f.leave_tick, cut + 244);
        cr_assert_eq(f.joins, 2);
        cr_assert_eq(f.leaves, 1);
        away_free(&a);
    }
}

typedef enum parting { KICK, BAN, BAN_ADDRESS, LEAVE, PARTINGS } parting;

static uint32_t part(away *a, parting how)
{
    switch (how) {
    case KICK:
        return cm_worker_kick(a->worker, false, AWAY_ID);
    case BAN:
        return cm_worker_ban(a->worker, false, AWAY_ID);
    case BAN_ADDRESS:
        return cm_worker_ban(a->worker, true, htonl(0x7f000001));
    default:
        carom_client_disconnect(a->clients[0], cm_net_now_us(a->net));
        return 1;
    }
}

// Whose connection stands: the slot is free at once, and so is the one of who just left.
Test(grace, none_for_who_is_sent_away_or_leaves)
{
    static const carom_reason reasons[PARTINGS] = {CAROM_REASON_KICKED, CAROM_REASON_BANNED,
                                                   CAROM_REASON_BANNED, CAROM_REASON_LEFT};
    for (parting how = KICK; how < PARTINGS; how++) {
        away a;
        away_make(&a, &(away_def){.seed = 7, .tokens = true, .max_players = 1});
        away_join(&a, 0);
        cr_assert_eq(part(&a, how), 1);
        away_run(&a, 0.5);
        cr_assert_eq(carom_client_get_state(a.clients[0]), CAROM_CLIENT_IDLE);
        cr_assert_eq(carom_client_get_reason(a.clients[0]), reasons[how]);
        cr_assert_eq(away_logged(&a, "player left"), 1);
        cr_assert_eq(away_logged(&a, "player lost"), 0);
        if (how == BAN_ADDRESS) {
            cm_worker_unban(a.worker, true, htonl(0x7f000001));
        }
        away_join(&a, 1);
        cr_assert_eq(carom_client_player(a.clients[1]), 0, "the one slot there is");
        away_free(&a);
    }
}

// The same for who is cut off: while the server has not noticed, and after it has.
Test(grace, none_for_who_is_sent_away_while_cut_off)
{
    for (parting how = KICK; how <= BAN_ADDRESS; how++) {
        for (uint32_t noticed = 0; noticed < 2; noticed++) {
            away a;
            away_make(&a,
                      &(away_def){.seed = 8, .tokens = true, .max_players = 1, .timeout_ms = 2000});
            away_join(&a, 0);
            cm_net_partition(a.net, AWAY_PORT, true);
            away_run(&a, noticed ? 3.0 : 1.0);
            cr_assert_eq(away_logged(&a, "player lost"), noticed);
            cr_assert_eq(part(&a, how), 1);
            cr_assert_eq(cm_worker_kick(a.worker, false, AWAY_ID), 0, "nobody is left");
            cr_assert_eq(away_logged(&a, "player left"), 1);
            away_run(&a, 1.0);
            cm_net_partition(a.net, AWAY_PORT, false);
            double took = away_until(&a, 0, CAROM_CLIENT_IDLE);
            carom_reason reason = carom_client_get_reason(a.clients[0]);
            // Who hears of the kick first by the old connection knows more.
            bool told = reason == (how == KICK ? CAROM_REASON_SLOT_GONE : CAROM_REASON_BANNED);
            cr_assert(told || (how == KICK && reason == CAROM_REASON_KICKED), "%s",
                      carom_reason_text(reason));
            cr_assert_leq(took, 1.5);
            cr_assert_eq(away_logged(&a, "player came back"), 0);
            cm_worker_unban(a.worker, true, htonl(0x7f000001));
            away_join(&a, 1);
            cr_assert_eq(carom_client_player(a.clients[1]), 0);
            away_free(&a);
        }
    }
}

// The operator names a player of a room, who is away.
Test(grace, none_for_a_player_who_is_kicked_while_away)
{
    away a;
    away_make(&a, &(away_def){.seed = 13, .tokens = true, .max_players = 1, .timeout_ms = 2000});
    away_join(&a, 0);
    cm_net_partition(a.net, AWAY_PORT, true);
    away_run(&a, 3.0);
    cr_assert_eq(away_logged(&a, "player lost"), 1);
    cr_assert_not(cm_worker_kick_player(a.worker, "", 1));
    cr_assert(cm_worker_kick_player(a.worker, "", 0));
    cr_assert_eq(away_logged(&a, "player left"), 1);
    cr_assert_not(cm_worker_kick_player(a.worker, "", 0), "nobody is left");
    cm_net_partition(a.net, AWAY_PORT, false);
    away_until(&a, 0, CAROM_CLIENT_IDLE);
    cr_assert_eq(carom_client_get_reason(a.clients[0]), CAROM_REASON_SLOT_GONE);
    away_free(&a);
}

// A ticket is good until its client plays by the next one.
Test(grace, an_old_ticket_is_refused)
{
    away a;
    away_make(&a, &(away_def){.seed = 9, .lossless = true});
    away_join(&a, 0);
    cm_token_pass old = a.clients[0]->ticket;
    cm_net_partition(a.net, a.ports[0], true);
    away_run(&a, 2.0);
    cr_assert_eq(away_client_stats(&a, 0).comebacks, 1);
    cr_assert_neq(memcmp(old.sealed, a.clients[0]->ticket.sealed, old.sealed_size), 0);
    a.clients[0]->ticket = old;
    cm_net_partition(a.net, cm_net_last_port(a.net), true);
    away_until(&a, 0, CAROM_CLIENT_IDLE);
    cr_assert_eq(carom_client_get_reason(a.clients[0]), CAROM_REASON_SLOT_GONE);
    cr_assert_eq(away_logged(&a, "player came back"), 1);
    away_free(&a);
}

// Tickets of an earlier life open, since their key is kept, and say that the match is over; with
// another key nobody can tell, and the client tries until the grace time is over.
Test(grace, a_restart_of_the_server_is_told_by_a_kept_ticket_key)
{
    for (uint32_t other_key = 0; other_key < 2; other_key++) {
        away a;
        away_make(&a, &(away_def){.seed = 10, .tokens = true, .lossless = true});
        away_join(&a, 0);
        a.ticket_key.secret[0] ^= (uint8_t)other_key;
        away_restart(&a);
        double took = away_until(&a, 0, CAROM_CLIENT_IDLE);
        carom_reason reason = carom_client_get_reason(a.clients[0]);
        if (other_key) {
            cr_assert_eq(reason, CAROM_REASON_TOKEN);
            cr_assert_float_eq(took, 15.0, 0.1);
        } else {
            cr_assert_eq(reason, CAROM_REASON_SLOT_GONE);
            cr_assert_leq(took, 0.5 + 0.2, "silence, and four round trips of 50 ms");
        }
        cr_assert_eq(away_stats(&a).players, 0);
        away_join(&a, 0);
        away_free(&a);
    }
}

Test(grace, who_does_not_reconnect_waits_on_the_connection_it_has)
{
    away a;
    away_make(&a, &(away_def){.seed = 11});
    a.client_def.reconnect = false;
    a.client_def.timeout_ms = 6000;
    away_join(&a, 0);
    cm_net_partition(a.net, a.ports[0], true);
    away_run(&a, 4.0);
    cr_assert_eq(carom_client_get_state(a.clients[0]), CAROM_CLIENT_UNSTABLE);
    cm_net_partition(a.net, a.ports[0], false);
    cr_assert_leq(away_until(&a, 0, CAROM_CLIENT_PLAYING), 2.0);
    cr_assert_eq(cm_net_last_port(a.net), a.ports[0], "no second link was made");
    cm_net_partition(a.net, a.ports[0], true);
    double took = away_until(&a, 0, CAROM_CLIENT_IDLE);
    cr_assert_float_eq(took, 6.0, 0.2);
    cr_assert_eq(carom_client_get_reason(a.clients[0]), CAROM_REASON_TIMEOUT);
    cr_assert_eq(cm_net_last_port(a.net), a.ports[0]);
    away_free(&a);
}

// A try that got an answer and then nothing is given up after 0.6 s and six round trips; the next
// one begins 250 ms later, and so on to a second.
Test(grace, tries_come_ever_later)
{
    static const uint32_t pauses_ms[] = {250, 500, 1000, 1000, 1000};
    away a;
    away_make(&a, &(away_def){.seed = 12, .lossless = true});
    away_join(&a, 0);
    const carom_client *client = a.clients[0];
    cm_net_partition(a.net, a.ports[0], true); // the first link is dead for good
    for (uint32_t i = 0; i < sizeof pauses_ms / sizeof pauses_ms[0]; i++) {
        uint64_t gone_us = cm_net_now_us(a.net);
        for (uint32_t steps = 0; client->second == NULL; steps++) {
            cr_assert_lt(steps, 1000);
            away_step(&a);
        }
        uint32_t paused_ms = (uint32_t)(cm_net_now_us(a.net) - gone_us) / 1000;
        cr_assert(i == 0 || paused_ms >= pauses_ms[i - 1]);
        cr_assert(i == 0 || paused_ms <= pauses_ms[i - 1] + 2 * AWAY_STEP_US / 1000);
        while (client->second_in == 0) {
            away_step(&a);
        }
        cm_net_partition(a.net, cm_net_last_port(a.net), true);
        uint64_t answered_us = client->second_us;
        for (uint32_t steps = 0; client->second != NULL; steps++) {
            cr_assert_lt(steps, 1000);
            away_step(&a);
        }
        uint32_t patience_ms = (uint32_t)(cm_net_now_us(a.net) - answered_us) / 1000;
        cr_assert_geq(patience_ms, 600 + 6 * 45);
        cr_assert_leq(patience_ms, 600 + 6 * 80);
    }
    cr_assert_leq(away_until(&a, 0, CAROM_CLIENT_PLAYING), 2.0);
    cr_assert_eq(away_client_stats(&a, 0).comebacks, 1);
    away_free(&a);
}
