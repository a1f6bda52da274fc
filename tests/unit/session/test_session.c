// Goal: a session takes each message only in its state and spends its budgets. Method: messages and
// times by hand.
#include "server/session/session.h"

#include <criterion/criterion.h>
#include <string.h>

#define SECOND 1000000u

static cm_control hello(void)
{
    cm_control control = {
        .type = CM_CONTROL_HELLO, .protocol = CM_PROTOCOL_VERSION, .engine = CAROM_ENGINE_VERSION};
    return control;
}

Test(session, hello_first_and_once)
{
    cm_session s;
    cm_session_open(&s, SECOND);
    cm_control good = hello(), message = {.type = CM_CONTROL_GAME_MESSAGE};
    cr_assert_eq(cm_session_control(&s, &message, SECOND), CAROM_REASON_HELLO_EXPECTED);
    cr_assert_eq(cm_session_input(&s, SECOND), CAROM_REASON_HELLO_EXPECTED);
    cr_assert_eq(cm_session_control(&s, &good, SECOND), CAROM_REASON_NONE);
    s.state = CM_SESSION_JOINED;
    cr_assert_eq(cm_session_control(&s, &good, SECOND), CAROM_REASON_HELLO_EXPECTED);
    cr_assert_eq(cm_session_control(&s, &message, SECOND), CAROM_REASON_NONE);
    s.state = CM_SESSION_LEAVING;
    cr_assert_eq(cm_session_control(&s, &good, SECOND), CAROM_REASON_NONE, "told to go already");
}

Test(session, versions_have_to_agree)
{
    cm_session s;
    cm_session_open(&s, SECOND);
    cm_control other = hello();
    other.protocol++;
    cr_assert_eq(cm_session_control(&s, &other, SECOND), CAROM_REASON_PROTOCOL_VERSION);
    other = hello();
    other.engine++;
    cr_assert_eq(cm_session_control(&s, &other, SECOND), CAROM_REASON_ENGINE_VERSION);
}

Test(session, a_hello_has_a_deadline)
{
    cm_session s;
    cm_session_open(&s, SECOND);
    cr_assert(!cm_session_overdue(&s, SECOND + CM_SESSION_HELLO_US - 1));
    cr_assert(cm_session_overdue(&s, SECOND + CM_SESSION_HELLO_US));
    s.state = CM_SESSION_JOINED;
    cr_assert(!cm_session_overdue(&s, 100 * SECOND));
}

Test(session, floods_are_noticed_and_steady_play_is_not)
{
    cm_session s;
    cm_session_open(&s, SECOND);
    cm_session_join(&s, 0, 1, 1, 60, 60, SECOND);
    for (uint32_t i = 0; i < 60 * 60; i++) {
        cr_assert_eq(cm_session_input(&s, SECOND + i * (SECOND / 60)), CAROM_REASON_NONE);
    }
    uint64_t now = 100 * SECOND;
    uint32_t burst = 0;
    while (cm_session_input(&s, now) == CAROM_REASON_NONE) {
        burst++;
    }
    cr_assert_geq(burst, 2 * 60 * 10, "what 10 s of a stall, twice the rate, hand over at once");
    cr_assert_leq(burst, 4 * 60 * CM_SESSION_PAUSE_S);
    cm_control message = {.type = CM_CONTROL_GAME_MESSAGE};
    burst = 0;
    while (cm_session_control(&s, &message, now) == CAROM_REASON_NONE) {
        burst++;
    }
    cr_assert_leq(burst, 32 * CM_SESSION_PAUSE_S);
    cr_assert_eq(cm_session_control(&s, &message, now), CAROM_REASON_FLOOD);
}

Test(session, malformed_datagrams_end_it_sometime)
{
    cm_session s;
    cm_session_open(&s, SECOND);
    for (uint32_t i = 0; i < CM_SESSION_MALFORMED; i++) {
        cr_assert_eq(cm_session_malformed(&s, SECOND), CAROM_REASON_NONE);
    }
    cr_assert_eq(cm_session_malformed(&s, SECOND), CAROM_REASON_MALFORMED);
}

// A path that breaks a datagram now and then must not end a long match.
Test(session, a_bad_datagram_a_second_is_borne_for_hours)
{
    cm_session s;
    cm_session_open(&s, SECOND);
    for (uint64_t i = 1; i <= 4 * 3600; i++) {
        cr_assert_eq(cm_session_malformed(&s, i * SECOND), CAROM_REASON_NONE);
    }
}

