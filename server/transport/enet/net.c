// The ENet host: the gate before it, the seal behind it, and limits that its defaults leave open.
//
// Facts that shape it, beside those of shared/transport/enet_hooks.h: one service call reads at
// most 256 datagrams, and both 0 and -1 mean that more may wait; ENet ignores host->mtu for new
// peers, so the gate keeps a path's size; ENet drops a peer when one reliable message stays
// unacknowledged, though other datagrams arrive, so silence is judged here, by the last sealed
// datagram.
#include <enet/enet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/transport/enet/net_inner.h"
#include "server/transport/enet/pacing.h"
#include "shared/base/assert.h"
#include "shared/net/net.h"
#include "shared/wire/packet.h"

#define RECEIVE_MAX     4096u         // bytes of a message of a client
#define WAITING_MAX     (64u * 1024u) // bytes of a client not yet handed over
#define EVENTS_MAX      8192u         // in one turn
#define DATAGRAMS_MAX   1024u // in one turn, and less than one service call's 256 more: some 5 ms
#define STEPS_MAX       1000000u // in one turn, and less than 256 datagrams' more: some 2 ms
#define SEND_MAX        (8u << 20)
#define FIRST_RTT_MS    250u     // until one is measured; ENet takes 500 and resends as late
#define ENET_TIMEOUT_MS 120000u  // of one reliable message; silence ends it earlier
#define HALF_OPEN_US    5000000u // to acknowledge ENet's VERIFY_CONNECT, whatever else it sends

static cm_host *host_of(cm_transport *transport)
{
    return (cm_host *)transport;
}

// The peer of a connection, or NULL: it is over. One that has just ended is still looked at, until
// its place is another's.
static ENetPeer *look_at(const cm_transport *transport, cm_connection_id connection)
{
    const cm_host *host = (const cm_host *)transport;
    bool known = connection.generation != 0 && connection.index < host->enet->peerCount &&
                 host->budgets[connection.index].generation == connection.generation;
    return known ? &host->enet->peers[connection.index] : NULL;
}

static ENetPeer *peer_of(const cm_transport *transport, cm_connection_id connection)
{
    ENetPeer *peer = look_at(transport, connection);
    const cm_host *host = (const cm_host *)transport;
    return peer != NULL && host->budgets[connection.index].id == cm_host_id_of(peer) ? peer : NULL;
}

// Events -----------------------------------------------------------------------------------------

// The one walk over all peers: most places of a host are free, and a turn is a millisecond.
static void list_live(cm_host *host)
{
    host->live_count = 0;
    for (uint32_t i = 0; i < host->enet->peerCount; i++) {
        if (host->enet->peers[i].state == ENET_PEER_STATE_DISCONNECTED) {
            host->enet->peers[i].roundTripTime = FIRST_RTT_MS;
        } else {
            host->live[host->live_count++] = i;
        }
    }
}

static void begin(cm_transport *transport, uint64_t now_us, uint64_t unix_s)
{
    cm_host *host = host_of(transport);
    list_live(host);
    host->now_us = now_us;
    host->unix_s = unix_s;
    host->events_left = EVENTS_MAX;
    host->turn_datagrams = host->turn_steps = 0;
}

// The datagram size that the peer's path is known to carry.
static size_t path_of(const cm_host *host, size_t index)
{
    uint32_t connection = cm_host_connection_of(host, index);
    return connection != CM_CONNECTION_NONE ? cm_gate_path(host->gate, connection) : CM_PATH_LEAST;
}

