// One run: everybody joins, a second to settle, then the ticks that count. Virtual time goes on in
// steps of a quarter of a tick, and what the worker takes of the CPU is added up from one tick to
// the next; the clients' own work is not in it.
//
// The virtual net stands for the kernel's sockets, and costs less: those are measured by
// themselves. The worker gets no clock of its own, so that nothing it does depends on one.
#include "server/tools/capacity/capacity.h"

#include <arpa/inet.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "carom/client.h"
#include "server/node/worker.h"
#include "server/tools/bench/samples.h"
#include "server/tools/bots/course.h"

#define PORT         9400u
#define STEPS_A_TICK 4u
#define JOIN_US      20000000u // virtual: everybody plays by then
#define SETTLE_TICKS 60u
#define PUMP_US      100000u // as the store's own thread does
#define DATAGRAMS    4000u   // of the measurement of the kernel's sockets
#define DATAGRAM_MAX 1472u
#define PATH_BYTES   320

typedef struct player {
    carom_client *client;
    cm_bot_course course;
} player;

typedef struct run {
    const cm_capacity_options *options;
    cm_capacity *result;
    cm_config config;
    cm_net *net;
    cm_store *store;
    cm_worker *worker;
    char directory[256], path[PATH_BYTES];
    player players[CAROM_PLAYERS_MAX];
    uint64_t step_us, pump_us;
    double *samples; // of each tick, ms
    uint64_t heap;   // bytes, with the worker and without its room
    char *error;
    size_t error_size;
} run;

static volatile sig_atomic_t stop;

static void on_signal(int signal_number)
{
    (void)signal_number;
    stop = 1;
}

static carom_result fail(run *r, carom_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static carom_result fail(run *r, carom_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->error, r->error_size, format, arguments);
    va_end(arguments);
    return result;
}

static uint64_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return (uint64_t)info.uordblks + (uint64_t)info.hblkhd;
}

// Making -----------------------------------------------------------------------------------------

static carom_result make_store(run *r)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(r->directory, sizeof r->directory, "%.200s/carom-capacity-XXXXXX",
             temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp");
    if (mkdtemp(r->directory) == NULL) {
        char place[sizeof r->directory];
        memcpy(place, r->directory, sizeof place);
        r->directory[0] = '\0';
        return fail(r, CAROM_ERROR_IO, "%s: cannot be made, expected a TMPDIR to record into",
                    place);
    }
    cm_store_def def = {.directory = r->directory,
                        .durability_power = strcmp(r->config.durability, "power") == 0,
                        .queue_max = 64u << 20};
    carom_result result = cm_store_create(&def, &r->store);
    return result == CAROM_OK ? result : fail(r, result, "%s: no store", r->directory);
}

static carom_result make_worker(run *r)
{
    const cm_capacity_options *o = r->options;
    snprintf(r->config.listen, sizeof r->config.listen, "127.0.0.1:%u", PORT);
    r->config.insecure = true; // datagrams are sealed all the same
    r->config.key[0] = '\0';
    r->config.public[0] = '\0';
    r->config.max_players = o->players;
    r->config.max_clients = o->players;
    r->config.room_seed = (int64_t)(o->seed % 1000000u) + 1;
    cm_worker_def def = {.config = &r->config,
                         .store = r->store,
                         .seed = o->seed,
                         .random = cm_net_random,
                         .now_us = cm_net_now_us(r->net)};
    cm_worker_room room = {.name = "capacity", .scene = o->scene, .spec.max_players = o->players};
    carom_result result = cm_worker_create(&def, &r->worker, r->error, r->error_size);
    r->heap = heap_bytes();
    if (result == CAROM_OK) {
        result = cm_worker_open(r->worker, &room, r->error, r->error_size);
    }
    const cm_hosted_room *hosted = result == CAROM_OK ? cm_worker_room_at(r->worker, 0) : NULL;
    if (hosted != NULL) {
        snprintf(r->path, sizeof r->path, "%s",
                 cm_store_path(r->store, cm_hosted_room_match(hosted)));
    }
    return result;
}

static carom_result make_players(run *r)
{
    for (uint32_t i = 0; i < r->options->players; i++) {
        char name[24];
        snprintf(name, sizeof name, "player %u", i + 1);
        carom_client_def def = carom_default_client_def();
        def.random = cm_net_random;
        def.predict_cost_ns = 1000;
        def.name = name;
        def.module = r->options->module;
        def.predict = false; // that is their own machine's work
        player *p = &r->players[i];
        if (carom_client_create(&def, &p->client) != CAROM_OK ||
            carom_client_connect(p->client, "127.0.0.1", PORT, cm_net_now_us(r->net)) != CAROM_OK) {
            return fail(r, CAROM_ERROR_MEMORY, "no client");
        }
        cm_net_link_port(r->net, cm_net_last_port(r->net), &r->options->link);
        cm_bot_course_begin(&p->course, r->options->seed * CM_BOTS_SEEDS + i);
    }
    return CAROM_OK;
}

