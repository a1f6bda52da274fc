// Goal: a worker refuses what it must, counts it, and goes on: malformed datagrams, a missing
// hello, floods, other versions, a full room, a drain; and two runs from the same seed and
// datagrams are the same run. Method: a worker on the virtual net against a bare ENet client and
// raw datagrams, in virtual time.
#include "server/node/worker.h"

#include <criterion/criterion.h>
#include <math.h>
#include <enet/enet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client-sdk/src/link.h"
#include "server/ops/log.h"
#include "server/session/session.h"
#include "shared/base/rng.h"
#include "shared/net/net.h"
#include "shared/scene/scene_json.h"
#include "shared/wire/control.h"
#include "shared/wire/packet.h"
#include "tests/unit/node/rig.h"

#define PORT 9400

typedef struct bench {
    cm_net *net;
    cm_scene *scene;
    cm_config config;
    cm_worker *worker;
    char log[8192];
} bench;

static void keep_log(void *user, int level, const char *json_line)
{
    bench *b = user;
    size_t used = strlen(b->log);
    (void)level;
    snprintf(b->log + used, sizeof b->log - used, "%s\n", json_line);
}

static bool has_log(const bench *b, const char *event, const char *reason)
{
    char start[128], end[128];
    snprintf(start, sizeof start, "\"event\":\"%s\"", event);
    snprintf(end, sizeof end, "\"reason\":\"%s\"}\n", reason);
    const char *at = strstr(b->log, start);
    const char *stop = at != NULL ? strchr(at, '\n') : NULL;
    const char *found = at != NULL ? strstr(at, end) : NULL;
    return found != NULL && found < stop;
}

typedef struct bare_client {
    cm_transport *link;
    bool connected, ended;
    uint32_t welcomes, refusals, goodbyes, views, messages;
    carom_reason reason; // of the last refusal or goodbye
    uint64_t tick;       // of the welcome
    uint32_t newest_view;
} bare_client;

static void open_bench(bench *b, uint64_t seed)
{
    memset(b, 0, sizeof *b);
    b->net = cm_net_virtual_create(seed);
    cm_net_use(b->net);
    b->scene = rig_scene(3);
    cm_config_default(&b->config);
    b->config.insecure = true;
    b->config.max_players = 2;
    cm_worker_def def = {.random = cm_net_random,
                         .config = &b->config,
                         .scene = b->scene,
                         .seed = seed,
                         .now_us = cm_net_now_us(b->net),
                         .log = keep_log,
                         .user = b};
    char error[256] = "";
    cr_assert_eq(cm_worker_create(&def, &b->worker, error, sizeof error), CAROM_OK, "%s", error);
    cr_assert_eq(cm_worker_port(b->worker), PORT);
}

static void close_bench(bench *b)
{
    cm_worker_destroy(b->worker);
    cm_scene_free(b->scene);
    cm_net_destroy(b->net);
    cm_net_use(NULL);
}

static void dial(bare_client *c)
{
    memset(c, 0, sizeof *c);
    c->link = rig_dial(PORT, NULL);
}

static void hang_up(bare_client *c)
{
    cm_transport_destroy(c->link, CAROM_REASON_NONE);
}

static void take_control(bare_client *c, const cm_transport_event *event)
{
    cm_control *control = NULL;
    cr_assert_eq(cm_control_decode(event->bytes, event->size, false, NULL, &control), CAROM_OK);
    c->welcomes += control->type == CM_CONTROL_WELCOME;
    c->refusals += control->type == CM_CONTROL_REFUSED;
    c->goodbyes += control->type == CM_CONTROL_GOODBYE;
    c->messages += control->type == CM_CONTROL_GAME_MESSAGE;
    if (control->type == CM_CONTROL_WELCOME) {
        c->tick = control->tick;
    } else {
        c->reason = control->reason;
    }
    cm_control_free(NULL, control);
}

