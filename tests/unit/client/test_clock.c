// Goal: the client's clock holds a small lead on a bad path, and finds it again after a step.
// Method: a simulated path (seeded latency, jitter, loss) under the clock alone: a server that
// steps 60 ticks a second, reports with 30 views a second how early inputs came at the least since
// the last view, and counts the late ones. Time is an argument, so 120 s take milliseconds.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "client-sdk/src/clock.h"
#include "shared/base/rng.h"

#define STEP_US  2000u
#define START_US 1000000u
#define TICK_US  16666.667
#define INPUTS   20000u
#define VIEWS    10000u

typedef struct path {
    double latency_us, jitter_us, loss;
} path;

// A view on its way down.
typedef struct flying_view {
    double due_us, lead;
    uint64_t tick, settled;
    bool lead_known;
} flying_view;

typedef struct trial {
    cm_rng rng;
    cm_client_clock clock;
    path path;
    uint64_t made, first;
    bool doubted;
    bool is_mute; // no view goes
    bool even;    // what a view that does not come says is trusted
    bool twice;   // each packet goes again half a tick later, as on a bad path
    double sent_us;
    bool again;
    double *arrives; // of each input, by tick: earliest arrival of any copy
    bool *judged;
    flying_view views[VIEWS];
    uint32_t view_count, view_next;
    double report;
    bool report_known;
    uint64_t settled, late, counted, doubts;
    double lead_sum;
    uint64_t count_from; // server tick
    double worst_after_us;
} trial;

static double server_tick(double now_us)
{
    return 500.0 + (now_us - START_US) / TICK_US;
}

static double delay(trial *t)
{
    return t->path.latency_us + (cm_rng_unit(&t->rng) * 2.0 - 1.0) * t->path.jitter_us;
}

// Sends every input that is not settled: each copy has its own delay.
static void send_inputs(trial *t, double now_us)
{
    if (cm_rng_unit(&t->rng) < t->path.loss) {
        return;
    }
    double due = now_us + delay(t);
    for (uint64_t tick = t->made; tick > t->settled && tick > t->first && tick + 64 > t->made;
         tick--) {
        if (due < t->arrives[tick % INPUTS]) {
            t->arrives[tick % INPUTS] = due;
        }
    }
}

// The server: judges the inputs that have come.
static void judge(trial *t, double now_us)
{
    for (uint64_t tick = t->settled > t->first ? t->settled : t->first; tick < t->made; tick++) {
        uint64_t i = (tick + 1) % INPUTS;
        if (t->judged[i] || t->arrives[i] > now_us) {
            continue;
        }
        t->judged[i] = true;
        double lead = (double)(tick + 1) - 1.0 - server_tick(t->arrives[i]);
        if (!t->report_known || lead < t->report) {
            t->report = lead;
        }
        t->report_known = true;
        if (tick > t->count_from) {
            t->counted++;
            t->late += lead < 0.0;
            t->lead_sum += lead;
            if (lead < 0.0) {
                t->worst_after_us = now_us;
            }
        }
    }
    while (t->settled < t->made &&
           (t->judged[(t->settled + 1) % INPUTS] || t->settled < t->first)) {
        t->settled++;
    }
}

static void send_view(trial *t, double now_us)
{
    if (!t->is_mute && cm_rng_unit(&t->rng) >= t->path.loss && t->view_count < VIEWS) {
        flying_view view = {now_us + delay(t), t->report, (uint64_t)server_tick(now_us), t->settled,
                            t->report_known};
        t->views[t->view_count++] = view;
    }
    t->report_known = false;
}

static void receive_views(trial *t, double now_us)
{
    uint64_t newest = 0;
    for (uint32_t i = t->view_next; i < t->view_count; i++) {
        flying_view *view = &t->views[i];
        if (view->due_us > now_us || view->due_us < 0.0) {
            continue;
        }
        view->due_us = -1.0;
        cm_client_clock_heard(&t->clock);
        cm_client_clock_view(&t->clock, view->tick);
        if (view->lead_known && view->settled > t->first && view->tick >= newest) {
            newest = view->tick;
            cm_client_clock_lead(&t->clock, view->lead, view->settled);
        }
    }
    while (t->view_next < t->view_count && t->views[t->view_next].due_us < 0.0) {
        t->view_next++;
    }
}

