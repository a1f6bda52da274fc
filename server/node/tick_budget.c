// Sums by second in a ring. A second in which the room rested has no tick and says nothing: the
// mean is of what there was.
#include "server/node/tick_budget.h"

#include <string.h>

#define WHOLE_US (UINT64_C(1000000) * CM_TICK_BUDGET_S)

void cm_tick_budget_init(cm_tick_budget *budget, uint32_t tick_rate, uint32_t percent)
{
    memset(budget, 0, sizeof *budget);
    budget->period_us = 1000000u / tick_rate;
    budget->percent = percent;
}

// So long after its begin the next tick is right: its share, and what the others lose by it.
static uint64_t interval_us(const cm_tick_budget *budget, uint64_t took_us)
{
    uint64_t share = took_us * 100u / budget->percent;
    uint64_t lost =
        took_us > budget->pause_us ? (took_us - budget->pause_us) * CM_TICK_BUDGET_LOSS : 0;
    return share > lost ? share : lost;
}

void cm_tick_budget_spend(cm_tick_budget *budget, uint64_t now_us, uint64_t took_us)
{
    budget->spent_us[budget->second] += took_us;
    budget->ticks[budget->second]++;
    if (budget->is_slowed) {
        budget->rest_us = now_us + interval_us(budget, took_us);
    }
}

void cm_tick_budget_second(cm_tick_budget *budget, uint64_t passed_us)
{
    uint64_t spent_us = 0, time_us = 0, ticks = 0;
    budget->passed_us[budget->second] = passed_us;
    for (uint32_t i = 0; i < CM_TICK_BUDGET_S; i++) {
        spent_us += budget->spent_us[i];
        time_us += budget->passed_us[i];
        ticks += budget->ticks[i];
    }
    if (ticks > 0) {
        uint64_t permille = spent_us * 1000u / (ticks * budget->period_us);
        budget->mean_permille = permille < UINT32_MAX ? (uint32_t)permille : UINT32_MAX;
    }
    budget->sum_us = spent_us;
    budget->time_us = time_us;
    budget->second = (budget->second + 1) % CM_TICK_BUDGET_S;
    budget->spent_us[budget->second] = budget->passed_us[budget->second] = 0;
    budget->ticks[budget->second] = 0;
}

bool cm_tick_budget_is_over(const cm_tick_budget *budget)
{
    uint64_t time_us = budget->time_us > WHOLE_US ? budget->time_us : WHOLE_US;
    bool mean = budget->time_us >= WHOLE_US && budget->mean_permille > 10 * budget->percent;
    bool sum = budget->sum_us * 100u > budget->percent * time_us;
    return budget->percent > 0 && (mean || sum);
}

void cm_tick_budget_slow(cm_tick_budget *budget, uint64_t pause_us)
{
    budget->is_slowed = budget->percent > 0;
    budget->pause_us = pause_us;
}

void cm_tick_budget_free(cm_tick_budget *budget)
{
    budget->is_slowed = false;
    budget->rest_us = 0;
}

bool cm_tick_budget_rests(const cm_tick_budget *budget, uint64_t now_us)
{
    return budget->is_slowed && now_us < budget->rest_us;
}
