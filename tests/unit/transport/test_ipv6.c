// Goal: a server has IPv6 clients though ENet knows IPv4 alone: each by a stand-in of 240/4 that it
// gets with a good cookie and not before, and that goes with it; one socket hears both kinds; a
// client reaches an IPv6 server by its relay, which hears nobody else.
// Method: real ENet over ::1 (SKIPPED where the machine has none), and the virtual net with ports
// that have IPv6 addresses.
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <enet/enet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client-sdk/src/relay.h"
#include "server/session/clients.h"
#include "server/transport/enet/net.h"
#include "shared/base/memory.h"
#include "shared/net/net.h"
#include "shared/transport/socket_address.h"
#include "shared/wire/control.h"
#include "tests/unit/node/rig.h"

#define PORT    9433
#define PEERS   8u
#define WAIT_MS 10
#define TURNS   1000u // of WAIT_MS at most, while nothing comes

static cm_address at(const char *text)
{
    cm_address address;
    cr_assert(cm_address_read(text, &address), "%s", text);
    return address;
}

// With ::1 ---------------------------------------------------------------------------------------

#define NEEDS_IPV6()                                                                               \
    if (!rig_has_ipv6()) {                                                                         \
        cr_skip_test("this machine has no ::1");                                                   \
    }

static cm_host *open_host(const char *listen)
{
    char error[256] = "";
    cm_host_def def = {.listen = at(listen), .peers = PEERS, .timeout_ms = 10000, .seed = 1};
    cm_host *host = cm_host_create(&def, error, sizeof error);
    cr_assert_not_null(host, "%s", error);
    return host;
}

static void draw(void *context, void *bytes, size_t size)
{
    (void)context;
    cm_crypto_random(bytes, size);
}

static cm_transport *dial(const char *name, uint16_t port)
{
    cm_client_link_def def = {
        .allocator = &cm_by_malloc, .host = name, .port = port, .random = draw};
    cm_transport *link = NULL;
    cr_assert_eq(cm_client_link_open(&def, &link), CAROM_OK, "%s", name);
    return link;
}

// What both ends were told in a turn: the last event of each that is of the type asked for.
static bool turn(cm_host *host, cm_transport *client, bool of_server, cm_transport_event_type type,
                 cm_transport_event *found)
{
    cm_transport *server = cm_host_transport(host);
    cm_transport_event event;
    bool seen = false;
    cm_transport_begin(server, cm_net_now_us(NULL), 0);
    while (!seen && cm_transport_poll(server, &event)) {
        seen = of_server && event.type == type;
        *found = seen ? event : *found;
    }
    cm_transport_flush(server);
    while (client != NULL && !seen && cm_transport_poll(client, &event)) {
        seen = !of_server && event.type == type;
        *found = seen ? event : *found;
    }
    if (client != NULL) {
        cm_transport_flush(client);
    }
    return seen;
}

static cm_transport_event wait_for(cm_host *host, cm_transport *client, bool of_server,
                                   cm_transport_event_type type)
{
    cm_transport_event found = {0};
    for (uint32_t i = 0; i < TURNS; i++) {
        if (turn(host, client, of_server, type, &found)) {
            return found;
        }
        struct pollfd ready = {.fd = cm_host_descriptor(host), .events = POLLIN};
        (void)poll(&ready, 1, WAIT_MS);
    }
    cr_assert_fail("no event of type %d", (int)type);
    return found;
}

// Said both ways, small and as large as a path may carry.
static void talk(cm_host *host, cm_transport *client, cm_connection_id id)
{
    static uint8_t bytes[CM_CONTROL_MAX_FROM_CLIENT];
    memset(bytes, 7, sizeof bytes);
    cm_transport *server = cm_host_transport(host);
    size_t large = sizeof bytes < 2000 ? sizeof bytes : 2000;
    cr_assert(cm_transport_send(client, CM_CONNECTION_ONLY, CM_SEND_COUNTED, bytes, large));
    cm_transport_event event = wait_for(host, client, true, CM_TRANSPORT_RECEIVED);
    cr_assert_eq(event.kind, CM_SEND_CONTROL);
    cr_assert_eq(event.size, large);
    cr_assert(cm_connection_id_equal(event.connection, id));
    size_t most = cm_transport_caps_of(server, id).mtu;
    cr_assert(cm_transport_send(server, id, CM_SEND_PACKET, bytes, most));
    event = wait_for(host, client, false, CM_TRANSPORT_RECEIVED);
    cr_assert_eq(event.kind, CM_SEND_PACKET);
    cr_assert_eq(event.size, most);
}

