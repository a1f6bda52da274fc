// Goal: what a module says reaches its player, also before the welcome, in order, and what is left
// out is counted; what a body is reaches the clients anew when it becomes another under its id, by
// a rewind or by the module. Method: a worker on the virtual net with a module made for it and bare
// ENet clients that keep what they are told; a snapshot of a game changed by hand.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "client-sdk/src/link.h"
#include "server/ops/log.h"
#include "server/replicate/snapshot.h"
#include "server/node/worker.h"
#include "shared/net/net.h"
#include "shared/scene/scene_json.h"
#include "shared/wire/control.h"
#include "shared/wire/packet.h"
#include "tests/unit/node/rig.h"
#include "tests/unit/record/recording.h"

#define PORT       9400
#define CLIENTS    24u
#define SPAWN_TICK 90u // of the body whose size is an input
#define TALK_TICK  200u
#define WINDOW_MS  200u

// The module: greets whoever comes, tells everyone each tick at first, has too much to say once,
// and makes a ball whose radius is what player 0 holds at that tick.
static bool teller_join(carom_game *game, uint32_t player, const uint8_t *data, uint32_t size)
{
    (void)data;
    (void)size;
    uint8_t hello[2] = {0, (uint8_t)player};
    carom_game_send(game, player, hello, sizeof hello);
    return true;
}

static void teller_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    uint64_t tick = carom_game_tick(game);
    for (uint32_t i = 0; i < count && tick < SPAWN_TICK - 20; i++) {
        uint8_t number[2] = {1, (uint8_t)tick};
        carom_game_send(game, inputs[i].player, number, sizeof number);
    }
    for (uint32_t i = 0; i < 3 * CM_GAME_MESSAGES_MAX && tick == TALK_TICK; i++) {
        carom_game_send(game, 0, "talk", 4);
    }
    if (tick == SPAWN_TICK && count > 0) {
        carom_body_def body = carom_default_body_def();
        body.position.y = 9.0f;
        carom_shape_def ball = carom_default_shape_def();
        ball.radius = 0.5f + (float)inputs[0].bytes[0];
        carom_body_id id;
        carom_body_create(carom_game_world(game), &body, &ball, 1, &id);
    }
}

static const carom_module teller = {.abi = CAROM_MODULE_ABI,
                                    .version = 1,
                                    .name = "teller",
                                    .input_size = 1,
                                    .join = teller_join,
                                    .tick = teller_tick};

typedef struct listener {
    cm_transport *link;
    uint64_t welcome_tick; // 0: none yet
    uint32_t player, before, hellos, numbers, talk, spawns;
    uint8_t next;          // number expected
    carom_body_id spawned; // the last
    size_t spawn_sizes;
    uint8_t spawn[2][2048]; // of the last two
} listener;

typedef struct bench {
    cm_net *net;
    cm_scene *scene;
    cm_config config;
    cm_worker *worker;
    uint32_t alarms;
    listener clients[CLIENTS];
} bench;

static void count_alarms(void *user, int level, const char *json_line)
{
    bench *b = user;
    b->alarms += level == (int)CM_LOG_WARNING && strstr(json_line, "messages of the") != NULL;
}

static void make_worker(bench *b, cm_store *store)
{
    cm_worker_def def = {.random = cm_net_random,
                         .config = &b->config,
                         .store = store,
                         .scene = b->scene,
                         .module = &teller,
                         .seed = 3,
                         .now_us = cm_net_now_us(b->net),
                         .log = count_alarms,
                         .user = b};
    char error[256] = "";
    cr_assert_eq(cm_worker_create(&def, &b->worker, error, sizeof error), CAROM_OK, "%s", error);
}

static bench *open_bench(int64_t rewind_ms, cm_store *store)
{
    bench *b = calloc(1, sizeof *b);
    b->net = cm_net_virtual_create(3);
    cm_net_use(b->net);
    b->scene = rig_scene(1);
    cm_config_default(&b->config);
    b->config.insecure = true;
    b->config.max_players = 32;
    b->config.rewind_ms = rewind_ms;
    b->config.keyframe_s = 1;
    make_worker(b, store);
    return b;
}

