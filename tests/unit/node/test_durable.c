// Goal: each client is told in time up to which tick the match is durable, never beyond it, at a
// cost of less than a byte a view; and, when the disk fails, within a tick that nothing later is,
// while the match goes on. Method: the SDK's clients against a whole worker with a real store on a
// disk that fails on demand, on the virtual net, in virtual time; the store's thread is the test.
#include "server/node/worker.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "carom/client.h"
#include "server/record/replay/replay.h"
#include "shared/net/net.h"
#include "tests/unit/node/rig.h"
#include "tests/unit/record/faulty_vfs.h"
#include "tests/unit/record/recording.h"

#define PORT      9400
#define CLIENTS   2u
#define STEP_US   1000u
#define TICK_US   16667u
#define COMMIT_US 100000u

typedef struct match {
    cm_net *net;
    cm_scene *scene;
    cm_config config;
    cm_store *store; // NULL: not recorded
    cm_worker *worker;
    carom_client *clients[CLIENTS];
    uint64_t commit_us, committed, committed_us; // the newest commit, and when it was
    uint64_t worst_us;                           // from a commit until the first client knew
    uint32_t commits;
    bool idle; // nobody moves: views come 5 times a second
    char log[4096];
} match;

static void keep_log(void *user, carom_log_level level, const char *text)
{
    match *m = user;
    size_t used = strlen(m->log);
    (void)level;
    snprintf(m->log + used, sizeof m->log - used, "%s\n", text);
}

static void make(match *m, bool recorded, bool power, float loss)
{
    memset(m, 0, sizeof *m);
    recording_setup();
    if (recorded) {
        faulty_install();
        cm_store_def store = {.directory = recording_folder, .durability_power = power};
        cr_assert_eq(cm_store_create(&store, &m->store), CAROM_OK);
    }
    m->net = cm_net_virtual_create(31);
    cm_net_use(m->net);
    cm_link_def link = {.latency_us = 20000, .loss = loss};
    cm_net_link_port(m->net, PORT, &link);
    m->scene = rig_scene(3);
    cm_config_default(&m->config);
    m->config.insecure = true;
    cm_worker_def def = {.random = cm_net_random,
                         .config = &m->config,
                         .scene = m->scene,
                         .store = m->store,
                         .seed = 31,
                         .now_us = cm_net_now_us(m->net)};
    char error[256] = "";
    cr_assert_eq(cm_worker_create(&def, &m->worker, error, sizeof error), CAROM_OK, "%s", error);
    m->commit_us = cm_net_now_us(m->net);
}

static void release(match *m)
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        carom_client_destroy(m->clients[i]);
    }
    cm_worker_destroy(m->worker);
    if (m->store != NULL) {
        cm_store_destroy(m->store);
    }
    cm_scene_free(m->scene);
    cm_net_use(NULL);
    cm_net_destroy(m->net);
    recording_teardown();
}

static void join(match *m, uint32_t i)
{
    carom_client_def def = carom_default_client_def();
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    def.log = keep_log;
    def.user = m;
    cr_assert_eq(carom_client_create(&def, &m->clients[i]), CAROM_OK);
    uint64_t now = cm_net_now_us(m->net);
    cr_assert_eq(carom_client_connect(m->clients[i], "127.0.0.1", PORT, now), CAROM_OK);
}

static uint64_t committed(const match *m)
{
    cm_match_status status;
    cm_store_status(m->store, cm_hosted_room_match(cm_worker_room_at(m->worker, 0)), &status);
    return status.committed_tick;
}

static carom_client_acks acks_of(const match *m, uint32_t i)
{
    carom_client_acks acks;
    carom_client_acks_get(m->clients[i], &acks);
    return acks;
}

// What the store's thread does.
static void commit(match *m, uint64_t now)
{
    if (m->store == NULL || now < m->commit_us + COMMIT_US) {
        return;
    }
    m->commit_us = now;
    cm_store_pump(m->store);
    if (committed(m) > m->committed) {
        m->committed = committed(m);
        m->committed_us = now;
        m->commits++;
    }
}

