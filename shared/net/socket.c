// The socket and time functions that ENet's hosts call, defined here: Debian's library calls them
// through its procedure linkage table, so ours, being visible in the executable, take their place.
// Hidden ones would silently do nothing; cm_net_took shows that they took.
//
// Invariants: a send always reports success (ENet would abort its loop over all peers); receive
// gives above 0 for a datagram and 0 for none now. ENet would take an empty datagram for an empty
// socket and one above its buffer for an error, and neither would be counted: so the first comes as
// one byte of 0, and of the second what fits.
// Typical: 4 calls for each datagram. The executable must export its symbols (-rdynamic).
#include "shared/net/net_impl.h"

#include <dlfcn.h>
#include <enet/enet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#define VISIBLE     __attribute__((visibility("default")))
#define CARRIED_MAX 1500u // bytes, above every datagram of ours

enum {
    CALLED_TIME = 1,
    CALLED_SEED = 2,
    CALLED_CREATE = 4,
    CALLED_BIND = 8,
    CALLED_ADDRESS = 16,
    CALLED_OPTION = 32,
    CALLED_SEND = 64,
    CALLED_RECEIVE = 128,
    CALLED_WAIT = 256,
    CALLED_DESTROY = 512,
    CALLED_MALLOC = 1024,
    CALLED_ALL = 2047,
};

_Thread_local uint32_t cm_net_called;

_Static_assert(sizeof(ENetBuffer) == sizeof(cm_net_buffer), "buffers are passed on as they are");
_Static_assert(offsetof(ENetBuffer, data) == offsetof(cm_net_buffer, data), "buffer data");
_Static_assert(offsetof(ENetBuffer, dataLength) == offsetof(cm_net_buffer, size), "buffer size");

// Time and chance --------------------------------------------------------------------------------

VISIBLE enet_uint32 enet_time_get(void)
{
    cm_net *net = cm_net_current();
    cm_net_called |= CALLED_TIME;
    if (!net->is_virtual) {
        cm_kernel_pump(net);
    }
    return (enet_uint32)(cm_net_now_us(net) / 1000u);
}

// enet_host_create adds the seed below to the host's address, and connect ids follow from the sum.
// So we watch for the host's allocation (the real function makes it) and take its address out
// again.
static _Thread_local const void *newest_host;

VISIBLE void *enet_malloc(size_t size)
{
    static void *(*real)(size_t);
    cm_net_called |= CALLED_MALLOC;
    void *(*next)(size_t) = __atomic_load_n(&real, __ATOMIC_RELAXED);
    if (next == NULL) {
        void *found = dlsym(RTLD_NEXT, "enet_malloc");
        memcpy(&next, &found, sizeof next);
        __atomic_store_n(&real, next, __ATOMIC_RELAXED);
    }
    void *memory = next != NULL ? next(size) : NULL;
    if (size == sizeof(ENetHost)) {
        newest_host = memory;
    }
    return memory;
}

VISIBLE enet_uint32 enet_host_random_seed(void)
{
    cm_net *net = cm_net_current();
    cm_net_called |= CALLED_SEED;
    if (net->is_virtual) {
        return (enet_uint32)(cm_rng_next(&net->rng) >> 32) - (enet_uint32)(uintptr_t)newest_host;
    }
    enet_uint32 seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) {
        seed = (enet_uint32)(cm_kernel_now_us() * 0x9e3779b1u);
    }
    return seed;
}

// Sockets ----------------------------------------------------------------------------------------

VISIBLE ENetSocket enet_socket_create(ENetSocketType type)
{
    cm_net *net = cm_net_current();
    cm_net_called |= CALLED_CREATE;
    if (type != ENET_SOCKET_TYPE_DATAGRAM) {
        return ENET_SOCKET_NULL;
    }
    return net->is_virtual ? cm_virtual_socket_create(net) : cm_kernel_socket_create(net);
}

