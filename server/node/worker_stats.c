// Sums; the tick times are those of the worst room.
#include "server/node/worker_stats.h"

#include <string.h>

void cm_worker_stats_room(const cm_hosted_room *room, cm_worker_stats *stats)
{
    cm_hosted_room_stats from;
    cm_hosted_room_stats_get(room, &from);
    stats->tick = from.tick > stats->tick ? from.tick : stats->tick;
    stats->room_hash ^= from.hash;
    stats->tick_ms_p50 =
        from.tick_ms_p50 > stats->tick_ms_p50 ? from.tick_ms_p50 : stats->tick_ms_p50;
    stats->tick_ms_p99 =
        from.tick_ms_p99 > stats->tick_ms_p99 ? from.tick_ms_p99 : stats->tick_ms_p99;
    stats->rewinds += from.room.rewinds;
    stats->rewound_ticks += from.room.rewound_ticks;
    stats->late_inputs += from.room.late_inputs;
    stats->inputs += from.room.inputs;
    for (uint32_t i = 0; i < CM_POINTER_REASONS; i++) {
        stats->poses_refused[i] += from.room.poses_refused[i];
    }
    for (uint32_t i = 0; i < CAROM_LOG_CODE_COUNT; i++) {
        stats->log_counts[i] += from.world.log_counts[i];
    }
    stats->bodies_asleep += from.world.sleeping;
    stats->islands += from.world.islands;
    stats->ticks_behind += from.ticks_behind;
    for (uint32_t i = 0; i < CAROM_STAGE_COUNT; i++) {
        stats->stage_ms[i] += from.stage_ms[i];
    }
    stats->views += from.published.views;
    stats->keyframes += from.published.keyframes;
    stats->view_bytes += from.published.view_bytes;
    stats->messages_dropped += from.published.messages_dropped;
    stats->events += from.published.events;
    stats->events_dropped += from.published.events_dropped;
}

void cm_worker_stats_host(const cm_host *from_host, const cm_clients *from, cm_worker_stats *stats)
{
    stats->peers = cm_clients_connected(from);
    cm_clients_stats clients;
    cm_clients_stats_get(from, &clients);
    stats->refused_inputs = clients.refused_inputs;
    stats->seen_clamped = clients.seen_clamped;
    stats->datagrams_refused = clients.datagrams_refused;
    stats->messages_left_out = clients.messages_left_out;
    stats->spectators_refused = clients.spectators_refused;
    memcpy(stats->clients_refused, clients.refused, sizeof stats->clients_refused);
    memcpy(stats->players_left, clients.left, sizeof stats->players_left);
    memcpy(stats->packet_reasons, clients.packet_reasons, sizeof stats->packet_reasons);
    cm_host_stats host;
    cm_host_stats_get(from_host, &host);
    memcpy(stats->refused, host.refused, sizeof stats->refused);
    memcpy(stats->commands_refused, host.commands_refused, sizeof stats->commands_refused);
    stats->handshakes = host.handshakes;
    stats->sent_bytes = host.sent_bytes;
    stats->received_bytes = host.received_bytes;
    stats->sent_datagrams = host.sent_datagrams;
    stats->received_datagrams = host.received_datagrams;
    stats->send_failed = host.send_failed;
    stats->slow = host.slow;
    stats->turn_datagrams_max = host.turn_datagrams_max;
    stats->turn_steps_max = host.turn_steps_max;
    stats->narrowed = host.narrowed;
    for (uint32_t i = 0; i < CM_DATAGRAM_REASON_COUNT; i++) {
        stats->datagrams_refused += host.refused[i];
    }
}
