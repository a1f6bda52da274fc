// The client's clocks: see the header for what they are.
//
// Lead. The server reports how early inputs came at the least. Each report minus how far ahead of
// the local clock the oldest of its inputs was made is a property of the path alone, so the least
// of the last seconds tells which offset gives the target lead, whatever the clock and the frames
// did meanwhile. To that comes what inputs are made late because a frame comes after their tick
// began: a frame's length, never a stall's. A path that got slower shows at once; one that got
// faster when the window has passed, or at once where the room's clock changed. Before the first
// report the offset is guessed from the round trip.
//
// Doubt. When the path gets slower, inputs are late from that moment on; a report of them takes a
// whole round trip more, but the next view is overdue at once. A view that does not come for longer
// than any did of late may be lost, so the clock itself does not move: only inputs are made ahead,
// by half of what a server rewinds by. When the next comes as its tick should, one was lost; else
// the doubt stays until an input that was made in it is reported on.
//
// Interpolation. The delay covers one and a half view intervals and the jitter seen, so that a lost
// view is mostly covered.
#include "client-sdk/src/clock.h"

#include <string.h>

#include "shared/wire/packet.h"

#define NONE            1.0e9
#define STRETCH_MAX     0.05  // of the tick
#define STRETCH_GAIN    0.25  // full correction of the clock's rate from 0.2 ticks of error on
#define STRETCH_DEAD    0.05  // ticks: closer is close enough
#define LEAD_TARGET     0.5   // ticks: the least lead aimed at
#define AFTER_MAX_S     0.025 // a frame
#define AFTER_MAX_TICKS 1.5
#define BUCKETS_A_S     3.0
#define SNAP_UP_S       0.06 // too late by more than this, and by SNAP_UP_TICKS: jump
#define SNAP_UP_TICKS   2.0
#define SNAP_DOWN_S     0.35  // too early by more than this: stand still
#define RENDER_SNAP_S   0.25  // interpolation further off than this: jump
#define RENDER_STRETCH  0.1   // of the tick
#define MEAN_GAIN       0.05  // of the running means
#define VIEW_INTERVALS  1.5   // of delay
#define VIEW_DEVIATIONS 2.5   // of delay: mean absolute deviations of the arrival
#define VIEW_MARGIN     0.25  // ticks
#define SHORT_TICKS     0.75  // of lead: inputs are made ahead until the clock is there
#define GAP_GAIN        0.006 // a view, of the longest gap: some seconds
#define DOUBT_S         0.066 // that inputs are made ahead
#define DOUBT_TICKS     0.25  // beyond the longest gap, or beyond the usual arrival
#define DOUBT_ENDS_S    1.0   // without a report

static double clamp(double a, double low, double high)
{
    return a < low ? low : (a > high ? high : a);
}

static double absolute(double a)
{
    return a < 0.0 ? -a : a;
}

static void forget_path(cm_client_clock *clock)
{
    for (uint32_t i = 0; i < CM_CLOCK_BUCKETS; i++) {
        clock->least[i] = NONE;
    }
}

void cm_client_clock_init(cm_client_clock *clock, uint32_t tick_rate, uint32_t view_rate,
                          uint64_t now_us)
{
    memset(clock, 0, sizeof *clock);
    clock->tick_rate = tick_rate;
    clock->rate_permille = 1000;
    clock->last_us = now_us;
    // Longer gaps come where nothing changes: they ask for no more delay.
    clock->view_interval = (double)tick_rate / view_rate;
    forget_path(clock);
}

void cm_client_clock_packets(cm_client_clock *clock, uint32_t input_rate)
{
    double wait = (double)clock->tick_rate / input_rate - 1.0 - CM_LEAD_AGE;
    clock->unreported = wait > 0.0 ? wait : 0.0;
}

static double path_least(const cm_client_clock *clock)
{
    double least = NONE;
    for (uint32_t i = 0; i < CM_CLOCK_BUCKETS; i++) {
        least = clock->least[i] < least ? clock->least[i] : least;
    }
    return least;
}

static double most_after(const cm_client_clock *clock)
{
    double most = 0.0;
    for (uint32_t i = 0; i < CM_CLOCK_BUCKETS; i++) {
        most = clock->after[i] > most ? clock->after[i] : most;
    }
    return most;
}