Test(ipv6, real_enet_talks_over_one)
{
    NEEDS_IPV6();
    cm_host *host = open_host("[::1]:0");
    char text[CM_ADDRESS_TEXT_MAX];
    for (uint32_t round = 0; round < 3; round++) {
        cm_transport *client = dial("::1", cm_host_port(host));
        cm_connection_id id = wait_for(host, client, true, CM_TRANSPORT_OPENED).connection;
        cr_assert_eq(cm_net_stand_ins(), 1);
        cm_address from = cm_transport_status_of(cm_host_transport(host), id).address;
        cr_expect_arr_eq(from.ip, at("[::1]:1").ip, CM_ADDRESS_BYTES);
        from = cm_transport_status_of(client, CM_CONNECTION_ONLY).address;
        cm_address_write(&from, text);
        cr_expect_eq(strncmp(text, "[::1]:", 6), 0, "%s", text);
        talk(host, client, id);
        cm_transport_destroy(client, CAROM_REASON_LEFT);
        cm_transport_event closed = wait_for(host, NULL, true, CM_TRANSPORT_CLOSED);
        cr_expect_eq(closed.reason, CAROM_REASON_LEFT, "the farewell comes through the relay");
        cm_transport_flush(cm_host_transport(host));
        cr_assert_eq(cm_net_stand_ins(), 0, "freed with its peer");
    }
    cm_host_destroy(host);
}

Test(ipv6, one_socket_hears_both)
{
    NEEDS_IPV6();
    cm_host *host = open_host("[::]:0");
    static const char *const names[] = {"::1", "127.0.0.1", "::ffff:127.0.0.1"};
    cm_transport *clients[3];
    for (uint32_t i = 0; i < 3; i++) {
        char text[CM_ADDRESS_TEXT_MAX];
        clients[i] = dial(names[i], cm_host_port(host));
        cm_connection_id id = wait_for(host, clients[i], true, CM_TRANSPORT_OPENED).connection;
        cm_address from = cm_transport_status_of(cm_host_transport(host), id).address;
        cm_address_write_ip(from.ip, text);
        cr_expect_str_eq(text, i == 0 ? "::1" : "127.0.0.1");
        talk(host, clients[i], id);
    }
    cr_expect_eq(cm_net_stand_ins(), 1, "IPv4 needs none");
    for (uint32_t i = 0; i < 3; i++) {
        cm_transport_destroy(clients[i], CAROM_REASON_LEFT);
    }
    cm_host_destroy(host);
    cr_expect_eq(cm_net_stand_ins(), 0);
}

// A token's addresses in turn: the one of IPv6 has nobody, or no way leads there.
Test(ipv6, the_next_address_is_of_another_kind)
{
    NEEDS_IPV6();
    cm_host *host = open_host("127.0.0.1:0");
    cm_token_pass pass = {.server_count = 2};
    pass.servers[0] = at("[100::1]:9"); // a prefix that is thrown away: RFC 6666
    pass.servers[1] = at("127.0.0.1:1");
    pass.servers[1].port = cm_host_port(host);
    cm_client_link_def def = {.allocator = &cm_by_malloc, .pass = &pass, .random = draw};
    cm_transport *client = NULL;
    cr_assert_eq(cm_client_link_open(&def, &client), CAROM_OK);
    (void)wait_for(host, client, false, CM_TRANSPORT_OPENED);
    cm_transport_destroy(client, CAROM_REASON_LEFT);
    cm_host_destroy(host);
}

Test(ipv6, what_is_no_host_is_not_dialled)
{
    static const char *const names[] = {"::",         "0.0.0.0", "fe80::1",
                                        "fe80::1%lo", "::1%lo",  "ff02::1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cm_client_link_def def = {
            .allocator = &cm_by_malloc, .host = names[i], .port = 9, .random = draw};
        cm_transport *link = NULL;
        cr_expect_eq(cm_client_link_open(&def, &link), CAROM_ERROR_NOT_FOUND, "%s", names[i]);
        cr_expect_null(link);
    }
}