static void pump_client(bare_client *c)
{
    cm_transport_event event;
    while (cm_transport_poll(c->link, &event)) {
        if (event.type == CM_TRANSPORT_OPENED) {
            c->connected = true;
        } else if (event.type == CM_TRANSPORT_CLOSED) {
            c->ended = true;
        } else if (event.kind == CM_SEND_CONTROL) {
            take_control(c, &event);
        } else {
            c->views++;
            memcpy(&c->newest_view, event.bytes + 4, 4);
        }
    }
    cm_transport_flush(c->link);
}

// Lets virtual time pass.
static void run(bench *b, bare_client *c, uint32_t count, uint32_t ms)
{
    for (uint32_t i = 0; i < ms; i++) {
        cm_net_advance(b->net, 1000);
        cm_worker_run_once(b->worker, cm_net_now_us(b->net));
        for (uint32_t n = 0; n < count; n++) {
            pump_client(&c[n]);
        }
    }
}

static void send_bytes(bare_client *c, uint8_t channel, const void *bytes, size_t size)
{
    cm_transport_send(c->link, CM_CONNECTION_ONLY, channel == 0 ? CM_SEND_COUNTED : CM_SEND_PACKET,
                      bytes, size);
}

static void send_control(bare_client *c, const cm_control *control)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    cr_assert_eq(cm_control_encode(control, NULL, &bytes, &size), CAROM_OK);
    send_bytes(c, 0, bytes, size);
    cm_control_release_bytes(NULL, bytes);
}

static cm_control hello(void)
{
    cm_control control = {.type = CM_CONTROL_HELLO,
                          .protocol = CM_PROTOCOL_VERSION,
                          .engine = CAROM_ENGINE_VERSION,
                          .name = "bare"};
    return control;
}

static void join(bench *b, bare_client *c)
{
    dial(c);
    run(b, c, 1, 50);
    cr_assert(c->connected);
    cm_control control = hello();
    send_control(c, &control);
    run(b, c, 1, 100);
    // Others who say nothing might still: then the answer is final when their time for it is over.
    for (uint32_t i = 0; i < 10 && c->welcomes == 0; i++) {
        run(b, c, 1, 20);
    }
    cr_assert_eq(c->welcomes, 1);
}

static void send_input(bare_client *c, uint64_t tick, float x)
{
    cm_input_packet packet;
    memset(&packet, 0, sizeof packet);
    packet.newest_tick = (uint32_t)tick;
    packet.count = 1;
    rig_input(packet.inputs[0], x, 0, 0);
    uint8_t bytes[CM_PACKET_MAX];
    size_t size = cm_input_packet_write(&packet, RIG_INPUT_SIZE, bytes, sizeof bytes);
    send_bytes(c, 1, bytes, size);
}

static cm_worker_stats stats_of(const bench *b)
{
    cm_worker_stats stats;
    cm_worker_stats_get(b->worker, &stats);
    return stats;
}

Test(worker, a_client_joins_and_gets_views)
{
    bench b;
    bare_client c;
    open_bench(&b, 1);
    join(&b, &c);
    run(&b, &c, 1, 1000);
    cr_assert_geq(c.views, 4);
    cr_assert_geq(c.newest_view, 60);
    cm_worker_stats stats = stats_of(&b);
    cr_assert_eq(stats.players, 1);
    cr_assert_eq(stats.datagrams_refused, 0);
    cm_view_body body;
    cr_assert(cm_hosted_room_view_at(cm_worker_room_at(b.worker, 0), stats.tick, 1, true, &body));
    cr_assert(
        !cm_hosted_room_view_at(cm_worker_room_at(b.worker, 0), stats.tick + 1, 1, true, &body));
    cm_transport_close(c.link, CM_CONNECTION_ONLY, CAROM_REASON_NONE, CM_CLOSE_AFTER_ALL);
    run(&b, &c, 1, 200);
    cr_assert_eq(stats_of(&b).players, 0);
    cr_assert_eq(stats_of(&b).peers, 0);
    hang_up(&c);
    close_bench(&b);
}

