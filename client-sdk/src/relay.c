// Nothing blocks: a datagram that cannot go on at once is lost, as any may be.
#include "client-sdk/src/relay.h"

#include <enet/enet.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "shared/base/memory.h"
#include "shared/transport/socket_address.h"

#define TURN      256   // datagrams in one direction, then the other has its turn
#define BYTES_MAX 2048u // above what either end sends

// The address of ENet's socket: it may not have been bound yet.
static bool find_enet(ENetHost *host, cm_address *address)
{
    ENetAddress own = {.port = 0}, any = {.host = ENET_HOST_ANY, .port = 0};
    bool known = enet_socket_get_address(host->socket, &own) == 0 && own.port != 0;
    known = known || (enet_socket_bind(host->socket, &any) == 0 &&
                      enet_socket_get_address(host->socket, &own) == 0);
    *address = CM_ADDRESS_IPV4(127, 0, 0, 1, own.port);
    return known && own.port != 0;
}

// Connected, so that the kernel drops what comes from anybody else. -1: there is none of its kind,
// or no way to the other end.
static int open_connected(const cm_address *own, const cm_address *other)
{
    struct sockaddr_storage at, to;
    socklen_t size = cm_socket_address_write(other, &to);
    int made = socket(to.ss_family, SOCK_DGRAM, 0);
    bool good = made >= 0 && fcntl(made, F_SETFL, O_NONBLOCK) == 0 &&
                fcntl(made, F_SETFD, FD_CLOEXEC) == 0 &&
                (own == NULL ||
                 bind(made, (struct sockaddr *)&at, cm_socket_address_write(own, &at)) == 0) &&
                connect(made, (struct sockaddr *)&to, size) == 0;
    if (made >= 0 && !good) {
        close(made);
    }
    return good ? made : -1;
}

// By ENet's functions, which a virtual network replaces.
static int open_by_enet(void)
{
    const ENetAddress any = {.host = ENET_HOST_ANY, .port = 0};
    ENetSocket made = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    if (made != ENET_SOCKET_NULL && (enet_socket_bind(made, &any) != 0 ||
                                     enet_socket_set_option(made, ENET_SOCKOPT_NONBLOCK, 1) != 0)) {
        enet_socket_destroy(made);
        made = ENET_SOCKET_NULL;
    }
    return made == ENET_SOCKET_NULL ? -1 : (int)made;
}

static cm_relay_end open_end(const cm_address *own, const cm_address *other, bool by_enet)
{
    cm_relay_end end = {.by_enet = by_enet, .port = other->port};
    memcpy(&end.host, other->ip + 12, sizeof end.host);
    end.socket = by_enet ? open_by_enet() : open_connected(own, other);
    return end;
}

static void close_end(cm_relay_end *end)
{
    if (end->socket >= 0 && end->by_enet) {
        enet_socket_destroy(end->socket);
    } else if (end->socket >= 0) {
        close(end->socket);
    }
    end->socket = -1;
}

static uint16_t port_of(const cm_relay_end *end)
{
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    cm_address bound;
    ENetAddress own;
    if (end->by_enet) {
        return enet_socket_get_address(end->socket, &own) == 0 ? own.port : 0;
    }
    return getsockname(end->socket, (struct sockaddr *)&at, &size) == 0 &&
                   cm_socket_address_read(&at, &bound)
               ? bound.port
               : 0;
}

static bool open_near(cm_relay *relay, ENetHost *host)
{
    const cm_address own = CM_ADDRESS_IPV4(127, 0, 0, 1, 0);
    cm_address enet;
    if (!find_enet(host, &enet)) {
        return false;
    }
    if (relay->path != NULL) {
        cm_rng_seed(&relay->rng, relay->path->seed);
        relay->waiting =
            cm_memory_take(relay->allocator, CM_RELAY_WAITING * sizeof *relay->waiting);
    }
    relay->near = open_end(&own, &enet, relay->path != NULL);
    relay->far.socket = -1;
    relay->port = relay->near.socket >= 0 ? port_of(&relay->near) : 0;
    relay->open = relay->port != 0 && (relay->path == NULL || relay->waiting != NULL);
    if (!relay->open) {
        close_end(&relay->near);
        cm_memory_give(relay->allocator, relay->waiting);
        relay->waiting = NULL;
    }
    return relay->open;
}

