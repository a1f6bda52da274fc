// Figures as Prometheus reads them: its text format, version 0.0.4. A family is a name with its
// help and type, then its samples, which differ by labels; nothing else may stand between them.
#ifndef CM_SERVER_OPS_PROMETHEUS_H
#define CM_SERVER_OPS_PROMETHEUS_H

#include "server/ops/page.h"

#define CM_PROMETHEUS_TYPE "text/plain; version=0.0.4; charset=utf-8"

typedef enum cm_metric_kind {
    CM_METRIC_GAUGE,
    CM_METRIC_COUNTER,
    CM_METRIC_HISTOGRAM,
} cm_metric_kind;

// The unit of a number, which is converted to Prometheus's base units.
typedef enum cm_metric_unit {
    CM_METRIC_ONE,
    CM_METRIC_THOUSANDTH,
    CM_METRIC_MILLIONTH, // microseconds
} cm_metric_unit;

// Up to three labels; a NULL name ends them.
typedef struct cm_label {
    const char *name, *value;
} cm_label;
#define CM_LABELS_MAX 3u

void cm_prometheus_family(cm_page *page, const char *name, cm_metric_kind kind, const char *help);
// `suffix`: of a histogram's samples, else "".
void cm_prometheus_sample(cm_page *page, const char *name, const char *suffix,
                          const cm_label labels[CM_LABELS_MAX], cm_metric_unit unit,
                          uint64_t value);
// Letters as small ones, for names of enums: CM_DATAGRAM_TOKEN's TOKEN as "token".
#define CM_LABEL_MAX 40u
const char *cm_prometheus_lower(const char *name, char text[CM_LABEL_MAX]);

#endif