Test(worker, inputs_are_taken_late_ones_rewind_old_ones_are_refused)
{
    bench b;
    bare_client c;
    open_bench(&b, 2);
    join(&b, &c);
    run(&b, &c, 1, 500);
    uint64_t tick = stats_of(&b).tick;
    send_input(&c, tick + 10, 1);
    send_input(&c, tick - 3, 0.5f);
    send_input(&c, tick - 30, 0.5f);
    run(&b, &c, 1, 100);
    cm_worker_stats stats = stats_of(&b);
    cr_assert_eq(stats.inputs, 2);
    cr_assert_eq(stats.late_inputs, 1);
    cr_assert_eq(stats.rewinds, 1);
    cr_assert_geq(stats.rewound_ticks, 4);
    hang_up(&c);
    close_bench(&b);
}

// Hashes of the room while a client sends what no client would, or nothing.
static void play_badly(bool badly, uint64_t hashes[20], cm_worker_stats *stats)
{
    bench b;
    bare_client c;
    open_bench(&b, 12);
    join(&b, &c);
    run(&b, &c, 1, 1500);
    for (uint32_t i = 0; i < 20; i++) {
        uint64_t tick = stats_of(&b).tick;
        if (badly) {
            send_input(&c, tick + 3, NAN);
            send_input(&c, tick + 4, INFINITY);
            send_input(&c, tick + 5, -INFINITY);
            send_input(&c, 0, 1);
            send_input(&c, tick - 60, 1);
            send_input(&c, tick + 100000, 1);
            send_input(&c, UINT32_MAX, 1);
        }
        run(&b, &c, 1, 100);
        hashes[i] = stats_of(&b).room_hash;
    }
    *stats = stats_of(&b);
    cr_assert_eq(stats->players, 1, "too few to be a flood");
    hang_up(&c);
    close_bench(&b);
}

// Numbers that are none, ticks long gone or far ahead: each refused and counted, and the room is
// what it is without them. (Somebody else's input cannot be said: a packet names no player.)
Test(worker, inputs_of_an_enemy_change_nothing)
{
    uint64_t idle[20], bad[20];
    cm_worker_stats stats;
    play_badly(false, idle, &stats);
    cr_assert_eq(stats.refused_inputs, 0);
    play_badly(true, bad, &stats);
    cr_assert_arr_eq(idle, bad, sizeof idle);
    cr_assert_eq(stats.inputs, 0);
    cr_assert_eq(stats.rewinds, 0);
    cr_assert_eq(stats.refused_inputs, 5 * 20, "%llu: all but what is older than the newest",
                 (unsigned long long)stats.refused_inputs);
}

Test(worker, malformed_datagrams_are_counted_and_dropped)
{
    bench b;
    bare_client c;
    open_bench(&b, 3);
    join(&b, &c);
    static const uint8_t one[1] = {0};
    static uint8_t large[5000]; // ENet's buffer has 4,096, and it takes an empty one for none
    static const uint8_t compressed[40] = {0x40};
    static const uint8_t connects[52] = {0x8f, 0xff, 0, 0, 0x81};
    static const uint8_t peer[20] = {0x0e, 0xee};
    const struct {
        const void *bytes;
        size_t size;
    } cases[] = {{one, 1},       {one, 0},       {large, 3000}, {large, 5000},
                 {connects, 52}, {connects, 51}, {peer, 20},    {compressed, 40}};
    ENetSocket raw = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    ENetAddress address = {htonl(0x7f000001), PORT};
    size_t count = sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < count; i++) {
        ENetBuffer buffer = {(void *)(uintptr_t)cases[i].bytes, cases[i].size};
        enet_socket_send(raw, &address, &buffer, 1);
    }
    run(&b, &c, 1, 50);
    cr_assert_eq(stats_of(&b).datagrams_refused, count);
    cr_assert_eq(stats_of(&b).refused[CM_DATAGRAM_SHORT], 2);
    cr_assert_eq(stats_of(&b).refused[CM_DATAGRAM_LONG], 2);
    cr_assert_eq(stats_of(&b).peers, 1);
    uint32_t views = c.views;
    run(&b, &c, 1, 500);
    cr_assert_gt(c.views, views, "the loop goes on");
    enet_socket_destroy(raw);
    hang_up(&c);
    close_bench(&b);
}

