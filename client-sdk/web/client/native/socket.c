// The system under the client in a page: datagrams, chance and a clock, by three imports and no
// other. ENet's socket functions are these; a socket is a channel of the page's, where a datagram
// is one message (transport.ts).
//
// Addresses mean nothing here: the page's URL leads to the server. But another address than before
// is another way (a server told the client to go to another port), so the channel becomes another
// one; and datagrams of a channel come from its address. A send always succeeds, as in
// shared/net/socket.c. Typical: one socket, two while the client comes back.
#include <enet/enet.h>
#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <time.h>
#include <wasi/api.h>
#include <zstd.h>

#include "carom/types.h"
#include "client-sdk/src/lookup.h"
#include "client-sdk/src/relay.h"
#include "shared/wire/frame.h"

#define IMPORT(name) __attribute__((import_module("carom"), import_name(name)))

// A size of 0: the channel is over.
IMPORT("send") void cw_send(uint32_t channel, const void *bytes, size_t size);
IMPORT("random") void cw_random(void *bytes, size_t size);
IMPORT("clock") double cw_clock(void); // ms

#define SOCKETS 8
#define WAITING 512u // datagrams; a welcome's keyframe comes in hundreds
#define BUFFERS 40   // of one datagram: ENet's commands and their data, or one that is sealed

typedef struct cw_waiting {
    uint32_t size;
    uint8_t bytes[CM_DATAGRAM_MAX];
} cw_waiting;

typedef struct cw_socket {
    bool open;
    uint32_t channel; // 0: nothing was sent yet
    ENetAddress to;
    uint32_t first, count;
    cw_waiting *waiting;
} cw_socket;

static cw_socket sockets[SOCKETS];
static uint32_t last_channel;

// In ---------------------------------------------------------------------------------------------

// Makes room for a datagram that came by a channel; NULL: nobody waits for it, or too many wait.
CAROM_API uint8_t *cw_datagram(uint32_t channel, uint32_t size)
{
    for (cw_socket *at = sockets; at < sockets + SOCKETS; at++) {
        if (at->open && at->channel == channel && at->count < WAITING && size > 0 &&
            size <= CM_DATAGRAM_MAX) {
            cw_waiting *free = &at->waiting[(at->first + at->count++) % WAITING];
            free->size = size;
            return free->bytes;
        }
    }
    return NULL;
}

int enet_socket_receive(ENetSocket number, ENetAddress *address, ENetBuffer *buffers, size_t count)
{
    cw_socket *at = &sockets[number];
    if (at->count == 0 || count != 1) {
        return 0;
    }
    const cw_waiting *datagram = &at->waiting[at->first];
    size_t size = datagram->size < buffers->dataLength ? datagram->size : buffers->dataLength;
    memcpy(buffers->data, datagram->bytes, size);
    at->first = (at->first + 1) % WAITING;
    at->count--;
    if (address != NULL) {
        *address = at->to;
    }
    return (int)size;
}

int enet_socket_wait(ENetSocket number, enet_uint32 *condition, enet_uint32 timeout)
{
    enet_uint32 asked = *condition;
    (void)timeout; // a page never waits
    *condition = (asked & ENET_SOCKET_WAIT_SEND) |
                 (sockets[number].count > 0 ? asked & ENET_SOCKET_WAIT_RECEIVE : 0);
    return 0;
}

// Out --------------------------------------------------------------------------------------------

static void leave_channel(cw_socket *at)
{
    if (at->channel != 0) {
        cw_send(at->channel, NULL, 0);
    }
    at->channel = 0;
    at->first = at->count = 0;
}

int enet_socket_send(ENetSocket number, const ENetAddress *address, const ENetBuffer *buffers,
                     size_t count)
{
    static uint8_t datagram[CM_DATAGRAM_MAX];
    cw_socket *at = &sockets[number];
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        if (size + buffers[i].dataLength > sizeof datagram) {
            return 1; // none of ours: those are cut to the path
        }
        memcpy(datagram + size, buffers[i].data, buffers[i].dataLength);
        size += buffers[i].dataLength;
    }
    if (at->channel == 0 || at->to.host != address->host || at->to.port != address->port) {
        leave_channel(at);
        at->to = *address;
        at->channel = ++last_channel;
    }
    if (size > 0) {
        cw_send(at->channel, datagram, size);
    }
    return size > 0 ? (int)size : 1;
}

