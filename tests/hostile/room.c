// One session: the room, the two clients, and what must hold after each update.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "client-sdk/src/state.h"
#include "shared/scene/scene_json.h"
#include "tests/hostile/hostile.h"

#define STEP_US 8000u
#define JOIN_US 8000000u
#define ROWS    256u
#define RENEWED 64u // one connection of so many is a new client's
#define STEPS   4u  // of the prediction, times the ring, in one update

#define GROUND                                                                                     \
    "{\"name\":\"ground\",\"type\":\"static\",\"shapes\":[{\"plane\":{\"normal\":[0,1,0],"         \
    "\"offset\":0}}]}"
#define SCENE(keys, bodies, side)                                                                  \
    "{\"carom\":1,\"name\":\"hostile\",\"module\":\"sandbox\"," keys                               \
    "\"bounds\":[[-32,-8,-32],[32,24,32]],\"bodies\":[" GROUND bodies "],\"arrays\":[{\"name\":"   \
    "\"cube\",\"origin\":[-6,0.2,-6],\"count\":[" side ",1," side "],\"spacing\":[0.6,1,0.6],"     \
    "\"of\":{\"mass\":0.5,\"shapes\":[{\"box\":{\"half_extents\":[0.2,0.2,0.2]}}]}}]"
#define RATE  "\"tick_rate\":30,"
#define EXACT "\"replication\":{\"sync\":\"inputs\"},"
#define JOINED                                                                                     \
    ",{\"name\":\"post\",\"type\":\"static\",\"position\":[8,1,0],\"shapes\":[{\"box\":{"          \
    "\"half_extents\":[0.1,1,0.1]}}]},{\"name\":\"arm\",\"position\":[8.5,1,0],\"mass\":1,"        \
    "\"shapes\":[{\"sphere\":{\"radius\":0.2}},{\"capsule\":{\"radius\":0.1,\"half_height\":0.3}}" \
    "]}"
#define MOTOR                                                                                      \
    ",\"joints\":[{\"name\":\"hub\",\"type\":\"hinge\",\"a\":\"post\",\"b\":\"arm\",\"anchor\":"   \
    "[8,1,0],\"axis\":[0,1,0],\"motor\":{\"velocity\":1,\"max_force\":5}}]}"

static const char *const scenes[] = {
    SCENE(RATE, "", "2") "}",
    SCENE(RATE EXACT, "", "2") "}",
    SCENE(RATE, JOINED, "1") MOTOR,
    SCENE(RATE EXACT, JOINED, "1") MOTOR,
    "{\"carom\":1,\"name\":\"hand\",\"module\":\"sandbox\",\"replication\":"
    "{\"position_step\":0.0005},\"solver\":{\"type\":\"volume\",\"stiffness\":1000,\"damping\":50},"
    "\"bodies\":[" GROUND ",{\"name\":\"hand\",\"type\":\"kinematic\",\"pointer\":{\"player\":0},"
    "\"position\":[-2,0.5,0],\"shapes\":[{\"box\":{\"half_extents\":[0.25,0.25,0.25]}}]},"
    "{\"name\":\"hand_2\",\"type\":\"kinematic\",\"pointer\":{\"player\":1},\"position\":[2,0.5,0],"
    "\"shapes\":[{\"box\":{\"half_extents\":[0.25,0.25,0.25]}}]},"
    "{\"name\":\"block\",\"position\":[0,0.5,0],\"mass\":1,\"shapes\":[{\"box\":{\"half_extents\":"
    "[0.5,0.5,1]}}]}]}",
    SCENE("", "", "20") "}",
};

void hostile_fail(hostile *h, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (h->what[0] == '\0') {
        vsnprintf(h->what, sizeof h->what, format, arguments);
    }
    va_end(arguments);
}

uint64_t hostile_done(const hostile *h)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < HOSTILE_KINDS; i++) {
        sum += h->counts->done[i];
    }
    return sum;
}

// Memory that is counted -------------------------------------------------------------------------

#define HEAD 16u // bytes before a block: its size

