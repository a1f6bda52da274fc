// The virtual network: sockets on 127.0.0.1 without a kernel, in virtual time.
//
// Invariants: nothing here reads a clock or true randomness; a datagram's fate is drawn when it is
// sent, in the order of sending; it arrives in (due, number) order; the trace hashes each arrival.
// A datagram passes the link of the sender's port and that of the receiver's; a port without a link
// of its own has the net's default one. Two sockets with the same lossy link lose twice.
// Typical: 9 sockets, 20 datagrams each under way, 2,000 ticks a case.
#include "shared/net/net_impl.h"

#include "shared/base/hash.h"

#include <stdlib.h>
#include <string.h>

#define INBOX_BYTES_MAX ((size_t)4 << 20) // as a kernel's receive buffer would
#define PORT_FIRST      40000u

static const uint8_t loopback[CM_ADDRESS_BYTES] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};

static cm_virtual_socket *socket_at(cm_net *net, int socket)
{
    size_t place = (size_t)socket - CM_VIRTUAL_SOCKET;
    if (socket < CM_VIRTUAL_SOCKET || place >= net->socket_count || !net->sockets[place].open) {
        return NULL;
    }
    return &net->sockets[place];
}

static const cm_link_def *link_of(const cm_net *net, uint16_t port)
{
    return net->ports[port].has_link ? &net->ports[port].link : &net->link;
}

// Of what the port receives.
static const cm_link_def *link_to(const cm_net *net, uint16_t port)
{
    return net->ports[port].has_down ? &net->ports[port].down : link_of(net, port);
}

void cm_virtual_destroy(cm_net *net)
{
    for (size_t i = 0; i < net->socket_count; i++) {
        cm_datagram_queue_clear(&net->sockets[i].inbox);
    }
    free(net->sockets);
    free(net->ports);
    net->sockets = NULL;
    net->ports = NULL;
}

static uint16_t free_port(cm_net *net)
{
    for (uint32_t tried = 0; tried < 65536u - PORT_FIRST; tried++) {
        uint16_t port = net->next_port;
        net->next_port = port == 65535 ? PORT_FIRST : (uint16_t)(port + 1);
        if (net->ports[port].socket < 0) {
            return port;
        }
    }
    return 0;
}

int cm_virtual_socket_create(cm_net *net)
{
    size_t place = 0;
    while (place < net->socket_count && net->sockets[place].open) {
        place++;
    }
    if (place == net->socket_count) {
        cm_virtual_socket *sockets = realloc(net->sockets, (place + 1) * sizeof *sockets);
        if (sockets == NULL) {
            return -1;
        }
        net->sockets = sockets;
        net->socket_count++;
    }
    memset(&net->sockets[place], 0, sizeof net->sockets[place]);
    uint16_t port = free_port(net);
    if (port == 0) {
        return -1;
    }
    cm_virtual_socket *s = &net->sockets[place];
    s->open = true;
    s->port = port;
    memcpy(s->bound_ip, loopback, sizeof loopback);
    s->inbox.bytes_max = INBOX_BYTES_MAX;
    net->ports[port].socket = (int)place;
    net->last_port = port;
    return CM_VIRTUAL_SOCKET + (int)place;
}

int cm_virtual_socket_bind(cm_net *net, int socket, const cm_address *address)
{
    uint16_t port = address->port;
    cm_virtual_socket *s = socket_at(net, socket);
    if (s == NULL) {
        return -1;
    }
    if (port != 0 && port != s->port) {
        if (net->ports[port].socket >= 0) {
            return -1; // in use
        }
        net->ports[port].socket = net->ports[s->port].socket;
        net->ports[s->port].socket = -1;
        s->port = port;
        net->last_port = port;
    }
    memcpy(s->bound_ip, address->ip, sizeof s->bound_ip);
    return 0;
}

int cm_virtual_socket_address(cm_net *net, int socket, cm_address *address)
{
    const cm_virtual_socket *s = socket_at(net, socket);
    if (s == NULL) {
        return -1;
    }
    memcpy(address->ip, s->bound_ip, sizeof address->ip);
    address->port = s->port;
    return 0;
}

static void deliver_later(cm_net *net, cm_virtual_socket *to, uint16_t from, const uint8_t *bytes,
                          size_t size, uint64_t delay_us)
{
    cm_datagram datagram = {
        .due_us = net->now_us + delay_us,
        .number = net->number++,
        .socket = 0,
        .other = {.port = from},
        .size = (uint32_t)size,
    };
    if (!cm_datagram_push(&to->inbox, &datagram, bytes)) {
        net->stats.lost++;
    }
}