// ENet's addresses and ours. A stand-in that was freed is the address of nobody.
static cm_address from_enet(const cm_net *net, const ENetAddress *address)
{
    cm_address to = CM_ADDRESS_IPV4(0, 0, 0, 0, 0);
    if (address != NULL && !cm_net_stand_in_find(net, address->host, &to)) {
        to.port = address->port;
        if (!cm_net_is_stand_in(address->host)) {
            memcpy(to.ip + 12, &address->host, sizeof address->host);
        }
    }
    return to;
}

static ENetAddress to_enet(const cm_address *address)
{
    ENetAddress to = {.host = htonl(0xf0000000u), .port = address->port};
    if (cm_address_is_ipv4(address->ip) && address->ip[12] < 240) {
        memcpy(&to.host, address->ip + 12, sizeof to.host);
    }
    return to;
}

VISIBLE int enet_socket_bind(ENetSocket socket, const ENetAddress *address)
{
    cm_net *net = cm_net_current();
    cm_net_called |= CALLED_BIND;
    cm_address at = from_enet(net, address);
    return net->is_virtual ? cm_virtual_socket_bind(net, socket, &at)
                           : cm_kernel_socket_bind(socket, &at);
}

VISIBLE int enet_socket_get_address(ENetSocket socket, ENetAddress *address)
{
    cm_net *net = cm_net_current();
    cm_address at;
    cm_net_called |= CALLED_ADDRESS;
    int result = net->is_virtual ? cm_virtual_socket_address(net, socket, &at)
                                 : cm_kernel_socket_address(socket, &at);
    if (result == 0) {
        *address = to_enet(&at);
    }
    return result;
}

VISIBLE int enet_socket_set_option(ENetSocket socket, ENetSocketOption option, int value)
{
    cm_net_called |= CALLED_OPTION;
    if (cm_net_current()->is_virtual || option == ENET_SOCKOPT_NONBLOCK) {
        return 0; // all of ours are non-blocking
    }
    if (option == ENET_SOCKOPT_RCVBUF) {
        cm_kernel_receive_buffer(socket, value);
        return 0;
    }
    int name = option == ENET_SOCKOPT_BROADCAST ? SO_BROADCAST : SO_SNDBUF;
    bool known = name == SO_BROADCAST || option == ENET_SOCKOPT_SNDBUF;
    return known ? setsockopt(socket, SOL_SOCKET, name, &value, sizeof value) : -1;
}

VISIBLE void enet_socket_destroy(ENetSocket socket)
{
    cm_net *net = cm_net_current();
    cm_net_called |= CALLED_DESTROY;
    if (net->is_virtual) {
        cm_virtual_socket_destroy(net, socket);
    } else {
        cm_kernel_socket_destroy(net, socket);
    }
}

// Datagrams --------------------------------------------------------------------------------------

VISIBLE int enet_socket_send(ENetSocket socket, const ENetAddress *address,
                             const ENetBuffer *buffers, size_t count)
{
    cm_net *net = cm_net_current();
    const cm_net_buffer *parts = (const cm_net_buffer *)(const void *)buffers;
    cm_net_called |= CALLED_SEND;
    if (address != NULL && cm_net_is_carried(net, address->host)) {
        uint8_t bytes[CARRIED_MAX];
        size_t size = cm_net_gather(parts, count, bytes, sizeof bytes);
        return size <= sizeof bytes ? (int)cm_net_send_carried(address->host, bytes, size) : 0;
    }
    cm_address to = from_enet(net, address);
    return net->is_virtual ? cm_virtual_socket_send(net, socket, &to, parts, count)
                           : cm_kernel_socket_send(net, socket, &to, parts, count);
}

static int receive_carried(cm_net *net, void *bytes, size_t size)
{
    uint32_t host = 0;
    size_t got = net->carrier->receive(net->carrier->owner, &host, bytes, size);
    if (got == 0 || !cm_net_stand_in_find(net, host, &net->sender)) {
        return CM_NET_NO_DATAGRAM;
    }
    net->sender_carried = host;
    return (int)got;
}

