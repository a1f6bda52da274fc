// The ENet host: limits that its defaults leave open, and the checks before it parses.
//
//   OFFSET  SIZE  a datagram, as far as it is checked here, big-endian
//   0       2     peer id (12 bits), session (2), 0x4000 compressed, 0x8000 a time follows
//   2       2     sent time, if 0x8000
//   4       48    of peer id 0xFFF, and only there: one CONNECT command, 0x82, nothing else
//
// Facts that shape it: one service call takes 256 datagrams at most and both 0 and -1 mean carry
// on; host->mtu is ignored for new peers; a peer's CONNECT and THROTTLE commands bring their own
// MTU, bandwidth and throttle values, which are put back before every flush; ENet gives a peer up
// when one reliable message stays unacknowledged, each repetition later than the last, however much
// else it hears, so silence is judged here, by the last datagram from the peer's address.
#include "server/host/net.h"

#include <enet/enet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/net/net.h"
#include "shared/wire/packet.h"

#define CHANNELS        2u
#define RECEIVE_MAX     4096u         // bytes of a message of a client
#define WAITING_MAX     (64u * 1024u) // bytes of a client not yet handed over
#define SOCKET_BUFFER   (4 * 1024 * 1024)
#define EVENTS_MAX      8192u // in one turn
#define EMPTY_TURNS_MAX 64u   // service calls without an event while the socket is readable
#define CONNECT_BYTES   52u
#define PEER_ID_NONE    0xfffu
#define FLAG_TIME       0x8000u
#define FLAG_COMPRESSED 0x4000u
#define IP_UDP_HEADERS  28u
#define SEND_MAX        (8u << 20)
#define FIRST_RTT_MS    250u    // until one is measured; ENet takes 500 and resends as late
#define ENET_TIMEOUT_MS 120000u // of one reliable message; silence ends it earlier

struct cm_host {
    ENetHost *enet;
    ENetPacket *held; // of the event handed out last
    uint32_t events_left, turns_left;
    uint32_t timeout_ms;
    enet_uint32 *heard_ms; // of each peer: when its last datagram came
    cm_host_stats stats;
};

const char *cm_datagram_reason_text(cm_datagram_reason reason)
{
    static const char *const texts[] = {
#define REASON_TEXT(name, text) text,
        CM_DATAGRAM_REASONS(REASON_TEXT)
#undef REASON_TEXT
    };
    return reason < CM_DATAGRAM_REASON_COUNT ? texts[reason] : "unknown";
}

// Why a datagram is refused, or CM_DATAGRAM_REASON_COUNT.
static cm_datagram_reason check_datagram(const uint8_t *bytes, size_t size, size_t peers)
{
    if (size < 2) {
        return CM_DATAGRAM_SHORT;
    }
    if (size > CM_HOST_MTU) {
        return CM_DATAGRAM_LONG;
    }
    uint32_t head = (uint32_t)bytes[0] << 8 | bytes[1];
    if ((head & FLAG_COMPRESSED) != 0) {
        return CM_DATAGRAM_FLAGS;
    }
    if ((head & FLAG_TIME) != 0 && size < 4) {
        return CM_DATAGRAM_SHORT;
    }
    uint32_t peer = head & PEER_ID_NONE;
    if (peer == PEER_ID_NONE) {
        bool connects = size == CONNECT_BYTES && (head & FLAG_TIME) != 0 && bytes[4] == 0x82;
        return connects ? CM_DATAGRAM_REASON_COUNT : CM_DATAGRAM_CONNECT;
    }
    return peer < peers ? CM_DATAGRAM_REASON_COUNT : CM_DATAGRAM_PEER;
}

// A datagram that passed the checks breaks its peer's silence, if it comes from the peer's address.
static void note_heard(cm_host *host)
{
    const ENetHost *enet = host->enet;
    uint32_t i = ((uint32_t)enet->receivedData[0] << 8 | enet->receivedData[1]) & PEER_ID_NONE;
    if (i < enet->peerCount && enet->peers[i].address.host == enet->receivedAddress.host &&
        enet->peers[i].address.port == enet->receivedAddress.port) {
        host->heard_ms[i] = enet_time_get();
    }
}

// ENet hands over every datagram first. The callback gets no context of ours, so the host is found
// through the first peer's data, which is ours.
static int ENET_CALLBACK intercept(ENetHost *enet, ENetEvent *event)
{
    (void)event;
    cm_host *host = enet->peers[0].data;
    ++host->stats.received_datagrams;
    host->stats.received_bytes += enet->receivedDataLength + IP_UDP_HEADERS;
    cm_datagram_reason reason =
        check_datagram(enet->receivedData, enet->receivedDataLength, enet->peerCount);
    if (reason == CM_DATAGRAM_REASON_COUNT) {
        note_heard(host);
        return 0;
    }
    ++host->stats.refused[reason];
    return 1; // ours: ENet drops it
}

