// Goal: room loop, clients and publisher are cut for many rooms: two rooms behind one socket, each
// with its own scene, players and views, neither hearing of the other; a hello that leads nowhere
// is refused with the reason given. Method: what a worker does, with two rooms by hand, and SDK
// clients on the virtual net, whose names say where they want to go.
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <string.h>

#include "carom/client.h"
#include "server/session/clients.h"
#include "server/replicate/publisher.h"
#include "server/transport/enet/net.h"
#include "shared/net/net.h"
#include "tests/unit/node/rig.h"

#define PORT    9420
#define PEERS   16u
#define STEP_US 4000u
#define ROOMS   2u
#define CLIENTS 4u

typedef struct small_room {
    cm_scene *scene;
    cm_room_loop *loop;
    cm_roster roster;
    cm_publisher *publisher;
} small_room;

typedef struct house {
    cm_net *net;
    cm_host *host;
    cm_clients *clients;
    small_room rooms[ROOMS];
    carom_client *players[CLIENTS];
} house;

static cm_roster *find_room(void *context, const cm_control *hello, const cm_token *token,
                            carom_reason *reason, uint16_t *port)
{
    (void)token;
    (void)port;
    house *h = context;
    *reason = CAROM_REASON_ROOM_ENDED;
    for (uint32_t i = 0; i < ROOMS; i++) {
        if (strcmp(hello->name, i == 0 ? "left" : "right") == 0) {
            return &h->rooms[i].roster;
        }
    }
    return NULL;
}

static void open_room(house *h, uint32_t number, uint32_t side)
{
    small_room *room = &h->rooms[number];
    char error[256] = "";
    room->scene = rig_scene(side);
    cm_room_loop_def loop = {.scene = room->scene,
                             .seed = 1 + number,
                             .max_players = 2,
                             .rewind_ms = 133,
                             .now_us = cm_net_now_us(h->net)};
    cr_assert_eq(cm_room_loop_create(&loop, &room->loop, error, sizeof error), CAROM_OK, "%s",
                 error);
    cm_roster_init(&room->roster, room->loop, 60);
    cm_publisher_def publisher = {.transport = cm_host_transport(h->host),
                                  .scene = room->scene,
                                  .input_rate = 60,
                                  .rewind_ms = 133};
    cr_assert_eq(cm_publisher_create(&publisher, cm_room_loop_room(room->loop), &room->publisher,
                                     error, sizeof error),
                 CAROM_OK, "%s", error);
}

static void open_house(house *h)
{
    memset(h, 0, sizeof *h);
    h->net = cm_net_virtual_create(4);
    cm_net_use(h->net);
    cm_host_def def = {.listen = CM_ADDRESS_IPV4(127, 0, 0, 1, PORT),
                       .peers = PEERS,
                       .timeout_ms = 10000,
                       .seed = 1};
    char error[256] = "";
    h->host = cm_host_create(&def, error, sizeof error);
    cr_assert_not_null(h->host, "%s", error);
    cm_clients_def clients = {
        .transport = cm_host_transport(h->host), .find_room = find_room, .context = h};
    cm_rng_seed(&clients.rng, 8);
    h->clients = cm_clients_create(&clients);
    open_room(h, 0, 1);
    open_room(h, 1, 3);
}

static void close_house(house *h)
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        carom_client_destroy(h->players[i]);
    }
    cm_clients_destroy(h->clients);
    for (uint32_t i = 0; i < ROOMS; i++) {
        cm_publisher_destroy(h->rooms[i].publisher);
        cm_room_loop_destroy(h->rooms[i].loop);
        cm_scene_free(h->rooms[i].scene);
    }
    cm_host_destroy(h->host);
    cm_net_use(NULL);
    cm_net_destroy(h->net);
}