Test(worker, random_datagrams_do_no_harm)
{
    bench b;
    bare_client c;
    open_bench(&b, 13);
    join(&b, &c);
    cm_rng rng;
    cm_rng_seed(&rng, 5);
    ENetSocket raw = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    ENetAddress address = {htonl(0x7f000001), PORT};
    for (uint32_t i = 0; i < 20000; i++) {
        uint8_t bytes[160];
        for (uint32_t n = 0; n < sizeof bytes; n++) {
            bytes[n] = (uint8_t)cm_rng_next(&rng);
        }
        // Half of them look like commands to one of the first peers.
        if (cm_rng_below(&rng, 2) == 0) {
            bytes[0] &= 0x80;
            bytes[1] &= 3;
            bytes[4] &= 0x8f;
        }
        ENetBuffer buffer = {bytes, 1 + cm_rng_below(&rng, sizeof bytes)};
        enet_socket_send(raw, &address, &buffer, 1);
        if (i % 50 == 0) {
            run(&b, &c, 1, 2);
        }
    }
    run(&b, &c, 1, 1000);
    cr_assert_gt(stats_of(&b).datagrams_refused, 1000);
    cr_assert_eq(stats_of(&b).players, 1);
    cr_assert(!c.ended);
    uint32_t views = c.views;
    run(&b, &c, 1, 1000);
    cr_assert_gt(c.views, views);
    enet_socket_destroy(raw);
    hang_up(&c);
    close_bench(&b);
}

Test(worker, malformed_packets_are_counted_by_reason_and_end_it_sometime)
{
    bench b;
    bare_client c;
    open_bench(&b, 4);
    join(&b, &c);
    static const uint8_t rubbish[20] = {9, 9, 9};
    for (uint32_t i = 0; i < 10; i++) {
        send_bytes(&c, 1, rubbish, 20);
    }
    run(&b, &c, 1, 50);
    cr_assert_eq(stats_of(&b).packet_reasons[CM_PACKET_TYPE], 10);
    cr_assert_eq(c.goodbyes, 0);
    for (uint32_t i = 0; i < CM_SESSION_MALFORMED; i++) {
        send_bytes(&c, 1, rubbish, 20);
        run(&b, &c, 1, 20);
    }
    cr_assert_eq(c.goodbyes, 1);
    cr_assert_eq(c.reason, CAROM_REASON_MALFORMED);
    hang_up(&c);
    close_bench(&b);
}

Test(worker, a_malformed_control_message_ends_it)
{
    bench b;
    bare_client c;
    open_bench(&b, 5);
    dial(&c);
    run(&b, &c, 1, 50);
    send_bytes(&c, 0, "rubbish!", 8);
    run(&b, &c, 1, 300);
    cr_assert_eq(c.refusals, 1);
    cr_assert_eq(c.reason, CAROM_REASON_MALFORMED);
    cr_assert(c.ended, "and the connection ends by itself");
    cr_assert_eq(stats_of(&b).peers, 0);
    hang_up(&c);
    close_bench(&b);
}

// A client leaves by ENet's disconnect; Goodbye is the server's alone.
Test(worker, a_goodbye_of_a_client_is_malformed)
{
    bench b;
    bare_client c;
    open_bench(&b, 14);
    join(&b, &c);
    cm_control goodbye = {.type = CM_CONTROL_GOODBYE, .reason = CAROM_REASON_LEFT};
    send_control(&c, &goodbye);
    run(&b, &c, 1, 300);
    cr_assert_eq(c.goodbyes, 1);
    cr_assert_eq(c.reason, CAROM_REASON_MALFORMED);
    cr_assert_eq(stats_of(&b).players, 0);
    cr_assert(has_log(&b, "player left", "a message could not be understood"), "%s", b.log);
    hang_up(&c);
    close_bench(&b);
}

