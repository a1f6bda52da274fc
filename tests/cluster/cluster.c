// One run of the cluster. Everything that happens follows from the seed: links, inputs, who joins
// when, who is cut off.
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
#include <unistd.h>

#include "client-sdk/src/state.h"
#include "shared/base/hash.h"
#include "shared/scene/scene_json.h"
#include "tests/cluster/run.h"

#define STEP_US       4000u
#define TICK_RATE     60u
#define PUMP_STEPS    50u // of the store: every 200 ms
#define SETTLE_S      12.0
#define CUT_S         2.5
#define GRACE_MS      6000
#define PREDICTING    4u
#define AWAY_US       500000u
#define JOIN_EVERY_US 150000u
#define VIEW_AGE_MAX  4u // ticks

static const char scene_text[] =
    "{\"carom\":1,\"name\":\"cluster\",\"module\":\"sandbox\",\"bounds\":[[-64,-8,-64],[64,24,64]],"
    "\"materials\":{\"rough\":{\"friction\":0.9,\"density\":300}},"
    "\"bodies\":[{\"name\":\"ground\",\"type\":\"static\",\"shapes\":[{\"plane\":{\"normal\":[0,1,"
    "0],"
    "\"offset\":0},\"material\":\"rough\"}]}],"
    "\"arrays\":[{\"name\":\"cube\",\"origin\":[-4.5,0.25,-4.5],\"count\":[8,1,8],\"spacing\":"
    "[1.3,1,1.3],\"of\":{\"type\":\"dynamic\",\"linear_damping\":0.5,\"angular_damping\":1.0,"
    "\"shapes\":[{\"box\":{\"half_extents\":[0.25,0.25,0.25]},\"material\":\"rough\"}]}}]}";

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

// Making -----------------------------------------------------------------------------------

bool cluster_make_store(cluster *c)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(c->directory, sizeof c->directory, "%s/cluster.XXXXXX",
             temporary != NULL ? temporary : P_tmpdir);
    if (mkdtemp(c->directory) == NULL) {
        cluster_fail(c->result, "no directory for the recording");
        return false;
    }
    cm_store_def store = {.directory = c->directory, .queue_max = 64u << 20};
    c->store = NULL;
    if (cm_store_create(&store, &c->store) != CAROM_OK) {
        cluster_fail(c->result, "no store");
    }
    return c->store != NULL;
}

bool cluster_start_worker(cluster *c)
{
    cm_worker_def def = {.random = cm_net_random,
                         .config = &c->config,
                         .scene = c->live == NULL ? c->scene : NULL,
                         .module = cluster_module(),
                         .store = c->store,
                         .ticket_key = &c->ticket_key,
                         .seed = c->seed + c->workers++,
                         .now_us = cm_net_now_us(c->net),
                         .started_unix_ms = UINT64_C(1900000000000)};
    char error[256] = "";
    carom_result result = cm_worker_create(&def, &c->worker, error, sizeof error);
    if (result == CAROM_OK && c->live != NULL) {
        cm_worker_room room = {
            .name = "", .scene = c->live->scene, .module = def.module, .live = c->live};
        result = cm_worker_open(c->worker, &room, error, sizeof error);
    }
    if (result != CAROM_OK) {
        cluster_fail(c->result, "no worker: %s", error);
    }
    return result == CAROM_OK;
}

static bool make_server(cluster *c)
{
    cm_scene_error scene_error = {0};
    if (cm_scene_from_json(scene_text, sizeof scene_text - 1, &c->scene, &scene_error) !=
        CAROM_OK) {
        cluster_fail(c->result, "scene: %s: %s", scene_error.path, scene_error.message);
        return false;
    }
    cm_config_default(&c->config);
    snprintf(c->config.listen, sizeof c->config.listen, "127.0.0.1:%u", CLUSTER_PORT);
    c->config.insecure = true;
    c->config.keyframe_s = 1;
    c->config.grace_ms = GRACE_MS;
    c->config.room_seed = (int64_t)(c->seed % 1000000u) + 1;
    c->ticket_key.id = 1;
    cm_net_random(NULL, c->ticket_key.secret, sizeof c->ticket_key.secret);
    return cluster_make_store(c) && cluster_start_worker(c);
}