Test(session, buckets_refill_to_the_brim_and_no_further)
{
    cm_bucket b;
    cm_bucket_init(&b, 10, 5, SECOND);
    cr_assert(cm_bucket_spend(&b, 10, SECOND));
    cr_assert(!cm_bucket_spend(&b, 1, SECOND));
    cr_assert(!cm_bucket_spend(&b, 1, SECOND + SECOND / 5 - 1));
    cr_assert(cm_bucket_spend(&b, 1, SECOND + SECOND / 5));
    cm_bucket_refill(&b, UINT64_MAX / 2);
    cr_assert_eq(cm_bucket_level(&b), 10);
    cm_bucket_refill(&b, 3);
    cr_assert_eq(cm_bucket_level(&b), 10, "a clock that goes back does no harm");
}

Test(session, acks_wait_in_order_and_the_newest_stay)
{
    cm_session s;
    cm_session_ack acks[CM_SESSION_ACKS];
    cm_session_open(&s, SECOND);
    cr_assert_eq(cm_session_pop_acks(&s, acks), 0);
    cm_session_ack_came(&s, 65535, 7);
    cm_session_ack_came(&s, 3, 9);
    cr_assert_eq(cm_session_pop_acks(&s, acks), 2);
    cr_assert(acks[0].sequence == 65535 && acks[0].bits == 7);
    cr_assert(acks[1].sequence == 3 && acks[1].bits == 9);
    cr_assert_eq(cm_session_pop_acks(&s, acks), 0, "taken");
    for (uint16_t i = 0; i < 3 * CM_SESSION_ACKS; i++) {
        cm_session_ack_came(&s, i, i);
    }
    cr_assert_eq(cm_session_pop_acks(&s, acks), CM_SESSION_ACKS);
    cr_assert_eq(acks[0].sequence, 2 * CM_SESSION_ACKS);
    cr_assert_eq(acks[CM_SESSION_ACKS - 1].bits, 3 * CM_SESSION_ACKS - 1);
}

// The other connection counts its views from the beginning: acks of the one before say nothing of
// them, nor does its lead.
Test(session, who_comes_back_acknowledges_nothing_yet)
{
    cm_session old, fresh;
    const uint8_t ticket[CM_TOKEN_NONCE_BYTES] = {1};
    cm_session_ack acks[CM_SESSION_ACKS];
    cm_session_open(&old, SECOND);
    cm_session_join(&old, 5, 77, 900, 60, 120, SECOND);
    cm_session_ack_came(&old, 41, 7);
    cm_session_lead(&old, -3);
    cm_session_open(&fresh, 2 * SECOND);
    cr_assert(cm_session_come_back(&fresh, &old, ticket, 950, 2 * SECOND));
    cr_expect_eq(cm_session_pop_acks(&fresh, acks), 0);
    cr_expect_eq(cm_session_pop_lead(&fresh), CM_LEAD_UNKNOWN);
    cr_expect_eq(fresh.epoch, old.epoch + 1);
    cr_expect_eq(fresh.client_id, 77);
    cr_expect_eq(fresh.newest_input, 950);
    cr_expect_eq(fresh.state, CM_SESSION_JOINING);
    cr_expect_eq(fresh.connected_us, 2 * SECOND, "its own, not that of the old one");
}

Test(session, a_join_gives_the_budgets_of_its_room)
{
    cm_session s;
    cm_session_open(&s, SECOND);
    cm_session_join(&s, 5, 77, 900, 60, 120, SECOND);
    cr_assert_eq(s.state, CM_SESSION_JOINING);
    cr_assert_eq(s.player, 5);
    cr_assert_eq(s.client_id, 77);
    cr_assert_eq(s.join_tick, 900);
    cr_assert_eq(cm_bucket_level(&s.rewinds), 240, "two seconds of ticks");
}

Test(session, the_least_lead_is_told)
{
    cm_session s;
    cm_session_open(&s, SECOND);
    cr_assert_eq(cm_session_pop_lead(&s), CM_LEAD_UNKNOWN);
    cm_session_lead(&s, 40);
    cm_session_lead(&s, -3);
    cm_session_lead(&s, 17);
    cr_assert_eq(cm_session_pop_lead(&s), -3);
    cr_assert_eq(cm_session_pop_lead(&s), CM_LEAD_UNKNOWN);
    cm_session_lead(&s, INT64_MIN);
    cr_assert_eq(cm_session_pop_lead(&s), -32767);
    cm_session_lead(&s, INT64_MAX);
    cr_assert_eq(cm_session_pop_lead(&s), 32767);
}