static void *take(void *context, size_t size)
{
    hostile *h = context;
    if (size > HOSTILE_MEMORY_MAX || h->memory + size > HOSTILE_MEMORY_MAX) {
        hostile_fail(h, "the client wants %zu bytes beside %zu", size, h->memory);
        return NULL;
    }
    uint8_t *block = malloc(HEAD + size);
    memcpy(block, &size, sizeof size);
    h->memory += size;
    if (h->memory > h->counts->memory_max) {
        h->counts->memory_max = h->memory;
    }
    return block + HEAD;
}

static void give(void *context, void *memory)
{
    hostile *h = context;
    size_t size;
    if (memory == NULL) {
        return;
    }
    uint8_t *block = (uint8_t *)memory - HEAD;
    memcpy(&size, block, sizeof size);
    h->memory -= size;
    free(block);
}

// Making -----------------------------------------------------------------------------------------

static bool make_room(hostile *h)
{
    cm_scene_error error;
    static const uint8_t turns[16] = {0, 1, 4, 0, 1, 2, 0, 1, 0, 1, 0, 3, 1, 0, 1, 0};
    const char *text = scenes[h->seed % 64 == 60 ? 5 : turns[h->seed % 16]];
    if (cm_scene_from_json(text, strlen(text), &h->scene, &error) != CAROM_OK) {
        hostile_fail(h, "%s: %s", error.path, error.message);
        return false;
    }
    cm_config_default(&h->config);
    snprintf(h->config.listen, sizeof h->config.listen, "127.0.0.1:%u", HOSTILE_PORT);
    h->config.insecure = true;
    h->config.grace_ms = 2000;
    h->config.rewind_ms = 50; // who joins waits for as long
    cm_worker_def def = {.random = cm_net_random,
                         .config = &h->config,
                         .scene = h->scene,
                         .seed = h->seed,
                         .now_us = cm_net_now_us(h->net)};
    return cm_worker_create(&def, &h->worker, h->what, sizeof h->what) == CAROM_OK;
}

static void hear(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size)
{
    hostile *h = user;
    uint32_t sum = (uint32_t)tick;
    for (uint32_t i = 0; i < size; i++) {
        sum += bytes[i];
    }
    h->counts->epochs += 0 * sum;
}

static void see_notice(void *user, const carom_client_notice *notice)
{
    hear(user, 0, (const uint8_t *)notice->text, (uint32_t)strlen(notice->text));
}

static void see_rooms(void *user, const carom_client_room_row *rows, uint32_t count)
{
    hear(user, 0, (const uint8_t *)rows, (uint32_t)(count * sizeof *rows));
}

static void see_event(void *user, carom_event_phase phase, const carom_event *event, uint64_t tick)
{
    (void)phase;
    hear(user, tick, event->bytes, event->size);
}

static void see_body(void *user, const carom_client_body_change *change)
{
    hear(user, 0, (const uint8_t *)change, sizeof *change);
}

static carom_client *make_client(hostile *h, bool attacked)
{
    carom_client *client = NULL;
    carom_client_def def = carom_default_client_def();
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    def.user = h;
    if (attacked) {
        def.allocator = (carom_allocator){h, take, give};
        def.predict = cm_rng_below(&h->rng, 4) != 0;
        def.connect_timeout_ms = 400;
        def.timeout_ms = 1500;
        def.unstable_ms = 200;
        def.message = hear;
        def.unreliable = hear;
        def.notice = see_notice;
        def.rooms = see_rooms;
        def.event = see_event;
        def.body_changed = see_body;
    }
    if (carom_client_create(&def, &client) != CAROM_OK) {
        hostile_fail(h, "no client");
        return NULL;
    }
    if (attacked) {
        client->open_link = hostile_line_open;
        const carom_pointer_device device = {.period = 0.004f, .mass = 0.1f, .damping = 5.0f};
        (void)carom_client_pointer_device(client, &device);
    }
    return client;
}

// A turn -----------------------------------------------------------------------------------------