static void turn(small_room *room, uint64_t now)
{
    cm_room_loop_begin(room->loop, now);
    while (cm_room_loop_step(room->loop)) {
        const cm_history_slot *slot;
        while ((slot = cm_room_loop_confirm(room->loop, false)) != NULL) {
            cm_publisher_messages(room->publisher, slot, &room->roster);
        }
        carom_reason reason;
        cr_assert_eq(cm_publisher_frame(room->publisher, cm_room_loop_room(room->loop),
                                        &room->roster, &reason),
                     0);
    }
}

static void run(house *h, double seconds)
{
    for (double at = 0.0; at < seconds; at += 1e-6 * STEP_US) {
        cm_net_advance(h->net, STEP_US);
        uint64_t now = cm_net_now_us(h->net);
        cm_clients_receive(h->clients, now, 0);
        for (uint32_t i = 0; i < ROOMS; i++) {
            turn(&h->rooms[i], now);
        }
        cm_transport_flush(cm_host_transport(h->host));
        for (uint32_t i = 0; i < CLIENTS; i++) {
            if (h->players[i] != NULL) {
                carom_client_update(h->players[i], now);
            }
        }
    }
}

static void dial(house *h, uint32_t number, const char *room)
{
    carom_client_def def = carom_default_client_def();
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    def.name = room;
    cr_assert_eq(carom_client_create(&def, &h->players[number]), CAROM_OK);
    cr_assert_eq(carom_client_connect(h->players[number], "127.0.0.1", PORT, cm_net_now_us(h->net)),
                 CAROM_OK);
}

static uint32_t bodies_of(const house *h, uint32_t number)
{
    uint32_t count = 0;
    const carom_world *world = carom_client_world(h->players[number]);
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        count += !carom_body_id_is_null(carom_world_body_at(world, slot));
    }
    return count;
}

static uint64_t views_of(const house *h, uint32_t number)
{
    carom_client_stats stats;
    carom_client_stats_get(h->players[number], &stats);
    return stats.views;
}

Test(rooms, two_behind_one_socket_do_not_hear_of_each_other)
{
    house h;
    open_house(&h);
    dial(&h, 0, "left");
    dial(&h, 1, "right");
    dial(&h, 2, "right");
    run(&h, 2.0);
    for (uint32_t i = 0; i < 3; i++) {
        cr_assert_eq(carom_client_get_state(h.players[i]), CAROM_CLIENT_PLAYING, "client %u", i);
        cr_assert_gt(views_of(&h, i), 5);
    }
    // On a path that loses nothing, all but those on their way are acked.
    for (uint32_t i = 0; i < ROOMS; i++) {
        cm_publisher_stats stats;
        cm_publisher_stats_get(h.rooms[i].publisher, &stats);
        cr_assert_geq(stats.views_acked + 2 * CLIENTS, stats.views);
        cr_assert_gt(stats.views_acked, 2 * CLIENTS);
    }
    // A plane, the cubes, and a body for each player of that room alone.
    cr_assert_eq(bodies_of(&h, 0), 1 + 1 + 1);
    cr_assert_eq(bodies_of(&h, 1), 1 + 9 + 2);
    cr_assert_eq(bodies_of(&h, 2), 1 + 9 + 2);
    cr_assert_eq(cm_clients_playing(h.clients), 3);
    // The same player slot in both.
    cr_assert_not_null(h.rooms[0].roster.members[0]);
    cr_assert_not_null(h.rooms[1].roster.members[0]);
    cr_assert_neq(h.rooms[0].roster.members[0], h.rooms[1].roster.members[0]);
    cr_assert(h.rooms[0].roster.members[0]->roster == &h.rooms[0].roster);

    carom_client_disconnect(h.players[1], cm_net_now_us(h.net));
    run(&h, 1.0);
    uint64_t before = views_of(&h, 0);
    run(&h, 1.0);
    cr_assert_gt(views_of(&h, 0), before, "who left another room changes nothing here");
    cr_assert_eq(bodies_of(&h, 0), 1 + 1 + 1);
    cr_assert_eq(bodies_of(&h, 2), 1 + 9 + 1);
    cr_assert_eq(cm_clients_playing(h.clients), 2);
    close_house(&h);
}