// One event of ENet's into ours; false for one that is dealt with here.
static bool take_event(cm_host *host, ENetEvent *from, cm_transport_event *event)
{
    uint32_t index = (uint32_t)(from->peer - host->enet->peers);
    switch (from->type) {
    case ENET_EVENT_TYPE_CONNECT:
        CM_ASSERT(from->peer->channelCount == CM_FRAME_CHANNELS); // the gate lets in no other
        host->stats.handshakes++;
        cm_host_budget_of(host, index)->from =
            cm_gate_address(host->gate, cm_host_connection_of(host, index));
        cm_pacing_limits(from->peer, path_of(host, index));
        // Measured once, ENet takes half of it for its variance and would resend what is lost of a
        // welcome after three round trips.
        from->peer->roundTripTimeVariance = from->peer->roundTripTime / 20 + 1;
        enet_peer_timeout(from->peer, ENET_PEER_TIMEOUT_LIMIT, ENET_TIMEOUT_MS, ENET_TIMEOUT_MS);
        event->type = CM_TRANSPORT_OPENED;
        break;
    case ENET_EVENT_TYPE_DISCONNECT: { // by the client, which cannot report its own timeout
        bool known = from->data < CAROM_REASON_COUNT && from->data != CAROM_REASON_TIMEOUT;
        event->reason = known ? (carom_reason)from->data : CAROM_REASON_NONE;
        event->type = CM_TRANSPORT_CLOSED;
        break;
    }
    case ENET_EVENT_TYPE_RECEIVE:
        host->held = from->packet;
        event->type = CM_TRANSPORT_RECEIVED;
        event->kind = from->channelID == CM_CHANNEL_CONTROL ? CM_SEND_CONTROL : CM_SEND_PACKET;
        event->bytes = from->packet->data;
        event->size = from->packet->dataLength;
        break;
    case ENET_EVENT_TYPE_NONE:
        return false;
    }
    event->connection = cm_host_name_of(host, index);
    return true;
}

// It came by a carrier, where its other end is gone: nothing more comes, which is as much as
// silence.
static bool is_cut_off(const cm_host *host, uint32_t index)
{
    uint32_t connection =
        host->carrier != NULL ? cm_host_connection_of(host, index) : CM_CONNECTION_NONE;
    const cm_stand_in *known =
        connection != CM_CONNECTION_NONE ? &host->stand_ins[connection] : NULL;
    return known != NULL && known->is_carried &&
           !host->carrier->is_open(host->carrier->owner, known->host);
}

// A peer that must go: silent for too long, or not taking what it is sent.
static bool end_one(cm_host *host, cm_transport_event *event)
{
    for (uint32_t at = 0; at < host->live_count; at++) {
        uint32_t i = host->live[at];
        ENetPeer *peer = &host->enet->peers[i];
        bool judged = peer->state == ENET_PEER_STATE_CONNECTED ||
                      peer->state == ENET_PEER_STATE_DISCONNECT_LATER;
        if (!judged) {
            continue;
        }
        cm_peer_verdict verdict = cm_peer_budget_judge(cm_host_budget_of(host, i), host->timeout_ms,
                                                       path_of(host, i), enet_time_get());
        verdict = verdict == CM_PEER_STAYS && is_cut_off(host, i) ? CM_PEER_SILENT : verdict;
        if (verdict != CM_PEER_STAYS) {
            host->stats.slow += verdict == CM_PEER_SLOW;
            host->stats.narrowed += verdict == CM_PEER_NARROWED;
            enet_peer_reset(peer);
            event->type = CM_TRANSPORT_CLOSED;
            event->connection = cm_host_name_of(host, i);
            event->reason = verdict == CM_PEER_SLOW ? CAROM_REASON_FLOOD : CAROM_REASON_TIMEOUT;
            return true;
        }
    }
    return false;
}

// Our own events: an evicted connection, or a datagram of a peer that intercept refused.
static bool take_own(cm_host *host, cm_transport_event *event)
{
    if (host->evicted_count > 0) {
        *event = (cm_transport_event){.type = CM_TRANSPORT_CLOSED,
                                      .connection = host->evicted[--host->evicted_count],
                                      .reason = CAROM_REASON_HELLO_EXPECTED,
                                      .evicted = true};
    } else if (host->malformed != CM_HOST_NO_PEER) {
        *event = (cm_transport_event){.type = CM_TRANSPORT_MALFORMED,
                                      .connection = cm_host_name_of(host, host->malformed)};
        host->malformed = CM_HOST_NO_PEER;
    } else {
        return false;
    }
    return true;
}

static bool poll_event(cm_transport *transport, cm_transport_event *event)
{
    cm_host *host = host_of(transport);
    memset(event, 0, sizeof *event);
    if (host->held != NULL) {
        enet_packet_destroy(host->held);
        host->held = NULL;
    }
    while (host->events_left > 0 && host->turn_datagrams < DATAGRAMS_MAX &&
           host->turn_steps < STEPS_MAX) {
        ENetEvent from;
        if (take_own(host, event)) {
            return true;
        }
        host->enet->recalculateBandwidthLimits = 0; // or it would send bandwidth commands to
                                                    // clients
        if (enet_host_service(host->enet, &from, 0) > 0) {
            host->events_left--;
            if (take_event(host, &from, event)) {
                return true;
            }
        } else if (!cm_enet_is_readable(
                       host->enet)) { // 0 and -1 say nothing about what is still in the socket
            // Only now: what waited there might have broken the silence.
            return end_one(host, event);
        }
    }
    return false;
}

