// A process of one node, which `carom serve` starts as `carom worker`. Signals of a terminal are
// not for it: they are its supervisor's.
#ifndef CM_SERVER_NODE_NODE_PROCESS_H
#define CM_SERVER_NODE_NODE_PROCESS_H

#include "server/ops/failure.h"

// Descriptors that it is started with, beside stdin, stdout and stderr.
#define CM_WORKER_LINK_FD         3 // its control link
#define CM_WORKER_CRASH_MARKER_FD 4 // crash_marker.h
#define CM_WORKER_LOCK_FD         5 // of the directory of matches: held until the last process is gone

// Its whole life. CAROM_ERROR_STATE: these descriptors are not there.
carom_result cm_node_process(void);

#endif
