// How long the last ticks took: a ring of samples and their percentiles.
#ifndef CM_SERVER_HOST_METRICS_H
#define CM_SERVER_HOST_METRICS_H

#include <stdint.h>

#define CM_METRICS_SAMPLES 512u // some seconds of ticks

typedef struct cm_metrics {
    uint32_t count; // samples in the ring
    uint32_t next;
    uint32_t tick_us[CM_METRICS_SAMPLES];
} cm_metrics;

void cm_metrics_add(cm_metrics *metrics, uint64_t tick_us);
// The value below which `fraction` of the samples lie, ms; 0 without samples.
double cm_metrics_percentile(const cm_metrics *metrics, double fraction);

#endif