static void drive(hostile *h, carom_client *client)
{
    uint8_t input[9] = {0};
    float x = cm_rng_range(&h->rng, -1.0f, 1.0f), z = cm_rng_range(&h->rng, -1.0f, 1.0f);
    memcpy(input, &x, sizeof x);
    memcpy(input + 4, &z, sizeof z);
    input[8] = (uint8_t)cm_rng_below(&h->rng, 4);
    (void)carom_client_set_input(client, input, sizeof input);
    const carom_pointer_pose pose = {.position = {0.5f * x, 0.6f, 0.5f * z},
                                     .orientation = {0.0f, 0.0f, 0.0f, 1.0f}};
    (void)carom_client_pointer_set(client, &pose);
    if (cm_rng_below(&h->rng, 32) == 0) {
        (void)carom_client_send(client, input, sizeof input);
        (void)carom_client_send_unreliable(client, input, sizeof input);
        (void)carom_client_ask_rooms(client);
    }
}

// As a game draws.
static void draw(hostile *h, carom_client *client)
{
    static carom_client_transform rows[ROWS];
    carom_pointer_wrench wrench;
    carom_client_roster_row roster[8];
    uint32_t size;
    uint32_t count = carom_client_transforms(client, rows, ROWS);
    for (uint32_t i = 0; i < count && i < ROWS; i++) {
        carom_client_pose pose;
        (void)carom_client_body_pose(client, rows[i].body, &pose);
    }
    (void)carom_client_roster(client, roster, 8);
    (void)carom_client_predicted_state(client, &size);
    if (carom_client_pointer_wrench(client, &wrench) == CAROM_OK &&
        !(wrench.force.x - wrench.force.x == 0.0f)) {
        hostile_fail(h, "a force that is no number is rendered");
    }
}

static uint64_t processor_us(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (uint64_t)used.ru_utime.tv_sec * 1000000u + (uint64_t)used.ru_utime.tv_usec;
}

