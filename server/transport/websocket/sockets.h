// The WebSockets of a worker, as a carrier of datagrams under its host (shared/net/net.h): what a
// socket sends is a datagram of its stand-in, what ENet sends to that goes out as a message.
// Nothing blocks, and each socket's memory is bounded: what the kernel does not take waits, and of
// too many datagrams the oldest are dropped, as a network would.
//
//   added -> OPEN -> (a reason to close: its code is sent) -> LINGERING -> OVER -> free
//                 -> (the other end is gone) ----------------------------> OVER -> free
//
// OVER lasts until the turn after next, so that the host ends the connection before its stand-in
// can be another's. Typical: 100 sockets, 60 messages a second in of each and 30 out.
#ifndef CM_SERVER_TRANSPORT_WEBSOCKET_SOCKETS_H
#define CM_SERVER_TRANSPORT_WEBSOCKET_SOCKETS_H

#include "server/transport/websocket/frames.h"
#include "server/transport/websocket/upgrade.h"
#include "shared/net/net.h"

#define CM_SOCKETS_MAX         1024u // of a worker
#define CM_SOCKETS_ADDRESS_MAX 64u   // of an address; of loopback, where proxies are, all
#define CM_SOCKETS_QUEUE       64u   // datagrams of a socket that wait
#define CM_SOCKETS_SEND_BUFFER                                                                     \
    65536 // bytes asked of the kernel, so that what is old is not kept there
#define CM_SOCKETS_LINGER_US 1000000u

// The ends of a socket, beside the reasons of frames.h.
#define CM_SOCKET_ENDS(X)                                                                          \
    X(CLOSED, 1000, "the other end closed it")                                                     \
    X(GONE, 0, "the other end is gone")                                                            \
    X(SILENT, 1008, "no message came for the timeout")                                             \
    X(SERVER, 1001, "the worker ends")

typedef enum cm_socket_end {
#define CM_SOCKET_ENUM(name, code, text) CM_SOCKET_##name,
    CM_SOCKET_ENDS(CM_SOCKET_ENUM)
#undef CM_SOCKET_ENUM
        CM_SOCKET_END_COUNT
} cm_socket_end;

typedef struct cm_sockets cm_sockets;

typedef struct cm_sockets_stats {
    uint32_t open;
    uint64_t added, refused; // refused: above a limit
    uint64_t received, sent; // datagrams
    uint64_t dropped;        // datagrams that found their socket full
    uint64_t refusals[CM_FRAME_REASON_COUNT], ends[CM_SOCKET_END_COUNT];
} cm_sockets_stats;

// NULL with errno.
cm_sockets *cm_sockets_create(uint32_t timeout_ms);
// Those that are open are told that the server ends.
void cm_sockets_destroy(cm_sockets *sockets);

// A connection whose request to upgrade was read and is good, and what answers its key. It owns the
// descriptor from now on. False: it is above a limit; the other end was told 503.
bool cm_sockets_add(cm_sockets *sockets, int descriptor, const cm_address *from, const char *accept,
                    uint64_t now_us);
// Hears what happened to them. Of NULL: nothing; so below.
void cm_sockets_turn(cm_sockets *sockets, uint64_t now_us);
int cm_sockets_descriptor(const cm_sockets *sockets); // for poll; -1: none
bool cm_sockets_is_ready(const cm_sockets *sockets);  // something waits to be received
const cm_net_carrier *cm_sockets_carrier(cm_sockets *sockets);
void cm_sockets_stats_get(const cm_sockets *sockets, cm_sockets_stats *stats);

#endif
