// Goal: what a server says costs the client no more than its budget, and a
// client's wrong clock costs nobody else anything. Method: away.h; a sound view
// whose tick is one that no clock can have reached (tests/hostile changes
// everything else); clients whose time runs fast, slow, or jumps.
#include <criterion/criterion.h>

#include "client-sdk/src/state.h"
#include "tests/unit/node/away.h"

// Found by tests/hostile, session 15: the prediction stepped to the view's
// tick, for as long as it took.
Test(hostile, a_view_of_the_future_costs_no_more_than_another)
{
    away a;
    away_make(&a, &(away_def){.seed = 21, .lossless = true});
    away_join(&a, 0);
    away_drive(&a, 0, 1.0f);
    away_run(&a, 2.0);
    carom_client *client = a.clients[0];
    const cm_mirror *mirror = client->mirror;
    cm_view_header header = {.epoch = mirror->epoch,
                             .sequence = (uint16_t)(mirror->ack_sequence + 1),
                             .tick = (uint32_t)mirror->newest_tick + 100000,
                             .input_lead = 8};
    uint8_t bytes[CM_PACKET_MAX];
    cm_view_writer writer;
    cm_view_writer_begin(&writer, &header, bytes, sizeof bytes);
    size_t size = cm_view_writer_end(&writer);
    cm_client_packet(client, bytes, size);
    cr_assert_eq(mirror->newest_tick, header.tick);
    for (uint32_t i = 0; i < 100; i++) {
        uint64_t steps = away_client_stats(&a, 0).predicted_steps;
        away_step(&a);
        cr_assert_leq(away_client_stats(&a, 0).predicted_steps, steps + CM_PREDICT_TICKS);
    }
    away_free(&a);
}

typedef struct odd_clock {
    const char *name;
    double rate;      // of its time to the true one
    uint64_t jump_us; // forward, each second
} odd_clock;

// The other one plays as if it were alone; the room keeps its time; inputs that
// come too early, too late or too often are refused and counted, or their
// client is sent away with a reason.
static void play_by(const odd_clock *clock, bool exact)
{
    away a;
    away_make(&a, &(away_def){.seed = 22, .exact = exact, .lossless = true});
    away_join(&a, 0);
    away_join(&a, 1);
    uint64_t begin = cm_net_now_us(a.net), jumped = 0, tick = away_stats(&a).tick;
    uint64_t views = away_client_stats(&a, 0).views;
    carom_client *odd = a.clients[1];
    for (uint32_t step = 0; step < 10000000u / AWAY_STEP_US; step++) {
        cm_net_advance(a.net, AWAY_STEP_US);
        uint64_t now = cm_net_now_us(a.net);
        cm_worker_run_once(a.worker, now);
        away_drive(&a, 0, step / 100 % 2 == 0 ? 1.0f : -1.0f);
        carom_client_update(a.clients[0], now);
        jumped += step % 250 == 249 ? clock->jump_us : 0;
        if (carom_client_get_state(odd) == CAROM_CLIENT_PLAYING) {
            away_drive(&a, 1, step / 70 % 2 == 0 ? 1.0f : -1.0f);
        }
        carom_client_update(odd, begin + jumped + (uint64_t)((double)(now - begin) * clock->rate));
    }
    carom_client_stats fair = away_client_stats(&a, 0);
    cr_expect_eq(carom_client_get_state(a.clients[0]), CAROM_CLIENT_PLAYING, "%s", clock->name);
    cr_expect_eq(fair.desyncs + fair.packets_refused + fair.comebacks, 0, "%s", clock->name);
    cr_expect_gt(fair.views, views + 40, "%s: %llu views", clock->name,
                 (unsigned long long)(fair.views - views));
    cr_expect_geq(away_stats(&a).tick, tick + 595, "%s: the room keeps its time", clock->name);
    cr_expect(carom_client_get_state(odd) != CAROM_CLIENT_IDLE ||
                  carom_client_get_reason(odd) != CAROM_REASON_NONE,
              "%s: sent away without a reason", clock->name);
    if (clock->jump_us > 1000000u || clock->rate > 1.5) {
        cr_expect_gt(away_stats(&a).refused_inputs, 0, "%s: nothing was counted", clock->name);
    }
    away_free(&a);
}

Test(hostile, a_clock_that_runs_fast_or_jumps_harms_nobody_else)
{
    static const odd_clock clocks[] = {
        {"1.3 times", 1.3, 0},
        {"4 times", 4.0, 0},
        {"half", 0.5, 0},
        {"jumps of 0.3 s", 1.0, 300000},
        {"jumps of 5 s", 1.0, 5000000},
    };
    for (uint32_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        play_by(&clocks[i], i % 2 == 0);
        play_by(&clocks[i], i % 2 == 1);
    }
}