static void make_members(cluster *c)
{
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        member *m = &c->members[i];
        char name[16];
        snprintf(name, sizeof name, "member %u", i);
        carom_client_def def = carom_default_client_def();
        def.random = cm_net_random;
        def.name = name;
        def.predict = i < PREDICTING;
        def.module = cluster_module();
        def.message = cluster_hear;
        def.user = &m->told;
        m->told.result = c->result;
        if (carom_client_create(&def, &m->client) != CAROM_OK) {
            cluster_fail(c->result, "no client");
        }
        cm_rng_seed(&m->rng, c->seed * 100u + i);
        m->join_us = c->start_us + i * JOIN_EVERY_US;
        m->leave_us = i < CLUSTER_STAYERS ? UINT64_MAX : m->join_us + 2000000u;
    }
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
    if (!make_server(c)) {
        return false;
    }
    make_members(c);
    return !c->result->failed;
}

void cluster_remove_files(const char *directory, const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char name[512];
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
    rmdir(directory);
}

static void release(cluster *c)
{
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        carom_client_destroy(c->members[i].client);
    }
    if (c->worker != NULL) {
        cm_worker_destroy(c->worker);
    }
    if (c->store != NULL) {
        cm_store_destroy(c->store);
    }
    cm_live_match_free(c->live);
    if (c->scene != NULL) {
        cm_scene_free(c->scene);
    }
    cm_net_use(NULL);
    cm_net_destroy(c->net);
}

// Running ----------------------------------------------------------------------------------

static void put_float(uint8_t *bytes, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (uint32_t i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(bits >> (8 * i));
    }
}

// One byte for who says it, one that counts. It is reliable: those who stay are heard to the end.
static void talk(cluster *c, const member *m)
{
    uint32_t number = (uint32_t)(m - c->members);
    uint8_t bytes[2] = {(uint8_t)number, (uint8_t)c->result->messages_of[number]};
    if (carom_client_send(m->client, bytes, sizeof bytes) == CAROM_OK) {
        c->result->messages_of[number]++;
        c->result->done.messages++;
    }
}

static void choose_input(cluster *c, member *m, uint64_t now)
{
    if (c->quiet) {
        memset(m->input, 0, sizeof m->input);
        (void)carom_client_set_input(m->client, m->input, sizeof m->input);
        return;
    }
    if (now >= m->turn_us) {
        talk(c, m);
        m->turn_us = now + 200000u + cm_rng_below(&m->rng, 800000u);
        m->course[0] = cm_rng_range(&m->rng, -1.0f, 1.0f);
        m->course[1] = cm_rng_range(&m->rng, -1.0f, 1.0f);
        m->input[8] = (uint8_t)(cm_rng_below(&m->rng, 3) == 0 ? 1 : 0);
    }
    // Never twice the same: a late input that says nothing new rewinds nothing.
    put_float(m->input, 0.95f * m->course[0] + cm_rng_range(&m->rng, -0.05f, 0.05f));
    put_float(m->input + 4, 0.95f * m->course[1]);
    (void)carom_client_set_input(m->client, m->input, sizeof m->input);
}

static const cm_link_def clean_link = {.latency_us = 10000};

// Who comes and goes has a path that loses less: each join is a few messages that have a deadline.
static void give_link(cluster *c, member *m)
{
    float worst = m->leave_us == UINT64_MAX ? 0.08f : 0.02f;
    cm_link_def link = {.latency_us = 10000 + cm_rng_below(&c->rng, 90000),
                        .jitter_us = cm_rng_below(&c->rng, 25000),
                        .loss = cm_rng_range(&c->rng, 0.01f, worst),
                        .duplicate = cm_rng_range(&c->rng, 0.0f, 0.05f)};
    link.jitter_us = link.jitter_us < link.latency_us ? link.jitter_us : link.latency_us;
    m->link = c->quiet ? clean_link : link;
    cm_net_link_port(c->net, m->port, &m->link);
}

