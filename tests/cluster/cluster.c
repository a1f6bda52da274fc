// One run of the cluster. Everything that happens follows from the seed: links, inputs, who joins
// when and where, what fails.
//
// The oracle: once faults have healed, inputs have stopped and the bodies lie still, each value
// that a client holds must be the server's own quantised value of that tick, or (where that tick is
// out of the history) of the newest view's tick, bit for bit. While inputs fly a rewind may change
// a tick after it was sent, so equality is asked for at the end, and the checksum of every view
// packet all the time.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client-sdk/src/state.h"
#include "shared/base/hash.h"
#include "tests/cluster/run.h"

#define STEP_US      4000u
#define TICK_RATE    60u
#define STILL        0.02f // m/s, rad/s
#define CALM_S       1.5   // of nothing that moves
#define REST_S       60.0  // until then, at the most
#define VIEW_AGE_MAX 4u    // ticks

void cluster_fail(cluster_result *result, const char *format, ...)
{
    if (result->failed) {
        return;
    }
    result->failed = true;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->what, sizeof result->what, format, arguments);
    va_end(arguments);
}

static bool make(cluster *c)
{
    c->net = cm_net_virtual_create(c->seed);
    cm_net_use(c->net);
    if (!cm_net_took()) {
        cluster_fail(c->result, "ENet does not call our socket functions");
        return false;
    }
    cm_rng_seed(&c->rng, c->seed ^ UINT64_C(0x636c7573746572));
    cm_rng_seed(&c->fate, c->seed ^ UINT64_C(0x6372617368));
    c->start_us = cm_net_now_us(c->net);
    cluster_draw_menu(c);
    if (!cluster_make_servers(c)) {
        return false;
    }
    cluster_make_members(c);
    return !c->result->failed;
}

static void release(cluster *c)
{
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        carom_client_destroy(c->members[i].client);
    }
    cluster_free_servers(c);
    if (cm_net_stand_ins() != 0) {
        cluster_fail(c->result, "%u stand-ins of IPv6 addresses are left", cm_net_stand_ins());
    }
    cm_net_use(NULL);
    cm_net_destroy(c->net);
}

// Running ----------------------------------------------------------------------------------

static void step(cluster *c)
{
    cm_net_advance(c->net, STEP_US);
    uint64_t now = cm_net_now_us(c->net);
    cluster_fault_turn(c, now);
    for (uint32_t i = 0; i < CLUSTER_WORKERS; i++) {
        if (c->servers[i].worker != NULL) {
            cluster_server_turn(c, i, now);
        }
    }
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        if (!cluster_hitches(c, i, now)) {
            cluster_update_member(c, i, now);
        }
    }
}

static void run_for(cluster *c, double seconds)
{
    uint64_t until = cm_net_now_us(c->net) + (uint64_t)(seconds * 1.0e6);
    while (!c->result->failed && cm_net_now_us(c->net) < until) {
        step(c);
    }
}

// The paths get slower at once, again and again: inputs come late, and the rooms rewind.
static void play_under_faults(cluster *c, uint64_t ticks)
{
    double seconds = (double)ticks / TICK_RATE;
    cluster_draw_faults(c, seconds);
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        run_for(c, seconds / CLUSTER_CLIENTS);
        member *m = &c->members[i];
        m->link.latency_us += 60000;
        cm_net_link_port(c->net, m->port, &m->link);
    }
}

static bool is_still(const carom_world *world)
{
    carom_body_state state;
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        if (carom_body_get(world, carom_world_body_at(world, slot), &state) != CAROM_OK) {
            continue;
        }
        carom_vec3 v = state.linear_velocity, w = state.angular_velocity;
        float squares = v.x * v.x + v.y * v.y + v.z * v.z + w.x * w.x + w.y * w.y + w.z * w.z;
        if (squares > STILL * STILL) {
            return false;
        }
    }
    return true;
}

// Everything is there again, and nothing moves.
static bool is_calm(const cluster *c)
{
    bool calm = !cluster_crashes_wait(c);
    for (uint32_t i = 0; i < CLUSTER_WORKERS; i++) {
        // A slot whose player left as the worker died is given back when its grace time is over.
        uint64_t over_us = c->servers[i].start_again_us + 1000u * CLUSTER_GRACE_MS;
        calm = calm && c->servers[i].worker != NULL &&
               (c->servers[i].died_us == 0 || cm_net_now_us(c->net) > over_us);
    }
    for (uint32_t i = 0; i < CLUSTER_ROOMS && calm; i++) {
        calm =
            !c->rooms[i].full && is_still(cm_room_world(cm_hosted_room_room(cluster_hosted(c, i))));
    }
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        const member *m = &c->members[i];
        calm = calm && m->playing && !m->leaving && !m->knows_loss &&
               carom_client_get_state(m->client) == CAROM_CLIENT_PLAYING;
    }
    return calm;
}

