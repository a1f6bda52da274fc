// Goal: unmodified ENet runs on our sockets: reliable messages survive a bad link in order, one
// seed gives one trace, a partition holds and heals, and a send that fails for one peer stops no
// other. Method: two or three ENet hosts in one thread, on a virtual net in virtual time (no kernel
// port), and on kernel sockets over loopback for what only the kernel does.
#include "shared/net/net.h"

#include <criterion/criterion.h>
#include <enet/enet.h>
#include <poll.h>
#include <string.h>

typedef struct pair {
    cm_net *net;
    ENetHost *server, *client;
    ENetPeer *to_server, *to_client;
    uint32_t next_expected, received;
    bool in_order;
} pair;

static void pair_make(pair *p, uint64_t seed, const cm_link_def *link)
{
    memset(p, 0, sizeof *p);
    p->in_order = true;
    p->net = cm_net_virtual_create(seed);
    cm_net_use(p->net);
    ENetAddress address = {htonl(0x7f000001), 7777};
    p->server = enet_host_create(&address, 8, 2, 0, 0);
    p->client = enet_host_create(NULL, 1, 2, 0, 0);
    cr_assert(p->server && p->client);
    cm_net_link_port(p->net, cm_net_last_port(p->net), link);
    p->to_server = enet_host_connect(p->client, &address, 2, 1);
}

static void pair_free(pair *p)
{
    enet_host_destroy(p->client);
    enet_host_destroy(p->server);
    cm_net_destroy(p->net);
    cm_net_use(NULL);
}

static void pair_pump(pair *p)
{
    ENetEvent event;
    while (enet_host_service(p->server, &event, 0) > 0) {
        if (event.type == ENET_EVENT_TYPE_CONNECT) {
            p->to_client = event.peer;
        } else if (event.type == ENET_EVENT_TYPE_DISCONNECT) {
            p->to_client = NULL;
        } else {
            uint32_t number;
            memcpy(&number, event.packet->data, sizeof number);
            p->in_order = p->in_order && number == p->next_expected;
            p->next_expected = number + 1;
            p->received++;
            enet_packet_destroy(event.packet);
        }
    }
    while (enet_host_service(p->client, &event, 0) > 0) {
        if (event.type == ENET_EVENT_TYPE_RECEIVE) {
            enet_packet_destroy(event.packet);
        }
    }
}

static void send_number(ENetPeer *peer, uint32_t number)
{
    ENetPacket *packet = enet_packet_create(&number, sizeof number, ENET_PACKET_FLAG_RELIABLE);
    cr_assert_eq(enet_peer_send(peer, 0, packet), 0);
}

static const cm_link_def bad_link = {
    .latency_us = 40000, .jitter_us = 20000, .loss = 0.1f, .duplicate = 0.05f};

// 300 reliable numbers over the bad link; the trace, and how many came.
static uint64_t run(uint64_t seed, cm_net_stats *stats)
{
    pair p;
    pair_make(&p, seed, &bad_link);
    uint32_t sent = 0;
    for (int step = 0; step < 4000 && p.received < 300; step++) {
        cm_net_advance(p.net, 5000);
        if (p.to_client != NULL && sent < 300) {
            send_number(p.to_server, sent++);
        }
        pair_pump(&p);
    }
    cr_assert_eq(p.received, 300);
    cr_assert(p.in_order);
    uint64_t trace = cm_net_trace(p.net);
    cm_net_stats_get(p.net, stats);
    pair_free(&p);
    return trace;
}

Test(net, enet_calls_our_functions)
{
    cr_assert(cm_net_took());
}

Test(net, reliable_over_a_bad_link_and_same_seed_same_trace)
{
    cm_net_stats a, b, c;
    uint64_t first = run(5, &a), second = run(5, &b), other = run(6, &c);
    cr_assert_eq(first, second);
    cr_assert_neq(first, other);
    cr_assert_eq(memcmp(&a, &b, sizeof a), 0);
    cr_assert_gt(a.lost, 10);
    cr_assert_gt(a.duplicated, 5);
    cr_assert_leq(a.delivered + a.lost, a.sent + a.duplicated);
    cr_assert_eq(a.send_errors, 0);
    double rate = (double)a.lost / (double)a.sent;
    cr_assert(rate > 0.05 && rate < 0.16, "loss was %f", rate);
}