// Leaves while others play, and comes again, as somebody new to the room.
static void come_and_go(cluster *c, member *m, uint64_t now)
{
    if (carom_client_get_state(m->client) == CAROM_CLIENT_PLAYING && !m->playing) {
        m->playing = true;
        carom_client_acks acks;
        carom_client_acks_get(m->client, &acks);
        m->join_tick =
            acks.settled_tick > acks.simulated_tick ? acks.settled_tick : acks.simulated_tick;
        c->result->done.joins++;
    }
    if (m->playing && !m->leaving && !c->quiet && now >= m->leave_us) {
        carom_client_disconnect(m->client, now);
        m->leaving = true;
        c->result->done.leaves++;
    }
    if (m->leaving && carom_client_get_state(m->client) == CAROM_CLIENT_IDLE) {
        c->result->done.joins -= m->unsafe; // both went with the server
        c->result->done.leaves -= m->unsafe;
        m->tried = m->playing = m->leaving = m->unsafe = false;
        m->join_us = now + AWAY_US;
        m->leave_us = now + AWAY_US + 1500000u + cm_rng_below(&m->rng, 1500000);
    }
}

// No client is told durable what no commit holds.
static void check_durable(cluster *c, member *m)
{
    carom_client_acks acks;
    carom_client_acks_get(m->client, &acks);
    if (acks.durable_tick > c->committed) {
        cluster_fail(c->result, "tick %" PRIu64 " was called durable, committed is %" PRIu64,
                     acks.durable_tick, c->committed);
    }
    c->result->durable_told += acks.durable_tick > m->durable_tick;
    m->durable_tick = acks.durable_tick;
    carom_client_stats stats;
    carom_client_stats_get(m->client, &stats);
    bool came_back = stats.comebacks != m->comebacks;
    m->comebacks = stats.comebacks;
    m->unsafe = m->unsafe && !came_back && !(m->playing && acks.durable_tick >= m->join_tick);
}

static void update_member(cluster *c, member *m, uint64_t now)
{
    if (!m->tried && now >= m->join_us) {
        m->tried = true;
        if (carom_client_connect(m->client, "127.0.0.1", CLUSTER_PORT, now) != CAROM_OK) {
            cluster_fail(c->result, "a client cannot open its socket");
        }
        m->port = cm_net_last_port(c->net);
        give_link(c, m);
    }
    m->told.player = carom_client_player(m->client);
    uint16_t last = cm_net_last_port(c->net);
    carom_client_update(m->client, now);
    if (cm_net_last_port(c->net) != last) { // it tries to come back by another socket
        m->port = cm_net_last_port(c->net);
        cm_net_link_port(c->net, m->port, &m->link);
    }
    check_durable(c, m);
    come_and_go(c, m, now);
    if (carom_client_get_state(m->client) == CAROM_CLIENT_PLAYING && !m->leaving) {
        choose_input(c, m, now);
    } else if (m->tried && carom_client_get_state(m->client) == CAROM_CLIENT_IDLE &&
               cluster_may_lose(c, m)) {
        c->result->done.joins -= m->playing; // the crash took it back
        m->tried = m->playing = m->leaving = m->unsafe = false;
        m->join_us = now + AWAY_US;
    } else if (m->tried && carom_client_get_state(m->client) == CAROM_CLIENT_IDLE) {
        cluster_fail(c->result, "a client was thrown out: %s",
                     carom_reason_text(carom_client_get_reason(m->client)));
    }
}

// A frame that takes long, now and then: its inputs come late, and the room rewinds. Who is about
// to leave does it then.
static bool hitches(cluster *c, member *m, uint64_t now)
{
    if (!c->quiet && m->leave_us == UINT64_MAX && now >= m->hitch_us) {
        m->hitched_us = now + 40000u + cm_rng_below(&m->rng, 80000);
        m->hitch_us = m->hitched_us + 200000u + cm_rng_below(&m->rng, 600000);
        for (uint32_t i = CLUSTER_STAYERS; i < CLUSTER_CLIENTS; i++) {
            member *other = &c->members[i];
            if (other->playing && other->leave_us < m->hitched_us + 1000000u) {
                other->leave_us = m->hitched_us + cm_rng_below(&m->rng, 100000);
            }
        }
    }
    return now < m->hitched_us;
}

