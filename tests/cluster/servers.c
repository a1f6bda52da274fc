// The workers of a host, and what the process over them does: each is told of the others' rooms and
// of the tokens that were used there.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/scene/scene_json.h"
#include "tests/cluster/run.h"

#define PUMP_STEPS 50u // of the stores: every 200 ms

static const char scene_text[] =
    "{\"carom\":1,\"name\":\"cluster\",\"module\":\"sandbox\",\"bounds\":[[-64,-8,-64],[64,24,64]],"
    "\"materials\":{\"rough\":{\"friction\":0.9,\"density\":300}},"
    "\"bodies\":[{\"name\":\"ground\",\"type\":\"static\",\"shapes\":[{\"plane\":{\"normal\":[0,1,"
    "0],"
    "\"offset\":0},\"material\":\"rough\"}]}],"
    "\"arrays\":[{\"name\":\"cube\",\"origin\":[-2.6,0.25,-2.6],\"count\":[5,1,5],\"spacing\":"
    "[1.3,1,1.3],\"of\":{\"type\":\"dynamic\",\"linear_damping\":0.5,\"angular_damping\":1.0,"
    "\"shapes\":[{\"box\":{\"half_extents\":[0.25,0.25,0.25]},\"material\":\"rough\"}]}}]}";

uint16_t cluster_port(uint32_t server)
{
    return (uint16_t)(CLUSTER_PORT + server);
}

// Rooms are opened in their order, each in its worker.
cm_hosted_room *cluster_hosted(const cluster *c, uint32_t room)
{
    const cluster_server *server = &c->servers[c->rooms[room].server];
    uint32_t before = 0;
    for (uint32_t i = 0; i < room; i++) {
        before += c->rooms[i].server == c->rooms[room].server;
    }
    return server->worker != NULL ? cm_worker_room_at(server->worker, before) : NULL;
}

// Making -----------------------------------------------------------------------------------

static uint64_t unix_s(const cluster *c)
{
    return (CLUSTER_UNIX_MS + cm_net_now_us(c->net) / 1000) / 1000;
}

// The others hear of it, as through the supervisor.
static void keep_used(void *user, const cm_used_token *token)
{
    cluster_server *from = user;
    cluster *c = from->cluster;
    (void)cm_used_tokens_add(&c->used, token, unix_s(c), false);
    for (uint32_t i = 0; i < CLUSTER_WORKERS; i++) {
        cm_worker *worker = c->servers[i].worker;
        if (worker != NULL && worker != from->worker) {
            c->result->used_told += cm_worker_recall_used(worker, token);
        }
    }
}

static bool open_rooms(cluster *c, uint32_t number)
{
    cluster_server *server = &c->servers[number];
    char error[256] = "";
    carom_result result = CAROM_OK;
    for (uint32_t i = 0; i < CLUSTER_ROOMS && result == CAROM_OK; i++) {
        if (c->rooms[i].server == number) {
            cm_live_match *live = server->live[i];
            cm_worker_room room = {.name = c->rooms[i].name,
                                   .scene = live != NULL ? live->scene : c->scene,
                                   .module = cluster_module(),
                                   .live = live};
            result = cm_worker_open(server->worker, &room, error, sizeof error);
        }
    }
    if (result != CAROM_OK) {
        cluster_fail(c->result, "no room: %s", error);
    }
    return result == CAROM_OK;
}

// Ports are known from the start: who comes for a room that is not there yet waits.
static void tell_homes(cluster *c, uint32_t number)
{
    cluster_server *server = &c->servers[number];
    uint16_t ports[CLUSTER_WORKERS];
    for (uint32_t i = 0; i < CLUSTER_WORKERS; i++) {
        ports[i] = cluster_port(i);
    }
    for (uint32_t i = 0; i < CLUSTER_ROOMS; i++) {
        cm_directory_entry entry = {.room = {.port = cluster_port(c->rooms[i].server)}};
        snprintf(entry.room.name, sizeof entry.room.name, "%s", c->rooms[i].name);
        if (c->rooms[i].server != number && !cm_room_directory_put(&server->elsewhere, &entry)) {
            cluster_fail(c->result, "out of memory");
        }
    }
    cm_worker_set_directory(server->worker, &server->elsewhere);
    cm_worker_set_ports(server->worker, ports, CLUSTER_WORKERS);
}

bool cluster_start_worker(cluster *c, uint32_t number)
{
    cluster_server *server = &c->servers[number];
    cm_config config = c->config;
    uint64_t now = cm_net_now_us(c->net);
    snprintf(config.listen, sizeof config.listen, "127.0.0.1:%u", cluster_port(number));
    cm_worker_def def = {.random = cm_net_random,
                         .config = &config,
                         .store = server->store,
                         .keys = c->keys.count > 0 ? &c->keys : NULL,
                         .ticket_key = &c->ticket_key,
                         .keep_used = keep_used,
                         .user = server,
                         .seed = c->seed + 1000u * c->lives++,
                         .now_us = now,
                         .started_unix_ms = CLUSTER_UNIX_MS + now / 1000};
    char error[256] = "";
    if (cm_worker_create(&def, &server->worker, error, sizeof error) != CAROM_OK) {
        cluster_fail(c->result, "no worker: %s", error);
        return false;
    }
    tell_homes(c, number);
    for (uint32_t i = 0; i < c->used.capacity; i++) {
        if (c->used.table[i].expires_unix_s != 0) {
            (void)cm_worker_recall_used(server->worker, &c->used.table[i]);
        }
    }
    return open_rooms(c, number);
}

