// The processor time that a room's ticks may take where other rooms are beside it: a mean over ten
// seconds of their processor time, against a share of the time between two of them. A single slow
// tick is nobody's fault, and a room that is alone may take all there is: its owner asks only where
// that matters.
//
// A room that is slowed rests after each tick: until its ticks take no more than their share, and
// until the other rooms, which make good for a short pause, have lost less than one tick in 60.
// Pure: times are arguments. Typical: ticks of 0.2 to 1 ms of 16.7, a share of one half.
#ifndef CM_SERVER_NODE_TICK_BUDGET_H
#define CM_SERVER_NODE_TICK_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define CM_TICK_BUDGET_S    10u // seconds of the mean
#define CM_TICK_BUDGET_LOSS 80u // one tick of the others in so many is lost at most

typedef struct cm_tick_budget {
    uint64_t period_us;                  // between two ticks
    uint32_t percent;                    // of it that ticks may take; 0: as much as they like
    uint64_t spent_us[CM_TICK_BUDGET_S]; // of the last seconds, a ring
    uint64_t passed_us[CM_TICK_BUDGET_S];
    uint32_t ticks[CM_TICK_BUDGET_S];
    uint32_t second;        // that is counted now: an index
    uint32_t mean_permille; // of the period, of the last ten seconds with a tick
    uint64_t sum_us;        // processor time of the ring's seconds
    uint64_t time_us;       // of the ring's seconds: a turn may have taken longer than one
    bool is_slowed;
    uint64_t pause_us; // that the others make good for
    uint64_t rest_us;  // until when it rests
} cm_tick_budget;

void cm_tick_budget_init(cm_tick_budget *budget, uint32_t tick_rate, uint32_t percent);
// A tick that began at `now_us` took so much processor time.
void cm_tick_budget_spend(cm_tick_budget *budget, uint64_t now_us, uint64_t took_us);
// Once a second, `passed_us` after the last time.
void cm_tick_budget_second(cm_tick_budget *budget, uint64_t passed_us);
// The mean of ten seconds is above its share, or will be whatever comes: what was spent already is
// more than all of them may have.
bool cm_tick_budget_is_over(const cm_tick_budget *budget);
// From its next tick on it rests. `pause_us`: of which the other rooms lose no tick.
void cm_tick_budget_slow(cm_tick_budget *budget, uint64_t pause_us);
void cm_tick_budget_free(cm_tick_budget *budget); // as fast as it can again
bool cm_tick_budget_rests(const cm_tick_budget *budget, uint64_t now_us);

#endif
