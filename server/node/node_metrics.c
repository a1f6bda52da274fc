// See node_metrics.h.
#include "server/node/node_metrics.h"

static void send_room_info(cm_node_metrics *metrics, const cm_node *host, uint32_t number)
{
    cm_match_status match;
    cm_room_metrics room;
    cm_store_status(host->store, host->rooms.rooms[number].match, &match);
    cm_room_metrics_get(cm_worker_room_at(host->worker, number), &match, &room);
    metrics->room(metrics->user, number, &room);
}

static void send_totals(cm_node_metrics *metrics, const cm_node *host, uint64_t left_out)
{
    cm_worker_metrics worker;
    cm_worker_metrics_get(host->worker, &worker);
    worker.values[CM_WORKER_HAS_LOAD] = host->permille;
    worker.values[CM_WORKER_HAS_RECORDING_FAILURES] = host->failures;
    worker.values[CM_WORKER_HAS_LEFT_OUT] = left_out;
    metrics->whole(metrics->user, metrics->next, &worker);
}

void cm_node_metrics_turn(cm_node_metrics *metrics, const cm_node *host, uint64_t left_out,
                          uint64_t now_us)
{
    if (!metrics->runs && now_us >= metrics->due_us) {
        metrics->runs = true;
        metrics->next = 0;
        metrics->due_us = now_us + CM_NODE_METRICS_US;
    }
    for (uint32_t i = 0; metrics->runs && i < CM_NODE_METRICS_TURN; i++) {
        if (metrics->next >= host->rooms.count) {
            send_totals(metrics, host, left_out);
            metrics->runs = false;
        } else {
            send_room_info(metrics, host, metrics->next++);
        }
    }
}
