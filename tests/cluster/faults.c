// The menu of faults: the seed draws which there are, and when. A worker dies with what it had
// committed, and another goes on with its matches; its files are copied as they stand, since a
// store that is ended writes what waits. What happens to one worker the clients of the other do not
// notice.
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cluster/run.h"
#include "tests/unit/record/faulty_vfs.h"

#define TICK_RATE   60u
#define DOWN_MAX_US 900000u
#define FULL_LEAST  300000u
#define FULL_MAX_US 1500000u
#define CUT_US      2500000u
#define FORGIVEN_US 5000000u // for a client that was neither in nor out to find out
#define BACK_US     5000000u // after which its own clients have got over a death
#define LATE_TICKS  24u      // that views may be late by, on any path

void cluster_draw_menu(cluster *c)
{
    faulty_install();
    for (uint32_t i = 0; i < CLUSTER_FAULTS; i++) {
        c->result->has[i] = cm_rng_below(&c->fate, 10) < 6;
    }
}

static uint64_t draw_time(cluster *c, double from_s, double to_s)
{
    double share = cm_rng_range(&c->fate, 0.0f, 1.0f);
    return c->start_us + (uint64_t)(1e6 * (from_s + (to_s - from_s) * share));
}

void cluster_draw_faults(cluster *c, double seconds)
{
    uint32_t count = 1 + cm_rng_below(&c->fate, CLUSTER_CRASHES);
    for (uint32_t i = 0; i < CLUSTER_CRASHES; i++) {
        double from = 0.9 * seconds * (0.2 + i) / CLUSTER_CRASHES;
        bool crashes = c->result->has[CLUSTER_CRASH] && i < count;
        c->crashes[i].at_us = draw_time(c, from, from + 0.6 * seconds / CLUSTER_CRASHES);
        c->crashes[i].at_us = crashes ? c->crashes[i].at_us : UINT64_MAX;
        c->crashes[i].server = cm_rng_below(&c->fate, CLUSTER_WORKERS);
    }
    cluster_server *full = &c->servers[cm_rng_below(&c->fate, CLUSTER_WORKERS)];
    uint64_t full_us = draw_time(c, 0.15 * seconds, 0.6 * seconds);
    if (c->result->has[CLUSTER_DISK]) {
        full->full_us = full_us;
        full->well_us = full_us + FULL_LEAST + cm_rng_below(&c->fate, FULL_MAX_US - FULL_LEAST);
    }
    c->cut = cm_rng_below(&c->fate, CLUSTER_STAYERS);
    c->cut_us = draw_time(c, 0.3 * seconds, 0.8 * seconds);
    c->cut_us = c->result->has[CLUSTER_CUT] ? c->cut_us : UINT64_MAX;
}

void cluster_use_disk(const cluster_server *server, uint64_t now)
{
    faulty.fail_writes = server != NULL && now >= server->full_us && now < server->well_us;
}

// A path that is cut --------------------------------------------------------------------------

static void cut_turn(cluster *c, uint64_t now)
{
    member *m = &c->members[c->cut];
    if (!c->is_cut && now >= c->cut_us && m->playing &&
        carom_client_get_state(m->client) == CAROM_CLIENT_PLAYING) {
        c->is_cut = true;
        c->cut_us = now;
        c->cut_comebacks = m->comebacks;
        c->cut_port = m->port;
        cm_net_partition(c->net, c->cut_port, true);
    } else if (c->is_cut && c->cut_port != 0 && now >= c->cut_us + CUT_US) {
        cm_net_partition(c->net, c->cut_port, false);
        c->cut_port = 0;
    }
    if (c->is_cut && c->result->cuts == 0 && m->comebacks > c->cut_comebacks) {
        c->result->cuts++;
    }
}

// A worker that dies --------------------------------------------------------------------------

// Whose join is durable by all that the client was told has its slot again.
static void note_unsafe(cluster *c, uint32_t server, uint64_t now)
{
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        member *m = &c->members[i];
        carom_client_acks acks;
        carom_client_acks_get(m->client, &acks);
        bool there = c->rooms[m->room].server == server;
        if (m->tried && ((there && (!m->playing || acks.durable_tick < m->join_tick)) ||
                         (m->door == server && !m->playing))) {
            m->unsafe = true;
            c->result->unsure++;
            c->rooms[m->room].unsure++;
        }
        cluster_room *room = &c->rooms[m->room];
        if (there && !m->tried && m->join_tick > room->committed) { // it came and went since
            room->done.joins--;
            room->done.leaves--;
            room->unsure++;
            m->join_tick = 0;
        }
        const cluster_server *own = &c->servers[c->rooms[m->room].server];
        bool whole =
            own->worker != NULL && (own->died_us == 0 || now >= own->start_again_us + BACK_US);
        m->asked = !there && whole && m->playing && !m->leaving && m->leave_us == UINT64_MAX &&
                   !m->unsafe && carom_client_get_state(m->client) == CAROM_CLIENT_PLAYING;
        m->asked_tick = acks.simulated_tick;
        m->asked_comebacks = m->comebacks;
    }
}

