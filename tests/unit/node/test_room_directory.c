// Goal: whoever says hello to one worker for a room of another is sent there and plays, by name and
// by default; a room that is gone is unknown again, and workers that send each other somebody end
// it. Method: two workers and SDK clients on the virtual net; their lists of directory by hand.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "carom/client.h"
#include "server/node/worker.h"
#include "shared/net/net.h"
#include "tests/unit/node/rig.h"

#define PORT    9440u
#define STEP_US 4000u
#define CLIENTS 4u
#define WORKERS 2u

typedef struct pair {
    cm_net *net;
    cm_config config;
    cm_scene *scene;
    cm_worker *workers[WORKERS];
    cm_room_directory directory[WORKERS]; // rooms that the worker has not
    carom_client *clients[CLIENTS];
} pair;

static pair p;

static void open_pair(void)
{
    memset(&p, 0, sizeof p);
    p.net = cm_net_virtual_create(12);
    cm_net_use(p.net);
    p.scene = rig_scene(1);
    cm_config_default(&p.config);
    p.config.insecure = true;
    p.config.max_clients = 16;
    for (uint32_t i = 0; i < WORKERS; i++) {
        char error[256] = "", name[8];
        snprintf(p.config.listen, sizeof p.config.listen, "127.0.0.1:%u", PORT + i);
        cm_worker_def def = {.config = &p.config,
                             .seed = 3 + i,
                             .random = cm_net_random,
                             .now_us = cm_net_now_us(p.net)};
        cr_assert_eq(cm_worker_create(&def, &p.workers[i], error, sizeof error), CAROM_OK, "%s",
                     error);
        cm_worker_set_directory(p.workers[i], &p.directory[i]);
        snprintf(name, sizeof name, "room%u", i);
        cm_worker_room room = {.name = name, .scene = p.scene};
        cr_assert_eq(cm_worker_open(p.workers[i], &room, error, sizeof error), CAROM_OK, "%s",
                     error);
    }
}

static void close_pair(void)
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        carom_client_destroy(p.clients[i]);
    }
    for (uint32_t i = 0; i < WORKERS; i++) {
        cm_worker_destroy(p.workers[i]);
        cm_room_directory_free(&p.directory[i]);
    }
    cm_scene_free(p.scene);
    cm_net_use(NULL);
    cm_net_destroy(p.net);
}

// The worker is told that another has the room.
static void tell(uint32_t worker, const char *name, uint32_t port, bool is_default)
{
    cm_directory_entry entry = {.room = {.port = (uint16_t)port, .is_default = is_default}};
    snprintf(entry.room.name, sizeof entry.room.name, "%s", name);
    cr_assert(cm_room_directory_put(&p.directory[worker], &entry));
}

static void dial(uint32_t number, const char *room, uint32_t worker)
{
    carom_client_def def = carom_default_client_def();
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    def.room = room;
    cr_assert_eq(carom_client_create(&def, &p.clients[number]), CAROM_OK);
    cr_assert_eq(carom_client_connect(p.clients[number], "127.0.0.1", (uint16_t)(PORT + worker),
                                      cm_net_now_us(p.net)),
                 CAROM_OK);
}

static void run(double seconds)
{
    for (double at = 0.0; at < seconds; at += 1e-6 * STEP_US) {
        cm_net_advance(p.net, STEP_US);
        for (uint32_t i = 0; i < WORKERS; i++) {
            cm_worker_run_once(p.workers[i], cm_net_now_us(p.net));
        }
        for (uint32_t i = 0; i < CLIENTS; i++) {
            if (p.clients[i] != NULL) {
                carom_client_update(p.clients[i], cm_net_now_us(p.net));
            }
        }
    }
}

static uint32_t players_of(uint32_t worker)
{
    cm_worker_stats stats;
    cm_worker_stats_get(p.workers[worker], &stats);
    return stats.players;
}

Test(directory, whoever_comes_to_the_wrong_worker_is_sent_on, .init = open_pair, .fini = close_pair)
{
    tell(0, "room1", PORT + 1, false);
    tell(1, "room0", PORT, true);
    dial(0, "room1", 0);
    dial(1, "room0", 1);
    dial(2, NULL, 1); // into the first of all rooms, which the other has
    dial(3, NULL, 0);
    run(2.0);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        cr_expect_eq(carom_client_get_state(p.clients[i]), CAROM_CLIENT_PLAYING, "client %u", i);
    }
    cr_expect_eq(players_of(0), 3);
    cr_expect_eq(players_of(1), 1);
}

Test(directory, a_room_that_is_gone_is_unknown, .init = open_pair, .fini = close_pair)
{
    tell(0, "room1", PORT + 1, false);
    cm_room_directory_remove(&p.directory[0], "room1");
    dial(0, "room1", 0);
    run(2.0);
    cr_expect_eq(carom_client_get_reason(p.clients[0]), CAROM_REASON_ROOM_UNKNOWN);
}

// Each believes that the other has it.
Test(directory, circles_end, .init = open_pair, .fini = close_pair)
{
    tell(0, "nowhere", PORT + 1, false);
    tell(1, "nowhere", PORT, false);
    dial(0, "nowhere", 0);
    run(10.0);
    cr_expect_eq(carom_client_get_state(p.clients[0]), CAROM_CLIENT_IDLE);
    cr_expect_eq(carom_client_get_reason(p.clients[0]), CAROM_REASON_ELSEWHERE);
}

// A recording that failed goes on in another file; tickets name the first one.
Test(directory, a_ticket_finds_its_match_whatever_file_it_is_in)
{
    cm_room_directory rooms = {0};
    const cm_directory_entry entry = {.room = {.name = "a", .match_id = 2, .first_id = 1}};
    cr_assert(cm_room_directory_put(&rooms, &entry));
    cr_expect_not_null(cm_room_directory_find_match(&rooms, 1));
    cr_expect_null(cm_room_directory_find_match(&rooms, 2));
    cm_room_directory_free(&rooms);
}
