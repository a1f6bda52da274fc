// Goal: sessions, rooms and the SDK talk by shared/transport/transport.h alone, and a connection
// that is over is nobody else's. Method: a room with its clients and publisher, and SDK clients,
// over the loopback, so without ENet, sockets or a net; and the same rules of names on a host of
// ENet's on the virtual net.
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <string.h>

#include "client-sdk/src/state.h"
#include "server/replicate/publisher.h"
#include "server/session/clients.h"
#include "server/transport/enet/net.h"
#include "tests/unit/transport/loopback.h"
#include "shared/net/net.h"
#include "tests/unit/node/rig.h"

#define STEP_US  4000u
#define PLAYERS  2u
#define PORT     9431
#define CAPACITY 4u

typedef struct house {
    cm_loopback *loopback;
    cm_scene *scene;
    cm_room_loop *loop;
    cm_roster roster;
    cm_publisher *publisher;
    cm_clients *clients;
    uint64_t now_us;
    carom_client *players[PLAYERS];
} house;

static house *present; // of the test that runs: a link is opened without a word of it

static carom_result open_link(const cm_client_link_def *def, cm_transport **link)
{
    (void)def;
    *link = cm_loopback_connect(present->loopback);
    return *link != NULL ? CAROM_OK : CAROM_ERROR_FULL;
}

static void chance(void *user, void *bytes, size_t size)
{
    (void)user;
    memset(bytes, 7, size);
}

static cm_roster *find_room(void *context, const cm_control *hello, const cm_token *token,
                            carom_reason *reason, uint16_t *port)
{
    house *h = context;
    (void)hello;
    (void)token;
    (void)reason;
    (void)port;
    return &h->roster;
}

static void open_house(house *h)
{
    char error[256] = "";
    memset(h, 0, sizeof *h);
    present = h;
    h->now_us = 1000000;
    h->loopback = cm_loopback_create(CAPACITY);
    h->scene = rig_scene(2);
    cm_room_loop_def loop = {.scene = h->scene,
                             .seed = 1,
                             .max_players = PLAYERS,
                             .rewind_ms = 133,
                             .now_us = h->now_us};
    cr_assert_eq(cm_room_loop_create(&loop, &h->loop, error, sizeof error), CAROM_OK, "%s", error);
    cm_roster_init(&h->roster, h->loop, 60);
    cm_transport *transport = cm_loopback_transport(h->loopback);
    cm_publisher_def publisher = {
        .transport = transport, .scene = h->scene, .input_rate = 60, .rewind_ms = 133};
    cr_assert_eq(cm_publisher_create(&publisher, cm_room_loop_room(h->loop), &h->publisher, error,
                                     sizeof error),
                 CAROM_OK, "%s", error);
    cm_clients_def clients = {.transport = transport, .find_room = find_room, .context = h};
    cm_rng_seed(&clients.rng, 8);
    h->clients = cm_clients_create(&clients);
}

static void close_house(house *h)
{
    for (uint32_t i = 0; i < PLAYERS; i++) {
        carom_client_destroy(h->players[i]);
    }
    cm_clients_destroy(h->clients);
    cm_publisher_destroy(h->publisher);
    cm_room_loop_destroy(h->loop);
    cm_scene_free(h->scene);
    cm_loopback_destroy(h->loopback);
}

static void run(house *h, uint32_t steps)
{
    for (uint32_t step = 0; step < steps; step++) {
        carom_reason reason;
        h->now_us += STEP_US;
        cm_clients_receive(h->clients, h->now_us, 0);
        cm_roster_turn(&h->roster, cm_loopback_transport(h->loopback), h->now_us, &(cm_log){0});
        cm_room_loop_begin(h->loop, h->now_us);
        while (cm_room_loop_step(h->loop)) {
            const cm_history_slot *slot;
            while ((slot = cm_room_loop_confirm(h->loop, false)) != NULL) {
                cm_publisher_messages(h->publisher, slot, &h->roster);
            }
            cr_assert_eq(
                cm_publisher_frame(h->publisher, cm_room_loop_room(h->loop), &h->roster, &reason),
                0);
        }
        uint8_t input[CAROM_INPUT_MAX];
        rig_input(input, step / 30 % 2 ? 1.0f : -1.0f, 0.0f, 0); // what rests has few views
        for (uint32_t i = 0; i < PLAYERS; i++) {
            (void)carom_client_set_input(h->players[i], input, RIG_INPUT_SIZE); // once it plays
            carom_client_update(h->players[i], h->now_us);
        }
    }
}

