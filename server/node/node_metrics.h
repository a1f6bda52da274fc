// A host's figures for its monitoring, once a second, a few rooms a turn so that no tick waits for
// many.
#ifndef CM_SERVER_NODE_NODE_METRICS_H
#define CM_SERVER_NODE_NODE_METRICS_H

#include "server/node/metrics.h"
#include "server/node/node.h"

#define CM_SERVE_FIGURES_US   1000000u
#define CM_SERVE_FIGURES_TURN 4u // rooms

typedef struct cm_serve_figures {
    void (*room)(void *user, uint32_t number, const cm_room_figures *figures);
    // All of them were told, so many rooms.
    void (*whole)(void *user, uint32_t rooms, const cm_worker_figures *figures);
    void *user;
    uint64_t due_us; // when they are taken next
    uint32_t next;   // room
    bool runs;
} cm_serve_figures; // zeroed but for who is told

// `left_out`: lines that were not taken from this process.
void cm_serve_figures_turn(cm_serve_figures *figures, const cm_serve_host *host, uint64_t left_out,
                           uint64_t now_us);

#endif