// Sockets ----------------------------------------------------------------------------------------

ENetSocket enet_socket_create(ENetSocketType type)
{
    (void)type;
    for (int i = 0; i < SOCKETS; i++) {
        cw_waiting *waiting = sockets[i].open ? NULL : malloc(WAITING * sizeof *waiting);
        if (waiting != NULL) {
            sockets[i] = (cw_socket){.open = true, .waiting = waiting};
            return i;
        }
    }
    return ENET_SOCKET_NULL;
}

void enet_socket_destroy(ENetSocket number)
{
    cw_socket *at = &sockets[number];
    leave_channel(at);
    free(at->waiting);
    *at = (cw_socket){.open = false};
}

int enet_socket_bind(ENetSocket number, const ENetAddress *address)
{
    (void)number;
    (void)address;
    return 0;
}

int enet_socket_get_address(ENetSocket number, ENetAddress *address)
{
    *address = (ENetAddress){.host = 0, .port = (enet_uint16)(number + 1)};
    return 0;
}

int enet_socket_set_option(ENetSocket number, ENetSocketOption option, int value)
{
    (void)number;
    (void)option;
    (void)value;
    return 0;
}

int enet_initialize(void)
{
    return 0;
}

// Ways: a token's servers and the page's name of one, all by the same URL ------------------------

uint32_t cm_lookup(const char *host, uint16_t port, cm_address addresses[CM_LOOKUP_MAX])
{
    (void)host;
    addresses[0] = CM_ADDRESS_IPV4(127, 0, 0, 1, port);
    return 1;
}

// A token's server of IPv6 needs no relay.
bool cm_relay_aim(cm_relay *relay, ENetHost *host, const cm_address *server)
{
    (void)host;
    relay->port = server->port;
    return true;
}

void cm_relay_pump(cm_relay *relay)
{
    (void)relay;
}

void cm_relay_close(cm_relay *relay)
{
    (void)relay;
}

// Time and chance --------------------------------------------------------------------------------

enet_uint32 enet_time_get(void)
{
    return (enet_uint32)(uint64_t)cw_clock();
}

enet_uint32 enet_host_random_seed(void)
{
    return randombytes_random();
}

// For what a step costs.
int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    uint64_t us = (uint64_t)(cw_clock() * 1000.0);
    now->tv_sec = (time_t)(us / 1000000u);
    now->tv_nsec = (long)(us % 1000000u) * 1000;
    return 0;
}

// In place of libsodium's own, which ask WASI.
void randombytes_buf(void *const bytes, const size_t size)
{
    cw_random(bytes, size);
}

uint32_t randombytes_random(void)
{
    uint32_t number;
    cw_random(&number, sizeof number);
    return number;
}

void randombytes_stir(void)
{
}

// Clients send nothing that is compressed (control_encode.c): zstd's encoder stays out of the
// program.
size_t ZSTD_compressBound(size_t size)
{
    return size;
}

size_t ZSTD_compress(void *to, size_t room, const void *from, size_t size, int level)
{
    (void)to;
    (void)room;
    (void)from;
    (void)size;
    (void)level;
    return (size_t)-1; // an error of its numbers
}

// C's stdio writes nowhere, and nothing here uses it: without these the program had three imports
// of WASI.
__wasi_errno_t __wasi_fd_write(__wasi_fd_t fd, const __wasi_ciovec_t *parts, size_t count,
                               __wasi_size_t *written)
{
    (void)fd;
    (void)parts;
    (void)count;
    *written = 0;
    return __WASI_ERRNO_BADF;
}

__wasi_errno_t __wasi_fd_seek(__wasi_fd_t fd, __wasi_filedelta_t by, __wasi_whence_t from,
                              __wasi_filesize_t *now)
{
    (void)fd;
    (void)by;
    (void)from;
    *now = 0;
    return __WASI_ERRNO_BADF;
}

__wasi_errno_t __wasi_fd_close(__wasi_fd_t fd)
{
    (void)fd;
    return __WASI_ERRNO_BADF;
}
