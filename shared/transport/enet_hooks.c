// Typical: a client sends 60 datagrams a second and gets 30; a server has 256 clients.
#include "shared/transport/enet_hooks.h"

#include <enet/enet.h>

// The datagram that intercept opened last on this thread. ENet computes its checksum next, unless
// it drops the datagram before.
static _Thread_local const void *opened;

// Coming in the checksum is 0 (frame.h); going out it is the moment to seal. Nothing leaves
// unsealed: a datagram that cannot be sealed is sent with size 0.
static enet_uint32 ENET_CALLBACK seal_datagram(const ENetBuffer *buffers, size_t count)
{
    static _Thread_local cm_frame_part parts[CM_FRAME_PARTS_MAX];
    if (buffers->data == opened) {
        return 0;
    }
    ENetHost *host = (ENetHost *)((char *)(uintptr_t)buffers - offsetof(ENetHost, buffers));
    cm_enet_hooks *hooks = host->peers[0].data;
    size_t size = 0;
    if (count <= CM_FRAME_PARTS_MAX) {
        for (size_t i = 0; i < count; i++) {
            parts[i] = (cm_frame_part){buffers[i].data, buffers[i].dataLength};
        }
        size = hooks->seal(hooks->owner, cm_frame_id(&parts[0]), parts, count, hooks->datagram);
    }
    host->buffers[0].data = hooks->datagram;
    host->buffers[0].dataLength = size;
    host->bufferCount = 1;
    return 0;
}

static int ENET_CALLBACK intercept(ENetHost *host, ENetEvent *event)
{
    (void)event;
    cm_enet_hooks *hooks = host->peers[0].data;
    uint8_t *bytes = host->receivedData;
    size_t size = host->receivedDataLength;
    if (!hooks->open(hooks->owner, &host->receivedAddress.host, &host->receivedAddress.port, &bytes,
                     &size)) {
        return 1; // dealt with: ENet drops it
    }
    opened = host->receivedData = bytes;
    host->receivedDataLength = size;
    return 0;
}

void cm_enet_hooks_set(cm_enet_hooks *hooks, ENetHost *host)
{
    host->checksum = seal_datagram;
    host->intercept = intercept;
    host->peers[0].data = hooks;
}

void cm_enet_hold(ENetPeer *peer)
{
    peer->incomingBandwidth = 0;
    peer->outgoingBandwidth = 0;
    peer->packetThrottle = ENET_PEER_PACKET_THROTTLE_SCALE;
    peer->packetThrottleLimit = ENET_PEER_PACKET_THROTTLE_SCALE;
    peer->packetThrottleDeceleration = 0;
}

bool cm_enet_is_readable(const ENetHost *host)
{
    enet_uint32 condition = ENET_SOCKET_WAIT_RECEIVE;
    return enet_socket_wait(host->socket, &condition, 0) == 0 &&
           (condition & ENET_SOCKET_WAIT_RECEIVE) != 0;
}
