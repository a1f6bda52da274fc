// A worker process of `carom serve`: a host, told by the supervisor what to do, whose words all go
// there.
#ifndef CM_SERVER_NODE_NODE_PROCESS_H
#define CM_SERVER_NODE_NODE_PROCESS_H

#include "server/node/room_directory.h"
#include "server/node/node.h"

// What it starts with: of the memory that it has from the supervisor.
typedef struct cm_serve_worker_def {
    cm_serve_host *host;             // configuration, rooms and keys filled in; else zeroed
    const cm_serve_matches *matches; // that it goes on with
    const cm_homes *elsewhere;       // rooms of other workers, as far as they are known
    const cm_used_tokens *used;
    const cm_bans *bans, *banned_addresses;
    int descriptor; // of the control socket
    bool terminal;  // the server's stdout is one
} cm_serve_worker_def;

// Its whole life.
carom_result cm_serve_worker(const cm_serve_worker_def *def);

#endif