cm_host *cm_host_create(const cm_host_def *def, char *error, size_t error_size)
{
    if (enet_initialize() != 0) {
        snprintf(error, error_size, "the network library did not start");
        return NULL;
    }
    cm_host *host = calloc(1, sizeof *host);
    enet_uint32 *heard_ms = calloc(def->peers, sizeof *heard_ms);
    if (host == NULL || heard_ms == NULL) {
        snprintf(error, error_size, "out of memory");
        free(host);
        free(heard_ms);
        return NULL;
    }
    host->heard_ms = heard_ms;
    ENetAddress address = {def->address, def->port};
    host->enet = enet_host_create(&address, def->peers, CHANNELS, 0, 0);
    if (host->enet == NULL) {
        const uint8_t *a = (const uint8_t *)&def->address;
        snprintf(error, error_size,
                 "listen: %u.%u.%u.%u:%u: taken, or not allowed, expected a free UDP address", a[0],
                 a[1], a[2], a[3], (unsigned)def->port);
        free(heard_ms);
        free(host);
        return NULL;
    }
    if (!cm_net_took()) {
        snprintf(error, error_size,
                 "this build's ENet does not call our socket functions: link with -rdynamic");
        cm_host_destroy(host);
        return NULL;
    }
    host->timeout_ms = def->timeout_ms;
    ENetHost *enet = host->enet;
    enet->randomSeed = def->seed;
    // Every client is on the loopback address in this version.
    enet->duplicatePeers = def->peers;
    enet->maximumPacketSize = RECEIVE_MAX;
    enet->maximumWaitingData = WAITING_MAX;
    enet->mtu = CM_HOST_MTU;
    enet->intercept = intercept;
    enet->peers[0].data = host;
    enet_socket_set_option(enet->socket, ENET_SOCKOPT_RCVBUF, SOCKET_BUFFER);
    ENetAddress bound;
    if (enet_socket_get_address(enet->socket, &bound) == 0) {
        enet->address.port = bound.port;
    }
    return host;
}

void cm_host_destroy(cm_host *host)
{
    if (host == NULL) {
        return;
    }
    if (host->held != NULL) {
        enet_packet_destroy(host->held);
    }
    enet_host_destroy(host->enet);
    free(host->heard_ms);
    free(host);
}

void cm_host_begin(cm_host *host)
{
    host->events_left = EVENTS_MAX;
    host->turns_left = EMPTY_TURNS_MAX;
}

// What a peer must not choose.
static void set_limits(ENetPeer *peer)
{
    peer->mtu = CM_HOST_MTU;
    peer->incomingBandwidth = 0;
    peer->outgoingBandwidth = 0;
    peer->packetThrottleDeceleration = 0;
    peer->packetThrottleLimit = ENET_PEER_PACKET_THROTTLE_SCALE;
    peer->packetThrottle = ENET_PEER_PACKET_THROTTLE_SCALE;
}

static bool is_readable(const cm_host *host)
{
    enet_uint32 condition = ENET_SOCKET_WAIT_RECEIVE;
    return enet_socket_wait(host->enet->socket, &condition, 0) == 0 &&
           (condition & ENET_SOCKET_WAIT_RECEIVE) != 0;
}

// One event of ENet's into ours; CM_HOST_NOTHING for one that is dealt with here.
static cm_host_event_type take_event(cm_host *host, ENetEvent *from, cm_host_event *event)
{
    event->peer = (uint32_t)(from->peer - host->enet->peers);
    switch (from->type) {
    case ENET_EVENT_TYPE_CONNECT:
        if (from->peer->channelCount != CHANNELS) {
            ++host->stats.refused[CM_DATAGRAM_CHANNEL];
            enet_peer_reset(from->peer);
            return CM_HOST_NOTHING;
        }
        set_limits(from->peer);
        // Measured once, ENet takes half of it for its variance and would resend what is lost of a
        // welcome after three round trips.
        from->peer->roundTripTimeVariance = from->peer->roundTripTime / 8 + 1;
        enet_peer_timeout(from->peer, ENET_PEER_TIMEOUT_LIMIT, ENET_TIMEOUT_MS, ENET_TIMEOUT_MS);
        return CM_HOST_CONNECT;
    case ENET_EVENT_TYPE_DISCONNECT:
        event->reason =
            from->data < CAROM_REASON_COUNT ? (carom_reason)from->data : CAROM_REASON_NONE;
        return CM_HOST_DISCONNECT;
    case ENET_EVENT_TYPE_RECEIVE:
        host->held = from->packet;
        event->channel = from->channelID;
        event->bytes = from->packet->data;
        event->size = from->packet->dataLength;
        return CM_HOST_RECEIVE;
    case ENET_EVENT_TYPE_NONE:
        break;
    }
    return CM_HOST_NOTHING;
}