bool cm_relay_aim(cm_relay *relay, ENetHost *host, const cm_address *server)
{
    if (!relay->open && !open_near(relay, host)) {
        return false;
    }
    close_end(&relay->far);
    // Nothing comes from the server before it.
    relay->far = open_end(NULL, server, cm_address_is_ipv4(server->ip));
    return relay->far.socket >= 0;
}

// The next datagram of the end's other one; 0: none, or nobody is there: its silence says as much.
static size_t take(const cm_relay_end *end, uint8_t bytes[BYTES_MAX])
{
    if (!end->by_enet) {
        ssize_t size = recv(end->socket, bytes, BYTES_MAX, 0);
        return size > 0 ? (size_t)size : 0;
    }
    for (int i = 0; i < TURN; i++) {
        ENetBuffer buffer = {.data = bytes, .dataLength = BYTES_MAX};
        ENetAddress from;
        int size = enet_socket_receive(end->socket, &from, &buffer, 1);
        if (size <= 0 || (from.host == end->host && from.port == end->port)) {
            return size > 0 ? (size_t)size : 0;
        }
    }
    return 0;
}

static void give(const cm_relay_end *end, const uint8_t *bytes, size_t size)
{
    ENetBuffer buffer = {.data = (void *)(uintptr_t)bytes, .dataLength = size};
    const ENetAddress to = {end->host, end->port};
    if (end->by_enet) {
        (void)enet_socket_send(end->socket, &to, &buffer, 1);
    } else {
        (void)!send(end->socket, bytes, size, MSG_NOSIGNAL);
    }
}

// The fate of a datagram. It always draws the same count of numbers.
static void delay(cm_relay *relay, bool up, const uint8_t *bytes, size_t size)
{
    const carom_client_link *path = relay->path;
    bool lost = cm_rng_unit(&relay->rng) < (double)path->loss;
    double jitter = (2.0 * cm_rng_unit(&relay->rng) - 1.0) * path->jitter_ms;
    double wait = path->latency_ms + jitter;
    if (lost || relay->count == CM_RELAY_WAITING) {
        return;
    }
    uint8_t *kept = cm_memory_take(relay->allocator, size);
    if (kept != NULL) {
        memcpy(kept, bytes, size);
        relay->waiting[relay->count++] = (cm_relay_datagram){
            .due_ms = enet_time_get() + (wait > 0.0 ? (uint32_t)(wait + 0.5) : 0),
            .number = relay->number++,
            .up = up,
            .size = (uint32_t)size,
            .bytes = kept};
    }
}

static bool is_before(const cm_relay_datagram *a, const cm_relay_datagram *b)
{
    int32_t apart = (int32_t)(a->due_ms - b->due_ms);
    return apart < 0 || (apart == 0 && (int32_t)(a->number - b->number) < 0);
}

// Lets go on what is due, the earliest first.
static void deliver(cm_relay *relay)
{
    uint32_t now = enet_time_get();
    while (relay->count > 0) {
        cm_relay_datagram *first = &relay->waiting[0];
        for (uint32_t i = 1; i < relay->count; i++) {
            first = is_before(&relay->waiting[i], first) ? &relay->waiting[i] : first;
        }
        if ((int32_t)(first->due_ms - now) > 0) {
            return;
        }
        const cm_relay_datagram due = *first;
        *first = relay->waiting[--relay->count];
        give(due.up ? &relay->far : &relay->near, due.bytes, due.size);
        cm_memory_give(relay->allocator, due.bytes);
    }
}

static void pump(cm_relay *relay, bool up)
{
    const cm_relay_end *from = up ? &relay->near : &relay->far;
    uint8_t bytes[BYTES_MAX];
    size_t size;
    for (int i = 0; i < TURN && (size = take(from, bytes)) > 0; i++) {
        if (relay->path != NULL) {
            delay(relay, up, bytes, size);
        } else {
            give(up ? &relay->far : &relay->near, bytes, size);
        }
    }
}

void cm_relay_pump(cm_relay *relay)
{
    if (relay->open && relay->far.socket >= 0) {
        pump(relay, true);
        pump(relay, false);
        deliver(relay);
    }
}

void cm_relay_close(cm_relay *relay)
{
    if (relay->open) {
        close_end(&relay->near);
        close_end(&relay->far);
        for (uint32_t i = 0; i < relay->count; i++) {
            cm_memory_give(relay->allocator, relay->waiting[i].bytes);
        }
        cm_memory_give(relay->allocator, relay->waiting);
        relay->waiting = NULL;
        relay->count = 0;
        relay->open = false;
    }
}