// Whoever leaves, and however: the log says who and why.
Test(worker, a_leave_is_logged_with_its_reason)
{
    bench b;
    bare_client c;
    open_bench(&b, 15);
    join(&b, &c);
    cm_transport_close(c.link, CM_CONNECTION_ONLY, CAROM_REASON_LEFT, CM_CLOSE_AFTER_ALL);
    run(&b, &c, 1, 200);
    cr_assert(has_log(&b, "player left", "the client left"), "%s", b.log);
    cr_assert_not_null(strstr(b.log, "\"player\":0,\"name\":\"bare\""), "%s", b.log);
    hang_up(&c);
    b.log[0] = '\0';
    join(&b, &c);
    static const uint32_t not_his[] = {0xffffffffu, CAROM_REASON_TIMEOUT}; // unknown; the server's
    for (size_t i = 0; i < 2; i++) {
        cm_transport_close(c.link, CM_CONNECTION_ONLY, not_his[i], CM_CLOSE_AFTER_ALL);
        run(&b, &c, 1, 200);
        cr_assert(has_log(&b, "player left", "none"), "%s", b.log);
        hang_up(&c);
        b.log[0] = '\0';
        join(&b, &c);
    }
    cm_net_partition(b.net, PORT, true);
    run(&b, &c, 1, 17000);
    cr_assert(has_log(&b, "player left", "nothing was heard for too long"), "%s", b.log);
    hang_up(&c);
    close_bench(&b);
}

Test(worker, a_packet_before_the_hello_ends_it_and_counts)
{
    bench b;
    bare_client c;
    open_bench(&b, 15);
    dial(&c);
    run(&b, &c, 1, 50);
    send_input(&c, 5, 1);
    run(&b, &c, 1, 300);
    cr_assert_eq(c.refusals, 1);
    cr_assert_eq(c.reason, CAROM_REASON_HELLO_EXPECTED);
    cr_assert(c.ended);
    cr_assert_eq(stats_of(&b).datagrams_refused, 1);
    cr_assert_eq(stats_of(&b).peers, 0);
    hang_up(&c);
    close_bench(&b);
}

// What a client asks for and is not there is refused by its name: the server has met no error.
Test(worker, a_bad_hello_is_not_the_servers_error)
{
    bench b;
    bare_client c;
    open_bench(&b, 16);
    dial(&c);
    run(&b, &c, 1, 50);
    cm_control control = hello();
    control.spectate = true;
    send_control(&c, &control);
    run(&b, &c, 1, 300);
    cr_assert_eq(c.refusals, 1);
    cr_assert_eq(c.reason, CAROM_REASON_NO_SPECTATORS);
    hang_up(&c);
    // A name that no client of ours would send: hello {protocol, engine, name: ESC [ 2 J}.
    const uint8_t bytes[] = {
        0x0a, 0x0a, 0x08, CM_PROTOCOL_VERSION, 0x10, CAROM_ENGINE_VERSION, 0x1a, 0x04, 0x1b,
        '[',  '2',  'J'};
    dial(&c);
    run(&b, &c, 1, 50);
    send_bytes(&c, 0, bytes, sizeof bytes);
    run(&b, &c, 1, 300);
    cr_assert_eq(c.refusals, 1);
    cr_assert_eq(c.reason, CAROM_REASON_MALFORMED);
    hang_up(&c);
    close_bench(&b);
}

Test(worker, without_a_hello_the_slot_is_free_again)
{
    bench b;
    bare_client c;
    open_bench(&b, 6);
    dial(&c);
    run(&b, &c, 1, 4900);
    cr_assert_eq(c.refusals, 0);
    run(&b, &c, 1, 500);
    cr_assert_eq(c.refusals, 1);
    cr_assert_eq(c.reason, CAROM_REASON_HELLO_EXPECTED);
    cr_assert(c.ended);
    cr_assert_eq(stats_of(&b).peers, 0);
    hang_up(&c);
    close_bench(&b);
}

// Silence ends a client, and only silence: ENet itself would give one up whose reliable message was
// repeated in vain, each time later, through a cut that is long over.
Test(worker, silence_ends_a_client_a_healed_cut_does_not)
{
    bench b;
    open_bench(&b, 12);
    bare_client c;
    join(&b, &c);
    cm_net_partition(b.net, PORT, true);
    run(&b, &c, 1, 8000);
    cr_assert_eq(stats_of(&b).peers, 1);
    cm_net_partition(b.net, PORT, false);
    for (int i = 0; i < 150; i++) {
        send_input(&c, stats_of(&b).tick + 4, 0.0f);
        run(&b, &c, 1, 100);
    }
    cr_assert_eq(stats_of(&b).peers, 1, "8 s of silence, then 15 s in touch");
    cr_assert_not(c.ended);
    cm_net_partition(b.net, PORT, true);
    run(&b, &c, 1, 17000);
    cr_assert_eq(stats_of(&b).peers, 0, "17 s of silence");
    hang_up(&c);
    close_bench(&b);
}