static void make_inputs(trial *t, double now_us)
{
    double ahead = cm_client_clock_ahead(&t->clock, t->even);
    uint64_t tick = (uint64_t)(cm_client_clock_predicted(&t->clock) + ahead);
    t->doubts += t->clock.doubt > 0.0 && !t->doubted;
    t->doubted = t->clock.doubt > 0.0;
    if (!t->clock.started || tick <= t->made) {
        if (t->twice && t->made > 0 && !t->again && now_us >= t->sent_us + TICK_US * 0.5) {
            t->again = true;
            send_inputs(t, now_us);
        }
        return;
    }
    t->again = false;
    t->sent_us = now_us;
    if (t->made == 0) {
        t->made = tick - 1;
        t->first = tick - 1;
        t->settled = tick - 1;
    }
    cm_client_clock_made(&t->clock, t->made + 1, tick);
    while (t->made < tick) {
        t->made++;
        t->arrives[t->made % INPUTS] = 1.0e18;
        t->judged[t->made % INPUTS] = false;
    }
    send_inputs(t, now_us);
}

static trial *trial_create(uint64_t seed, double rtt_ms, double jitter_ms, double loss)
{
    trial *t = calloc(1, sizeof *t);
    t->arrives = calloc(INPUTS, sizeof *t->arrives);
    t->judged = calloc(INPUTS, sizeof *t->judged);
    cm_rng_seed(&t->rng, seed);
    t->path.latency_us = rtt_ms * 500.0;
    t->path.jitter_us = jitter_ms * 1000.0;
    t->path.loss = loss;
    cm_client_clock_init(&t->clock, 60, 30, START_US);
    cm_client_clock_rtt(&t->clock, (uint32_t)rtt_ms);
    return t;
}

static void trial_free(trial *t)
{
    free(t->arrives);
    free(t->judged);
    free(t);
}

static void run(trial *t, double from_s, double to_s)
{
    uint64_t views = (uint64_t)(from_s * 30.0);
    for (uint64_t us = (uint64_t)(from_s * 1.0e6); us < (uint64_t)(to_s * 1.0e6); us += STEP_US) {
        double now_us = (double)(START_US + us);
        cm_client_clock_advance(&t->clock, START_US + us);
        receive_views(t, now_us);
        make_inputs(t, now_us);
        judge(t, now_us);
        if ((double)us >= (double)views * 1.0e6 / 30.0) {
            send_view(t, now_us);
            views++;
        }
    }
}

Test(client_clock, holds_a_small_lead_on_a_bad_path)
{
    uint64_t late = 0, counted = 0;
    double lead = 0.0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        trial *t = trial_create(seed, 200.0, 20.0, 0.05);
        t->twice = true;
        run(t, 0.0, 10.0);
        t->count_from = t->made;
        run(t, 10.0, 150.0);
        late += t->late;
        counted += t->counted;
        lead += t->lead_sum;
        trial_free(t);
    }
    fprintf(stderr, "client_clock: %.4f%% late, %.2f ticks of lead on average\n",
            100.0 * (double)late / (double)counted, lead / (double)counted);
    cr_assert_gt(counted, 48000);
    cr_assert_lt((double)late / (double)counted, 0.001);
    cr_assert_lt(lead / (double)counted, 2.0);
}

// A path that got shorter, and a server whose clock stood still for a while: the lead is small
// again soon, and not at the price of late inputs.
Test(client_clock, a_shorter_path_is_noticed)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        trial *t = trial_create(seed, 200.0, 5.0, 0.01);
        t->twice = true;
        run(t, 0.0, 20.0);
        t->path.latency_us -= 50000.0;
        run(t, 20.0, 27.0);
        t->late = 0;
        t->counted = 0;
        t->lead_sum = 0.0;
        t->count_from = t->made;
        run(t, 27.0, 30.0);
        cr_assert_lt(t->lead_sum / (double)t->counted, 2.5, "seed %llu: %.2f ticks of lead",
                     (unsigned long long)seed, t->lead_sum / (double)t->counted);
        cr_assert_lt(t->late, 3);
        trial_free(t);
    }
}

Test(client_clock, locks_again_within_a_second_of_a_step)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        trial *t = trial_create(seed, 100.0, 5.0, 0.01);
        run(t, 0.0, 20.0);
        t->path.latency_us += 50000.0; // 100 ms more of round trip
        t->count_from = t->made;
        run(t, 20.0, 20.6);
        cr_assert_gt(t->late, 0, "seed %llu: the step must make inputs late",
                     (unsigned long long)seed);
        run(t, 20.6, 21.0);
        t->late = 0;
        t->counted = 0;
        t->count_from = t->made;
        run(t, 21.0, 25.0);
        cr_assert_lt((double)t->late / (double)t->counted, 0.01, "seed %llu: %llu late",
                     (unsigned long long)seed, (unsigned long long)t->late);
        trial_free(t);
    }
}

