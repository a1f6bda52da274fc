// Counts of a world's log messages (carom/log.h) by code: how often, when first, when last and of
// which body. A server writes what came on top once a second, `carom sim` at the end of a run.
#ifndef CM_SERVER_ROOM_LOG_COUNTERS_H
#define CM_SERVER_ROOM_LOG_COUNTERS_H

#include "carom/world.h"

#include "server/ops/log.h"

typedef struct cm_log_counter {
    uint64_t count, logged;
    uint64_t first_tick, last_tick;
    carom_body_id first_body, last_body; // the null id: of none
} cm_log_counter;

typedef struct cm_log_counters {
    cm_log_counter rows[CAROM_LOG_CODE_COUNT];
} cm_log_counters;

// The world's handler: the counters must stay where it is while the world has it.
carom_log cm_log_counters_log(cm_log_counters *counters);
// Writes a warning for each error and warning of the world that came since the last call.
void cm_log_counters_write(cm_log_counters *counters, const cm_log *log);

#endif