// ENet lets go of a reliable packet: it was acknowledged, or its peer is gone.
static void ENET_CALLBACK packet_is_done(ENetPacket *packet)
{
    cm_sent_message *message = packet->userData;
    cm_peer_budget *budget = message->budget;
    CM_ASSERT(budget->outstanding >= packet->dataLength);
    budget->outstanding -= packet->dataLength;
    cm_peer_budget_sent(message);
}

// Before it is sent. False where memory is short.
static bool budget_for(cm_host *host, uint32_t peer, ENetPacket *packet, bool counts)
{
    cm_peer_budget *budget = cm_host_budget_of(host, peer);
    packet->userData = cm_peer_budget_send(budget, counts);
    if (packet->userData == NULL) {
        return false;
    }
    packet->freeCallback = packet_is_done;
    budget->outstanding += packet->dataLength;
    return true;
}

static bool send_bytes(cm_transport *transport, cm_connection_id connection, cm_send_kind kind,
                       const void *bytes, size_t size)
{
    cm_host *host = host_of(transport);
    ENetPeer *peer = peer_of(transport, connection);
    bool reliable = kind != CM_SEND_PACKET;
    CM_ASSERT(reliable || size <= CM_PACKET_MAX); // above the path's, ENet cuts it up and resends
    ENetPacket *packet =
        peer == NULL ? NULL
                     : enet_packet_create(bytes, size,
                                          reliable ? (enet_uint32)ENET_PACKET_FLAG_RELIABLE
                                                   : (enet_uint32)ENET_PACKET_FLAG_UNSEQUENCED);
    bool ready = packet != NULL &&
                 (!reliable || budget_for(host, connection.index, packet, kind == CM_SEND_COUNTED));
    enet_uint8 channel = reliable ? CM_CHANNEL_CONTROL : CM_CHANNEL_PACKETS;
    // The limit is meant for what clients send; ENet has one for both directions.
    host->enet->maximumPacketSize = SEND_MAX;
    bool sent = ready && enet_peer_send(peer, channel, packet) == 0;
    host->enet->maximumPacketSize = RECEIVE_MAX;
    if (!sent) {
        host->stats.send_failed++;
        if (packet != NULL && packet->referenceCount == 0) {
            enet_packet_destroy(packet);
        }
    }
    return sent;
}

static void close_connection(cm_transport *transport, cm_connection_id connection,
                             carom_reason reason, cm_close_how how)
{
    ENetPeer *peer = peer_of(transport, connection);
    if (peer != NULL && how == CM_CLOSE_AFTER_ALL) {
        enet_peer_disconnect_later(peer, reason);
    } else if (peer != NULL) {
        enet_peer_reset(peer);
    }
}

// Connections without a peer are over, half-open ones in time; probes go out.
static void sweep(cm_host *host)
{
    uint32_t capacity = (uint32_t)host->enet->peerCount, found = 0;
    memset(host->has_peer, 0, capacity * sizeof *host->has_peer);
    for (uint32_t at = 0; at < host->live_count; at++) {
        uint32_t i = host->live[at];
        ENetPeer *peer = &host->enet->peers[i];
        uint32_t connection = cm_host_connection_of(host, i);
        if (connection == CM_CONNECTION_NONE) {
            continue;
        }
        bool half_open = peer->state == ENET_PEER_STATE_ACKNOWLEDGING_CONNECT &&
                         host->now_us - cm_gate_opened_us(host->gate, connection) > HALF_OPEN_US;
        if (half_open) {
            enet_peer_disconnect_now(peer, CAROM_REASON_TIMEOUT); // it may think that it is in
            continue;
        }
        found += !host->has_peer[connection];
        host->has_peer[connection] = true;
        size_t probe = cm_gate_probe(host->gate, connection, host->now_us, host->datagram);
        if (probe > 0) {
            const cm_stand_in *known = &host->stand_ins[connection];
            host->wire_bytes[connection] +=
                cm_host_send_raw(host, cm_gate_address(host->gate, connection),
                                 known->is_carried ? known->host : 0, host->datagram, probe);
        }
    }
    for (uint32_t i = 0; found < cm_gate_count(host->gate) && i < capacity; i++) {
        if (!host->has_peer[i] && cm_gate_exists(host->gate, i)) {
            cm_gate_end(host->gate, i);
            cm_host_free_stand_in(host, i);
        }
    }
}

