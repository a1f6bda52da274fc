// What a room costs among many: a whole worker of `carom serve` (rooms, recordings, status lines)
// with four SDK clients in each room, in virtual time, a turn each millisecond.
//
//   rooms COUNT SECONDS SCENE
//
// Prints the turns, ticks and views of the seconds that count. Only these run inside
// rooms_measured_turn, so that valgrind can count its instructions alone (tests/bench/rooms.sh).
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "carom/client.h"

#include "server/cli/cli.h"
#include "server/node/node.h"
#include "shared/base/rng.h"
#include "shared/net/net.h"

#define TURN_US   1000u
#define PLAYERS   4u
#define ROOMS_MAX CM_WORKER_ROOMS_MAX
#define JOIN_EACH 5u   // ms between two
#define SETTLE_MS 4000 // after the last: what was there falls asleep
#define PORT      9400u
#define CLIENT_MS 4u // a client's frame

__attribute__((noinline, noclone)) void rooms_measured_turn(cm_node *host, uint64_t now);

static cm_node host;
static carom_client *clients[ROOMS_MAX * PLAYERS];
static cm_net *net;
static cm_rng rng;
static uint64_t turns;
static double cpu_s; // of the turns

static void write_nothing(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
}

static void print_nothing(void *user, const char *line)
{
    (void)user;
    (void)line;
}

static void fail(const char *what)
{
    fprintf(stderr, "rooms: %s\n", what);
    exit(1);
}

static void open_host(uint32_t count, const char *scene, const char *directory)
{
    cm_config_default(&host.config);
    host.config.insecure = true;
    snprintf(host.config.listen, sizeof host.config.listen, "127.0.0.1:%u", PORT);
    snprintf(host.config.matches, sizeof host.config.matches, "%s", directory);
    snprintf(host.config.db, sizeof host.config.db, "%s/none.db", directory);
    for (uint32_t i = 0; i < count; i++) {
        char text[300];
        cm_room_spec *entry = &host.config.rooms.rooms[host.config.rooms.count++];
        snprintf(text, sizeof text, "room-%u", i);
        memcpy(entry->name, text, strlen(text) + 1);
        snprintf(entry->scene, sizeof entry->scene, "%s", scene);
    }
    host.shell.log = write_nothing;
    host.shell.print = print_nothing;
    host.only_room = true;
    host.ticket.id = 1;
    cm_failure failure;
    if (cm_node_rooms_load(&host.config, &host.rooms, NULL, &failure) != CAROM_OK ||
        cm_node_open(&host, &(cm_unfinished_matches){0}, &failure) != CAROM_OK) {
        fail(failure.text);
    }
}

static void join(uint32_t number, uint64_t now)
{
    char name[32];
    carom_client_def def = carom_default_client_def();
    snprintf(name, sizeof name, "room-%u", number / PLAYERS);
    def.room = name;
    def.predict = false;
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    if (carom_client_create(&def, &clients[number]) != CAROM_OK ||
        carom_client_connect(clients[number], "127.0.0.1", PORT, now) != CAROM_OK) {
        fail("a client could not connect");
    }
    cm_link_def link = {.latency_us = 20000, .jitter_us = 2000, .loss = 0.01f};
    cm_net_link_port(net, cm_net_last_port(net), &link);
}

static void play(carom_client *client, uint64_t now)
{
    uint8_t input[9] = {0};
    if (carom_client_get_state(client) == CAROM_CLIENT_PLAYING && cm_rng_below(&rng, 60) == 0) {
        for (uint32_t i = 0; i < 2; i++) {
            float value = cm_rng_range(&rng, -1.0f, 1.0f);
            memcpy(input + 4 * i, &value, sizeof value);
        }
        (void)carom_client_set_input(client, input, sizeof input);
    }
    carom_client_update(client, now);
}

void rooms_measured_turn(cm_node *of, uint64_t now)
{
    struct timespec from, to;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    cm_node_turn(of, now);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    turns++;
    cpu_s += (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

static void run(uint32_t ms, uint32_t count, bool measured, uint64_t ahead_us)
{
    static uint32_t frame;
    for (uint32_t i = 0; i < ms; i++, frame++) {
        cm_net_advance(net, TURN_US);
        uint64_t now = cm_net_now_us(net);
        if (measured) {
            rooms_measured_turn(&host, now + ahead_us);
        } else {
            cm_node_turn(&host, now + ahead_us);
        }
        for (uint32_t k = frame % CLIENT_MS; k < count; k += CLIENT_MS) {
            if (clients[k] != NULL) {
                play(clients[k], now);
            }
        }
    }
}

int main(int argc, char **argv)
{
    uint32_t count = argc == 4 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    uint32_t seconds = argc == 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    char directory[] = "/tmp/carom-rooms-XXXXXX", command[64];
    if (count == 0 || count > CM_ROOM_LIST_MAX || seconds == 0 || mkdtemp(directory) == NULL) {
        fail("expected COUNT SECONDS SCENE");
    }
    net = cm_net_virtual_create(1);
    cm_net_use(net);
    cm_rng_seed(&rng, 1);
    open_host(count, argv[3], directory);
    uint64_t begin = cm_now_us() - cm_net_now_us(net); // the worker lives by the real clock
    for (uint32_t i = 0; i < count * PLAYERS; i++) {
        join(i, cm_net_now_us(net));
        run(JOIN_EACH, count * PLAYERS, false, begin);
    }
    run(SETTLE_MS, count * PLAYERS, false, begin);
    cm_worker_stats before, after;
    cm_worker_stats_get(host.worker, &before);
    run(1000 * seconds, count * PLAYERS, true, begin);
    cm_worker_stats_get(host.worker, &after);
    printf("{\"rooms\": %u, \"players\": %u, \"seconds\": %u, \"turns\": %" PRIu64
           ", \"views\": %" PRIu64 ", \"inputs\": %" PRIu64 ", \"bytes_sent\": %" PRIu64
           ", \"cpu_ms_room_second\": %.3f}\n",
           count, after.players, seconds, turns, after.views - before.views,
           after.inputs - before.inputs, after.sent_bytes - before.sent_bytes,
           1e3 * cpu_s / seconds / count);
    cm_node_close(&host);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return after.players == count * PLAYERS && system(command) == 0 ? 0 : 1;
}