static void step(match *m)
{
    cm_net_advance(m->net, STEP_US);
    uint64_t now = cm_net_now_us(m->net);
    commit(m, now);
    cm_worker_run_once(m->worker, now);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        if (m->clients[i] != NULL) {
            uint8_t input[CAROM_INPUT_MAX];
            rig_input(input, now / 500000 % 2 ? 1.0f : -1.0f, 0.0f, 0);
            if (!m->idle) {
                (void)carom_client_set_input(m->clients[i], input, 9); // once it has joined
            }
            carom_client_update(m->clients[i], now);
            carom_client_acks acks = acks_of(m, i);
            cr_assert_leq(acks.durable_tick, m->committed, "more than was committed");
            cr_assert_leq(acks.durable_tick, acks.simulated_tick);
        }
    }
    if (m->clients[0] != NULL && acks_of(m, 0).durable_tick < m->committed &&
        now - m->committed_us > m->worst_us) {
        m->worst_us = now - m->committed_us;
    }
}

static void run(match *m, double seconds)
{
    for (double at = 0.0; at < seconds; at += 1e-6 * STEP_US) {
        step(m);
    }
}

Test(durable, clients_know_both_ticks)
{
    match m;
    make(&m, true, false, 0.0f);
    join(&m, 0);
    run(&m, 1.0);
    cr_assert_eq(carom_client_get_state(m.clients[0]), CAROM_CLIENT_PLAYING);
    m.worst_us = 0;
    run(&m, 3.0);
    carom_client_acks acks = acks_of(&m, 0);
    cr_assert_eq(acks.durability, CAROM_DURABILITY_PROCESS);
    cr_assert_gt(acks.durable_tick, 180);
    cr_assert_gt(acks.settled_tick, acks.durable_tick);
    // The next view, at 30 a second, and its way of 20 ms.
    cr_assert_leq(m.worst_us, 33334 + TICK_US + 20000 + 2 * STEP_US, "%llu us",
                  (unsigned long long)m.worst_us);
    // Rewinding, a commit, a view, the way back.
    cr_assert_lt(acks.simulated_tick - acks.durable_tick, 20);
    m.idle = true; // what is held down goes on, towards the edge: let go of it
    uint8_t nothing[CAROM_INPUT_MAX] = {0};
    cr_assert_eq(carom_client_set_input(m.clients[0], nothing, 9), CAROM_OK);
    run(&m, 6.0);
    m.worst_us = 0;
    run(&m, 3.0);
    cr_assert_gt(m.worst_us, 40000); // it really was idle
    cr_assert_leq(m.worst_us, 200000 + TICK_US + 20000 + 2 * STEP_US);
    release(&m);
}

Test(durable, what_is_promised_is_the_operators_choice)
{
    match m;
    make(&m, true, true, 0.0f);
    join(&m, 0);
    run(&m, 1.0);
    cr_assert_eq(acks_of(&m, 0).durability, CAROM_DURABILITY_POWER);
    cr_assert_gt(acks_of(&m, 0).durable_tick, 0);
    release(&m);
    make(&m, false, false, 0.0f);
    join(&m, 0);
    run(&m, 1.0);
    cr_assert_gt(acks_of(&m, 0).simulated_tick, 0);
    cr_assert_eq(acks_of(&m, 0).durability, CAROM_DURABILITY_NONE);
    cr_assert_eq(acks_of(&m, 0).durable_tick, 0);
    release(&m);
}

// The disk fails from here on; until the first client knows. How long that took.
static uint64_t fail_disk(match *m)
{
    uint64_t began_us = cm_net_now_us(m->net), failed_us = 0;
    faulty.fail_syncs = true;
    while (acks_of(m, 0).durability != CAROM_DURABILITY_LOST) {
        cr_assert_leq(cm_net_now_us(m->net) - began_us, 10000000, "it is not said");
        step(m);
        failed_us = failed_us == 0 && faulty.failed > 0 ? cm_net_now_us(m->net) : failed_us;
    }
    cr_assert_gt(faulty.failed, 0);
    return cm_net_now_us(m->net) - failed_us;
}