Test(net, nothing_crosses_a_partition_until_it_heals)
{
    pair p;
    pair_make(&p, 9, &(cm_link_def){.latency_us = 20000});
    for (int step = 0; step < 40 && p.to_client == NULL; step++) {
        cm_net_advance(p.net, 5000);
        pair_pump(&p);
    }
    cr_assert(p.to_client);
    uint16_t port = cm_net_last_port(p.net);
    send_number(p.to_server, 0);
    pair_pump(&p); // under way when the cut comes
    cm_net_partition(p.net, port, true);
    for (int step = 0; step < 200; step++) {
        cm_net_advance(p.net, 5000);
        pair_pump(&p);
    }
    cr_assert_eq(p.received, 0);
    cm_net_stats stats;
    cm_net_stats_get(p.net, &stats);
    cr_assert_gt(stats.partitioned, 1);
    cm_net_partition(p.net, port, false);
    for (int step = 0; step < 1000 && p.received == 0; step++) {
        cm_net_advance(p.net, 5000);
        pair_pump(&p);
    }
    cr_assert_eq(p.received, 1);
    cr_assert(p.in_order);
    pair_free(&p);
}

Test(net, virtual_datagrams_keep_their_edges)
{
    cm_net *net = cm_net_virtual_create(3);
    cm_net_use(net);
    ENetSocket a = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    ENetSocket b = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    ENetAddress to = {htonl(0x7f000001), 0}, from;
    cr_assert_eq(enet_socket_bind(b, &(ENetAddress){htonl(0x7f000001), 500}), 0);
    cr_assert_eq(enet_socket_bind(a, &(ENetAddress){htonl(0x7f000001), 500}), -1);
    cr_assert_eq(enet_socket_get_address(a, &to), 0);
    cr_assert_eq(to.port, 40000);
    static uint8_t big[5000], small[16];
    ENetBuffer out[2] = {{big, 4000}, {big, 1000}}, in = {small, sizeof small};
    to.port = 500;
    cr_assert_eq(enet_socket_send(a, &to, out, 2), 5000);
    cr_assert_eq(enet_socket_send(a, &to, out, 0), 0);
    out[0].dataLength = 16;
    cr_assert_eq(enet_socket_send(a, &to, out, 1), 16);
    cr_assert_eq(enet_socket_receive(b, &from, &in, 1), 16, "larger than the buffer: what fits");
    small[0] = 1;
    cr_assert_eq(enet_socket_receive(b, &from, &in, 1), 1, "empty: one byte of 0");
    cr_assert_eq(small[0], 0);
    cr_assert_eq(enet_socket_receive(b, &from, &in, 1), 16);
    cr_assert_eq(from.port, 40000);
    cr_assert_eq(enet_socket_receive(b, &from, &in, 1), 0);
    enet_uint32 condition = ENET_SOCKET_WAIT_RECEIVE;
    cr_assert_eq(enet_socket_wait(b, &condition, 1000000), 0, "never waits");
    cr_assert_eq(condition, 0);
    enet_socket_destroy(a);
    enet_socket_destroy(b);
    cm_net_use(NULL);
    cm_net_destroy(net);
}

// One byte from a to b, and what b then reads: the byte, or 0 for nothing.
static void send_byte(ENetSocket a, ENetSocket b, uint8_t byte)
{
    ENetAddress to;
    ENetBuffer out = {&byte, 1};
    cr_assert_eq(enet_socket_get_address(b, &to), 0);
    cr_assert_eq(enet_socket_send(a, &to, &out, 1), 1);
}

static uint8_t read_byte(ENetSocket b)
{
    ENetAddress from;
    uint8_t byte = 0;
    ENetBuffer in = {&byte, 1};
    return enet_socket_receive(b, &from, &in, 1) == 1 ? byte : 0;
}

