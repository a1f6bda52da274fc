// The status of a running server: on a terminal a block redrawn in place, otherwise one JSON line
// each time. The texts are made here; who writes them where is the caller's.
#ifndef CM_SERVER_NODE_ROOM_STATUS_H
#define CM_SERVER_NODE_ROOM_STATUS_H

#include "server/ops/log.h"
#include "server/node/worker.h"

#define CM_STATUS_BLOCK_MAX 8192u
#define CM_STATUS_CLIENTS   8u // shown in the block; of more, the rest is counted

typedef struct cm_status {
    cm_worker_stats worker;
    cm_match_status match;
    uint32_t client_count; // all of them; `clients` holds the first ones
    cm_hosted_player clients[CM_STATUS_CLIENTS];
    uint64_t unix_ms;
    uint32_t tick_rate;
    const char *room; // its name; "" for none
    const char *scene;
    const char *path; // of the match file; "" for none
    uint32_t left;    // matches of the room's name that did not prove themselves
    bool draining;
} cm_status;

// The block for a terminal: lines, each ended by a newline, none wider than 80 columns but the
// path. Returns the number of lines.
uint32_t cm_status_block(const cm_status *status, char text[CM_STATUS_BLOCK_MAX]);
// The same room on one line, beside others.
uint32_t cm_status_row(const cm_status *status, char text[CM_STATUS_BLOCK_MAX]);
// The JSON line, without its newline. `full`: every number; else those that tell whether all is
// well, and of what went wrong whatever did.
const char *cm_status_line(const cm_status *status, bool full, cm_line *line);

#endif
