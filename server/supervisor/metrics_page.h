// The metrics of a whole server as one page of /metrics, made family by family, so that a server of
// very many rooms is written in several turns.
#ifndef CM_SERVER_SUPERVISOR_METRICS_PAGE_H
#define CM_SERVER_SUPERVISOR_METRICS_PAGE_H

#include "server/node/metrics.h"
#include "server/ops/http.h"

typedef struct cm_metrics_worker {
    bool is_there, is_up; // it is to be there; it lives and has its rooms
    uint64_t restarts;
    bool is_known; // it has told its metrics
    cm_worker_metrics metrics;
    uint32_t room_count, room_capacity;
    cm_room_metrics *rooms; // none of another worker's list
} cm_metrics_worker;

typedef struct cm_metrics_server {
    const char *version, *commit;
    uint64_t engine;
    uint64_t values[CM_SERVER_METRIC_COUNT];
    uint64_t http_refused[CM_HTTP_REFUSAL_COUNT];
    uint32_t worker_count;
    const cm_metrics_worker *workers; // by number
} cm_metrics_server;

// Writes family `number`, from 0 on; false: there are no more.
bool cm_metrics_page_family(cm_page *page, const cm_metrics_server *server, uint32_t number);

#endif