static void close_bench(bench *b)
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        cm_transport_destroy(b->clients[i].link, CAROM_REASON_NONE);
    }
    cm_worker_destroy(b->worker);
    cm_scene_free(b->scene);
    cm_net_destroy(b->net);
    cm_net_use(NULL);
    free(b);
}

static void take_message(listener *l, const cm_control *control)
{
    const cm_bytes *said = &control->payload;
    l->before += l->welcome_tick == 0;
    if (said->size == 4) {
        l->talk++;
        return;
    }
    cr_assert_eq(said->size, 2);
    if (said->data[0] == 0) {
        cr_assert_eq(said->data[1], l->player);
        cr_assert_eq(l->numbers, 0, "the first word is the first");
        l->hellos++;
    } else {
        cr_assert(l->numbers == 0 || said->data[1] == l->next);
        l->next = (uint8_t)(said->data[1] + 1);
        l->numbers++;
    }
}

static void take(listener *l, const cm_transport_event *event)
{
    cm_control *control = NULL;
    cr_assert_eq(cm_control_decode(event->bytes, event->size, false, NULL, &control), CAROM_OK);
    if (control->type == CM_CONTROL_WELCOME) {
        l->welcome_tick = control->tick;
        l->player = control->player;
    } else if (control->type == CM_CONTROL_GAME_MESSAGE) {
        take_message(l, control);
    }
    for (uint32_t i = 0; i < control->spawned_count; i++) {
        cr_assert_leq(control->spawned[i].size, sizeof l->spawn[0]);
        memcpy(l->spawn[0], l->spawn[1], sizeof l->spawn[0]);
        memset(l->spawn[1], 0, sizeof l->spawn[1]);
        memcpy(l->spawn[1], control->spawned[i].data, control->spawned[i].size);
        l->spawns++;
    }
    cm_control_free(NULL, control);
}

static void send_hello(listener *l)
{
    cm_control hello = {.type = CM_CONTROL_HELLO,
                        .protocol = CM_PROTOCOL_VERSION,
                        .engine = CAROM_ENGINE_VERSION,
                        .name = "bare"};
    uint8_t *bytes = NULL;
    size_t size = 0;
    cr_assert_eq(cm_control_encode(&hello, NULL, &bytes, &size), CAROM_OK);
    cm_transport_send(l->link, CM_CONNECTION_ONLY, CM_SEND_COUNTED, bytes, size);
    cm_control_release_bytes(NULL, bytes);
}

// Lets virtual time pass; a client says hello as soon as it is connected.
static void run(bench *b, uint32_t ms)
{
    for (uint32_t i = 0; i < ms; i++) {
        cm_net_advance(b->net, 1000);
        cm_worker_run_once(b->worker, cm_net_now_us(b->net));
        for (uint32_t n = 0; n < CLIENTS && b->clients[n].link != NULL; n++) {
            cm_transport_event event;
            while (cm_transport_poll(b->clients[n].link, &event)) {
                if (event.type == CM_TRANSPORT_OPENED) {
                    send_hello(&b->clients[n]);
                } else if (event.type == CM_TRANSPORT_RECEIVED && event.kind == CM_SEND_CONTROL) {
                    take(&b->clients[n], &event);
                }
            }
            cm_transport_flush(b->clients[n].link);
        }
    }
}

static void dial(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        b->clients[i].link = rig_dial(PORT, NULL);
    }
}

static void send_input(listener *l, uint64_t tick, uint8_t value)
{
    cm_input_packet packet;
    memset(&packet, 0, sizeof packet);
    packet.newest_tick = (uint32_t)tick;
    packet.count = 1;
    packet.inputs[0][0] = value;
    uint8_t bytes[CM_PACKET_MAX];
    size_t size = cm_input_packet_write(&packet, 1, bytes, sizeof bytes);
    cm_transport_send(l->link, CM_CONNECTION_ONLY, CM_SEND_PACKET, bytes, size);
}

