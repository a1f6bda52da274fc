// The server dies at drawn moments, with what it had committed, and another goes on with the match.
//
// Its files are copied as they stand, since a store that is ended writes what waits.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cluster/run.h"

#define DOWN_MAX_US 900000u
#define FORGIVEN_US 20000000u // for a client that was neither in nor out to find out

void cluster_draw_crashes(cluster *c, double seconds)
{
    uint32_t count = 1 + cm_rng_below(&c->fate, CLUSTER_CRASHES);
    for (uint32_t i = 0; i < CLUSTER_CRASHES; i++) {
        double share = (0.2 + i + 0.6 * cm_rng_range(&c->fate, 0.0f, 1.0f)) / CLUSTER_CRASHES;
        c->crash_us[i] = i < count ? c->start_us + (uint64_t)(0.9e6 * seconds * share) : UINT64_MAX;
    }
}

// Whose join is durable by all that the client was told has its slot again.
static void note_unsafe(cluster *c)
{
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        member *m = &c->members[i];
        carom_client_acks acks;
        carom_client_acks_get(m->client, &acks);
        m->unsafe = m->tried && (!m->playing || acks.durable_tick < m->join_tick);
        c->result->unsure += m->unsafe;
    }
}

static void die(cluster *c, uint64_t now)
{
    char path[400], old[256], command[1200];
    cm_match_error error = {""};
    snprintf(path, sizeof path, "%s",
             cm_store_path(c->store, cm_hosted_room_match(cm_worker_room_at(c->worker, 0))));
    snprintf(old, sizeof old, "%s", c->directory);
    cm_store *store = c->store;
    if (!cluster_make_store(c)) {
        return;
    }
    snprintf(command, sizeof command, "cp %s %s-wal %s", path, path, c->directory);
    bool copied = system(command) == 0;
    cm_worker_stats stats;
    cm_worker_stats_get(c->worker, &stats);
    c->result->rewinds += stats.rewinds;
    c->result->rewound_ticks += stats.rewound_ticks;
    c->result->late_inputs += stats.late_inputs;
    cm_worker_destroy(c->worker);
    c->worker = NULL;
    cm_store_destroy(store);
    cluster_remove_files(old, path);
    cm_live_match_free(c->live);
    c->live = NULL;
    snprintf(command, sizeof command, "%s/%s", c->directory, strrchr(path, '/') + 1);
    if (!copied || cm_live_match_read(command, cluster_module(), &c->live, &error) != CAROM_OK) {
        cluster_fail(c->result, "crash: %s", copied ? error.message : "nothing to copy");
        return;
    }
    if (c->live->info.ticks != c->committed) {
        cluster_fail(c->result, "crash: it goes on at tick %" PRIu64 ", committed is %" PRIu64,
                     c->live->info.ticks, c->committed);
    }
    for (uint64_t tick = c->committed + 1; tick <= stats.tick; tick++) {
        c->result->was_rewound[tick % CLUSTER_TICKS_MAX] = false; // it is played anew
    }
    c->result->taken_back += stats.tick - c->committed;
    c->result->seams[c->result->crashes++] = c->committed;
    c->start_again_us = now + cm_rng_below(&c->fate, DOWN_MAX_US);
}

void cluster_crash_turn(cluster *c, uint64_t now)
{
    uint64_t due = c->result->crashes < CLUSTER_CRASHES ? c->crash_us[c->result->crashes] : 0;
    if (c->worker == NULL && now >= c->start_again_us) {
        cluster_start_worker(c);
    } else if (c->worker != NULL && due > 0 && now >= due && c->committed > 0) {
        note_unsafe(c);
        die(c, now);
    }
}

bool cluster_may_lose(const cluster *c, const member *m)
{
    return m->unsafe && cm_net_now_us(c->net) < c->start_again_us + FORGIVEN_US;
}
