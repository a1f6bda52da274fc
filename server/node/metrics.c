// Taken from the counters of those who count; nothing is counted here.
#include "server/node/metrics.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void put_match(const cm_match_status *match, uint64_t tick, uint64_t *values)
{
    values[CM_ROOM_HAS_DURABLE] = match->durable;
    values[CM_ROOM_HAS_POWER] = match->durable && match->power;
    values[CM_ROOM_HAS_RECORDED] = match->committed_tick;
    values[CM_ROOM_HAS_LAG] = tick > match->committed_tick ? tick - match->committed_tick : 0;
    values[CM_ROOM_HAS_RECORD_BYTES] = match->bytes;
    values[CM_ROOM_HAS_RECORD_QUEUED] = match->queued_bytes;
    values[CM_ROOM_HAS_RECORD_DROPPED] = match->dropped;
    values[CM_ROOM_HAS_RECORD_GAPS] = match->gaps;
}

static void put_published(const cm_publisher_stats *published, uint64_t *values)
{
    values[CM_ROOM_HAS_VIEWS] = published->views;
    values[CM_ROOM_HAS_VIEW_BYTES] = published->view_bytes;
    values[CM_ROOM_HAS_VIEWS_ACKED] = published->views_acked;
    values[CM_ROOM_HAS_CHANGES_LOST] = published->changes_lost;
    values[CM_ROOM_HAS_MESSAGES_DROPPED] = published->messages_dropped + published->unreliable_lost;
    values[CM_ROOM_HAS_UNRELIABLE] = published->unreliable;
    values[CM_ROOM_HAS_EVENTS] = published->events;
    values[CM_ROOM_HAS_EVENTS_DROPPED] = published->events_dropped;
}

void cm_room_metrics_get(cm_hosted_room *room, const cm_match_status *match,
                         cm_room_metrics *metrics)
{
    cm_hosted_room_stats stats;
    uint64_t *values = metrics->values;
    memset(metrics, 0, sizeof *metrics);
    cm_hosted_room_stats_get(room, &stats);
    metrics->info = *cm_hosted_room_info(room);
    values[CM_ROOM_HAS_PLAYERS] = metrics->info.players;
    values[CM_ROOM_HAS_PLAYERS_MAX] = metrics->info.max_players;
    values[CM_ROOM_HAS_SPECTATORS] = stats.gallery.spectators;
    values[CM_ROOM_HAS_SPECTATOR_TICK] = stats.gallery.tick;
    values[CM_ROOM_HAS_SPECTATOR_RESTARTS] = stats.gallery.restarts;
    values[CM_ROOM_HAS_TICK_RATE] = metrics->info.tick_rate;
    values[CM_ROOM_HAS_TICK] = stats.tick;
    values[CM_ROOM_HAS_TICK_P99] = (uint64_t)(stats.tick_ms_p99 * 1000.0 + 0.5);
    values[CM_ROOM_HAS_SLOWED] = stats.ticks_behind;
    values[CM_ROOM_HAS_TICK_SHARE] = stats.tick_permille;
    values[CM_ROOM_HAS_OVER] = stats.is_slowed;
    values[CM_ROOM_HAS_REWINDS] = stats.room.rewinds;
    values[CM_ROOM_HAS_REWOUND] = stats.room.rewound_ticks;
    values[CM_ROOM_HAS_INPUTS] = stats.room.inputs;
    values[CM_ROOM_HAS_LATE] = stats.room.late_inputs;
    values[CM_ROOM_HAS_CLAMPED] = stats.seen_clamped;
    values[CM_ROOM_HAS_BODIES] = stats.world.bodies;
    values[CM_ROOM_HAS_ASLEEP] = stats.world.sleeping;
    values[CM_ROOM_HAS_CONTACTS] = stats.world.contacts;
    values[CM_ROOM_HAS_CONTACTS_CUT] = stats.world.log_counts[CAROM_LOG_CONTACTS_CUT];
    put_published(&stats.published, values);
    put_match(match, stats.tick, values);
    memcpy(metrics->inputs_refused, stats.inputs_refused, sizeof metrics->inputs_refused);
    memcpy(metrics->poses_refused, stats.room.poses_refused, sizeof metrics->poses_refused);
    memcpy(metrics->log_counts, stats.world.log_counts, sizeof metrics->log_counts);
    metrics->tick_sum_us = stats.tick_sum_us;
    memcpy(metrics->tick_buckets, stats.tick_buckets, sizeof metrics->tick_buckets);
}