static void remove_record(run *r)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0] && r->path[0] != '\0'; i++) {
        char name[PATH_BYTES + 16];
        snprintf(name, sizeof name, "%s%s", r->path, endings[i]);
        unlink(name);
    }
    if (r->directory[0] != '\0') {
        rmdir(r->directory);
    }
}

static void release_players(run *r)
{
    for (uint32_t i = 0; i < r->options->players; i++) {
        carom_client_destroy(r->players[i].client);
        r->players[i].client = NULL;
    }
}

static void release(run *r)
{
    release_players(r);
    cm_worker_destroy(r->worker);
    if (r->store != NULL) {
        cm_store_destroy(r->store);
    }
    remove_record(r);
    free(r->samples);
}

// Running ----------------------------------------------------------------------------------------

static uint64_t room_tick(const run *r)
{
    cm_worker_stats stats;
    cm_worker_stats_get(r->worker, &stats);
    return stats.tick;
}

// CPU of the worker and of the store, ms.
typedef struct cpu {
    double loop_ms, record_ms;
} cpu;

static bool all_play(const run *r)
{
    for (uint32_t i = 0; i < r->options->players; i++) {
        if (carom_client_get_state(r->players[i].client) != CAROM_CLIENT_PLAYING) {
            return false;
        }
    }
    return true;
}

static void step(run *r, cpu *spent)
{
    cm_net_advance(r->net, r->step_us);
    uint64_t now = cm_net_now_us(r->net);
    double from = cm_bench_thread_ms();
    cm_worker_run_once(r->worker, now);
    double between = cm_bench_thread_ms();
    spent->loop_ms += between - from;
    if (now >= r->pump_us) {
        r->pump_us = now + PUMP_US;
        cm_store_pump(r->store);
        spent->record_ms += cm_bench_thread_ms() - between;
    }
    for (uint32_t i = 0; i < r->options->players; i++) {
        player *p = &r->players[i];
        carom_client_update(p->client, now);
        if (carom_client_get_state(p->client) == CAROM_CLIENT_PLAYING) {
            cm_bot_steer(&p->course, r->options->module, CM_BOTS_WANDER, p->client, now);
        }
    }
}

static carom_result join(run *r)
{
    cpu spent = {0};
    uint64_t until = cm_net_now_us(r->net) + JOIN_US;
    while (!all_play(r) && cm_net_now_us(r->net) < until && !stop) {
        step(r, &spent);
    }
    for (uint32_t i = 0; i < r->options->players && !stop; i++) {
        carom_client *client = r->players[i].client;
        if (carom_client_get_state(client) != CAROM_CLIENT_PLAYING) {
            return fail(r, CAROM_ERROR_STATE, "player %u of %u does not get in: %s", i + 1,
                        r->options->players, carom_reason_text(carom_client_get_reason(client)));
        }
    }
    for (uint64_t first = room_tick(r); room_tick(r) < first + SETTLE_TICKS && !stop;) {
        step(r, &spent);
    }
    return CAROM_OK;
}

static uint64_t recorded_bytes(run *r)
{
    cm_match_status match;
    cm_store_pump(r->store);
    cm_store_status(r->store, cm_hosted_room_match(cm_worker_room_at(r->worker, 0)), &match);
    return match.bytes;
}

// The ticks that count: what the room has done in them is what its counters grew by.
static carom_result play(run *r)
{
    cm_capacity *c = r->result;
    cm_worker_stats before, after;
    uint64_t bytes = recorded_bytes(r), ticks = r->options->ticks;
    cm_worker_stats_get(r->worker, &before);
    cpu all = {0};
    for (uint64_t tick = 0; tick < ticks && !stop;) {
        double loop_ms = all.loop_ms;
        while (room_tick(r) <= before.tick + tick && !stop) {
            step(r, &all);
        }
        r->samples[tick++] = all.loop_ms - loop_ms;
    }
    double from = cm_bench_thread_ms();
    c->recorded_bytes = recorded_bytes(r) - bytes;
    all.record_ms += cm_bench_thread_ms() - from;
    if (stop) {
        return fail(r, CAROM_ERROR_STATE, "ended by a signal");
    }
    if (!all_play(r)) {
        return fail(r, CAROM_ERROR_STATE, "a player was lost on the way");
    }
    cm_worker_stats_get(r->worker, &after);
    cm_samples_summary summary;
    cm_samples_summarise(r->samples, (uint32_t)ticks, &summary);
    c->ticks = ticks;
    c->hash = after.room_hash;
    c->rewinds = after.rewinds - before.rewinds;
    c->rewound_ticks = after.rewound_ticks - before.rewound_ticks;
    c->views = after.views - before.views;
    c->sent_bytes = after.sent_bytes - before.sent_bytes;
    c->received_bytes = after.received_bytes - before.received_bytes;
    c->loop_ms = summary.mean;
    c->loop_ms_p99 = summary.p99;
    c->record_ms = all.record_ms / (double)ticks;
    return CAROM_OK;
}

