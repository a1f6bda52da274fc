// A node under its supervisor: it is told over its control link what to host, then what to do, and
// all that it has to say goes there. One function of the time; a process of its own
// (node_process.h) or the supervisor's gives it its turns.
//
//   BOOTS -> (GO) -> RUNS -> (drained, and its recordings verified; or undone) -> OVER
#ifndef CM_SERVER_NODE_NODE_CONTROL_H
#define CM_SERVER_NODE_NODE_CONTROL_H

#include "server/node/control_link.h"
#include "server/node/node.h"

typedef struct cm_node_control cm_node_control;

typedef struct cm_node_control_def {
    cm_worker_link *link; // kept by the caller
    cm_crash_marker *crash_marker;
    // A process of its own loads its modules, watches the time of its ticks, and ends when the link
    // does: without a supervisor nobody would bring its rooms back, nor send anybody here.
    bool own_process;
    // Again and again while it writes and verifies at the end, which may take minutes.
    void (*wait)(void *user, uint32_t most_ms);
    void *user;
} cm_node_control_def;

cm_node_control *cm_node_control_create(const cm_node_control_def *def); // NULL: no memory
void cm_node_control_destroy(cm_node_control *node);

// Hears what it is told, and does what is due. Returns when there is more to do.
uint64_t cm_node_control_turn(cm_node_control *node, uint64_t now_us);
// True once it has ended; `result` is how.
bool cm_node_control_is_over(const cm_node_control *node, carom_result *result);
// For poll; -1 until it has its rooms.
int cm_node_control_sockets_descriptor(const cm_node_control *node); // likewise; -1: none
int cm_node_control_descriptor(const cm_node_control *node);
// Rests after a turn, as cm_node_rest; returns the time then.
uint64_t cm_node_control_rest(const cm_node_control *node, uint64_t due_us);

#endif