static int open_raw(const char *text, uint16_t *port)
{
    struct sockaddr_storage to;
    cm_address address = at(text);
    socklen_t size = cm_socket_address_write(&address, &to);
    int made = socket(to.ss_family, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    cr_assert(made >= 0 && bind(made, (struct sockaddr *)&to, size) == 0);
    cr_assert_eq(getsockname(made, (struct sockaddr *)&to, &size), 0);
    cr_assert(cm_socket_address_read(&to, &address));
    *port = address.port;
    return made;
}

// Any program of the machine can send to 127.0.0.1.
Test(ipv6, a_relay_hears_its_own_two_alone)
{
    NEEDS_IPV6();
    uint16_t server_port, stranger_port;
    uint8_t bytes[64];
    int server = open_raw("[::1]:0", &server_port),
        stranger = open_raw("127.0.0.1:0", &stranger_port);
    cm_address to = at("[::1]:1");
    to.port = server_port;
    ENetHost *enet = enet_host_create(NULL, 1, 2, 0, 0);
    cr_assert_not_null(enet);
    cm_relay relay = {.path = NULL};
    cr_assert(cm_relay_aim(&relay, enet, &to));

    cm_address near = at("127.0.0.1:1");
    near.port = relay.port;
    struct sockaddr_storage near_at;
    socklen_t size = cm_socket_address_write(&near, &near_at);
    cr_assert_eq(sendto(stranger, "strange", 7, 0, (struct sockaddr *)&near_at, size), 7);
    const ENetAddress near_enet = {.host = htonl(INADDR_LOOPBACK), .port = relay.port};
    ENetBuffer own = {.data = bytes, .dataLength = 3};
    memcpy(bytes, "own", 3);
    cr_assert_eq(enet_socket_send(enet->socket, &near_enet, &own, 1), 3);
    cm_relay_pump(&relay);
    struct sockaddr_storage far;
    size = sizeof far;
    cr_expect_eq(recvfrom(server, bytes, sizeof bytes, 0, (struct sockaddr *)&far, &size), 3);
    cr_expect_eq(memcmp(bytes, "own", 3), 0);
    cr_expect_eq(recv(server, bytes, sizeof bytes, 0), -1, "the stranger's did not go on");

    // Back: from the server, and from nobody else.
    int other = open_raw("[::1]:0", &stranger_port);
    cr_assert_eq(sendto(other, "strange", 7, 0, (struct sockaddr *)&far, size), 7);
    cr_assert_eq(sendto(server, "answer", 6, 0, (struct sockaddr *)&far, size), 6);
    cm_relay_pump(&relay);
    ENetBuffer in = {.data = bytes, .dataLength = sizeof bytes};
    ENetAddress from;
    cr_expect_eq(enet_socket_receive(enet->socket, &from, &in, 1), 6);
    cr_expect_eq(memcmp(bytes, "answer", 6), 0);
    cr_expect_eq(from.port, relay.port);
    cr_expect_eq(enet_socket_receive(enet->socket, &from, &in, 1), 0);

    // Sent on to another port.
    int second = open_raw("[::1]:0", &server_port);
    to.port = server_port;
    cr_assert(cm_relay_aim(&relay, enet, &to));
    own = (ENetBuffer){.data = "more", .dataLength = 4};
    cr_assert_eq(enet_socket_send(enet->socket, &near_enet, &own, 1), 4);
    cm_relay_pump(&relay);
    cr_expect_eq(recv(second, bytes, sizeof bytes, 0), 4);
    cr_expect_eq(recv(server, bytes, sizeof bytes, 0), -1);
    cm_relay_close(&relay);
    enet_host_destroy(enet);
    close(second);
    close(server);
    close(stranger);
    close(other);
}

// On the virtual net -----------------------------------------------------------------------------

typedef struct street {
    cm_net *net;
    cm_host *host;
    cm_clients *clients;
    cm_transport *links[2 * PEERS];
    uint32_t count;
} street;

static void open_street(street *s)
{
    memset(s, 0, sizeof *s);
    s->net = cm_net_virtual_create(5);
    cm_net_use(s->net);
    s->host = open_host("127.0.0.1:9433");
    cm_clients_def clients = {.transport = cm_host_transport(s->host)};
    cm_rng_seed(&clients.rng, 8);
    s->clients = cm_clients_create(&clients);
}

static void close_street(street *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        cm_transport_destroy(s->links[i], CAROM_REASON_LEFT);
    }
    cm_clients_destroy(s->clients);
    cm_host_destroy(s->host);
    cr_expect_eq(cm_net_stand_ins(), 0, "a host that ends keeps none");
    cm_net_use(NULL);
    cm_net_destroy(s->net);
}