static void heal(cluster *c)
{
    c->quiet = true;
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        cluster_give_link(c, &c->members[i]);
    }
    double calm_s = 0.0;
    for (double s = 0.0; s < REST_S && calm_s < CALM_S && !c->result->failed; s += 0.1) {
        run_for(c, 0.1);
        calm_s = is_calm(c) ? calm_s + 0.1 : 0.0;
    }
    if (calm_s < CALM_S) {
        cluster_fail(c->result, "it does not come to rest");
    }
}

// Oracles ----------------------------------------------------------------------------------

static void describe(const cm_view_body *a, const cm_view_body *b, char *text, size_t size)
{
    snprintf(text, size, "held %u %u %u rest %u velocity %u, server %u %u %u rest %u velocity %u",
             a->position[0], a->position[1], a->position[2], a->at_rest, a->has_velocity,
             b->position[0], b->position[1], b->position[2], b->at_rest, b->has_velocity);
}

static void compare_body(cluster *c, uint32_t number, uint32_t slot)
{
    const member *m = &c->members[number];
    const cm_mirror *mirror = m->client->mirror;
    const cm_mirror_body *held = &mirror->bodies[slot];
    carom_body_state state;
    carom_body_id id = carom_world_body_at(mirror->world, slot);
    if (carom_body_get(mirror->world, id, &state) != CAROM_OK) {
        return;
    }
    const cm_hosted_room *room = cluster_hosted(c, m->room);
    cm_view_body now, then, body = held->body;
    bool velocity = held->body.has_velocity != 0 || (m->client->def.predict && !held->known);
    if (!held->known) {
        // Never sent: the keyframe's value must still hold.
        cm_view_quantise(&mirror->config, &state, velocity, &body);
    }
    // A view without the body says that its value still holds at the view's tick.
    if (!cm_hosted_room_view_at(room, mirror->newest_tick, slot, velocity, &now)) {
        cluster_fail(c->result, "client %u has body %u, the server at tick %" PRIu64 " has not",
                     number, slot, mirror->newest_tick);
        return;
    }
    bool kept = held->known && cm_hosted_room_view_at(room, held->tick, slot, velocity, &then);
    c->result->bodies_compared++;
    const cm_view_body *right = kept ? &then : &now;
    if (!cm_view_equal(&body, right)) {
        char text[192];
        describe(&body, right, text, sizeof text);
        cluster_fail(c->result,
                     "client %u, body %u of tick %u (newest view %" PRIu64 ", server at %" PRIu64
                     "): %s",
                     number, slot, held->tick, mirror->newest_tick,
                     cm_room_tick(cm_hosted_room_room(room)), text);
    }
}

// Waits for a view so young that the server still has its tick: five come a second at least.
static void await_view(cluster *c, const member *m)
{
    const carom_client *client = m->client;
    for (uint32_t i = 0; i < 1000 && !c->result->failed; i++) {
        uint64_t tick = cm_room_tick(cm_hosted_room_room(cluster_hosted(c, m->room)));
        if (client->mirror != NULL && client->mirror->newest_tick + VIEW_AGE_MAX >= tick) {
            return;
        }
        step(c);
    }
    cluster_fail(c->result, "client '%s' gets no views any more after tick %" PRIu64,
                 client->def.name, client->mirror != NULL ? client->mirror->newest_tick : 0);
}

static void compare_views(cluster *c)
{
    uint32_t slots[CLUSTER_ROOMS] = {0};
    for (uint32_t i = 0; i < CLUSTER_CLIENTS && !c->result->failed; i++) {
        const member *m = &c->members[i];
        await_view(c, m);
        uint32_t mine = carom_client_body_slots(m->client);
        if (slots[m->room] != 0 && mine != slots[m->room]) {
            cluster_fail(c->result, "client %u has %u body slots, another one %u", i, mine,
                         slots[m->room]);
        }
        slots[m->room] = mine;
        for (uint32_t slot = 0; slot < mine; slot++) {
            compare_body(c, i, slot);
        }
        c->result->views_compared++;
    }
}