static uint64_t tick_of(const bench *b)
{
    cm_worker_stats stats;
    cm_worker_stats_get(b->worker, &stats);
    return stats.tick;
}

// All come at once, two are welcomed a tick: whoever waits misses nothing, whether ticks are
// confirmed at once or after a window.
static void all_hear_all(int64_t rewind_ms)
{
    bench *b = open_bench(rewind_ms, NULL);
    dial(b, CLIENTS);
    run(b, 2000);
    uint64_t first = UINT64_MAX, last = 0;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        const listener *l = &b->clients[i];
        cr_assert_gt(l->welcome_tick, 0);
        first = l->welcome_tick < first ? l->welcome_tick : first;
        last = l->welcome_tick > last ? l->welcome_tick : last;
        cr_assert_eq(l->before, 0, "nothing before the welcome");
        cr_assert_eq(l->hellos, 1, "client %u", i);
        cr_assert_eq(l->next, SPAWN_TICK - 20, "client %u", i);
        cr_assert_eq(l->numbers, b->clients[0].numbers, "client %u", i);
    }
    cr_assert_geq(last - first, CLIENTS / 2 - 1);
    cm_worker_stats stats;
    cm_worker_stats_get(b->worker, &stats);
    cr_assert_eq(stats.messages_dropped, 0);
    close_bench(b);
}

// Both encode the world: of a large one that is a third of a tick's time each. A recording's
// keyframe is of the tick a window before.
Test(publisher, nobody_is_welcomed_in_the_tick_of_a_keyframe, .init = recording_setup,
     .fini = recording_teardown)
{
    cm_store *store;
    cm_store_def def = {.directory = recording_folder};
    cr_assert_eq(cm_store_create(&def, &store), CAROM_OK);
    bench *b = open_bench(WINDOW_MS, store);
    const uint32_t keyframe = 60 + cm_window_ticks(WINDOW_MS, 60);
    while (tick_of(b) < keyframe - 6) {
        run(b, 1);
    }
    dial(b, CLIENTS);
    run(b, 1000);
    uint32_t welcomed[128] = {0};
    for (uint32_t i = 0; i < CLIENTS; i++) {
        uint64_t tick = b->clients[i].welcome_tick;
        cr_assert(tick > 0 && tick < sizeof welcomed / sizeof welcomed[0], "%d", (int)tick);
        welcomed[tick]++;
    }
    cr_expect_eq(welcomed[keyframe], 0);
    cr_expect_gt(welcomed[keyframe - 1], 0, "they come before and after it");
    cr_expect_gt(welcomed[keyframe + 1], 0);
    close_bench(b);
    cm_store_destroy(store);
}

Test(publisher, a_keyframe_in_each_tick_keeps_nobody_out, .init = recording_setup,
     .fini = recording_teardown)
{
    static const char text[] =
        "{\"carom\": 1, \"name\": \"slow\", \"tick_rate\": 1, \"bodies\": []}";
    cm_store *store;
    cm_store_def def = {.directory = recording_folder};
    cm_scene_error error;
    cr_assert_eq(cm_store_create(&def, &store), CAROM_OK);
    bench *b = open_bench(0, NULL);
    cm_worker_destroy(b->worker);
    cm_scene_free(b->scene);
    cr_assert_eq(cm_scene_from_json(text, strlen(text), &b->scene, &error), CAROM_OK);
    make_worker(b, store);
    dial(b, 1);
    run(b, 8000);
    cr_assert_gt(b->clients[0].welcome_tick, 0);
    close_bench(b);
    cm_store_destroy(store);
}

Test(publisher, messages_wait_for_the_welcome_without_a_window)
{
    all_hear_all(0);
}

Test(publisher, messages_wait_for_the_welcome_with_a_window)
{
    all_hear_all(133);
}