static int receive_by_socket(cm_net *net, ENetSocket socket, void *bytes, size_t size)
{
    net->sender_carried = 0;
    return net->is_virtual ? cm_virtual_socket_receive(net, socket, &net->sender, bytes, size)
                           : cm_kernel_socket_receive(net, socket, &net->sender, bytes, size);
}

// Neither keeps the other waiting.
static int receive_any(cm_net *net, ENetSocket socket, void *bytes, size_t size)
{
    bool carries = net->carrier != NULL && net->carrier_socket == socket;
    net->carrier_first = carries && !net->carrier_first;
    int got = net->carrier_first ? receive_carried(net, bytes, size) : CM_NET_NO_DATAGRAM;
    if (got == CM_NET_NO_DATAGRAM) {
        got = receive_by_socket(net, socket, bytes, size);
    }
    bool is_left = carries && !net->carrier_first && got == CM_NET_NO_DATAGRAM;
    return is_left ? receive_carried(net, bytes, size) : got;
}

// ENet gives one buffer, of its largest MTU.
VISIBLE int enet_socket_receive(ENetSocket socket, ENetAddress *address, ENetBuffer *buffers,
                                size_t count)
{
    cm_net *net = cm_net_current();
    cm_net_called |= CALLED_RECEIVE;
    if (count != 1 || buffers->dataLength == 0) {
        return -1;
    }
    int got = receive_any(net, socket, buffers->data, buffers->dataLength);
    if (got == CM_NET_NO_DATAGRAM) {
        return 0;
    }
    if (got == 0) {
        *(uint8_t *)buffers->data = 0;
        got = 1;
    }
    if (address != NULL && got > 0) {
        *address = to_enet(&net->sender);
        address->host = net->sender_carried != 0 ? net->sender_carried : address->host;
    }
    return got;
}

VISIBLE int enet_socket_wait(ENetSocket socket, enet_uint32 *condition, enet_uint32 timeout)
{
    cm_net *net = cm_net_current();
    enet_uint32 asked = *condition;
    cm_net_called |= CALLED_WAIT;
    *condition = ENET_SOCKET_WAIT_NONE;
    if ((asked & ENET_SOCKET_WAIT_RECEIVE) != 0 && net->carrier != NULL &&
        net->carrier_socket == socket && net->carrier->ready(net->carrier->owner)) {
        *condition = ENET_SOCKET_WAIT_RECEIVE;
        return 0;
    }
    if (net->is_virtual) { // time stands while we look: never waits
        if ((asked & ENET_SOCKET_WAIT_RECEIVE) != 0 && cm_virtual_socket_ready(net, socket)) {
            *condition |= ENET_SOCKET_WAIT_RECEIVE;
        }
        *condition |= asked & ENET_SOCKET_WAIT_SEND;
        return 0;
    }
    int ready = cm_kernel_socket_wait(net, socket, (int)(asked & 3u), timeout);
    if (ready < 0 || (ready == 4 && (asked & ENET_SOCKET_WAIT_INTERRUPT) == 0)) {
        return -1;
    }
    *condition = (enet_uint32)ready;
    return 0;
}

// A host that connects to itself on a net of its own calls every function that matters.
bool cm_net_took(void)
{
    cm_net *net = cm_net_virtual_create(1);
    cm_net *previous = cm_net_use(net);
    uint32_t called_before = cm_net_called;
    cm_net_called = 0;
    ENetAddress address = {htonl(0x7f000001u), 0};
    ENetHost *host = enet_host_create(&address, 2, 1, 0, 0);
    bool arrived = false;
    if (host != NULL) {
        address.port = host->address.port;
        ENetEvent event;
        if (enet_host_connect(host, &address, 1, 0) != NULL) {
            enet_host_flush(host);
            (void)enet_host_service(host, &event, 1);
        }
        arrived = net->stats.delivered > 0;
        enet_host_destroy(host);
    }
    bool took = arrived && cm_net_called == CALLED_ALL;
    cm_net_called = called_before | cm_net_called;
    cm_net_use(previous);
    cm_net_destroy(net);
    return took;
}