// A slot is given to someone else within a tick: nothing of the first is kept for the second.
Test(rooms, a_slot_taken_over_starts_anew)
{
    house h;
    open_house(&h);
    dial(&h, 0, "left");
    run(&h, 1.0);
    cm_client *first = h.rooms[0].roster.members[0];
    uint64_t id = first->session.client_id;
    cm_clients_kick(h.clients, first, CAROM_REASON_FLOOD);
    cr_assert_null(h.rooms[0].roster.members[0]);
    dial(&h, 1, "left");
    run(&h, 2.0);
    cr_assert_eq(carom_client_get_reason(h.players[0]), CAROM_REASON_FLOOD);
    cr_assert_eq(carom_client_get_state(h.players[1]), CAROM_CLIENT_PLAYING);
    cr_assert_not_null(h.rooms[0].roster.members[0]);
    cr_assert_neq(h.rooms[0].roster.members[0]->session.client_id, id);
    cr_assert_eq(bodies_of(&h, 1), 1 + 1 + 1);
    cr_assert_gt(views_of(&h, 1), 5);
    close_house(&h);
}

// Who leaves before its welcome leaves nothing to whoever gets the slot; and a client that cannot
// be welcomed is named.
Test(rooms, what_waited_for_one_is_not_the_next_ones)
{
    house h;
    open_house(&h);
    small_room *room = &h.rooms[0];
    cm_client first = {.session = {.state = CM_SESSION_JOINING, .client_id = 1, .join_tick = 1}};
    cm_client second = {.session = {.state = CM_SESSION_JOINING, .client_id = 2, .join_tick = 1}};
    static cm_roster roster;
    roster.members[0] = &first;
    static cm_history_slot slot = {.tick = 5, .message_count = CM_GAME_MESSAGES_MAX};
    for (uint32_t i = 0; i < CM_GAME_MESSAGES_MAX; i++) {
        slot.messages[i].size = CAROM_MESSAGE_MAX;
    }
    cm_publisher_stats full, after;
    do {
        cm_publisher_messages(room->publisher, &slot, &roster);
        cm_publisher_stats_get(room->publisher, &full);
    } while (full.messages_dropped == 0);
    roster.members[0] = &second;
    slot.message_count = 1;
    cm_publisher_messages(room->publisher, &slot, &roster);
    cm_publisher_stats_get(room->publisher, &after);
    cr_assert_eq(after.messages_dropped, full.messages_dropped);
    turn(room, cm_net_now_us(h.net) + 20000);
    carom_reason reason;
    cr_assert_eq(
        cm_publisher_frame(room->publisher, cm_room_loop_room(room->loop), &roster, &reason), 1,
        "nobody is connected");
    close_house(&h);
}

Test(rooms, a_room_that_is_not_there_or_full_is_refused)
{
    house h;
    open_house(&h);
    dial(&h, 0, "cellar");
    dial(&h, 1, "left");
    dial(&h, 2, "left");
    dial(&h, 3, "left");
    run(&h, 2.0);
    cr_assert_eq(carom_client_get_reason(h.players[0]), CAROM_REASON_ROOM_ENDED);
    uint32_t refused = 0;
    for (uint32_t i = 1; i < CLIENTS; i++) {
        refused += carom_client_get_reason(h.players[i]) == CAROM_REASON_ROOM_FULL;
    }
    cr_assert_eq(refused, 1, "two have a place");
    cr_assert_eq(cm_clients_playing(h.clients), 2);
    cm_clients_kick_all(h.clients, CAROM_REASON_DRAINING);
    run(&h, 1.0);
    cr_assert_eq(cm_clients_connected(h.clients), 0);
    close_house(&h);
}