static cm_transport *come_from(street *s, const char *ip)
{
    uint8_t bytes[CM_ADDRESS_BYTES];
    cm_transport *link = rig_dial(PORT, NULL);
    cr_assert(cm_address_read_ip(ip, bytes));
    cm_net_name_port(s->net, cm_net_last_port(s->net), bytes);
    return s->links[s->count++] = link;
}

static void live(street *s, uint32_t ms)
{
    cm_transport_event event;
    for (uint32_t i = 0; i < ms; i++) {
        cm_net_advance(s->net, 1000);
        cm_clients_receive(s->clients, cm_net_now_us(s->net), 0);
        cm_transport_flush(cm_host_transport(s->host));
        for (uint32_t k = 0; k < s->count; k++) {
            while (cm_transport_poll(s->links[k], &event)) {
            }
            cm_transport_flush(s->links[k]);
        }
    }
}

static uint64_t refused(const street *s, cm_datagram_reason reason)
{
    cm_host_stats stats;
    cm_host_stats_get(s->host, &stats);
    return stats.refused[reason];
}

// Who bans one address of a customer bans the next one that it takes, too.
Test(ipv6, a_ban_is_of_the_64)
{
    street s;
    open_street(&s);
    come_from(&s, "2001:db8:0:1::1");
    come_from(&s, "2001:db8:0:1:ffff::2");
    come_from(&s, "2001:db8:0:2::1");
    come_from(&s, "192.0.2.7");
    live(&s, 300);
    cr_assert_eq(cm_clients_connected(s.clients), 4);
    cr_assert_eq(cm_net_stand_ins(), 3);
    uint64_t network = cm_address_network(at("[2001:db8:0:1::1]:1").ip);
    cr_assert(cm_bans_add(cm_gate_banned_addresses(cm_host_gate(s.host)), network));
    cr_expect_eq(cm_clients_kick_who(s.clients, true, network, CAROM_REASON_BANNED), 2);
    live(&s, 2500);
    cr_expect_eq(cm_clients_connected(s.clients), 2, "the /64 beside it and IPv4 stay");
    cr_expect_eq(cm_net_stand_ins(), 1);
    come_from(&s, "2001:db8:0:1:3::3");
    come_from(&s, "2001:db8:0:3::3");
    live(&s, 300);
    cr_expect_eq(cm_clients_connected(s.clients), 3);
    cr_expect_gt(refused(&s, CM_DATAGRAM_BANNED), 0);
    close_street(&s);
}

// A connection that makes way for another one takes its stand-in along.
Test(ipv6, a_place_that_is_given_again_has_another_stand_in)
{
    street s;
    open_street(&s);
    for (uint32_t i = 0; i < 2 * PEERS; i++) {
        char ip[32];
        snprintf(ip, sizeof ip, "2001:db8:%u::1", i);
        come_from(&s, ip);
        live(&s, 600); // nobody says hello: after a second each yields
        uint32_t there = cm_gate_count(cm_host_gate(s.host));
        cr_assert_eq(cm_net_stand_ins(), there, "of %u", i);
        cr_assert_leq(there, PEERS);
        cr_assert_geq(cm_clients_connected(s.clients), i < 4 ? i + 1 : 4);
    }
    cr_assert_eq(cm_gate_count(cm_host_gate(s.host)), PEERS, "some had to make way");
    close_street(&s);
}

// A raw socket that says it has any address.
typedef struct liar {
    ENetSocket socket;
    uint16_t port;
} liar;

static void lie(street *s, const liar *l, const cm_address *from, uint8_t *bytes, size_t size)
{
    const ENetAddress to = {.host = htonl(INADDR_LOOPBACK), .port = PORT};
    ENetBuffer buffer = {.data = bytes, .dataLength = size};
    cm_net_name_port(s->net, l->port, from->ip);
    enet_socket_send(l->socket, &to, &buffer, 1);
    live(s, 1);
    for (uint8_t in[2048];;) {
        ENetBuffer answer = {.data = in, .dataLength = sizeof in};
        if (enet_socket_receive(l->socket, NULL, &answer, 1) <= 0) {
            break;
        }
    }
}

