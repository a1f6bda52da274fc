// The metrics that an operator's monitoring reads of a worker and of each of its rooms: numbers
// that others count, taken together once a second. A worker sends them to its supervisor as they
// are: both are one program.
//
// One table for each: id, kind, unit, name, help. A counter begins anew with its process, and a
// room's with its room, as Prometheus expects of counters.
#ifndef CM_SERVER_NODE_METRICS_H
#define CM_SERVER_NODE_METRICS_H

#include "server/ops/prometheus.h"
#include "server/node/worker.h"

#define CM_ROOM_METRICS(X)                                                                         \
    X(PLAYERS, GAUGE, ONE, "players", "Players in the room.")                                      \
    X(PLAYERS_MAX, GAUGE, ONE, "players_max", "Players that the room takes.")                      \
    X(SPECTATORS, GAUGE, ONE, "spectators", "Spectators of the room.")                             \
    X(SPECTATOR_TICK, GAUGE, ONE, "spectator_tick", "Tick that they see; 0: nobody watches.")      \
    X(SPECTATOR_RESTARTS, COUNTER, ONE, "spectator_restarts_total",                                \
      "Times that spectators had to wait for the delay anew.")                                     \
    X(TICK_RATE, GAUGE, ONE, "tick_rate_hertz", "Ticks a second that the scene asks for.")         \
    X(TICK, GAUGE, ONE, "tick", "Newest tick of the match.")                                       \
    X(TICK_P99, GAUGE, MILLIONTH, "tick_p99_seconds",                                              \
      "Time that 99 of 100 ticks of the last seconds were below.")                                 \
    X(SLOWED, COUNTER, ONE, "slowed_ticks_total",                                                  \
      "Ticks that the clock was slowed by, since the machine could not keep up.")                  \
    X(TICK_SHARE, GAUGE, THOUSANDTH, "tick_share_ratio",                                           \
      "Processor time of a tick over the time between two, a mean of ten seconds.")                \
    X(OVER, GAUGE, ONE, "over_budget",                                                             \
      "1: it ticks less often, since its ticks took more than tick_budget_percent.")               \
    X(REWINDS, COUNTER, ONE, "rewinds_total", "Times that a late input made the room rewind.")     \
    X(REWOUND, COUNTER, ONE, "rewound_ticks_total", "Ticks that were stepped again.")              \
    X(INPUTS, COUNTER, ONE, "inputs_total", "Inputs of players that were accepted.")               \
    X(LATE, COUNTER, ONE, "late_inputs_total", "Of these, inputs that came after their tick.")     \
    X(CLAMPED, COUNTER, ONE, "seen_clamped_total",                                                 \
      "Inputs whose claim of what was seen could not be true.")                                    \
    X(VIEWS, COUNTER, ONE, "views_total", "Packets with views that were sent.")                    \
    X(VIEW_BYTES, COUNTER, ONE, "view_bytes_total", "Bytes of these, all headers counted.")        \
    X(VIEWS_ACKED, COUNTER, ONE, "views_acked_total", "Of these packets, those that arrived.")     \
    X(CHANGES_LOST, COUNTER, ONE, "changes_lost_total", "World changes that could not be sent.")   \
    X(MESSAGES_DROPPED, COUNTER, ONE, "messages_dropped_total",                                    \
      "Messages of the module that were above a limit, or could not be sent.")                     \
    X(UNRELIABLE, COUNTER, ONE, "messages_unreliable_total",                                       \
      "Messages of the module that need not arrive, sent.")                                        \
    X(EVENTS, COUNTER, ONE, "events_total", "Events to the outside that the module emitted.")      \
    X(EVENTS_DROPPED, COUNTER, ONE, "events_dropped_total", "Such events above a tick's limit.")   \
    X(BODIES, GAUGE, ONE, "bodies", "Bodies in the world.")                                        \
    X(ASLEEP, GAUGE, ONE, "bodies_asleep", "Bodies that sleep.")                                   \
    X(CONTACTS, GAUGE, ONE, "contacts", "Contacts in the world.")                                  \
    X(CONTACTS_CUT, COUNTER, ONE, "contacts_left_out_total",                                       \
      "Contacts above the world's limit, left out of a step.")                                     \
    X(DURABLE, GAUGE, ONE, "durable", "1: the match is kept; 0: it cannot be written.")            \
    X(POWER, GAUGE, ONE, "power_durable", "1: recorded ticks survive a loss of power.")            \
    X(RECORDED, GAUGE, ONE, "recorded_tick", "Newest tick that is recorded.")                      \
    X(LAG, GAUGE, ONE, "unrecorded_ticks", "Ticks stepped and not recorded yet.")                  \
    X(RECORD_BYTES, GAUGE, ONE, "recording_bytes", "Size of the match file.")                      \
    X(RECORD_QUEUED, GAUGE, ONE, "recording_queued_bytes", "Bytes that wait to be written.")       \
    X(RECORD_DROPPED, COUNTER, ONE, "recording_dropped_total",                                     \
      "Ticks and keyframes left out while the match could not be written.")                        \
    X(RECORD_GAPS, COUNTER, ONE, "recording_gaps_total",                                           \
      "Times that the recording went on in another file.")