static void dial(house *h, uint32_t number)
{
    carom_client_def def = carom_default_client_def();
    def.random = chance;
    cr_assert_eq(carom_client_create(&def, &h->players[number]), CAROM_OK);
    h->players[number]->open_link = open_link;
    cr_assert_eq(carom_client_connect(h->players[number], "loopback", 1, h->now_us), CAROM_OK);
}

Test(loopback, rooms_and_clients_need_no_enet)
{
    house h;
    open_house(&h);
    dial(&h, 0);
    dial(&h, 1);
    run(&h, 400);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        carom_client_stats stats;
        carom_client_stats_get(h.players[i], &stats);
        cr_assert_eq(carom_client_get_state(h.players[i]), CAROM_CLIENT_PLAYING, "client %u", i);
        cr_assert_gt(stats.views, 20);
        cr_assert_gt(stats.inputs_sent, 20);
        cr_assert_eq(stats.packets_refused, 0);
        cr_assert_eq(stats.packets_lost, 0);
    }
    cm_clients_stats stats;
    cm_clients_stats_get(h.clients, &stats);
    cr_assert_eq(stats.datagrams_refused, 0);
    cr_assert_eq(cm_clients_playing(h.clients), PLAYERS);

    // One leaves, the other is sent away.
    carom_client_disconnect(h.players[0], h.now_us);
    run(&h, 50);
    cr_assert_eq(carom_client_get_state(h.players[0]), CAROM_CLIENT_IDLE);
    cr_assert_eq(carom_client_get_reason(h.players[0]), CAROM_REASON_LEFT);
    cr_assert_eq(cm_clients_playing(h.clients), 1);
    cm_clients_kick_all(h.clients, CAROM_REASON_KICKED);
    run(&h, 50);
    cr_assert_eq(carom_client_get_reason(h.players[1]), CAROM_REASON_KICKED);
    cr_assert_eq(cm_clients_connected(h.clients), 0);
    close_house(&h);
}

Test(loopback, messages_come_in_order_and_are_counted)
{
    cm_loopback *loopback = cm_loopback_create(1);
    cm_transport *server = cm_loopback_transport(loopback);
    cm_transport *client = cm_loopback_connect(loopback);
    cr_assert_not_null(client);
    cr_assert_null(cm_loopback_connect(loopback), "its one place is taken");
    cm_transport_event event;
    cr_assert(cm_transport_poll(server, &event));
    cr_assert_eq(event.type, CM_TRANSPORT_OPENED);
    cm_connection_id id = event.connection;
    for (uint8_t i = 0; i < 3; i++) {
        cr_assert(cm_transport_send(server, id, i == 1 ? CM_SEND_CONTROL : CM_SEND_COUNTED, &i, 1));
    }
    cm_transport_status status = cm_transport_status_of(server, id);
    cr_assert_eq(status.outstanding, 3);
    cr_assert_eq(status.sent, 2);
    cr_assert_eq(status.arrived, 0);
    cr_assert(cm_transport_poll(client, &event));
    cr_assert_eq(event.type, CM_TRANSPORT_OPENED);
    for (uint8_t i = 0; i < 3; i++) {
        cr_assert(cm_transport_poll(client, &event));
        cr_assert_eq(event.bytes[0], i);
        cr_assert_eq(event.kind, CM_SEND_CONTROL);
    }
    status = cm_transport_status_of(server, id);
    cr_assert_eq(status.outstanding, 0);
    cr_assert_eq(status.arrived, 2);
    cm_transport_destroy(client, CAROM_REASON_LEFT);
    cr_assert(cm_transport_poll(server, &event));
    cr_assert_eq(event.type, CM_TRANSPORT_CLOSED);
    cr_assert_eq(event.reason, CAROM_REASON_LEFT);
    cm_transport_destroy(server, CAROM_REASON_NONE);
}

// Names ------------------------------------------------------------------------------------------