// A peer that has been silent for too long, ended; or CM_HOST_NOTHING.
static cm_host_event_type end_silent(cm_host *host, cm_host_event *event)
{
    ENetHost *enet = host->enet;
    for (size_t i = 0; i < enet->peerCount; ++i) {
        ENetPeer *peer = &enet->peers[i];
        bool judged = peer->state == ENET_PEER_STATE_CONNECTED ||
                      peer->state == ENET_PEER_STATE_DISCONNECT_LATER;
        if (judged && enet_time_get() - host->heard_ms[i] > host->timeout_ms) {
            enet_peer_reset(peer);
            event->peer = (uint32_t)i;
            event->reason = CAROM_REASON_TIMEOUT;
            event->type = CM_HOST_DISCONNECT;
            return CM_HOST_DISCONNECT;
        }
    }
    return CM_HOST_NOTHING;
}

cm_host_event_type cm_host_next(cm_host *host, cm_host_event *event)
{
    memset(event, 0, sizeof *event);
    if (host->held != NULL) {
        enet_packet_destroy(host->held);
        host->held = NULL;
    }
    while (host->events_left > 0 && host->turns_left > 0) {
        ENetEvent from;
        if (enet_host_service(host->enet, &from, 0) > 0) {
            --host->events_left;
            event->type = take_event(host, &from, event);
            if (event->type != CM_HOST_NOTHING) {
                return event->type;
            }
            continue;
        }
        // 0 and -1 say nothing about what is still in the socket.
        --host->turns_left;
        if (!is_readable(host)) {
            break;
        }
    }
    // Only once the socket is empty: what waits there may break the silence.
    return host->turns_left > 0 ? end_silent(host, event) : CM_HOST_NOTHING;
}

static bool send_packet(cm_host *host, uint32_t peer, uint32_t channel, const void *bytes,
                        size_t size, enet_uint32 flags)
{
    CM_ASSERT(peer < host->enet->peerCount);
    ENetPacket *packet = enet_packet_create(bytes, size, flags);
    // The limit is meant for what clients send; ENet has one for both directions.
    host->enet->maximumPacketSize = SEND_MAX;
    bool sent = packet != NULL &&
                enet_peer_send(&host->enet->peers[peer], (enet_uint8)channel, packet) == 0;
    host->enet->maximumPacketSize = RECEIVE_MAX;
    if (!sent) {
        ++host->stats.send_failed;
        if (packet != NULL && packet->referenceCount == 0) {
            enet_packet_destroy(packet);
        }
    }
    return sent;
}

bool cm_host_send_reliable(cm_host *host, uint32_t peer, const void *bytes, size_t size)
{
    return send_packet(host, peer, CM_CHANNEL_CONTROL, bytes, size, ENET_PACKET_FLAG_RELIABLE);
}

bool cm_host_send(cm_host *host, uint32_t peer, const void *bytes, size_t size)
{
    CM_ASSERT(size <= CM_PACKET_MAX);
    return send_packet(host, peer, CM_CHANNEL_PACKETS, bytes, size, ENET_PACKET_FLAG_UNSEQUENCED);
}

void cm_host_disconnect(cm_host *host, uint32_t peer, uint32_t reason)
{
    enet_peer_disconnect_later(&host->enet->peers[peer], reason);
}

void cm_host_flush(cm_host *host)
{
    for (size_t i = 0; i < host->enet->peerCount; ++i) {
        if (host->enet->peers[i].state == ENET_PEER_STATE_CONNECTED) {
            set_limits(&host->enet->peers[i]);
        } else if (host->enet->peers[i].state == ENET_PEER_STATE_DISCONNECTED) {
            host->enet->peers[i].roundTripTime = FIRST_RTT_MS;
        }
    }
    enet_host_flush(host->enet);
    // ENet's counters have 32 bits.
    host->stats.sent_bytes += host->enet->totalSentData;
    host->stats.sent_bytes += (uint64_t)host->enet->totalSentPackets * IP_UDP_HEADERS;
    host->stats.sent_datagrams += host->enet->totalSentPackets;
    host->enet->totalSentData = 0;
    host->enet->totalSentPackets = 0;
}

uint32_t cm_host_round_trip_ms(const cm_host *host, uint32_t peer)
{
    return host->enet->peers[peer].roundTripTime;
}

int cm_host_descriptor(const cm_host *host)
{
    return host->enet->socket;
}

uint16_t cm_host_port(const cm_host *host)
{
    return host->enet->address.port;
}

void cm_host_stats_get(const cm_host *host, cm_host_stats *stats)
{
    *stats = host->stats;
}