// What does not come back is ended by a signal: then the last line printed names the session.
static void watch(uint32_t seconds)
{
    const struct itimerval timer = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static void update(hostile *h, uint64_t now)
{
    uint64_t from = processor_us(), steps = 0;
    uint8_t epoch = h->client->mirror != NULL ? h->client->mirror->epoch : 0;
    if (h->client->predictor != NULL) {
        steps = h->client->predictor->stats.steps;
    }
    if (h->patience > 0 && h->client->viewed) {
        h->patience--;
    }
    watch(HOSTILE_UPDATE_S);
    carom_client_update(h->client, now);
    draw(h, h->client);
    watch(0);
    uint64_t took = processor_us() - from;
    h->counts->update_us_max = took > h->counts->update_us_max ? took : h->counts->update_us_max;
    h->counts->epochs += h->client->mirror != NULL && h->client->mirror->epoch != epoch;
    if (h->client->predictor != NULL && h->client->predictor->stats.steps > steps + STEPS * 512u) {
        hostile_fail(h, "%llu steps in an update",
                     (unsigned long long)(h->client->predictor->stats.steps - steps));
    }
}

static void note_end(hostile *h)
{
    carom_client_stats stats;
    carom_client_stats_get(h->client, &stats);
    carom_reason reason = carom_client_get_reason(h->client);
    if (reason <= CAROM_REASON_NONE || reason >= CAROM_REASON_COUNT) {
        hostile_fail(h, "it ended without a reason");
        return;
    }
    h->counts->ended[reason]++;
    h->counts->joins += stats.views > 0;
    h->counts->comebacks += stats.comebacks;
    h->counts->desyncs += stats.desyncs;
    h->counts->refused += stats.packets_refused;
    h->counts->views += stats.view_packets;
    h->counts->steps += stats.predicted_steps;
}

static void connect_again(hostile *h, uint64_t now)
{
    if (cm_rng_below(&h->rng, RENEWED) == 0) {
        carom_client_destroy(h->client);
        if (h->memory != 0) {
            hostile_fail(h, "the client kept %zu bytes", h->memory);
        }
        h->client = make_client(h, true);
    }
    hostile_line_begin(h);
    if (h->client == NULL ||
        carom_client_connect(h->client, "127.0.0.1", HOSTILE_PORT, now) != CAROM_OK) {
        hostile_fail(h, "it does not connect again");
    }
}

static void turn(hostile *h)
{
    cm_net_advance(h->net, STEP_US);
    uint64_t now = cm_net_now_us(h->net);
    cm_worker_run_once(h->worker, now);
    if (now / STEP_US % 3 == 0) {
        drive(h, h->other);
        carom_client_update(h->other, now);
    }
    if (carom_client_get_state(h->client) == CAROM_CLIENT_IDLE) {
        connect_again(h, now);
    }
    if (now > h->redraw_us) { // nothing is left that this connection meets
        hostile_line_begin(h);
    }
    if (h->client != NULL && now / STEP_US % 2 == 0) {
        bool was_open = h->client->link != NULL;
        drive(h, h->client);
        update(h, now);
        if (was_open && h->client->link == NULL) {
            note_end(h);
        }
    }
}

static bool plays(const carom_client *client)
{
    return carom_client_get_state(client) == CAROM_CLIENT_PLAYING;
}

// Who was not touched noticed nothing, and the room goes on.
static void judge(hostile *h)
{
    carom_client_stats before, after;
    cm_room *room = cm_hosted_room_room(cm_worker_room_at(h->worker, 0));
    uint64_t tick = cm_room_tick(room);
    carom_client_stats_get(h->other, &before);
    h->wanted = 0; // no more
    for (uint32_t i = 0; i < 250 && h->what[0] == '\0'; i++) {
        turn(h);
    }
    carom_client_stats_get(h->other, &after);
    if (!plays(h->other) || after.views < before.views + 3 || after.desyncs > 0 ||
        after.packets_refused > 0 || after.comebacks > 0) {
        hostile_fail(h, "the client that was not touched noticed");
    } else if (cm_room_tick(room) < tick + 50) {
        hostile_fail(h, "the room stands");
    }
}

static void run(hostile *h)
{
    uint64_t now = cm_net_now_us(h->net);
    if (carom_client_connect(h->other, "127.0.0.1", HOSTILE_PORT, now) != CAROM_OK) {
        hostile_fail(h, "the first client does not connect");
    }
    while (h->what[0] == '\0' && !plays(h->other)) {
        cm_net_advance(h->net, STEP_US);
        cm_worker_run_once(h->worker, cm_net_now_us(h->net));
        carom_client_update(h->other, cm_net_now_us(h->net));
        if (cm_net_now_us(h->net) > now + JOIN_US) {
            hostile_fail(h, "the first client does not get in");
        }
    }
    while (h->what[0] == '\0' && hostile_done(h) < h->wanted) {
        turn(h);
    }
    if (h->what[0] == '\0') {
        judge(h);
    }
}

void hostile_session(uint64_t seed, uint64_t wanted, hostile_counts *counts, char what[256])
{
    hostile *h = calloc(1, sizeof *h);
    h->seed = seed;
    h->counts = counts;
    h->net = cm_net_virtual_create(seed);
    h->wanted = hostile_done(h) + wanted;
    cm_rng_seed(&h->rng, seed);
    cm_net_use(h->net);
    if (make_room(h)) {
        const cm_link_def link = {.latency_us = 2000};
        cm_net_link_port(h->net, HOSTILE_PORT, &link);
        h->other = make_client(h, false);
        h->client = make_client(h, true);
        if (h->other != NULL && h->client != NULL) {
            run(h);
        }
    }
    carom_client_destroy(h->client);
    if (h->memory != 0) {
        hostile_fail(h, "the client kept %zu bytes", h->memory);
    }
    carom_client_destroy(h->other);
    cm_worker_destroy(h->worker);
    if (h->scene != NULL) {
        cm_scene_free(h->scene);
    }
    hostile_line_forget(h);
    cm_net_destroy(h->net);
    cm_net_use(NULL);
    memcpy(what, h->what, sizeof h->what);
    free(h);
}