static double wanted_offset(const cm_client_clock *clock)
{
    double least = path_least(clock);
    if (clock->lead_known) {
        // After a jump of the path: hold, the next report comes with the next view.
        return least < NONE ? LEAD_TARGET + clock->unreported - least + most_after(clock)
                            : clock->offset;
    }
    return clock->arrival_mean + clock->rtt_ticks + 1.0 + 2.0 * clock->arrival_deviation;
}

static double wanted_render(const cm_client_clock *clock)
{
    return clock->arrival_mean - VIEW_INTERVALS * clock->view_interval -
           VIEW_DEVIATIONS * clock->arrival_deviation - VIEW_MARGIN;
}

// Turns the window's buckets to the present.
static void turn_buckets(cm_client_clock *clock)
{
    uint64_t bucket = (uint64_t)(clock->local * BUCKETS_A_S / clock->tick_rate);
    uint64_t steps = bucket - clock->bucket;
    if (steps > CM_CLOCK_BUCKETS) {
        steps = CM_CLOCK_BUCKETS;
    }
    for (uint64_t i = 0; i < steps; i++) {
        clock->least[(bucket - i) % CM_CLOCK_BUCKETS] = NONE;
        clock->after[(bucket - i) % CM_CLOCK_BUCKETS] = 0.0;
    }
    clock->bucket = bucket;
}

void cm_client_clock_advance(cm_client_clock *clock, uint64_t now_us)
{
    if (now_us <= clock->last_us) {
        return;
    }
    double elapsed = (double)(now_us - clock->last_us) * 1.0e-6 * clock->tick_rate *
                     clock->rate_permille / 1000.0;
    clock->last_us = now_us;
    clock->local += elapsed;
    clock->frame = elapsed;
    if (!clock->started) {
        return;
    }
    double error = wanted_offset(clock) - clock->offset;
    if (error > SNAP_UP_S * clock->tick_rate && error > SNAP_UP_TICKS) {
        clock->offset += error;
        clock->jumped = true;
        clock->doubt = 0.0;
    } else if (error < -SNAP_DOWN_S * clock->tick_rate) {
        clock->offset -= elapsed < -error ? elapsed : -error;
    } else if (absolute(error) > STRETCH_DEAD) {
        clock->offset += elapsed * clamp(error * STRETCH_GAIN, -STRETCH_MAX, STRETCH_MAX);
    }
    double behind = wanted_render(clock) - clock->render_offset;
    if (absolute(behind) > RENDER_SNAP_S * clock->tick_rate) {
        clock->render_offset += behind;
    } else {
        clock->render_offset += elapsed * clamp(behind * 0.1, -RENDER_STRETCH, RENDER_STRETCH);
    }
    turn_buckets(clock);
}

void cm_client_clock_rate(cm_client_clock *clock, uint32_t permille)
{
    if (clock->rate_permille != permille) {
        forget_path(clock); // the server's ticks and ours drifted apart until now
    }
    clock->rate_permille = permille;
}

void cm_client_clock_rtt(cm_client_clock *clock, uint32_t rtt_ms)
{
    clock->rtt_ticks = rtt_ms * 1.0e-3 * clock->tick_rate;
}

// Ticks beyond what was seen of late.
static double doubtful(const cm_client_clock *clock)
{
    return DOUBT_TICKS + VIEW_DEVIATIONS * clock->arrival_deviation;
}

static void learn_gap(cm_client_clock *clock)
{
    bool longer = clock->gap > clock->longest;
    clock->longest += (longer ? 1.0 : GAP_GAIN) * (clock->gap - clock->longest);
}

void cm_client_clock_heard(cm_client_clock *clock)
{
    clock->gap = clock->heard > 0.0 ? clock->local - clock->heard : 0.0;
    clock->heard = clock->local;
    if (clock->doubt <= 0.0) {
        learn_gap(clock);
    }
}

