// See node_metrics.h.
#include "server/node/node_metrics.h"

static void tell_room(cm_serve_figures *figures, const cm_serve_host *host, uint32_t number)
{
    cm_match_status match;
    cm_room_figures room;
    cm_store_status(host->store, host->rooms.rooms[number].match, &match);
    cm_room_figures_get(cm_worker_room_at(host->worker, number), &match, &room);
    figures->room(figures->user, number, &room);
}

static void tell_whole(cm_serve_figures *figures, const cm_serve_host *host, uint64_t left_out)
{
    cm_worker_figures worker;
    cm_worker_figures_get(host->worker, &worker);
    worker.values[CM_WORKER_HAS_LOAD] = host->permille;
    worker.values[CM_WORKER_HAS_RECORDING_FAILURES] = host->failures;
    worker.values[CM_WORKER_HAS_LEFT_OUT] = left_out;
    figures->whole(figures->user, figures->next, &worker);
}

void cm_serve_figures_turn(cm_serve_figures *figures, const cm_serve_host *host, uint64_t left_out,
                           uint64_t now_us)
{
    if (!figures->runs && now_us >= figures->due_us) {
        figures->runs = true;
        figures->next = 0;
        figures->due_us = now_us + CM_SERVE_FIGURES_US;
    }
    for (uint32_t i = 0; figures->runs && i < CM_SERVE_FIGURES_TURN; i++) {
        if (figures->next >= host->rooms.count) {
            tell_whole(figures, host, left_out);
            figures->runs = false;
        } else {
            tell_room(figures, host, figures->next++);
        }
    }
}