Test(ipv6, before_a_good_cookie_nobody_has_a_stand_in)
{
    street s;
    uint8_t bytes[CM_PATH_LEAST];
    open_street(&s);
    liar l = {.socket = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM)};
    l.port = cm_net_last_port(s.net);
    cm_rng rng;
    cm_rng_seed(&rng, 9);
    for (uint32_t i = 0; i < 5000; i++) {
        cm_address from = at("[2001:db8::1]:1");
        for (size_t k = 0; k < sizeof bytes; k++) {
            bytes[k] = (uint8_t)cm_rng_next(&rng);
        }
        memcpy(from.ip + 4, &i, sizeof i);
        bytes[0] = i % 2 == 0 ? CM_WIRE_HELLO : CM_WIRE_CONNECT;
        if (i % 2 == 0) {
            memcpy(bytes + 1, (uint8_t[4]){CM_PROTOCOL_VERSION, 0, 0, 0}, 4);
        }
        lie(&s, &l, &from, bytes, i % 2 == 0 ? sizeof bytes : CM_CONNECT_LEAST);
    }
    cr_expect_eq(cm_net_stand_ins(), 0);
    cr_expect_eq(refused(&s, CM_DATAGRAM_COOKIE), 2500);
    cm_host_stats stats;
    cm_host_stats_get(s.host, &stats);
    cr_expect_eq(stats.received_bytes, 2500 * (CM_HELLO_BYTES + CM_CONNECT_LEAST + 2 * 48));
    cr_expect_eq(stats.sent_bytes, 2500 * (CM_CHALLENGE_BYTES + 48));
    cr_expect_eq(cm_clients_connected(s.clients), 0);

    // Nobody is there to be answered: not even a hello is.
    static const char *const nowhere[] = {"240.0.0.1", "255.255.255.255", "224.0.0.1", "0.0.0.0",
                                          "::",        "fe80::1",         "ff02::1"};
    cm_net_stats before, after;
    memset(bytes, 0, sizeof bytes);
    bytes[0] = CM_WIRE_HELLO;
    bytes[1] = CM_PROTOCOL_VERSION;
    cm_net_stats_get(s.net, &before);
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        cm_address from = {.port = 1};
        cr_assert(cm_address_read_ip(nowhere[i], from.ip));
        lie(&s, &l, &from, bytes, sizeof bytes);
    }
    cm_net_stats_get(s.net, &after);
    cr_expect_eq(refused(&s, CM_DATAGRAM_SOURCE), sizeof nowhere / sizeof *nowhere);
    cr_expect_eq(after.sent - before.sent, sizeof nowhere / sizeof *nowhere, "no answer");
    enet_socket_destroy(l.socket);
    close_street(&s);
}

Test(ipv6, a_full_table_lets_no_more_in)
{
    street s;
    static uint32_t taken[CM_STAND_INS_MAX];
    const cm_address other = at("[2001:db8:ffff::1]:1");
    open_street(&s);
    for (uint32_t i = 0; i < CM_STAND_INS_MAX; i++) {
        taken[i] = cm_net_stand_in(&other);
        cr_assert(cm_net_is_stand_in(taken[i]));
    }
    cr_assert_eq(cm_net_stand_in(&other), 0);
    come_from(&s, "2001:db8::1");
    come_from(&s, "192.0.2.7");
    live(&s, 300);
    cr_expect_eq(cm_clients_connected(s.clients), 1, "IPv4 needs none");
    cr_expect_gt(refused(&s, CM_DATAGRAM_FULL), 0);
    cm_net_stand_in_free(taken[17]);
    cm_net_stand_in_free(taken[17]); // twice is once
    cr_expect_eq(cm_net_stand_ins(), CM_STAND_INS_MAX - 1);
    come_from(&s, "2001:db8::2");
    live(&s, 300);
    cr_expect_eq(cm_clients_connected(s.clients), 2);
    cr_expect_eq(cm_net_stand_ins(), CM_STAND_INS_MAX);
    for (uint32_t i = 0; i < CM_STAND_INS_MAX; i++) {
        if (i != 17) {
            cm_net_stand_in_free(taken[i]);
        }
    }
    close_street(&s);
}
