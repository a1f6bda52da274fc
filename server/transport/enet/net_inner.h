// The host, as its files share it: net.c (the transport, its events and its making) and datagrams.c
// (what leaves is sealed there, and what comes is checked).
#ifndef CM_SERVER_TRANSPORT_ENET_NET_INNER_H
#define CM_SERVER_TRANSPORT_ENET_NET_INNER_H

#include "server/transport/enet/net.h"
#include "server/transport/enet/peer_budget.h"
#include "shared/net/net.h"
#include "shared/transport/enet_hooks.h"

struct _ENetPeer;
struct _ENetPacket;

#define CM_HOST_NO_PEER   UINT32_MAX
#define CM_HOST_IP_UDP    28u // bytes of headers
#define CM_HOST_IPV6_MORE 20u

// Of a connection by IPv6, or by a carrier.
typedef struct cm_stand_in {
    cm_address of;
    uint32_t host;   // network byte order; 0: none
    bool is_carried; // it is the carrier's
} cm_stand_in;

struct cm_host {
    cm_transport transport; // first
    struct _ENetHost *enet;
    cm_gate *gate;
    cm_list_rooms *list_rooms;
    void *rooms_context;
    struct _ENetPacket *held; // of the event handed out last
    uint32_t events_left;
    uint64_t turn_datagrams, turn_steps; // so far
    uint32_t timeout_ms;
    uint64_t now_us, unix_s;
    cm_peer_budget *budgets; // of each peer
    bool *has_peer;          // of each connection: scratch of sweep
    cm_stand_in *stand_ins;  // of each connection
    uint64_t *wire_bytes;    // sent to each, and to those who had its place before it
    uint32_t *live;          // peers that ENet had in use at the last sweep
    uint32_t live_count;
    const cm_net_carrier *carrier; // NULL: none
    uint32_t malformed;            // peer that the last datagram refused was of, UINT32_MAX: none
    cm_connection_id *evicted;     // evicted for others while connected, CLOSED not reported yet
    uint32_t evicted_count;
    uint8_t datagram[CM_DATAGRAM_MAX]; // a probe
    cm_enet_hooks hooks;
    cm_host_stats stats;
};

// The id of a peer's connection: the bytes that its CONNECT brought, as the cookie has them.
uint32_t cm_host_id_of(const struct _ENetPeer *peer);
// The gate's place of a peer's connection, or CM_CONNECTION_NONE.
uint32_t cm_host_connection_of(const cm_host *host, size_t index);
// The budget of a peer, reset when ENet has given its place to another connection.
cm_peer_budget *cm_host_budget_of(cm_host *host, size_t index);
// The connection that a peer is now, or was last.
cm_connection_id cm_host_name_of(const cm_host *host, size_t index);
// Sends past ENet, by a carried stand-in if `carried` is not 0. Returns the bytes on the wire,
// headers counted; 0: it could not be sent.
size_t cm_host_send_raw(cm_host *host, cm_address to, uint32_t carried, const uint8_t *bytes,
                        size_t size);
// Frees what ENet knew an IPv6 connection by.
void cm_host_free_stand_in(cm_host *host, uint32_t connection);
// ENet's datagrams pass here from now on.
void cm_host_set_hooks(cm_host *host);

#endif