Test(publisher, what_a_module_says_too_much_is_counted_once_and_logged)
{
    bench *b = open_bench(133, NULL);
    dial(b, 1);
    while (tick_of(b) < TALK_TICK + 3) {
        run(b, 1);
    }
    send_input(&b->clients[0], TALK_TICK - 2, 7); // stepped again
    run(b, 2000);
    cm_worker_stats stats;
    cm_worker_stats_get(b->worker, &stats);
    cr_assert_eq(stats.rewinds, 1);
    cr_assert_eq(b->clients[0].talk, CM_GAME_MESSAGES_MAX);
    cr_assert_eq(stats.messages_dropped, 2 * CM_GAME_MESSAGES_MAX);
    cr_assert_eq(b->alarms, 1);
    close_bench(b);
}

// A late input makes the ball of that tick another one, under the same id.
Test(publisher, a_rewind_that_makes_another_body_announces_it)
{
    bench *b = open_bench(133, NULL);
    dial(b, 1);
    while (tick_of(b) < SPAWN_TICK + 4) {
        run(b, 1);
    }
    cr_assert_eq(b->clients[0].spawns, 1);
    send_input(&b->clients[0], SPAWN_TICK - 1, 3);
    run(b, 300);
    cr_assert_eq(b->clients[0].spawns, 2);
    cr_assert(memcmp(b->clients[0].spawn[0] + 16, b->clients[0].spawn[1] + 16, 4) == 0, "its slot");
    run(b, 1000);
    cr_assert_eq(b->clients[0].spawns, 2, "and that is all");
    close_bench(b);
}

Test(publisher, what_a_body_is_and_not_how_it_moves_makes_it_another)
{
    cm_scene *scene = rig_scene(2);
    carom_game *game = NULL;
    cr_assert_eq(cm_game_create(scene, &carom_module_sandbox, 5, NULL, &game), CAROM_OK);
    carom_world *world = carom_game_world(game);
    cm_view_config config;
    carom_vec3 lower, upper;
    cm_scene_bounds(scene, &lower, &upper);
    cr_assert_eq(cm_view_config_make(lower, upper, 1.0f / 512.0f, &config), CAROM_OK);
    uint32_t slots = carom_world_limits(world).bodies, gone_count, spawned_count;
    cm_snapshot snapshot;
    cr_assert(cm_snapshot_init(&snapshot, slots, 0));
    cm_announced *announced = calloc(slots, sizeof *announced);
    carom_body_id *gone = calloc(slots, sizeof *gone);
    uint32_t *spawned = calloc(slots, sizeof *spawned);
    carom_body_id cube = carom_world_body_at(world, 2);
    cm_tick_input none = {NULL, 0, NULL, 0};
    for (uint32_t step = 0; step < 4; step++) {
        if (step == 1) { // it moves, by itself and by force
            cr_assert_eq(
                carom_body_set_velocity(world, cube, (carom_vec3){1, 2, 3}, (carom_vec3){1, 0, 0}),
                CAROM_OK);
            cr_assert_eq(
                carom_body_set_force(world, cube, (carom_vec3){1, 2, 3}, (carom_vec3){0, 0, 0}),
                CAROM_OK);
            cm_game_tick(game, &none);
        } else if (step == 2) {
            cr_assert_eq(carom_body_set_type(world, cube, CAROM_BODY_KINEMATIC), CAROM_OK);
        }
        cm_snapshot_capture(&snapshot, &config, game, step, 0);
        cm_snapshot_changes(&snapshot, announced, gone, &gone_count, spawned, &spawned_count);
        cr_assert_eq(gone_count, 0);
        cr_assert_eq(spawned_count, step == 0 ? 5 : step == 2, "step %u", step);
        cr_assert(step != 2 || spawned[0] == 2);
    }
    free(announced);
    free(gone);
    free(spawned);
    cm_snapshot_free(&snapshot);
    cm_game_destroy(game);
    cm_scene_free(scene);
}