// The clients of another worker, once this one is there again: what they saw meanwhile.
static void ask_others(cluster *c, uint64_t outage_us)
{
    uint64_t ticks = outage_us * TICK_RATE / 1000000;
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        member *m = &c->members[i];
        carom_client_acks acks;
        carom_client_acks_get(m->client, &acks);
        bool cut = c->is_cut && c->cut == i;
        if (m->asked && !cut && c->servers[c->rooms[m->room].server].worker != NULL) {
            c->result->unnoticed++;
            if (acks.simulated_tick + LATE_TICKS < m->asked_tick + ticks ||
                m->comebacks != m->asked_comebacks) {
                cluster_fail(c->result,
                             "client %u of another worker saw %" PRIu64 " of %" PRIu64
                             " ticks of an outage, and came back %" PRIu64 " times",
                             i, acks.simulated_tick - m->asked_tick, ticks,
                             m->comebacks - m->asked_comebacks);
            }
        }
        m->asked = false;
    }
}

// The match of a room as the dead one left it.
static void read_match(cluster *c, uint32_t number, uint64_t match_id)
{
    cluster_room *room = &c->rooms[number];
    cluster_server *server = &c->servers[room->server];
    cm_match_error error = {""};
    char path[400];
    snprintf(path, sizeof path, "%s/%016" PRIx64 ".match", server->directory, match_id);
    cm_live_match_free(server->live[number]);
    server->live[number] = NULL;
    if (cm_live_match_read(path, cluster_module(), &server->live[number], &error) != CAROM_OK) {
        cluster_fail(c->result, "crash: %s", error.message);
    } else if (server->live[number]->info.ticks != room->committed) {
        cluster_fail(c->result, "crash: it goes on at tick %" PRIu64 ", committed is %" PRIu64,
                     server->live[number]->info.ticks, room->committed);
    }
    c->result->resumed++;
}

static void note_death(cluster *c, uint32_t number)
{
    cluster_room *room = &c->rooms[number];
    const cm_room *inner = cm_hosted_room_room(cluster_hosted(c, number));
    cm_room_stats stats;
    cm_room_stats_get(inner, &stats);
    c->result->rewinds += stats.rewinds;
    c->result->rewound_ticks += stats.rewound_ticks;
    c->result->late_inputs += stats.late_inputs;
    uint64_t tick = cm_room_tick(inner);
    c->result->taken_back += tick - room->committed;
    room->seams[room->seam_count++] = room->committed;
    room->is_seam_open = true;
    for (uint64_t again = room->committed + 1; again <= tick; again++) {
        room->was_rewound[again % CLUSTER_TICKS_MAX] = false; // it is played anew
    }
}

static void die(cluster *c, uint32_t number, uint64_t now)
{
    cluster_server *server = &c->servers[number];
    char old[MATCHES_DIRECTORY];
    uint64_t matches[CLUSTER_ROOMS] = {0};
    cm_store *store = server->store;
    snprintf(old, sizeof old, "%s", server->directory);
    if (!matches_copy(old, server->directory, &server->store)) {
        cluster_fail(c->result, "crash: nothing to copy");
        return;
    }
    for (uint32_t i = 0; i < CLUSTER_ROOMS; i++) {
        if (c->rooms[i].server == number) {
            matches[i] = cm_hosted_room_recording(cluster_hosted(c, i));
            note_death(c, i);
        }
    }
    cm_worker_destroy(server->worker);
    server->worker = NULL;
    cm_store_destroy(store);
    matches_remove(old);
    for (uint32_t i = 0; i < CLUSTER_ROOMS; i++) {
        if (matches[i] != 0) {
            read_match(c, i, matches[i]);
        }
    }
    server->died_us = now;
    server->start_again_us = now + cm_rng_below(&c->fate, DOWN_MAX_US);
}

// Everything that it has is committed, or on its way: what a full disk took is nobody's to lose
// twice.
static bool may_die(const cluster *c, uint32_t number, uint64_t now)
{
    const cluster_server *server = &c->servers[number];
    bool sound = server->worker != NULL && (now < server->full_us || now >= server->well_us);
    for (uint32_t i = 0; i < CLUSTER_ROOMS; i++) {
        const cluster_room *room = &c->rooms[i];
        sound = sound && (room->server != number || (room->committed > 0 && !room->full));
    }
    return sound;
}

bool cluster_crashes_wait(const cluster *c)
{
    bool wait = false;
    for (uint32_t i = 0; i < CLUSTER_CRASHES; i++) {
        wait = wait || c->crashes[i].at_us != UINT64_MAX;
    }
    return wait;
}

static void crash_turn(cluster *c, uint64_t now)
{
    for (uint32_t i = 0; i < CLUSTER_CRASHES; i++) {
        uint32_t server = c->crashes[i].server;
        if (now >= c->crashes[i].at_us && may_die(c, server, now)) {
            c->crashes[i].at_us = UINT64_MAX;
            c->result->crashes++;
            note_unsafe(c, server, now);
            die(c, server, now);
        }
    }
    for (uint32_t i = 0; i < CLUSTER_WORKERS; i++) {
        cluster_server *server = &c->servers[i];
        if (server->worker == NULL && now >= server->start_again_us && !c->result->failed) {
            ask_others(c, now - server->died_us);
            cluster_start_worker(c, i);
        }
    }
}

void cluster_fault_turn(cluster *c, uint64_t now)
{
    crash_turn(c, now);
    cut_turn(c, now);
}

bool cluster_may_lose(const cluster *c, const member *m)
{
    uint64_t last_us = 0;
    for (uint32_t i = 0; i < CLUSTER_WORKERS; i++) {
        const cluster_server *server = &c->servers[i];
        last_us = server->start_again_us > last_us ? server->start_again_us : last_us;
    }
    return m->unsafe && cm_net_now_us(c->net) < last_us + FORGIVEN_US;
}