static void make_config(cluster *c)
{
    cm_config_default(&c->config);
    c->config.insecure = !c->result->has[CLUSTER_EXPIRY] && c->seed % 2 == 0;
    c->config.keyframe_s = 1;
    c->config.grace_ms = CLUSTER_GRACE_MS;
    c->config.room_seed = (int64_t)(c->seed % 1000000u) + 1;
    c->ticket_key.id = 1;
    cm_net_random(NULL, c->ticket_key.secret, sizeof c->ticket_key.secret);
    if (!c->config.insecure) {
        strcpy(c->config.key, "given");
        c->keys.count = 1;
        c->keys.keys[0].id = 7;
        cm_net_random(NULL, c->keys.keys[0].secret, sizeof c->keys.keys[0].secret);
    }
}

bool cluster_make_servers(cluster *c)
{
    cm_scene_error error = {0};
    if (cm_scene_from_json(scene_text, sizeof scene_text - 1, &c->scene, &error) != CAROM_OK) {
        cluster_fail(c->result, "scene: %s: %s", error.path, error.message);
        return false;
    }
    make_config(c);
    for (uint32_t i = 0; i < CLUSTER_ROOMS; i++) {
        snprintf(c->rooms[i].name, sizeof c->rooms[i].name, "room-%u", i);
        c->rooms[i].server = (uint32_t)((i + c->seed) % CLUSTER_WORKERS);
    }
    uint8_t key[CM_KEY_BYTES];
    cm_net_random(NULL, key, sizeof key);
    cm_used_tokens_init(&c->used, key);
    for (uint32_t i = 0; i < CLUSTER_WORKERS; i++) {
        c->servers[i].cluster = c;
        if (!matches_make(c->servers[i].directory, &c->servers[i].store)) {
            cluster_fail(c->result, "no store");
            return false;
        }
        if (!cluster_start_worker(c, i)) {
            return false;
        }
    }
    return true;
}

void cluster_free_servers(cluster *c)
{
    for (uint32_t i = 0; i < CLUSTER_WORKERS; i++) {
        cluster_server *server = &c->servers[i];
        cm_worker_destroy(server->worker);
        if (server->store != NULL) {
            cm_store_destroy(server->store);
        }
        for (uint32_t room = 0; room < CLUSTER_ROOMS; room++) {
            cm_live_match_free(server->live[room]);
        }
        cm_room_directory_free(&server->elsewhere);
    }
    cm_used_tokens_free(&c->used);
    if (c->scene != NULL) {
        cm_scene_free(c->scene);
    }
}

// Running ----------------------------------------------------------------------------------

// Which ticks a turn stepped again: a rewind ends at the tick that was the newest.
static void note_rewind(cluster_room *room, const cm_room *inner, uint64_t tick,
                        const cm_room_stats *before)
{
    cm_room_stats after;
    cm_room_stats_get(inner, &after);
    uint64_t again = after.rewound_ticks - before->rewound_ticks;
    for (uint64_t i = 0; after.rewinds == before->rewinds + 1 && i < again; i++) {
        room->was_rewound[(tick - i) % CLUSTER_TICKS_MAX] = true;
    }
}

// A recording is whole, or failed, or goes on in another file.
static void note_recording(cluster *c, cluster_server *server, uint32_t number)
{
    cluster_room *room = &c->rooms[number];
    cm_match_status status;
    cm_store_status(server->store, cm_hosted_room_match(cluster_hosted(c, number)), &status);
    // The row that says so goes with the first commit; a gap before that has swallowed it.
    if (room->is_seam_open && status.committed_tick > room->committed) {
        room->is_seam_open = false;
        room->resumes += status.gaps <= room->gaps;
    }
    room->committed = status.committed_tick;
    c->result->full += !status.durable && !room->full;
    room->full = !status.durable;
    if (status.gaps > room->gaps) {
        room->gap_from = room->gaps == 0 ? status.gap_from : room->gap_from;
        room->gap_to = status.gap_to;
        c->result->gaps += status.gaps - room->gaps;
        room->gaps = status.gaps;
    }
}

void cluster_server_turn(cluster *c, uint32_t number, uint64_t now)
{
    cluster_server *server = &c->servers[number];
    cm_room_stats before[CLUSTER_ROOMS];
    uint64_t ticks[CLUSTER_ROOMS];
    for (uint32_t i = 0; i < CLUSTER_ROOMS; i++) {
        if (c->rooms[i].server == number) {
            const cm_room *room = cm_hosted_room_room(cluster_hosted(c, i));
            cm_room_stats_get(room, &before[i]);
            ticks[i] = cm_room_tick(room);
        }
    }
    cluster_use_disk(server, now);
    cm_worker_run_once(server->worker, now);
    bool pump = ++server->steps % PUMP_STEPS == 0;
    if (pump) {
        cm_store_pump(server->store);
    }
    cluster_use_disk(NULL, now);
    for (uint32_t i = 0; i < CLUSTER_ROOMS; i++) {
        if (c->rooms[i].server == number) {
            note_rewind(&c->rooms[i], cm_hosted_room_room(cluster_hosted(c, i)), ticks[i],
                        &before[i]);
            if (pump) {
                note_recording(c, server, i);
            }
        }
    }
}

void cluster_drain(cluster *c)
{
    for (uint32_t i = 0; i < CLUSTER_WORKERS; i++) {
        cm_worker_drain(c->servers[i].worker, cm_net_now_us(c->net));
    }
}