Test(worker, floods_are_kicked)
{
    bench b;
    bare_client c;
    open_bench(&b, 7);
    join(&b, &c);
    uint64_t tick = stats_of(&b).tick;
    for (uint32_t i = 0; i < 6000; i++) { // above all that waits after a stall
        send_input(&c, tick + i % 60, 1);
        if (i % 20 == 0) {
            run(&b, &c, 1, 1);
        }
    }
    run(&b, &c, 1, 300);
    cr_assert_eq(c.goodbyes, 1);
    cr_assert_eq(c.reason, CAROM_REASON_FLOOD);
    cr_assert_eq(stats_of(&b).players, 0);
    hang_up(&c);
    close_bench(&b);
}

Test(worker, refusals_have_their_reason)
{
    bench b;
    bare_client c[4];
    open_bench(&b, 8);
    join(&b, &c[0]);
    join(&b, &c[1]);
    dial(&c[2]);
    dial(&c[3]);
    run(&b, c, 4, 50);
    cm_control full = hello(), other = hello();
    other.protocol = CM_PROTOCOL_VERSION + 1;
    send_control(&c[2], &full);
    send_control(&c[3], &other);
    run(&b, c, 4, 300);
    cr_assert_eq(c[2].refusals, 1);
    cr_assert_eq(c[2].reason, CAROM_REASON_ROOM_FULL);
    cr_assert(c[2].ended);
    cr_assert_eq(c[3].refusals, 1);
    cr_assert_eq(c[3].reason, CAROM_REASON_PROTOCOL_VERSION);
    cr_assert(has_log(&b, "client refused", "no free player slot"), "%s", b.log);
    cr_assert_eq(stats_of(&b).players, 2);
    for (uint32_t i = 0; i < 4; i++) {
        hang_up(&c[i]);
    }
    close_bench(&b);
}

Test(worker, a_drain_says_goodbye_and_lets_nobody_in)
{
    bench b;
    bare_client c[2];
    open_bench(&b, 9);
    join(&b, &c[0]);
    dial(&c[1]);
    run(&b, c, 2, 50);
    uint64_t tick = stats_of(&b).tick;
    cm_worker_drain(b.worker, cm_net_now_us(b.net));
    run(&b, c, 2, 100);
    cr_assert_eq(c[0].goodbyes, 1);
    cr_assert_eq(c[0].reason, CAROM_REASON_DRAINING);
    cr_assert_eq(c[1].refusals, 1);
    cr_assert_eq(c[1].reason, CAROM_REASON_DRAINING);
    run(&b, c, 2, 2500);
    cr_assert(cm_worker_drained(b.worker));
    cr_assert_eq(stats_of(&b).tick, tick, "the match is over");
    cr_assert(has_log(&b, "player left", "the server is shutting down"), "%s", b.log);
    hang_up(&c[0]);
    hang_up(&c[1]);
    close_bench(&b);
}

Test(worker, a_pause_slows_the_clock_instead_of_spiralling)
{
    bench b;
    bare_client c;
    open_bench(&b, 10);
    join(&b, &c);
    uint64_t tick = stats_of(&b).tick;
    cm_net_advance(b.net, 2000000);
    cm_worker_run_once(b.worker, cm_net_now_us(b.net));
    cm_worker_stats stats = stats_of(&b);
    cr_assert_leq(stats.tick - tick, 8);
    cr_assert_geq(stats.ticks_behind, 100);
    tick = stats.tick;
    run(&b, &c, 1, 1000);
    stats = stats_of(&b);
    cr_assert_geq(stats.tick - tick, 58);
    cr_assert_leq(stats.tick - tick, 62);
    hang_up(&c);
    close_bench(&b);
}

