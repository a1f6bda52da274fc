// The numbers of a worker: those of its rooms, added up, and those of its host.
#ifndef CM_SERVER_NODE_WORKER_STATS_H
#define CM_SERVER_NODE_WORKER_STATS_H

#include "server/transport/enet/net.h"
#include "server/transport/websocket/sockets.h"
#include "server/node/hosted_room.h"

// Of all rooms together.
typedef struct cm_worker_stats {
    uint32_t rooms;
    uint64_t tick;      // the highest
    uint64_t room_hash; // of the newest states, by exclusive or
    uint32_t players, spectators, peers;
    double tick_ms_p50, tick_ms_p99;    // the worst room's, of the last seconds; 0 without a clock
    double stage_ms[CAROM_STAGE_COUNT]; // of the last second, means over the ticks stepped, summed
    uint32_t bodies_asleep, islands;    // now
    double kbit_per_client;             // sent, mean over clients, last second
    uint64_t rewinds, rewound_ticks, late_inputs, refused_inputs, inputs;
    uint64_t seen_clamped; // inputs whose claim of what was seen could not be true
    uint64_t poses_refused[CM_POINTER_REASONS]; // of pointers, by reason
    uint64_t views, view_bytes, datagrams_refused;
    uint64_t keyframes;                                             // encoded for those who joined
    uint64_t refused[CM_DATAGRAM_REASON_COUNT];                     // of those, at the gate
    uint64_t commands_refused[CM_COMMAND_REASON_COUNT];             // of those, behind it
    uint64_t handshakes, sent_bytes, received_bytes;                // bytes as on the wire
    uint64_t sent_datagrams, received_datagrams, send_failed, slow; // as in cm_host_stats
    uint64_t clients_refused[CAROM_REASON_COUNT], players_left[CAROM_REASON_COUNT]; // clients.h
    uint64_t turn_datagrams_max, turn_steps_max; // the most work of one turn (net.h)
    uint64_t narrowed;                           // connections ended by a narrower path
    uint64_t packet_reasons[CM_PACKET_REASON_COUNT];
    uint64_t messages_left_out;                // of clients, that were to come in their tick
    uint64_t spectators_refused;               // inputs and messages of spectators
    uint64_t ticks_behind;                     // ticks that the clock was slowed by
    uint64_t log_counts[CAROM_LOG_CODE_COUNT]; // by the worlds (carom/log.h), ticks stepped again
                                               // included
    uint64_t messages_dropped; // of the module, in confirmed ticks: above a limit, or not sendable
    uint64_t events;           // that the module emitted, likewise
    uint64_t events_dropped;   // above a tick's limit
    cm_sockets_stats sockets;
} cm_worker_stats;

// Adds those of one room.
void cm_worker_stats_room(const cm_hosted_room *room, cm_worker_stats *stats);
// Puts those that all rooms share.
void cm_worker_stats_host(const cm_host *host, const cm_clients *clients, cm_worker_stats *stats);

#endif