// Of the inputs after a step of 100 ms of round trip only those are late that were made until the
// next view was overdue, 50 ms and a view's interval at the most, and in that update for the next
// two ticks. A view that is lost makes the clock doubt too, but it stays where it is, and nothing
// is late by it.
Test(client_clock, doubts_as_soon_as_a_view_is_overdue)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        trial *t = trial_create(seed, 94.0 + 2.0 * (double)seed, 0.0, 0.0);
        t->even = true;
        double step_s = 10.0 + (double)seed / 30.0 + 1.0e-7; // views go on as they went
        run(t, 0.0, step_s);
        cr_assert_eq(t->doubts, 0);
        t->count_from = t->made;
        t->path.latency_us += 50000.0;
        run(t, step_s, 20.0);
        cr_expect_leq(t->late, 8, "seed %llu: %llu late", (unsigned long long)seed,
                      (unsigned long long)t->late);
        cr_expect_geq(t->late, 3, "seed %llu: %llu late", (unsigned long long)seed,
                      (unsigned long long)t->late);
        cr_expect_eq(t->doubts, 1, "seed %llu: %llu", (unsigned long long)seed,
                     (unsigned long long)t->doubts);
        t->late = 0;
        t->is_mute = true;
        double before = cm_client_clock_predicted(&t->clock);
        run(t, 20.0, 20.05);
        t->is_mute = false;
        cr_expect_float_eq(cm_client_clock_predicted(&t->clock) - before, 3.0, 0.3);
        run(t, 20.05, 21.0);
        cr_expect_eq(t->doubts, 2, "seed %llu: %llu", (unsigned long long)seed,
                     (unsigned long long)t->doubts);
        cr_expect_eq(t->late, 0, "seed %llu: %llu late", (unsigned long long)seed,
                     (unsigned long long)t->late);
        cr_expect_eq(t->clock.doubt, 0.0);
        trial_free(t);
    }
}

Test(client_clock, never_runs_back_and_stretches_little)
{
    trial *t = trial_create(7, 200.0, 20.0, 0.05);
    run(t, 0.0, 5.0);
    double before = cm_client_clock_predicted(&t->clock);
    uint32_t snaps = 0;
    for (int i = 0; i < 10000; i++) {
        run(t, (5000 + 2 * i) * 0.001 + 1.0e-7, (5002 + 2 * i) * 0.001 + 1.0e-7);
        double now = cm_client_clock_predicted(&t->clock);
        double rate = (now - before) / 0.12;
        cr_assert_geq(now, before);
        if (rate > 1.0501 || rate < 0.9499) {
            snaps++;
        }
        before = now;
    }
    cr_assert_eq(snaps, 0);
    // Far behind: it jumps at once instead of stretching for a minute.
    t->path.latency_us += 600000.0;
    run(t, 25.0, 28.0);
    t->late = 0;
    t->counted = 0;
    t->count_from = t->made;
    run(t, 28.0, 32.0);
    cr_assert_lt(t->late, 4);
    trial_free(t);
}

Test(client_clock, follows_a_slowed_room)
{
    cm_client_clock clock;
    cm_client_clock_init(&clock, 60, 30, START_US);
    cm_client_clock_view(&clock, 100);
    cm_client_clock_rate(&clock, 500);
    double before = cm_client_clock_predicted(&clock);
    cm_client_clock_advance(&clock, START_US + 1000000u);
    cr_assert_float_eq(cm_client_clock_predicted(&clock) - before, 30.0, 1.6);
}

// What a player is told of the path: views that come by turns 12 ms early and late, and as they are
// made. Views of a real path are simulated above; here each comes when the test says.
Test(client_clock, tells_the_jitter)
{
    for (double jitter_ms = 0.0; jitter_ms <= 12.0; jitter_ms += 12.0) {
        cm_client_clock clock;
        cm_client_clock_init(&clock, 60, 30, START_US);
        for (uint64_t view = 1; view <= 300; view++) {
            double late_ms = view % 2 == 0 ? jitter_ms : -jitter_ms;
            uint64_t due_us = START_US + (uint64_t)((double)view * 1.0e6 / 30.0 + late_ms * 1.0e3);
            cm_client_clock_advance(&clock, due_us);
            cm_client_clock_view(&clock, 2 * view);
        }
        cr_assert_float_eq(cm_client_clock_jitter_ms(&clock), jitter_ms, 0.7, "%.2f ms",
                           cm_client_clock_jitter_ms(&clock));
    }
}