#define CM_WORKER_METRICS(X)                                                                       \
    X(ROOMS, GAUGE, ONE, "rooms", "Rooms of the worker.")                                          \
    X(PLAYERS, GAUGE, ONE, "players", "Players in all of its rooms.")                              \
    X(SPECTATORS, GAUGE, ONE, "spectators", "Spectators of all of its rooms.")                     \
    X(SPECTATORS_REFUSED, COUNTER, ONE, "spectators_refused_total",                                \
      "Inputs and messages of spectators, who have none.")                                         \
    X(CLIENTS, GAUGE, ONE, "clients", "Connections that are open.")                                \
    X(LOAD, GAUGE, THOUSANDTH, "load_ratio", "Share of a processor that its rooms take.")          \
    X(RESIDENT, GAUGE, ONE, "resident_memory_bytes", "Memory of the process.")                     \
    X(HANDSHAKES, COUNTER, ONE, "handshakes_total", "Connections that were opened.")               \
    X(SENT_BYTES, COUNTER, ONE, "sent_bytes_total", "Bytes sent, IP and UDP headers counted.")     \
    X(RECEIVED_BYTES, COUNTER, ONE, "received_bytes_total", "Bytes received, likewise.")           \
    X(SENT_DATAGRAMS, COUNTER, ONE, "sent_datagrams_total", "Datagrams sent.")                     \
    X(RECEIVED_DATAGRAMS, COUNTER, ONE, "received_datagrams_total", "Datagrams received.")         \
    X(SEND_FAILED, COUNTER, ONE, "send_failures_total", "Packets that could not be queued.")       \
    X(NARROWED, COUNTER, ONE, "narrowed_total",                                                    \
      "Connections ended because their path carries less than it did.")                            \
    X(SLOW, COUNTER, ONE, "slow_total",                                                            \
      "Connections ended because what they were sent was not acknowledged.")                       \
    X(TURN_DATAGRAMS, GAUGE, ONE, "turn_datagrams_max", "Most datagrams that one turn took.")      \
    X(TURN_STEPS, GAUGE, ONE, "turn_steps_max", "Most list elements that one turn walked over.")   \
    X(RECORDING_FAILURES, COUNTER, ONE, "recording_failures_total",                                \
      "Times that a match could not be written any more.")                                         \
    X(MESSAGES_LEFT_OUT, COUNTER, ONE, "messages_left_out_total",                                  \
      "Messages of clients for one tick or none, which had no place for them.")                    \
    X(WEB_SOCKETS, GAUGE, ONE, "websockets", "WebSockets that are open.")                          \
    X(WEB_ADDED, COUNTER, ONE, "websockets_total", "WebSockets that were opened.")                 \
    X(WEB_FULL, COUNTER, ONE, "websockets_full_total", "Those refused as above a limit.")          \
    X(WEB_RECEIVED, COUNTER, ONE, "websocket_received_total", "Datagrams that came by them.")      \
    X(WEB_SENT, COUNTER, ONE, "websocket_sent_total", "Datagrams sent by them.")                   \
    X(WEB_DROPPED, COUNTER, ONE, "websocket_dropped_total", "Of these, found their socket full.")  \
    X(LEFT_OUT, COUNTER, ONE, "lines_left_out_total",                                              \
      "Lines that the supervisor was too slow to take.")

