// Goal: a claim of what was seen is taken as it is where it can be true, and as the nearest that
// can be where it cannot. Method: views and acks by hand; each bound by itself, one tick on both
// sides of it.
#include "server/session/lag_compensation.h"

#include <criterion/criterion.h>

#define RATE  60u
#define DELAY (3.0 + CM_LAG_COMPENSATION_SLACK_MS * 0.06) // ticks: views 30 a second

// Views of ticks 100, 102, …, 198; the first `acked` of them arrived.
static cm_lag_compensation watch(uint32_t acked)
{
    cm_lag_compensation lag;
    cm_lag_compensation_begin(&lag, RATE, 30, 98);
    for (uint64_t tick = 100; tick < 200; tick += 2) {
        cm_lag_compensation_view(&lag, tick, 1);
    }
    if (acked > 0) {
        cm_lag_compensation_ack(&lag, (uint16_t)acked);
    }
    return lag;
}

// What counts of a claim of moment `seen`, for an input of the next tick, as a moment.
static double counts(const cm_lag_compensation *lag, double seen, uint32_t trip_ms)
{
    const cm_lag_compensation_claim claim = {
        .tick = 200, .newest = 200, .now = 199, .trip_ms = trip_ms, .age = 200.0 - seen};
    return 200.0 - cm_lag_compensation_age(lag, &claim);
}

Test(lag_compensation, nobody_has_seen_what_was_not_sent)
{
    cm_lag_compensation lag = watch(50);
    cr_expect_eq(counts(&lag, 197.5, 100), 197.5);
    cr_expect_eq(counts(&lag, 198.0, 100), 198.0);
    cr_expect_eq(counts(&lag, 198.5, 100), 198.0);
    cr_expect_eq(counts(&lag, 200.0, 100), 198.0);
    cm_lag_compensation_view(&lag, 200, 0); // due, and nothing had changed
    cr_expect_eq(counts(&lag, 200.0, 100), 200.0);
}

Test(lag_compensation, nobody_has_seen_what_is_older_than_an_acked_view_and_a_delay)
{
    cm_lag_compensation lag = watch(44); // of tick 186
    double least = 186.0 - DELAY;
    cr_expect_eq(counts(&lag, least + 0.25, 1000), least + 0.25);
    cr_expect_eq(counts(&lag, least - 0.25, 1000), least);
    cr_expect_eq(counts(&lag, 0.0, 1000), least);
    cm_lag_compensation_ack(&lag, 30); // overtaken: it has the newer one
    cr_expect_eq(counts(&lag, 0.0, 1000), least);
    cm_lag_compensation_ack(&lag, 51); // never sent
    cm_lag_compensation_ack(&lag, 0);
    cr_expect_eq(counts(&lag, 0.0, 1000), least);
}

// A view that is too large for one packet goes in several, and each can be acknowledged.
Test(lag_compensation, every_packet_of_a_view_has_a_sequence)
{
    cm_lag_compensation lag;
    cm_lag_compensation_begin(&lag, RATE, 30, 98);
    cm_lag_compensation_view(&lag, 100, 3); // 1 to 3
    cm_lag_compensation_view(&lag, 102, 0);
    cm_lag_compensation_view(&lag, 104, 2); // 4 and 5
    static const uint64_t ticks[] = {98, 100, 100, 100, 104, 104, 104};
    for (uint16_t sequence = 1; sequence <= 6; sequence++) { // the last was never sent
        cm_lag_compensation_ack(&lag, sequence);
        cr_expect_eq(lag.acked, ticks[sequence], "packet %u", sequence);
    }
}

Test(lag_compensation, who_acks_nothing_is_bounded_by_the_round_trip)
{
    cm_lag_compensation lag = watch(0);
    double least = 199.0 - 12.0 - DELAY; // 200 ms
    cr_expect_eq(counts(&lag, least + 0.25, 200), least + 0.25);
    cr_expect_eq(counts(&lag, 0.0, 200), least);
    cm_lag_compensation_claim claim = {200, 200, 199, 200, 50, 200.0}; // and a path with jitter
    cr_expect_eq(200.0 - cm_lag_compensation_age(&lag, &claim), least - 3.0);
}

Test(lag_compensation, an_input_that_was_lost_was_made_earlier)
{
    cm_lag_compensation lag = watch(44);
    double least = 186.0 - DELAY;
    // Of tick 196, three late; it came with that of 199, that of the next tick.
    cm_lag_compensation_claim claim = {196, 200, 199, 1000, 0, 196.0};
    cr_expect_float_eq(196.0 - cm_lag_compensation_age(&lag, &claim), least - 4.0, 1e-9);
    // One that is early has no such excuse, whatever comes with it.
    claim = (cm_lag_compensation_claim){207, 260, 199, 1000, 0, 207.0};
    cr_expect_float_eq(207.0 - cm_lag_compensation_age(&lag, &claim), least, 1e-9);
    claim = (cm_lag_compensation_claim){200, 260, 199, 1000, 0, 200.0};
    cr_expect_float_eq(200.0 - cm_lag_compensation_age(&lag, &claim), least - 6.0, 1e-9);
}

Test(lag_compensation, an_input_shows_no_moment_after_its_own_tick)
{
    cm_lag_compensation lag = watch(50);
    const cm_lag_compensation_claim claim = {190, 191, 199, 100, 0, 0.0};
    cr_expect_eq(cm_lag_compensation_age(&lag, &claim), 0.0);
}

Test(lag_compensation, sequences_go_round)
{
    cm_lag_compensation lag;
    cm_lag_compensation_begin(&lag, RATE, 30, 0);
    for (uint64_t tick = 1; tick <= 70000; tick++) {
        cm_lag_compensation_view(&lag, tick, 1);
    }
    cm_lag_compensation_ack(&lag, (uint16_t)(70000 - 10));
    cr_expect_eq(lag.acked, 70000 - 10);
    cm_lag_compensation_ack(&lag, (uint16_t)(70000 + 1));
    cr_expect_eq(lag.acked, 70000 - 10);
    // As old as the ring: its tick is another packet's by now.
    cm_lag_compensation_begin(&lag, RATE, 30, 0);
    for (uint64_t tick = 1; tick <= 200; tick++) {
        cm_lag_compensation_view(&lag, tick, 1);
    }
    cm_lag_compensation_ack(&lag, 200 - CM_LAG_COMPENSATION_VIEWS);
    cr_expect_eq(lag.acked, 0);
    cm_lag_compensation_ack(&lag, 201 - CM_LAG_COMPENSATION_VIEWS);
    cr_expect_eq(lag.acked, 201 - CM_LAG_COMPENSATION_VIEWS);
}
