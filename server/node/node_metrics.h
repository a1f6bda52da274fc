// A host's metrics for its monitoring, once a second, a few rooms a turn so that no tick waits for
// many.
#ifndef CM_SERVER_NODE_NODE_METRICS_H
#define CM_SERVER_NODE_NODE_METRICS_H

#include "server/node/metrics.h"
#include "server/node/node.h"

#define CM_NODE_METRICS_US   1000000u
#define CM_NODE_METRICS_TURN 4u // rooms

typedef struct cm_node_metrics {
    void (*room)(void *user, uint32_t number, const cm_room_metrics *metrics);
    // All of them were told, so many rooms.
    void (*whole)(void *user, uint32_t rooms, const cm_worker_metrics *metrics);
    void *user;
    uint64_t due_us; // when they are taken next
    uint32_t next;   // room
    bool runs;
} cm_node_metrics; // zeroed but for who is told

// `left_out`: lines that were not taken from this process.
void cm_node_metrics_turn(cm_node_metrics *metrics, const cm_node *host, uint64_t left_out,
                          uint64_t now_us);

#endif