// Flips one bit, if a link's corruption draws it.
static void flip(cm_net *net, uint16_t from, uint16_t to, uint8_t *bytes, size_t size)
{
    double kept = (1.0 - (double)link_of(net, from)->flip) * (1.0 - (double)link_to(net, to)->flip);
    if (kept < 1.0 && size > 0 && cm_rng_unit(&net->flips) >= kept) {
        uint32_t bit = cm_rng_below(&net->flips, 8 * (uint32_t)size);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        net->ports[to].flipped++;
    }
}

static bool too_large(const cm_link_def *link, size_t size)
{
    return link->mtu > 0 && size > link->mtu;
}

static const uint8_t *ip_of(const cm_net *net, uint16_t port)
{
    return net->ports[port].named ? net->ports[port].ip : loopback;
}

int cm_virtual_socket_send(cm_net *net, int socket, const cm_address *address,
                           const cm_net_buffer *buffers, size_t count)
{
    uint16_t port = address->port;
    const cm_virtual_socket *from = socket_at(net, socket);
    uint8_t bytes[CM_UDP_MAX];
    size_t size = cm_net_gather(buffers, count, bytes, sizeof bytes);
    if (from == NULL || size == SIZE_MAX ||
        memcmp(address->ip, ip_of(net, port), CM_ADDRESS_BYTES) != 0) {
        net->stats.send_errors++; // no such route: lost, and the caller's loop goes on
        return size == SIZE_MAX ? 0 : (int)size;
    }
    net->stats.sent++;
    net->stats.bytes_sent += size;
    net->ports[from->port].traffic.sent++;
    net->ports[from->port].traffic.bytes_sent += size;
    net->ports[port].traffic.addressed++;
    net->ports[port].traffic.bytes_addressed += size;
    cm_link_fate out = cm_link_draw(link_of(net, from->port), &net->rng);
    cm_link_fate in = cm_link_draw(link_to(net, port), &net->rng);
    if (net->ports[from->port].cut || net->ports[port].cut) {
        net->stats.partitioned++;
        return (int)size;
    }
    uint32_t copies = out.copies * in.copies;
    bool large = too_large(link_of(net, from->port), size) || too_large(link_to(net, port), size);
    if (copies == 0 || large || net->ports[port].socket < 0) {
        net->stats.lost++;
        return (int)size;
    }
    net->stats.duplicated += copies - 1;
    flip(net, from->port, port, bytes, size);
    cm_virtual_socket *to = &net->sockets[net->ports[port].socket];
    for (uint32_t i = 0; i < copies; i++) {
        deliver_later(net, to, from->port, bytes, size,
                      out.delay_us[i % out.copies] + in.delay_us[i / out.copies]);
    }
    return (int)size;
}

static void trace_arrival(cm_net *net, uint16_t to, const cm_datagram *datagram)
{
    cm_hash hash = cm_hash_begin(net->trace);
    cm_hash_u64(&hash, net->now_us);
    cm_hash_u64(&hash, (uint64_t)datagram->other.port << 16 | to);
    cm_hash_bytes(&hash, datagram->bytes, datagram->size);
    net->trace = cm_hash_end(&hash);
}

// Drops what is due at the head but may not pass.
static void drop_partitioned(cm_net *net, cm_virtual_socket *s)
{
    while (s->inbox.count > 0 && s->inbox.items[0].due_us <= net->now_us &&
           (net->ports[s->port].cut || net->ports[s->inbox.items[0].other.port].cut)) {
        free(cm_datagram_pop(&s->inbox).bytes);
        net->stats.partitioned++;
    }
}

bool cm_virtual_socket_ready(cm_net *net, int socket)
{
    cm_virtual_socket *s = socket_at(net, socket);
    if (s == NULL) {
        return false;
    }
    drop_partitioned(net, s);
    return s->inbox.count > 0 && s->inbox.items[0].due_us <= net->now_us;
}

int cm_virtual_socket_receive(cm_net *net, int socket, cm_address *from, void *bytes, size_t size)
{
    if (!cm_virtual_socket_ready(net, socket)) {
        return socket_at(net, socket) != NULL ? CM_NET_NO_DATAGRAM : -1;
    }
    cm_virtual_socket *s = socket_at(net, socket);
    cm_datagram datagram = cm_datagram_pop(&s->inbox);
    trace_arrival(net, s->port, &datagram);
    net->stats.delivered++;
    net->stats.bytes_delivered += datagram.size;
    from->port = datagram.other.port;
    memcpy(from->ip, ip_of(net, from->port), sizeof from->ip);
    size_t got = datagram.size < size ? datagram.size : size;
    memcpy(bytes, datagram.bytes, got);
    free(datagram.bytes);
    return (int)got;
}

void cm_virtual_socket_destroy(cm_net *net, int socket)
{
    cm_virtual_socket *s = socket_at(net, socket);
    if (s != NULL) {
        net->ports[s->port].socket = -1;
        cm_datagram_queue_clear(&s->inbox);
        s->open = false;
    }
}