// Which ticks a call of the worker stepped again: a rewind ends at the tick that was the newest.
static void note_rewind(cluster *c, const cm_worker_stats *before)
{
    cm_worker_stats after;
    cm_worker_stats_get(c->worker, &after);
    uint64_t again = after.rewound_ticks - before->rewound_ticks;
    for (uint64_t i = 0; after.rewinds == before->rewinds + 1 && i < again; i++) {
        c->result->was_rewound[(before->tick - i) % CLUSTER_TICKS_MAX] = true;
    }
}

static void work(cluster *c, uint64_t now)
{
    cluster_crash_turn(c, now);
    if (c->worker == NULL) {
        return;
    }
    cm_worker_stats before;
    cm_worker_stats_get(c->worker, &before);
    cm_worker_run_once(c->worker, now);
    note_rewind(c, &before);
    if (++c->steps % PUMP_STEPS == 0) {
        cm_match_status status;
        cm_store_pump(c->store);
        cm_store_status(c->store, cm_hosted_room_match(cm_worker_room_at(c->worker, 0)), &status);
        c->committed = status.committed_tick;
    }
}

static void step(cluster *c)
{
    cm_net_advance(c->net, STEP_US);
    uint64_t now = cm_net_now_us(c->net);
    work(c, now);
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        if (!hitches(c, &c->members[i], now)) {
            update_member(c, &c->members[i], now);
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

static void play_under_faults(cluster *c, uint64_t ticks)
{
    double seconds = (double)ticks / TICK_RATE;
    cluster_draw_crashes(c, seconds);
    // The paths get slower at once, again and again: inputs come late, and the room rewinds.
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        run_for(c, seconds * 0.45 / CLUSTER_CLIENTS);
        member *m = &c->members[i];
        m->link.latency_us += 60000;
        cm_net_link_port(c->net, m->port, &m->link);
    }
    uint16_t cut = c->members[cm_rng_below(&c->rng, CLUSTER_STAYERS)].port;
    cm_net_partition(c->net, cut, true);
    run_for(c, CUT_S);
    cm_net_partition(c->net, cut, false);
    run_for(c, seconds * 0.55 - CUT_S);
}

static void heal(cluster *c)
{
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        cm_net_link_port(c->net, c->members[i].port, &clean_link);
    }
    c->quiet = true;
    run_for(c, SETTLE_S);
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
    cm_worker_stats stats;
    cm_worker_stats_get(c->worker, &stats);
    cm_view_body now, then, body = held->body;
    bool velocity = held->body.has_velocity != 0 || (m->client->def.predict && !held->known);
    if (!held->known) {
        // Never sent: the keyframe's value must still hold.
        cm_view_quantise(&mirror->config, &state, velocity, &body);
    }
    // A view without the body says that its value still holds at the view's tick.
    if (!cm_hosted_room_view_at(cm_worker_room_at(c->worker, 0), mirror->newest_tick, slot,
                                velocity, &now)) {
        cluster_fail(c->result, "client %u has body %u, the server at tick %" PRIu64 " has not",
                     number, slot, mirror->newest_tick);
        return;
    }
    bool kept = held->known && cm_hosted_room_view_at(cm_worker_room_at(c->worker, 0), held->tick,
                                                      slot, velocity, &then);
    c->result->bodies_compared++;
    const cm_view_body *right = kept ? &then : &now;
    if (!cm_view_equal(&body, right)) {
        char text[192];
        describe(&body, right, text, sizeof text);
        cluster_fail(c->result,
                     "client %u, body %u of tick %u (newest view %" PRIu64 ", server at %" PRIu64
                     "): %s",
                     number, slot, held->tick, mirror->newest_tick, stats.tick, text);
    }
}

