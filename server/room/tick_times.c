// Percentiles over the ring, by sorting a copy: asked for once a second.
#include "server/room/tick_times.h"

#include <stdlib.h>
#include <string.h>

uint32_t cm_tick_times_bound_us(uint32_t bucket)
{
#define BOUND(bound) bound,
    static const uint32_t bounds[] = {CM_METRICS_BOUNDS(BOUND) UINT32_MAX};
#undef BOUND
    return bounds[bucket];
}

void cm_tick_times_add(cm_tick_times *metrics, uint64_t tick_us)
{
    uint32_t bucket = 0;
    while (bucket + 1 < CM_METRICS_BUCKETS && tick_us > cm_tick_times_bound_us(bucket)) {
        bucket++;
    }
    metrics->buckets[bucket]++;
    metrics->sum_us += tick_us;
    metrics->tick_us[metrics->next] = tick_us < UINT32_MAX ? (uint32_t)tick_us : UINT32_MAX;
    metrics->next = (metrics->next + 1) % CM_METRICS_SAMPLES;
    if (metrics->count < CM_METRICS_SAMPLES) {
        metrics->count++;
    }
}

static int compare(const void *a, const void *b)
{
    const uint32_t *x = a;
    const uint32_t *y = b;
    return (*x > *y) - (*x < *y);
}

double cm_tick_times_percentile(const cm_tick_times *metrics, double fraction)
{
    if (metrics->count == 0) {
        return 0.0;
    }
    uint32_t sorted[CM_METRICS_SAMPLES];
    memcpy(sorted, metrics->tick_us, metrics->count * sizeof sorted[0]);
    qsort(sorted, metrics->count, sizeof sorted[0], compare);
    uint32_t at = (uint32_t)(fraction * metrics->count);
    return sorted[at < metrics->count ? at : metrics->count - 1] / 1000.0;
}
