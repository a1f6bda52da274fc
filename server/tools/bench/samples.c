// Clocks and the summary of a row of times: some hundreds of samples a measurement.
//
// The median is the upper middle one of an even count: a time that was measured, not one between.
#include "server/tools/bench/samples.h"

#include <stdlib.h>
#include <time.h>

static double read_ms(clockid_t clock_id)
{
    struct timespec now;
    clock_gettime(clock_id, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

double cm_bench_thread_ms(void)
{
    return read_ms(CLOCK_THREAD_CPUTIME_ID);
}

double cm_bench_wall_ms(void)
{
    return read_ms(CLOCK_MONOTONIC);
}

static int order(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return *a < *b ? -1 : (*a > *b);
}

void cm_samples_summarise(double *samples, uint32_t count, cm_samples_summary *summary)
{
    *summary = (cm_samples_summary){0.0, 0.0, 0.0};
    if (count == 0) {
        return;
    }
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        sum += samples[i];
    }
    qsort(samples, count, sizeof *samples, order);
    summary->median = samples[count / 2];
    summary->mean = sum / count;
    summary->p99 = samples[(uint64_t)count * 99u / 100u];
}