// The room stays as it is; what the clients hold is theirs.
static void weigh(run *r)
{
    release_players(r);
    cm_store_flush(r->store);
    uint64_t heap = heap_bytes();
    r->result->memory_bytes = heap > r->heap ? heap - r->heap : 0;
}

// A datagram through the kernel's loopback, there and out again; half of it is one call.
static double measure_datagram(size_t size)
{
    int sockets[2] = {socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
                      socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof at;
    uint8_t bytes[DATAGRAM_MAX] = {0};
    size = size < sizeof bytes ? size : sizeof bytes;
    bool good = sockets[0] >= 0 && sockets[1] >= 0 &&
                bind(sockets[0], (const struct sockaddr *)&at, sizeof at) == 0 &&
                getsockname(sockets[0], (struct sockaddr *)&at, &length) == 0;
    double from = cm_bench_thread_ms();
    for (uint32_t i = 0; i < DATAGRAMS && good; i++) {
        good = sendto(sockets[1], bytes, size, 0, (const struct sockaddr *)&at, sizeof at) ==
                   (ssize_t)size &&
               recv(sockets[0], bytes, sizeof bytes, MSG_DONTWAIT) == (ssize_t)size;
    }
    double passed = cm_bench_thread_ms() - from;
    for (uint32_t i = 0; i < 2; i++) {
        if (sockets[i] >= 0) {
            close(sockets[i]);
        }
    }
    return good ? 1e3 * passed / (2.0 * DATAGRAMS) : 0.0;
}

static carom_result run_all(run *r)
{
    carom_result result = make_store(r);
    result = result == CAROM_OK ? make_worker(r) : result;
    result = result == CAROM_OK ? make_players(r) : result;
    result = result == CAROM_OK ? join(r) : result;
    cm_net_stats before, after;
    cm_net_stats_get(r->net, &before);
    result = result == CAROM_OK ? play(r) : result;
    cm_net_stats_get(r->net, &after);
    if (result == CAROM_OK) {
        r->result->datagrams = after.sent - before.sent;
        weigh(r);
        uint64_t bytes = r->result->sent_bytes + r->result->received_bytes;
        r->result->datagram_us =
            measure_datagram(r->result->datagrams > 0 ? bytes / r->result->datagrams : 1);
    }
    return result;
}

carom_result cm_capacity_measure(const cm_capacity_options *options, cm_capacity *capacity,
                                 char *error, size_t error_size)
{
    carom_world_def world;
    cm_scene_world_def(options->scene, &world);
    memset(capacity, 0, sizeof *capacity);
    capacity->bodies = cm_scene_body_count(options->scene);
    capacity->tick_rate = world.tick_rate;
    run *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    r->options = options;
    r->result = capacity;
    r->config = *options->config;
    r->error = error;
    r->error_size = error_size;
    r->step_us = 1000000u / (world.tick_rate * STEPS_A_TICK);
    r->samples = calloc(options->ticks, sizeof *r->samples);
    r->net = cm_net_virtual_create(options->seed);
    snprintf(error, error_size, "out of memory");
    carom_result result = r->samples != NULL && r->net != NULL ? CAROM_OK : CAROM_ERROR_MEMORY;
    cm_net *before = result == CAROM_OK ? cm_net_use(r->net) : NULL;
    if (result == CAROM_OK && !cm_net_took()) {
        result = fail(r, CAROM_ERROR_NOT_BUILT, "ENet does not call our socket functions");
    } else if (result == CAROM_OK) {
        signal(SIGINT, on_signal);
        signal(SIGTERM, on_signal);
        result = run_all(r);
    }
    release(r);
    if (r->net != NULL) {
        cm_net_use(before);
        cm_net_destroy(r->net);
    }
    free(r);
    return result;
}