void cm_worker_metrics_get(const cm_worker *worker, cm_worker_metrics *metrics)
{
    cm_worker_stats stats;
    uint64_t *values = metrics->values;
    memset(metrics, 0, sizeof *metrics);
    cm_worker_host_stats_get(worker, &stats);
    values[CM_WORKER_HAS_ROOMS] = stats.rooms;
    values[CM_WORKER_HAS_PLAYERS] = stats.players;
    values[CM_WORKER_HAS_SPECTATORS] = stats.spectators;
    values[CM_WORKER_HAS_SPECTATORS_REFUSED] = stats.spectators_refused;
    values[CM_WORKER_HAS_CLIENTS] = stats.peers;
    values[CM_WORKER_HAS_RESIDENT] = cm_metrics_resident_bytes();
    values[CM_WORKER_HAS_HANDSHAKES] = stats.handshakes;
    values[CM_WORKER_HAS_SENT_BYTES] = stats.sent_bytes;
    values[CM_WORKER_HAS_RECEIVED_BYTES] = stats.received_bytes;
    values[CM_WORKER_HAS_SENT_DATAGRAMS] = stats.sent_datagrams;
    values[CM_WORKER_HAS_RECEIVED_DATAGRAMS] = stats.received_datagrams;
    values[CM_WORKER_HAS_SEND_FAILED] = stats.send_failed;
    values[CM_WORKER_HAS_NARROWED] = stats.narrowed;
    values[CM_WORKER_HAS_MESSAGES_LEFT_OUT] = stats.messages_left_out;
    values[CM_WORKER_HAS_SLOW] = stats.slow;
    values[CM_WORKER_HAS_TURN_DATAGRAMS] = stats.turn_datagrams_max;
    values[CM_WORKER_HAS_TURN_STEPS] = stats.turn_steps_max;
    values[CM_WORKER_HAS_WEB_SOCKETS] = stats.sockets.open;
    values[CM_WORKER_HAS_WEB_ADDED] = stats.sockets.added;
    values[CM_WORKER_HAS_WEB_FULL] = stats.sockets.refused;
    values[CM_WORKER_HAS_WEB_RECEIVED] = stats.sockets.received;
    values[CM_WORKER_HAS_WEB_SENT] = stats.sockets.sent;
    values[CM_WORKER_HAS_WEB_DROPPED] = stats.sockets.dropped;
    memcpy(metrics->frames_refused, stats.sockets.refusals, sizeof metrics->frames_refused);
    memcpy(metrics->sockets_ended, stats.sockets.ends, sizeof metrics->sockets_ended);
    memcpy(metrics->datagrams_refused, stats.refused, sizeof metrics->datagrams_refused);
    memcpy(metrics->commands_refused, stats.commands_refused, sizeof metrics->commands_refused);
    memcpy(metrics->packets_refused, stats.packet_reasons, sizeof metrics->packets_refused);
    memcpy(metrics->clients_refused, stats.clients_refused, sizeof metrics->clients_refused);
    memcpy(metrics->players_left, stats.players_left, sizeof metrics->players_left);
}

// The second number of statm is in pages (proc(5)).
uint64_t cm_metrics_resident_bytes(void)
{
    char text[128];
    unsigned long long pages = 0;
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t size = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0) {
        close(file);
    }
    text[size > 0 ? size : 0] = '\0';
    (void)sscanf(text, "%*u %llu", &pages);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