double cm_client_clock_ahead(cm_client_clock *clock, bool even)
{
    double wanted = clock->lead_known ? wanted_offset(clock) - clock->offset : 0.0;
    bool grows = wanted > (clock->short_of > 0.0 ? 0.0 : SHORT_TICKS);
    wanted = grows ? wanted : 0.0;
    clock->jumped = clock->jumped || wanted > clock->short_of + SHORT_TICKS;
    clock->short_of = wanted;
    // By the next update, the first that may see it.
    double overdue = clock->local + clock->frame - clock->heard - clock->longest - doubtful(clock);
    bool follows = clock->frame <= AFTER_MAX_S * clock->tick_rate; // rare updates see views late
    if (even && follows && clock->lead_known && clock->longest > 0.0 && overdue > 0.0 &&
        clock->doubt <= 0.0) {
        clock->doubt = DOUBT_S * clock->tick_rate;
        clock->doubt_ends = clock->local + DOUBT_ENDS_S * clock->tick_rate;
        clock->doubt_tick = UINT64_MAX; // the next one that is made
    }
    if (clock->local >= clock->doubt_ends) {
        clock->doubt = 0.0;
    }
    return clock->doubt > wanted ? clock->doubt : wanted;
}

void cm_client_clock_view(cm_client_clock *clock, uint64_t tick)
{
    double arrival = (double)tick - clock->local;
    if (!clock->started) {
        clock->started = true;
        clock->newest_view = tick;
        clock->arrival_mean = arrival;
        clock->arrival_deviation = 0.5;
        clock->offset = wanted_offset(clock);
        clock->render_offset = wanted_render(clock);
        return;
    }
    if (tick <= clock->newest_view) {
        return;
    }
    clock->newest_view = tick;
    double off = arrival - clock->arrival_mean;
    if (clock->doubt > 0.0 && -off < doubtful(clock)) {
        clock->doubt = 0.0; // the one before it was lost
        learn_gap(clock);
    }
    if (absolute(off) > RENDER_SNAP_S * clock->tick_rate) {
        // The path or the room's clock jumped: a mean of both would fit neither.
        clock->arrival_mean = arrival;
        forget_path(clock);
        return;
    }
    clock->arrival_mean += MEAN_GAIN * off;
    clock->arrival_deviation += MEAN_GAIN * (absolute(off) - clock->arrival_deviation);
}

void cm_client_clock_made(cm_client_clock *clock, uint64_t first, uint64_t last)
{
    clock->doubt_tick = clock->doubt_tick == UINT64_MAX ? last : clock->doubt_tick;
    if (last - first >= CM_CLOCK_HISTORY) {
        first = last - CM_CLOCK_HISTORY + 1;
    }
    // The server reports on the oldest of those that come together, of the newest few.
    uint64_t told = last - first > CM_LEAD_AGE ? last - CM_LEAD_AGE : first;
    for (uint64_t tick = first; tick <= last; tick++) {
        clock->made_ahead[tick % CM_CLOCK_HISTORY] = (double)told - clock->local;
    }
    double most = AFTER_MAX_S * clock->tick_rate;
    double after = clamp(cm_client_clock_predicted(clock) + clock->short_of - (double)first, 0.0,
                         most > AFTER_MAX_TICKS ? most : AFTER_MAX_TICKS);
    double *known = &clock->after[clock->bucket % CM_CLOCK_BUCKETS];
    if (!clock->jumped && after > *known) {
        *known = after;
    }
    clock->jumped = false;
}

void cm_client_clock_lead(cm_client_clock *clock, double lead, uint64_t input_tick)
{
    double path = lead - clock->made_ahead[input_tick % CM_CLOCK_HISTORY];
    double *least = &clock->least[clock->bucket % CM_CLOCK_BUCKETS];
    if (path < *least) {
        *least = path;
    }
    clock->lead_known = true;
    clock->doubt = input_tick >= clock->doubt_tick ? 0.0 : clock->doubt;
}

double cm_client_clock_predicted(const cm_client_clock *clock)
{
    return clock->local + clock->offset;
}

double cm_client_clock_render(const cm_client_clock *clock)
{
    return clock->local + clock->render_offset;
}

double cm_client_clock_delay_ms(const cm_client_clock *clock)
{
    double ticks = clock->arrival_mean - clock->render_offset;
    return ticks < 0.0 ? 0.0 : ticks * 1000.0 / clock->tick_rate;
}

double cm_client_clock_jitter_ms(const cm_client_clock *clock)
{
    return clock->arrival_deviation * 1000.0 / clock->tick_rate;
}
