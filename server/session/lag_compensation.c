// See the header. In ticks throughout; a moment is a tick and its fraction.
#include "server/session/lag_compensation.h"

#include <string.h>

#define VIEW_INTERVALS 1.5 // of delay, as clients keep it
#define LEAD_S         0.1 // that inputs of a path with jitter come early, and
#define LEAD_TICKS     1.0 // the tick that they wait for

void cm_lag_compensation_begin(cm_lag_compensation *lag, uint32_t tick_rate, uint32_t view_rate,
                               uint64_t tick)
{
    memset(lag, 0, sizeof *lag);
    lag->tick_rate = tick_rate;
    lag->delay =
        VIEW_INTERVALS * tick_rate / view_rate + CM_LAG_COMPENSATION_SLACK_MS * 1.0e-3 * tick_rate;
    lag->shown = lag->acked = tick;
}

void cm_lag_compensation_view(cm_lag_compensation *lag, uint64_t tick, uint32_t packets)
{
    for (uint32_t i = 0; i < packets; i++) {
        lag->ticks[++lag->sequence % CM_LAG_COMPENSATION_VIEWS] = tick;
    }
    lag->shown = tick > lag->shown ? tick : lag->shown;
}

void cm_lag_compensation_ack(cm_lag_compensation *lag, uint16_t sequence)
{
    uint64_t back = (uint16_t)((uint16_t)lag->sequence - sequence);
    if (back >= lag->sequence || back >= CM_LAG_COMPENSATION_VIEWS) {
        return;
    }
    uint64_t full = lag->sequence - back;
    if (full > lag->acked_sequence) {
        lag->acked_sequence = full;
        lag->acked = lag->ticks[full % CM_LAG_COMPENSATION_VIEWS];
    }
}

// Ticks that an input was made before the newest one that came with it: none, where it is not late
// by as many.
static double waited(const cm_lag_compensation *lag, const cm_lag_compensation_claim *claim)
{
    double behind = (double)(claim->newest - claim->tick);
    double late = (double)claim->now - (double)claim->tick + LEAD_TICKS + LEAD_S * lag->tick_rate;
    double least = behind < late ? behind : late;
    return least > 0.0 ? least : 0.0;
}

double cm_lag_compensation_age(const cm_lag_compensation *lag,
                               const cm_lag_compensation_claim *claim)
{
    double ms = 1.0e-3 * lag->tick_rate;
    double had = (double)claim->now - claim->trip_ms * ms;
    had = had > (double)lag->acked ? had : (double)lag->acked;
    double oldest = had - claim->jitter_ms * ms - lag->delay - waited(lag, claim);
    double newest = (double)lag->shown;
    oldest = oldest < newest ? oldest : newest;
    double seen = (double)claim->tick - claim->age;
    seen = seen < oldest ? oldest : seen > newest ? newest : seen;
    double age = (double)claim->tick - seen;
    return age > 0.0 ? age : 0.0;
}