// What both do: the place of a connection that was dropped is given to another one, and its name to
// nobody.
static void check_names(cm_transport *server, cm_connection_id old, cm_connection_id fresh)
{
    cr_assert_eq(old.index, fresh.index, "the case is not set up");
    cr_assert_neq(old.generation, fresh.generation);
    cr_assert_not(cm_transport_send(server, old, CM_SEND_CONTROL, "x", 1));
    cr_assert_not(cm_transport_send(server, (cm_connection_id){0}, CM_SEND_CONTROL, "x", 1));
    cr_assert_not(
        cm_transport_send(server, (cm_connection_id){CAPACITY, 1}, CM_SEND_CONTROL, "x", 1));
    cm_transport_close(server, old, CAROM_REASON_KICKED, CM_CLOSE_SILENTLY);
    cr_assert(cm_transport_send(server, fresh, CM_SEND_CONTROL, "y", 1), "it is another's");
    cr_assert_eq(cm_transport_status_of(server, old).outstanding, 0);
    cr_assert_eq(cm_transport_status_of(server, fresh).outstanding, 1);
}

Test(loopback, a_name_is_given_once)
{
    cm_loopback *loopback = cm_loopback_create(CAPACITY);
    cm_transport *server = cm_loopback_transport(loopback), *client[2];
    cm_transport_event event[2];
    for (uint32_t i = 0; i < 2; i++) {
        client[i] = cm_loopback_connect(loopback);
        cr_assert(cm_transport_poll(server, &event[i]));
        if (i == 0) {
            cm_transport_close(server, event[0].connection, CAROM_REASON_NONE, CM_CLOSE_SILENTLY);
        }
    }
    check_names(server, event[0].connection, event[1].connection);
    // Nor does the old client reach the new one's session.
    cr_assert_not(cm_transport_send(client[0], CM_CONNECTION_ONLY, CM_SEND_CONTROL, "x", 1));
    cm_transport_destroy(client[0], CAROM_REASON_LEFT);
    cr_assert_not(cm_transport_poll(server, &event[0]));
    cm_transport_destroy(client[1], CAROM_REASON_LEFT);
    cm_loopback_destroy(loopback);
}

// Until the server reports an event of a type.
static cm_connection_id wait_for(cm_net *net, cm_transport *server, cm_transport *client,
                                 cm_transport_event_type type)
{
    for (uint32_t i = 0; i < 1000; i++) {
        cm_transport_event event, heard;
        cm_net_advance(net, 1000);
        cm_transport_begin(server, cm_net_now_us(net), 0);
        while (cm_transport_poll(server, &event)) {
            if (event.type == type) {
                return event.connection;
            }
        }
        cm_transport_flush(server);
        while (cm_transport_poll(client, &heard)) {
        }
        cm_transport_flush(client);
    }
    cr_assert_fail("no event of type %d", (int)type);
    return (cm_connection_id){0};
}

Test(loopback, enet_gives_a_name_once)
{
    char error[256] = "";
    cm_net *net = cm_net_virtual_create(3);
    cm_net_use(net);
    cm_host_def def = {.listen = CM_ADDRESS_IPV4(127, 0, 0, 1, PORT),
                       .peers = CAPACITY,
                       .timeout_ms = 10000,
                       .seed = 1};
    cm_host *host = cm_host_create(&def, error, sizeof error);
    cr_assert_not_null(host, "%s", error);
    cm_transport *server = cm_host_transport(host), *client[2];
    cr_assert_eq(server->capacity, CAPACITY);
    client[0] = rig_dial(PORT, NULL);
    cm_connection_id old = wait_for(net, server, client[0], CM_TRANSPORT_OPENED);
    cm_transport_close(server, old, CAROM_REASON_NONE, CM_CLOSE_SILENTLY);
    cr_assert_not(cm_transport_send(server, old, CM_SEND_CONTROL, "x", 1));
    client[1] = rig_dial(PORT, NULL);
    cm_connection_id fresh = wait_for(net, server, client[1], CM_TRANSPORT_OPENED);
    check_names(server, old, fresh);
    cm_transport_destroy(client[0], CAROM_REASON_NONE);
    cm_transport_destroy(client[1], CAROM_REASON_NONE);
    cm_host_destroy(host);
    cm_net_use(NULL);
    cm_net_destroy(net);
}