static void flush(cm_transport *transport)
{
    cm_host *host = host_of(transport);
    list_live(host);
    sweep(host);
    for (uint32_t at = 0; at < host->live_count; at++) {
        uint32_t i = host->live[at];
        ENetPeer *peer = &host->enet->peers[i];
        if (peer->state == ENET_PEER_STATE_CONNECTED) {
            cm_peer_budget *budget = cm_host_budget_of(host, i);
            size_t path = path_of(host, i);
            budget->path = budget->path > path ? budget->path : path;
            cm_pacing_limits(peer, budget->path);
            cm_pacing_hasten(peer, budget, CM_CHANNEL_CONTROL);
        } else if (peer->state == ENET_PEER_STATE_ACKNOWLEDGING_CONNECT) {
            cm_pacing_hasten(peer, cm_host_budget_of(host, i), CM_CHANNEL_CONTROL);
        }
    }
    enet_host_flush(host->enet);
    // ENet's counters have 32 bits.
    host->stats.sent_bytes += host->enet->totalSentData;
    host->stats.sent_bytes += (uint64_t)host->enet->totalSentPackets * CM_HOST_IP_UDP;
    host->stats.sent_datagrams += host->enet->totalSentPackets;
    host->enet->totalSentData = 0;
    host->enet->totalSentPackets = 0;
}

static cm_transport_caps caps_of(const cm_transport *transport, cm_connection_id connection)
{
    const cm_host *host = (const cm_host *)transport;
    size_t path =
        look_at(transport, connection) != NULL ? path_of(host, connection.index) : CM_PATH_LEAST;
    return (cm_transport_caps){.unreliable = true, .sealed = true, .mtu = CM_FRAME_PACKET(path)};
}

static cm_transport_status status_of(const cm_transport *transport, cm_connection_id connection)
{
    const cm_host *host = (const cm_host *)transport;
    const ENetPeer *peer = look_at(transport, connection);
    if (peer == NULL) {
        return (cm_transport_status){0};
    }
    const cm_peer_budget *budget = &host->budgets[connection.index];
    uint32_t place = cm_host_connection_of(host, connection.index);
    return (cm_transport_status){
        .wire_bytes = place != CM_CONNECTION_NONE ? host->wire_bytes[place] : 0,
        .address = budget->from,
        .round_trip_ms = peer->roundTripTime,
        .round_trip_jitter_ms = 4 * peer->roundTripTimeVariance, // as for what is sent again
        .silence_ms = enet_time_get() - budget->heard_ms,
        .outstanding = budget->outstanding,
        .sent = budget->counted,
        .arrived = cm_peer_budget_arrived(budget)};
}

static const cm_token *token_of(const cm_transport *transport, cm_connection_id connection)
{
    const cm_host *host = (const cm_host *)transport;
    bool there = peer_of(transport, connection) != NULL;
    uint32_t place = there ? cm_host_connection_of(host, connection.index) : CM_CONNECTION_NONE;
    return place != CM_CONNECTION_NONE ? cm_gate_token(host->gate, place) : NULL;
}

static void mark(cm_transport *transport, cm_connection_id connection, cm_transport_mark how_far)
{
    cm_host *host = host_of(transport);
    bool there = peer_of(transport, connection) != NULL;
    uint32_t place = there ? cm_host_connection_of(host, connection.index) : CM_CONNECTION_NONE;
    if (place != CM_CONNECTION_NONE) {
        (how_far == CM_MARK_JOINED ? cm_gate_joined : cm_gate_welcomed)(host->gate, place);
        cm_host_budget_of(host, connection.index)->welcomed = how_far == CM_MARK_WELCOMED;
    }
}

static void destroy(cm_transport *transport, carom_reason reason)
{
    (void)reason;
    cm_host_destroy(host_of(transport));
}