static uint64_t play(uint64_t seed, uint64_t *trace)
{
    bench b;
    bare_client c;
    open_bench(&b, seed);
    join(&b, &c);
    for (uint32_t i = 0; i < 60; i++) {
        send_input(&c, stats_of(&b).tick - 2, (float)(i % 5) * 0.2f);
        run(&b, &c, 1, 20);
    }
    uint64_t hash = stats_of(&b).room_hash;
    *trace = cm_net_trace(b.net);
    cr_assert_gt(stats_of(&b).rewinds, 3);
    hang_up(&c);
    close_bench(&b);
    return hash;
}

Test(worker, the_same_seed_gives_the_same_run)
{
    uint64_t first, second, third;
    cr_assert_eq(play(11, &first), play(11, &second));
    cr_assert_eq(first, second);
    play(12, &third);
    cr_assert_neq(first, third);
}

static void count_alarms(void *user, int level, const char *json_line)
{
    uint32_t *alarms = user;
    *alarms += level == (int)CM_LOG_WARNING &&
               strstr(json_line, "contacts above the limit") != NULL &&
               strstr(json_line, "\"code\":\"contacts_cut\"") != NULL;
}

// Contacts above a scene's limit: counted, and said once a second.
Test(worker, contacts_above_the_limit_are_no_secret)
{
    static const char text[] =
        "{\"carom\": 1, \"module\": \"sandbox\", \"limits\": {\"contacts\": 2}, \"bodies\": ["
        " {\"type\": \"static\", \"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": "
        "0}}]}],"
        " \"arrays\": [{\"origin\": [0, 0.5, 0], \"count\": [4, 1, 1], \"spacing\": [2, 1, 1],"
        "  \"of\": {\"shapes\": [{\"box\": {\"half_extents\": [0.5, 0.5, 0.5]}}]}}]}";
    bench b;
    memset(&b, 0, sizeof b);
    b.net = cm_net_virtual_create(9);
    cm_net_use(b.net);
    cm_scene_error wrong;
    cr_assert_eq(cm_scene_from_json(text, sizeof text - 1, &b.scene, &wrong), CAROM_OK, "%s: %s",
                 wrong.path, wrong.message);
    cm_config_default(&b.config);
    b.config.insecure = true;
    uint32_t alarms = 0;
    cm_worker_def def = {.random = cm_net_random,
                         .config = &b.config,
                         .scene = b.scene,
                         .now_us = cm_net_now_us(b.net),
                         .log = count_alarms,
                         .user = &alarms};
    char error[256] = "";
    cr_assert_eq(cm_worker_create(&def, &b.worker, error, sizeof error), CAROM_OK, "%s", error);
    run(&b, NULL, 0, 3500);
    cr_assert_eq(alarms, 3);
    cr_assert_eq(stats_of(&b).log_counts[CAROM_LOG_CONTACTS_CUT], 2 * stats_of(&b).tick);
    cr_assert_eq(stats_of(&b).log_counts[CAROM_LOG_BODY_PUT_TO_REST], 0);
    close_bench(&b);
}

Test(worker, what_it_cannot_serve_it_says)
{
    bench b;
    memset(&b, 0, sizeof b);
    b.net = cm_net_virtual_create(1);
    cm_net_use(b.net);
    b.scene = rig_scene(2);
    cm_config_default(&b.config);
    cm_worker_def def = {
        .random = cm_net_random, .config = &b.config, .scene = b.scene, .now_us = 1};
    char error[256] = "";
    cr_assert_eq(cm_worker_create(&def, &b.worker, error, sizeof error), CAROM_ERROR_ARGUMENT);
    cr_assert(strstr(error, "--insecure") != NULL);
    b.config.insecure = true;
    strcpy(b.config.listen, "192.0.2.1:1");
    cr_assert_eq(cm_worker_create(&def, &b.worker, error, sizeof error), CAROM_ERROR_ARGUMENT);
    cr_assert(strstr(error, "loopback") != NULL);
    cm_scene_free(b.scene);
    cm_net_destroy(b.net);
    cm_net_use(NULL);
}
