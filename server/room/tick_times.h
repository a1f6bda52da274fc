// Durations of ticks: a ring of the last ones with their percentiles, and all of them in buckets.
#ifndef CM_SERVER_ROOM_TICK_TIMES_H
#define CM_SERVER_ROOM_TICK_TIMES_H

#include <stdint.h>

#define CM_METRICS_SAMPLES 512u // some seconds of ticks

// Up to which time a tick counts to a bucket, us; above them there is one more.
#define CM_METRICS_BOUNDS(X)                                                                       \
    X(125) X(250) X(500) X(1000) X(2000) X(4000) X(8000) X(16000) X(33000) X(100000) X(1000000)
#define CM_METRICS_ONE(bound) +1
enum { CM_METRICS_BUCKETS = CM_METRICS_BOUNDS(CM_METRICS_ONE) + 1 };
#undef CM_METRICS_ONE

typedef struct cm_tick_times {
    uint32_t count; // samples in the ring
    uint32_t next;
    uint32_t tick_us[CM_METRICS_SAMPLES];
    uint64_t sum_us, buckets[CM_METRICS_BUCKETS]; // of all ticks, each in one bucket
} cm_tick_times;

uint32_t cm_tick_times_bound_us(uint32_t bucket); // UINT32_MAX of the last

void cm_tick_times_add(cm_tick_times *metrics, uint64_t tick_us);
// The value below which `fraction` of the samples lie, ms; 0 without samples.
double cm_tick_times_percentile(const cm_tick_times *metrics, double fraction);

#endif