#define CM_SERVER_METRICS(X)                                                                       \
    X(START, GAUGE, THOUSANDTH, "start_time_seconds", "When the server started, since 1970.")      \
    X(READY, GAUGE, ONE, "ready", "1: players may come in.")                                       \
    X(DRAINING, GAUGE, ONE, "draining", "1: the server is shutting down.")                         \
    X(WORKERS, GAUGE, ONE, "workers", "Worker processes that are to be there.")                    \
    X(ROOMS, GAUGE, ONE, "rooms", "Rooms of all workers.")                                         \
    X(PLAYERS, GAUGE, ONE, "players", "Players in all rooms.")                                     \
    X(BANS, GAUGE, ONE, "bans", "Clients and addresses that may not come in.")                     \
    X(ISOLATED, GAUGE, ONE, "rooms_isolated",                                                      \
      "Rooms alone in a worker, since their module failed or takes too long.")                     \
    X(REFUSED, GAUGE, ONE, "scenes_quarantined", "Scenes hosted no more, since theirs failed.")    \
    X(FAULTS, COUNTER, ONE, "module_failures_total", "Times that a module took its worker.")       \
    X(RESIDENT, GAUGE, ONE, "supervisor_resident_memory_bytes", "Memory of this process.")         \
    X(HTTP_CONNECTIONS, GAUGE, ONE, "http_connections", "Connections to this page's server.")      \
    X(HTTP_ANSWERED, COUNTER, ONE, "http_answers_total", "Pages that were answered.")              \
    X(HTTP_FAILED, COUNTER, ONE, "http_failures_total", "Of these, with a status from 500 on.")    \
    X(HTTP_SENT, COUNTER, ONE, "http_sent_bytes_total", "Bytes of answers.")                       \
    X(HTTP_UPGRADED, COUNTER, ONE, "http_upgrades_total", "WebSockets handed to workers.")

#define CM_ROOM_METRIC_ENUM(id, kind, unit, name, help) CM_ROOM_HAS_##id,
typedef enum cm_room_metric {
    CM_ROOM_METRICS(CM_ROOM_METRIC_ENUM) CM_ROOM_METRIC_COUNT
} cm_room_metric;
#define CM_WORKER_METRIC_ENUM(id, kind, unit, name, help) CM_WORKER_HAS_##id,
typedef enum cm_worker_metric {
    CM_WORKER_METRICS(CM_WORKER_METRIC_ENUM) CM_WORKER_METRIC_COUNT
} cm_worker_metric;
#define CM_SERVER_METRIC_ENUM(id, kind, unit, name, help) CM_SERVER_HAS_##id,
typedef enum cm_server_metric {
    CM_SERVER_METRICS(CM_SERVER_METRIC_ENUM) CM_SERVER_METRIC_COUNT
} cm_server_metric;

typedef struct cm_room_metrics {
    cm_room_info info;
    uint64_t values[CM_ROOM_METRIC_COUNT];
    uint64_t inputs_refused[CM_INPUT_VERDICT_COUNT], poses_refused[CM_POINTER_REASONS];
    uint64_t log_counts[CAROM_LOG_CODE_COUNT];
    uint64_t tick_sum_us, tick_buckets[CM_METRICS_BUCKETS];
} cm_room_metrics;

typedef struct cm_worker_metrics {
    uint64_t values[CM_WORKER_METRIC_COUNT];
    uint64_t datagrams_refused[CM_DATAGRAM_REASON_COUNT];
    uint64_t commands_refused[CM_COMMAND_REASON_COUNT];
    uint64_t packets_refused[CM_PACKET_REASON_COUNT];
    uint64_t clients_refused[CAROM_REASON_COUNT], players_left[CAROM_REASON_COUNT];
    uint64_t frames_refused[CM_FRAME_REASON_COUNT], sockets_ended[CM_SOCKET_END_COUNT];
} cm_worker_metrics;

void cm_room_metrics_get(cm_hosted_room *room, const cm_match_status *match,
                         cm_room_metrics *metrics);
// All but LOAD, RECORDING_FAILURES and LEFT_OUT, which its owner knows.
void cm_worker_metrics_get(const cm_worker *worker, cm_worker_metrics *metrics);
uint64_t cm_metrics_resident_bytes(void); // of this process; 0: not known

#endif
