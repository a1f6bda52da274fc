// The sealing of ENet's datagrams, shared by server and SDK. ENet passes each received datagram to
// its intercept callback first, and each one that it sends to its checksum callback; there the
// sealed bytes replace ENet's. Neither callback has a context of ours, so the hooks are found
// through the first peer's data.
//
// ENet's own throttle drops unreliable packets whenever the round trip varies, and its bandwidth
// limits are a peer's to choose: both are held still here.
#ifndef CM_TRANSPORT_ENET_HOOKS_H
#define CM_TRANSPORT_ENET_HOOKS_H

#include <stdbool.h>

#include "shared/wire/frame.h"

struct _ENetHost;
struct _ENetPeer;

typedef struct cm_enet_hooks {
    void *owner;
    // A datagram of ENet's, in parts, of the connection `id` (0: its CONNECT is not answered yet),
    // sealed into datagram[CM_DATAGRAM_MAX]. Returns its size; 0: it must not leave as it is.
    size_t (*seal)(void *owner, uint32_t id, const cm_frame_part *parts, size_t count,
                   uint8_t *datagram);
    // A datagram that came. True where ENet may have what *bytes and *size are now.
    // *host and *port (network and host byte order) are where ENet takes it to come from.
    bool (*open)(void *owner, uint32_t *host, uint16_t *port, uint8_t **bytes, size_t *size);
    uint8_t datagram[CM_DATAGRAM_MAX]; // the one that leaves
} cm_enet_hooks;

// The hooks outlive the host, and have its first peer's data.
void cm_enet_hooks_set(cm_enet_hooks *hooks, struct _ENetHost *host);
// Throttle and bandwidths of a peer, held still: the other side may send a command that changes
// them.
void cm_enet_hold(struct _ENetPeer *peer);
// True if the socket has a datagram to read. A service call that returns no event, or an error,
// does not show that the socket is empty.
bool cm_enet_is_readable(const struct _ENetHost *host);

#endif
