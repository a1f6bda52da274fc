// Clocks and the summary of a row of times. Milliseconds.
#ifndef CM_SERVER_TOOLS_BENCH_SAMPLES_H
#define CM_SERVER_TOOLS_BENCH_SAMPLES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cm_samples_summary {
    double median, mean, p99;
} cm_samples_summary;

// CPU time of the calling thread: what other processes take on the same core does not count.
double cm_bench_thread_ms(void);
// Wall time, monotonic.
double cm_bench_wall_ms(void);

// Sorts the samples. All zero for none. p99 is the sample with 99% of the others below it.
void cm_samples_summarise(double *samples, uint32_t count, cm_samples_summary *summary);

#ifdef __cplusplus
}
#endif
#endif