Test(durable, a_failing_disk_is_said_within_a_tick)
{
    match m;
    make(&m, true, true, 0.0f);
    join(&m, 0);
    run(&m, 2.0);
    cr_assert_leq(fail_disk(&m), TICK_US + 20000 + 2 * STEP_US);
    uint64_t last = m.committed;
    cr_assert_eq(acks_of(&m, 0).durable_tick, last);
    cr_assert_not_null(strstr(m.log, "not durable after tick"), "%s", m.log);
    uint64_t then = acks_of(&m, 0).simulated_tick;
    run(&m, 1.0);
    join(&m, 1); // who comes later knows it too
    run(&m, 1.0);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        cr_assert_eq(carom_client_get_state(m.clients[i]), CAROM_CLIENT_PLAYING);
        cr_assert_gt(acks_of(&m, i).simulated_tick, then + 100, "the match goes on");
        cr_assert_eq(acks_of(&m, i).durability, CAROM_DURABILITY_LOST);
        cr_assert_eq(acks_of(&m, i).durable_tick, last);
    }
    release(&m);
}

// In another file, from a settled tick on, with everybody who is there; and what the clients know
// of it is true again.
Test(durable, a_disk_that_is_well_again_records_on)
{
    match m;
    make(&m, true, true, 0.0f);
    join(&m, 0);
    run(&m, 2.0);
    fail_disk(&m);
    uint64_t last = m.committed;
    run(&m, 1.0);
    join(&m, 1);  // during the gap
    run(&m, 9.5); // one try fails
    cr_assert_eq(acks_of(&m, 0).durability, CAROM_DURABILITY_LOST);
    faulty.fail_syncs = false;
    run(&m, 5.5);
    cm_match_status status;
    cm_match_handle handle = cm_hosted_room_match(cm_worker_room_at(m.worker, 0));
    cm_store_status(m.store, handle, &status);
    cr_assert(status.durable, "%s", status.error);
    cr_assert_eq(status.gap_from, last + 1);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        cr_assert_eq(acks_of(&m, i).durability, CAROM_DURABILITY_POWER);
        cr_assert_lt(acks_of(&m, i).simulated_tick - acks_of(&m, i).durable_tick, 20);
    }
    cr_assert_not_null(strstr(m.log, "durable again, from tick"), "%s", m.log);
    char path[256];
    snprintf(path, sizeof path, "%s", cm_store_path(m.store, handle));
    cm_worker_drain(m.worker, cm_net_now_us(m.net));
    cm_store_pump(m.store);
    cm_replay_report report;
    cr_assert_eq(cm_replay_verify(path, NULL, &report), CAROM_OK, "%s", report.error.message);
    cr_assert_eq(report.proof.verdict, CM_PROOF_CONSISTENT, "%s", report.proof.changed);
    cr_assert(report.complete);
    cr_assert_eq(report.proof.personal, 2 * CLIENTS);
    cr_assert_eq(report.gap_to, status.gap_to);
    release(&m);
}

static void measure(bool recorded, cm_worker_stats *stats, uint32_t *commits)
{
    match m;
    make(&m, recorded, false, 0.0f);
    join(&m, 0);
    run(&m, 10.0);
    cm_worker_stats_get(m.worker, stats);
    *commits = m.commits;
    release(&m);
}

Test(durable, it_costs_less_than_a_byte_a_view)
{
    cm_worker_stats without, with;
    uint32_t commits;
    measure(false, &without, &commits);
    measure(true, &with, &commits);
    cr_assert_eq(with.views, without.views);
    cr_assert_gt(commits, 90);
    uint64_t more = with.view_bytes - without.view_bytes;
    printf("durable: %llu views, %llu bytes without, %llu more with it\n",
           (unsigned long long)with.views, (unsigned long long)without.view_bytes,
           (unsigned long long)more);
    cr_assert_gt(more, 0);
    cr_assert_leq(more, 2 * commits);
    cr_assert_lt(more, with.views);
}

Test(durable, a_lost_view_costs_one_commit)
{
    match m;
    make(&m, true, false, 0.1f);
    join(&m, 0);
    run(&m, 2.0);
    m.worst_us = 0;
    run(&m, 20.0);
    // Four in a row, at 10%; `worst_us` counts from the newest commit only.
    carom_client_acks acks = acks_of(&m, 0);
    cr_assert_lt(acks.simulated_tick - acks.durable_tick, 20 + 4 * 6);
    release(&m);
}