// Waits for a view so young that the server still has its tick: five come a second at least.
static void await_view(cluster *c, const carom_client *client)
{
    for (uint32_t i = 0; i < 1000 && !c->result->failed; i++) {
        cm_worker_stats stats;
        cm_worker_stats_get(c->worker, &stats);
        if (client->mirror != NULL && client->mirror->newest_tick + VIEW_AGE_MAX >= stats.tick) {
            return;
        }
        step(c);
    }
    cluster_fail(c->result, "client '%s' gets no views any more after tick %" PRIu64,
                 client->def.name, client->mirror != NULL ? client->mirror->newest_tick : 0);
}

static void compare_views(cluster *c)
{
    uint32_t slots = 0;
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        const carom_client *client = c->members[i].client;
        if (carom_client_get_state(client) != CAROM_CLIENT_PLAYING) {
            cluster_fail(c->result, "client %u does not play any more", i);
            return;
        }
        await_view(c, client);
        uint32_t mine = carom_client_body_slots(client);
        if (i > 0 && mine != slots) {
            cluster_fail(c->result, "client %u has %u body slots, client 0 %u", i, mine, slots);
        }
        slots = mine;
        for (uint32_t slot = 0; slot < mine; slot++) {
            compare_body(c, i, slot);
        }
        c->result->views_compared++;
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
    cm_worker_stats w;
    cm_worker_stats_get(c->worker, &w);
    r->ticks = w.tick;
    r->rewinds += w.rewinds;
    r->rewound_ticks += w.rewound_ticks;
    r->late_inputs += w.late_inputs;
    cm_hash_u64(hash, w.tick);
    cm_hash_u64(hash, w.room_hash);
    cm_net_stats n;
    cm_net_stats_get(c->net, &n);
    r->lost = n.lost;
    r->duplicated = n.duplicated;
    r->partitioned = n.partitioned;
    r->delivered = n.delivered;
}

static void drain(cluster *c)
{
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        c->members[i].tried = false; // thrown out is now right
        c->members[i].join_us = UINT64_MAX;
        c->members[i].playing = true;
    }
    cm_worker_drain(c->worker, cm_net_now_us(c->net));
    for (uint32_t i = 0; i < 2000 && !cm_worker_drained(c->worker); i++) {
        step(c);
    }
    if (!cm_worker_drained(c->worker)) {
        cluster_fail(c->result, "the drain does not end");
    }
    for (uint32_t i = 0; i < 250; i++) {
        step(c);
    }
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        const carom_client *client = c->members[i].client;
        c->result->left += carom_client_get_state(client) == CAROM_CLIENT_IDLE;
    }
    cm_store_flush(c->store);
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
    char path[400] = "";
    cm_hash hash = cm_hash_begin(seed);
    if (make(c)) {
        play_under_faults(c, ticks);
        heal(c);
        if (!result->failed) {
            compare_views(c);
        }
        collect(c, &hash);
        drain(c);
        const char *file =
            cm_store_path(c->store, cm_hosted_room_match(cm_worker_room_at(c->worker, 0)));
        snprintf(path, sizeof path, "%s", file != NULL ? file : "");
        cm_hash_u64(&hash, cm_net_trace(c->net));
        if (result->left != CLUSTER_CLIENTS) {
            cluster_fail(result, "only %" PRIu64 " clients heard the goodbye", result->left);
        }
    }
    release(c);
    if (path[0] != '\0') {
        const cluster_told *told[CLUSTER_CLIENTS];
        for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
            told[i] = &c->members[i].told;
        }
        cluster_replay(path, told, result);
        if (keep) {
            printf("cluster: recording %s\n", path);
        } else {
            cluster_remove_files(c->directory, path);
        }
    }
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        free(c->members[i].told.heard);
    }
    cm_hash_u64(&hash, result->replayed_ticks);
    cm_hash_u64(&hash, result->contacts);
    cm_hash_u64(&hash, result->told);
    result->trace = cm_hash_end(&hash);
    free(c);
}