Test(net, a_port_may_have_another_link_down)
{
    cm_net *net = cm_net_virtual_create(3);
    cm_net *before = cm_net_use(net);
    ENetSocket server = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    ENetSocket client = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    cm_net_link_port(net, cm_net_last_port(net), &(cm_link_def){.latency_us = 50000});
    cm_net_link_port_down(net, cm_net_last_port(net), &(cm_link_def){.latency_us = 20000});
    send_byte(client, server, 1);
    send_byte(server, client, 2);
    cm_net_advance(net, 20000);
    cr_expect_eq(read_byte(client), 2);
    cr_expect_eq(read_byte(server), 0);
    cm_net_advance(net, 30000);
    cr_expect_eq(read_byte(server), 1);
    cm_net_use(before);
    cm_net_destroy(net);
}

// What came to a socket has its link's time from then on, whenever ENet asks for it.
Test(net, a_pump_notes_what_came)
{
    const cm_link_def hour = {.latency_us = 3600000000u};
    cm_net *net = cm_net_kernel_create(&hour, 1), *plain = cm_net_kernel_create(NULL, 1);
    cm_net_use(net);
    ENetSocket to = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    ENetAddress address = {.host = htonl(INADDR_LOOPBACK), .port = 0};
    cr_assert_eq(enet_socket_bind(to, &address), 0);
    address.port = cm_net_last_port(net);
    cm_net_pump(net);
    cr_expect_eq(cm_net_next_due(net), UINT64_MAX);
    cm_net_use(plain);
    ENetSocket from = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    uint8_t byte = 1;
    ENetBuffer buffer = {.data = &byte, .dataLength = 1};
    cr_assert_eq(enet_socket_send(from, &address, &buffer, 1), 1);
    cm_net_use(net);
    while (cm_net_next_due(net) == UINT64_MAX) {
        cm_net_pump(net);
    }
    cr_expect_gt(cm_net_next_due(net), 3000000000u, "an hour from when it came");
    enet_socket_destroy(to);
    cm_net_pump(net); // of a socket that is closed nothing is asked
    cr_expect_eq(cm_net_next_due(net), UINT64_MAX);
    cm_net_use(plain);
    enet_socket_destroy(from);
    cm_net_use(NULL);
    cm_net_destroy(net);
    cm_net_destroy(plain);
}

Test(net, virtual_datagrams_arrive_when_due)
{
    cm_net *net = cm_net_virtual_create(3);
    cm_net_use(net);
    ENetSocket a = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    uint16_t port = cm_net_last_port(net);
    ENetSocket b = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    cm_net_link_port(net, port, &(cm_link_def){.latency_us = 50000});
    send_byte(a, b, 1);
    cm_net_link_port(net, port, &(cm_link_def){.latency_us = 20000});
    send_byte(a, b, 2);
    send_byte(a, b, 3);
    cr_assert_eq(cm_net_next_due(net), 20000);
    cm_net_advance(net, 19999);
    cr_assert_eq(read_byte(b), 0);
    cm_net_advance(net, 1);
    cr_assert_eq(read_byte(b), 2, "the later one is due first");
    cr_assert_eq(read_byte(b), 3);
    cr_assert_eq(read_byte(b), 0);
    cm_net_advance(net, 30000);
    cr_assert_eq(read_byte(b), 1);
    cr_assert_eq(cm_net_next_due(net), UINT64_MAX);
    // What is sent during a cut is gone, even if it heals before the datagram would be due.
    cm_net_partition(net, port, true);
    send_byte(a, b, 4);
    cm_net_partition(net, port, false);
    cm_net_advance(net, 50000);
    cr_assert_eq(read_byte(b), 0);
    enet_socket_destroy(a);
    enet_socket_destroy(b);
    cm_net_use(NULL);
    cm_net_destroy(net);
}

// Kernel sockets ------------------------------------------------------------------------------

static ENetHost *kernel_server(void)
{
    return enet_host_create(&(ENetAddress){htonl(0x7f000001), 0}, 8, 2, 0, 0);
}

// Waits in the kernel, bounded; true once `done` peers are connected.
static bool connect_all(ENetHost *server, ENetHost **clients, int count)
{
    int connected = 0;
    for (int round = 0; round < 2000 && connected < count; round++) {
        ENetEvent event;
        while (enet_host_service(server, &event, 1) > 0) {
            connected += event.type == ENET_EVENT_TYPE_CONNECT;
        }
        for (int i = 0; i < count; i++) {
            (void)enet_host_service(clients[i], &event, 0);
        }
    }
    return connected == count;
}

