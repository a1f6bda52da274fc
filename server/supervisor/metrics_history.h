// The history that the page for browsers draws: a sample each second of the last five minutes, kept
// by the server, so that a page that is opened or loaded anew has them. Time is an argument.
//
// Bounded whatever runs: 300 samples of the whole server, and of at most 8 rooms, those that were
// among the slowest last. Typical: 60 KiB here, 12 KiB as JSON.
#ifndef CM_SERVER_SUPERVISOR_METRICS_HISTORY_H
#define CM_SERVER_SUPERVISOR_METRICS_HISTORY_H

#include "server/node/control_link.h"
#include "server/supervisor/metrics_page.h"

#define CM_HISTORY_SAMPLES 300u
#define CM_HISTORY_US      1000000u // between samples
#define CM_HISTORY_ROOMS   8u
#define CM_HISTORY_SLOWEST 5u // rooms that a sample brings in

typedef struct cm_history_room {
    char name[CAROM_ROOM_NAME_MAX + 1]; // empty: free
    uint64_t slowest;                   // sample in which it was among the slowest last
    uint32_t tick_us[CM_HISTORY_SAMPLES];
} cm_history_room;

typedef struct cm_history_worker {
    bool is_known;
    uint64_t told_us, sent_bytes, received_bytes;
    uint64_t sent_bits, received_bits; // a second, between the last two times that it told
} cm_history_worker;

typedef struct cm_metrics_history {
    uint64_t samples; // taken so far; number n stands at n % CM_HISTORY_SAMPLES
    uint64_t at_ms[CM_HISTORY_SAMPLES];
    uint64_t sent_bits[CM_HISTORY_SAMPLES], received_bits[CM_HISTORY_SAMPLES];
    uint64_t players[CM_HISTORY_SAMPLES];
    cm_history_worker workers[CM_WORKERS_MAX];
    cm_history_room rooms[CM_HISTORY_ROOMS];
} cm_metrics_history;

// A worker told its metrics; it is dead.
void cm_metrics_history_received(cm_metrics_history *history, uint32_t worker,
                                 const cm_worker_metrics *metrics, uint64_t now_us);
void cm_metrics_history_lost(cm_metrics_history *history, uint32_t worker);

void cm_metrics_history_sample(cm_metrics_history *history, const cm_metrics_server *server,
                               uint64_t unix_ms);

// One JSON object: the server as it is, and the samples, the oldest first.
void cm_metrics_history_write(const cm_metrics_history *history, const cm_metrics_server *server,
                              uint64_t memory_bytes, uint64_t unix_ms, cm_page *page);

#endif