static const cm_transport_functions functions = {.begin = begin,
                                                 .poll = poll_event,
                                                 .send = send_bytes,
                                                 .close = close_connection,
                                                 .flush = flush,
                                                 .caps = caps_of,
                                                 .status = status_of,
                                                 .token = token_of,
                                                 .mark = mark,
                                                 .destroy = destroy};

// Making -----------------------------------------------------------------------------------------

// On [::] IPv4 is heard too.
static ENetHost *listen_at(const cm_host_def *def)
{
    ENetAddress address = {.port = def->listen.port};
    bool four = cm_address_is_ipv4(def->listen.ip);
    if (four) {
        memcpy(&address.host, def->listen.ip + 12, sizeof address.host);
    } else {
        address.host = cm_net_stand_in(&def->listen);
    }
    ENetHost *enet = four || address.host != 0
                         ? enet_host_create(&address, def->peers, CM_FRAME_CHANNELS, 0, 0)
                         : NULL;
    if (!four) {
        cm_net_stand_in_free(address.host);
    }
    return enet;
}

cm_host *cm_host_create(const cm_host_def *def, char *error, size_t error_size)
{
    if (enet_initialize() != 0) {
        snprintf(error, error_size, "the network library did not start");
        return NULL;
    }
    cm_host *host = calloc(1, sizeof *host);
    if (host == NULL) {
        snprintf(error, error_size, "out of memory");
        return NULL;
    }
    host->malformed = CM_HOST_NO_PEER;
    host->budgets = calloc(def->peers, sizeof *host->budgets);
    host->has_peer = calloc(def->peers, sizeof *host->has_peer);
    host->transport = (cm_transport){&functions, def->peers};
    host->stand_ins = calloc(def->peers, sizeof *host->stand_ins);
    host->wire_bytes = calloc(def->peers, sizeof *host->wire_bytes);
    host->live = calloc(def->peers, sizeof *host->live);
    host->evicted = calloc(def->peers, sizeof *host->evicted);
    cm_gate_def gate = {
        .keys = def->keys, .ticket_key = def->ticket_key, .connections = def->peers};
    memcpy(gate.chance, def->chance, sizeof gate.chance);
    host->gate = cm_gate_create(&gate);
    cm_crypto_wipe(&gate, sizeof gate);
    bool whole = host->budgets != NULL && host->has_peer != NULL && host->live != NULL &&
                 host->evicted != NULL && host->stand_ins != NULL && host->wire_bytes != NULL;
    if (whole && host->gate != NULL) {
        host->enet = listen_at(def);
    } else {
        snprintf(error, error_size, "out of memory, or the cryptography library does not work");
        cm_host_destroy(host);
        return NULL;
    }
    if (host->enet == NULL) {
        char listen[CM_ADDRESS_TEXT_MAX];
        cm_address_write(&def->listen, listen);
        snprintf(error, error_size,
                 "listen: %s: taken, not allowed, or not of this machine, expected a free UDP "
                 "address",
                 listen);
        cm_host_destroy(host);
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
    // No limit of peers per address: the gate limits addresses, and players with tokens may share
    // one.
    enet->duplicatePeers = def->peers;
    enet->maximumPacketSize = RECEIVE_MAX;
    enet->maximumWaitingData = WAITING_MAX;
    enet->mtu = CM_DATAGRAM_MAX;
    cm_host_set_hooks(host);
    enet_socket_set_option(enet->socket, ENET_SOCKOPT_RCVBUF, CM_HOST_RECEIVE_BUFFER);
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
    if (host->enet != NULL) {
        enet_host_destroy(host->enet);
    }
    for (uint32_t i = 0; host->enet != NULL && i < host->transport.capacity; i++) {
        cm_host_free_stand_in(host, i);
    }
    cm_gate_destroy(host->gate);
    free(host->stand_ins);
    free(host->wire_bytes);
    free(host->budgets);
    free(host->has_peer);
    free(host->live);
    free(host->evicted);
    free(host);
}

cm_transport *cm_host_transport(cm_host *host)
{
    return &host->transport;
}

cm_gate *cm_host_gate(cm_host *host)
{
    return host->gate;
}

void cm_host_set_rooms(cm_host *host, cm_list_rooms *list, void *context)
{
    host->list_rooms = list;
    host->rooms_context = context;
}

void cm_host_set_carrier(cm_host *host, const cm_net_carrier *carrier)
{
    host->carrier = carrier;
    cm_net_carry(host->enet->socket, carrier);
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