Test(net, kernel_loopback_and_a_failing_peer)
{
    cm_net *net = cm_net_kernel_create(NULL, 1);
    cm_net_use(net);
    ENetHost *server = kernel_server();
    ENetHost *clients[3];
    cr_assert(server);
    cr_assert_eq(server->address.port, cm_net_last_port(net));
    for (int i = 0; i < 3; i++) {
        clients[i] = enet_host_create(NULL, 1, 2, 0, 0);
        enet_host_connect(clients[i], &server->address, 2, 0);
    }
    cr_assert(connect_all(server, clients, 3));
    // The first peer's address becomes one that the kernel refuses: port 0.
    server->peers[0].address.port = 0;
    for (int i = 0; i < 20; i++) {
        for (int peer = 0; peer < 3; peer++) {
            ENetPacket *packet = enet_packet_create("view", 4, ENET_PACKET_FLAG_UNSEQUENCED);
            cr_assert_eq(enet_peer_send(&server->peers[peer], 1, packet), 0);
        }
        enet_host_flush(server);
    }
    cm_net_stats stats;
    cm_net_stats_get(net, &stats);
    cr_assert_geq(stats.send_errors, 20);
    int got[3] = {0};
    for (int round = 0; round < 500 && got[0] + got[1] + got[2] < 40; round++) {
        for (int i = 0; i < 3; i++) {
            ENetEvent event;
            while (enet_host_service(clients[i], &event, 1) > 0) {
                if (event.type == ENET_EVENT_TYPE_RECEIVE) {
                    got[i]++;
                    enet_packet_destroy(event.packet);
                }
            }
        }
    }
    cr_assert_eq(got[0] + got[1] + got[2], 40, "two of three get all: %d %d %d", got[0], got[1],
                 got[2]);
    struct pollfd p = {.fd = server->socket, .events = POLLIN};
    cr_assert_geq(poll(&p, 1, 0), 0);
    cr_assert_eq(p.revents & POLLNVAL, 0, "the host's socket is the kernel's descriptor");
    for (int i = 0; i < 3; i++) {
        enet_host_destroy(clients[i]);
    }
    enet_host_destroy(server);
    cm_net_use(NULL);
    cm_net_destroy(net);
}

Test(net, kernel_link_delays_and_loses)
{
    const cm_link_def link = {.latency_us = 10000, .jitter_us = 2000, .loss = 0.2f};
    cm_net *net = cm_net_kernel_create(&link, 4);
    cm_net_use(net);
    ENetSocket a = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    ENetSocket b = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    ENetAddress to = {htonl(0x7f000001), 0}, from;
    cr_assert_eq(enet_socket_bind(b, &to), 0);
    cr_assert_eq(enet_socket_get_address(b, &to), 0);
    uint8_t byte = 7;
    ENetBuffer out = {&byte, 1}, in = {&byte, 1};
    uint64_t begun = cm_net_now_us(net);
    for (int i = 0; i < 200; i++) {
        cr_assert_eq(enet_socket_send(a, &to, &out, 1), 1);
    }
    cr_assert_lt(cm_net_next_due(net), 12001);
    int got = 0;
    uint64_t first = 0;
    for (;;) {
        enet_uint32 condition = ENET_SOCKET_WAIT_RECEIVE;
        cr_assert_eq(enet_socket_wait(b, &condition, 2000), 0);
        if ((condition & ENET_SOCKET_WAIT_RECEIVE) == 0) {
            break;
        }
        while (enet_socket_receive(b, &from, &in, 1) == 1) {
            first = got++ == 0 ? cm_net_now_us(net) : first;
        }
        cm_net_stats stats;
        cm_net_stats_get(net, &stats);
        if (stats.delivered + stats.lost == 200) {
            break;
        }
    }
    cr_assert_geq(first - begun, 16000, "two links, at least 8 ms each");
    cr_assert(got > 90 && got < 165, "0.8 squared of 200: %d", got);
    enet_socket_destroy(a);
    enet_socket_destroy(b);
    cm_net_use(NULL);
    cm_net_destroy(net);
}