static void collect_rooms(cluster *c, cm_hash *hash)
{
    cluster_result *r = c->result;
    for (uint32_t i = 0; i < CLUSTER_ROOMS && cluster_hosted(c, i) != NULL; i++) {
        const cm_room *room = cm_hosted_room_room(cluster_hosted(c, i));
        cm_room_stats stats;
        cm_room_stats_get(room, &stats);
        r->ticks += cm_room_tick(room);
        r->rewinds += stats.rewinds;
        r->rewound_ticks += stats.rewound_ticks;
        r->late_inputs += stats.late_inputs;
        cm_hash_u64(hash, cm_room_tick(room));
        cm_hash_u64(hash, cm_room_hash(room));
    }
}

static void collect(cluster *c, cm_hash *hash)
{
    cluster_result *r = c->result;
    uint64_t count = 0;
    double sum = 0.0;
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        carom_client_stats s;
        carom_client_stats_get(c->members[i].client, &s);
        r->joined += s.views > 0;
        r->reconciles += s.reconciles;
        r->view_packets += s.view_packets;
        r->error_max = s.error_max > r->error_max ? s.error_max : r->error_max;
        sum += s.error_sum;
        count += s.error_count;
        if (s.desyncs > 0) {
            cluster_fail(r, "client %u: %" PRIu64 " views decoded to something else", i, s.desyncs);
        }
        cm_hash_u64(hash, s.predicted_steps);
        cm_hash_u64(hash, s.view_packets);
        cm_hash_u64(hash, s.packets_lost);
        cm_hash_u64(hash, s.inputs_sent);
    }
    r->error_mean = count > 0 ? sum / (double)count : 0.0;
    collect_rooms(c, hash);
    cm_net_stats n;
    cm_net_stats_get(c->net, &n);
    r->lost = n.lost;
    r->duplicated = n.duplicated;
    r->partitioned = n.partitioned;
    r->delivered = n.delivered;
}

static bool drained(const cluster *c)
{
    bool all = true;
    for (uint32_t i = 0; i < CLUSTER_WORKERS; i++) {
        all = all && cm_worker_drained(c->servers[i].worker);
    }
    return all;
}

static void drain(cluster *c)
{
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        c->members[i].tried = false; // thrown out is now right
        c->members[i].join_us = UINT64_MAX;
        c->members[i].playing = true;
    }
    cluster_drain(c);
    for (uint32_t i = 0; i < 2000 && !drained(c); i++) {
        step(c);
    }
    if (!drained(c)) {
        cluster_fail(c->result, "the drain does not end");
    }
    for (uint32_t i = 0; i < 250; i++) {
        step(c);
    }
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        const carom_client *client = c->members[i].client;
        c->result->left += carom_client_get_state(client) == CAROM_CLIENT_IDLE;
    }
    if (c->result->left != CLUSTER_CLIENTS) {
        cluster_fail(c->result, "only %" PRIu64 " clients heard the goodbye", c->result->left);
    }
    for (uint32_t i = 0; i < CLUSTER_WORKERS; i++) {
        cm_store_flush(c->servers[i].store);
    }
}

static void replay(cluster *c, bool keep)
{
    for (uint32_t i = 0; i < CLUSTER_ROOMS && !c->result->failed; i++) {
        cluster_replay(c, i);
    }
    for (uint32_t i = 0; i < CLUSTER_WORKERS; i++) {
        if (keep) {
            printf("cluster: recordings in %s\n", c->servers[i].directory);
        } else {
            matches_remove(c->servers[i].directory);
        }
    }
}

void cluster_run(uint64_t seed, uint64_t ticks, bool keep, cluster_result *result)
{
    memset(result, 0, sizeof *result);
    cluster *c = calloc(1, sizeof *c);
    if (c == NULL) {
        cluster_fail(result, "out of memory");
        return;
    }
    c->result = result;
    c->seed = seed;
    cm_hash hash = cm_hash_begin(seed);
    if (make(c)) {
        play_under_faults(c, ticks);
        heal(c);
        compare_views(c);
        collect(c, &hash);
        if (!result->failed) {
            drain(c);
        }
        cm_hash_u64(&hash, cm_net_trace(c->net));
    }
    release(c);
    replay(c, keep);
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        free(c->members[i].told.heard);
    }
    cm_hash_u64(&hash, result->replayed_ticks);
    cm_hash_u64(&hash, result->contacts);
    cm_hash_u64(&hash, result->told);
    result->trace = cm_hash_end(&hash);
    free(c);
}
