// Figures as Prometheus reads them: its text format, version 0.0.4. A family is a name with its
// help and type, then its samples, which differ by labels; nothing else may stand between them.
#ifndef CM_SERVER_OPS_PROMETHEUS_H
#define CM_SERVER_OPS_PROMETHEUS_H

#include "server/ops/page.h"

#define CM_EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"

typedef enum cm_figure_kind {
    CM_FIGURE_GAUGE,
    CM_FIGURE_COUNTER,
    CM_FIGURE_HISTOGRAM,
} cm_figure_kind;

// What a number counts: Prometheus wants base units.
typedef enum cm_figure_unit {
    CM_FIGURE_ONE,
    CM_FIGURE_THOUSANDTH,
    CM_FIGURE_MILLIONTH, // microseconds
} cm_figure_unit;

// Up to three labels; a NULL name ends them.
typedef struct cm_label {
    const char *name, *value;
} cm_label;
#define CM_LABELS_MAX 3u

void cm_exposition_family(cm_page *page, const char *name, cm_figure_kind kind, const char *help);
// `suffix`: of a histogram's samples, else "".
void cm_exposition_sample(cm_page *page, const char *name, const char *suffix,
                          const cm_label labels[CM_LABELS_MAX], cm_figure_unit unit,
                          uint64_t value);
// Letters as small ones, for names of enums: CM_DATAGRAM_TOKEN's TOKEN as "token".
#define CM_LABEL_MAX 40u
const char *cm_exposition_lower(const char *name, char text[CM_LABEL_MAX]);

#endif
