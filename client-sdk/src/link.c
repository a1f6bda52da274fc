// ENet for the client: one host, one peer, two channels, behind the handshake and the seal.
//
// The link sends a hello to the server until the challenge comes back; then ENet connects, and each
// of its datagrams is sealed when sent and opened when received (shared/transport/enet_hooks.h).
// That needs only two callbacks of the library, so a game may bring its own ENet. ENet from 1.3.18
// on draws connection ids itself and has no call to set one, so the link overwrites it in the peer.
//
// Some defaults of ENet harm a match and are turned off: its throttle (drops unreliable packets
// whenever the round trip varies), its default MTU, its 32 MiB limits. A service call without an
// event, or with an error, does not mean an empty socket, so polling continues until the socket is
// empty or a budget is spent. Typical: 30 datagrams in and 60 out a second.
#include "client-sdk/src/link.h"

#include <enet/enet.h>
#include <string.h>

#include "client-sdk/src/link_inner.h"
#include "client-sdk/src/lookup.h"
#include "shared/base/assert.h"
#include "shared/base/memory.h"
#include "shared/wire/control.h"
#include "shared/wire/packet.h"

#define LINK_CHANNELS     2u
#define LINK_CONTROL      0u // its channel
#define LINK_PLAY         1u
#define LINK_ROUNDS       16u   // service calls without an event in one poll
#define LINK_EVENTS       4096u // between two flushes: a flood does not hold the frame up
#define LINK_PING_MS      250u
#define LINK_TIMEOUT_MS   120000u // ENet's own, of one reliable message; silence ends it earlier
#define LINK_PACKET_SLACK 1024u
#define LINK_FIRST_RTT_MS 250u  // until one is measured; ENet takes 500 and resends as late
#define LINK_SILENT_MS    1000u // of the server: then less is sent again to it

static cm_client_link *link_of(cm_transport *transport)
{
    return (cm_client_link *)transport;
}

static uint64_t now_us(void)
{
    return enet_time_get() * UINT64_C(1000);
}

// Out --------------------------------------------------------------------------------------------

void cm_link_send_raw(cm_client_link *link, const uint8_t *bytes, size_t size)
{
    ENetBuffer buffer = {.data = (void *)(uintptr_t)bytes, .dataLength = size};
    const ENetAddress to = {link->route_host, link->route_port};
    if (enet_socket_send(link->host->socket, &to, &buffer, 1) > 0) {
        link->info.bytes_out += size;
    }
}

static size_t seal_connect(cm_client_link *link, const cm_frame_part *parts, size_t count,
                           uint8_t *datagram)
{
    uint8_t enet[CM_ENET_CONNECT];
    if (!cm_frame_read_connect(parts, count, enet) || link->attempts > UINT8_MAX) {
        return 0; // so many were never answered: no nonce is left, and no server there
    }
    cm_connect connect = {.attempt = (uint8_t)link->attempts++,
                          .cookie = link->cookie,
                          .client_public = link->public_key,
                          .token = link->pass.sealed,
                          .token_size = link->pass.sealed_size};
    return cm_connect_write(&connect, enet, &link->seal, datagram);
}

static size_t seal(void *owner, uint32_t id, const cm_frame_part *parts, size_t count,
                   uint8_t *datagram)
{
    cm_client_link *link = owner;
    return id == 0 ? seal_connect(link, parts, count, datagram)
                   : cm_frame_seal(&link->seal, parts, count, datagram);
}

// In ---------------------------------------------------------------------------------------------

// A datagram of the connection: true where ENet may have what *opened is now.
static bool open_sealed(cm_client_link *link, uint8_t *bytes, size_t size, uint8_t **opened,
                        size_t *opened_size)
{
    uint8_t type = bytes[0];
    uint8_t *frame = NULL;
    size_t frame_size = 0;
    cm_seal_reason reason = CM_SEAL_OTHER;
    if (link->cookie != 0) {
        reason = type == CM_WIRE_SEALED
                     ? cm_frame_open(&link->seal, bytes, size, &frame, &frame_size)
                     : cm_seal_open(&link->seal, bytes, size, &frame_size);
    }
    if (reason != CM_SEAL_OK) {
        link->info.refused++;
        return false;
    }
    link->info.opened++;
    link->heard_ms = enet_time_get();
    link->asks = link->reborn = false; // it lives
    cm_path_received(&link->path);
    if (type == CM_WIRE_PROBE) {
        cm_link_send_raw(link, link->datagram, cm_frame_probed(&link->seal, size, link->datagram));
    } else if (type == CM_WIRE_PROBED) {
        cm_path_answered(&link->path, cm_frame_probed_size(bytes + CM_SEAL_HEADER, frame_size),
                         now_us());
    } else {
        *opened = frame;
        *opened_size = frame_size;
        return true;
    }
    return false;
}

bool cm_link_is_connected(const cm_client_link *link)
{
    return link->peer != NULL && link->peer->state == ENET_PEER_STATE_CONNECTED;
}

static bool redirect(cm_transport *transport, uint16_t port)
{
    return cm_link_redirect(link_of(transport), port);
}

static bool ask_rooms(cm_transport *transport, cm_client_rooms *rooms)
{
    cm_client_link *link = link_of(transport);
    if (link->peer != NULL || link->attempts > 0) {
        return false;
    }
    link->rooms = rooms;
    return true;
}

static void mark(cm_transport *transport, cm_connection_id connection, cm_transport_mark how_far)
{
    cm_client_link *link = link_of(transport);
    (void)connection;
    if (how_far == CM_MARK_WELCOMED) {
        link->welcomed = true;
        link->moves = 0;
    }
}

static bool receive(void *owner, uint32_t *host, uint16_t *port, uint8_t **received,
                    size_t *received_size)
{
    cm_client_link *link = owner;
    uint8_t *bytes = *received;
    size_t size = *received_size;
    link->info.bytes_in += size;
    bool ours = *host == link->route_host && *port == link->route_port && size > 0;
    uint8_t type = ours ? bytes[0] : 0;
    cm_refusal refusal;
    if (type == CM_WIRE_SEALED || type == CM_WIRE_PROBE || type == CM_WIRE_PROBED) {
        return open_sealed(link, bytes, size, received, received_size);
    }
    if (type == CM_WIRE_CHALLENGE) {
        cm_link_take_challenge(link, bytes, size);
    } else if (type == CM_WIRE_ROOMS) {
        cm_link_take_rooms(link, bytes, size);
    } else if (type == CM_WIRE_REFUSAL && cm_refusal_read(bytes, size, &refusal) &&
               cm_crypto_equal(refusal.echo, link->public_key, CM_ECHO_BYTES)) {
        cm_link_take_refusal(link, &refusal);
    } else {
        link->info.refused++;
    }
    return false;
}

// Again and again: the other side may send ENet a command that changes these.
static void hold_settings(const cm_client_link *link, ENetPeer *peer)
{
    // Never less than before: ENet could not send what it has cut for a larger path.
    size_t mtu = CM_FRAME_MTU(link->path.known);
    peer->mtu = link->attempts == 0 || mtu > peer->mtu ? (enet_uint32)mtu : peer->mtu;
    cm_enet_hold(peer);
}

// ENet doubles the timeout of a lost command at each retry: a hello lost three times would take
// seconds, and a message after a pause of the path many more. This bounds the timeouts.
static void hold_timeouts(const cm_client_link *link)
{
    ENetPeer *peer = link->peer;
    enet_uint32 now = enet_time_get(), trip = peer->roundTripTime;
    bool silent = now - link->heard_ms > LINK_SILENT_MS;
    enet_uint32 most = trip + 4 * peer->roundTripTimeVariance + (silent ? LINK_SILENT_MS : trip);
    for (ENetListIterator at = enet_list_begin(&peer->sentReliableCommands);
         at != enet_list_end(&peer->sentReliableCommands); at = enet_list_next(at)) {
        ENetOutgoingCommand *command = (ENetOutgoingCommand *)(void *)at;
        if (command->roundTripTimeout > most) {
            command->roundTripTimeout = most;
            peer->nextTimeout = now; // looked at again
        }
    }
}

static void drop_packet(cm_client_link *link)
{
    if (link->packet != NULL) {
        enet_packet_destroy(link->packet);
        link->packet = NULL;
    }
}

// Outside of ENet's own call: a connect from within intercept would upset it.
static void connect_enet(cm_client_link *link)
{
    if (link->cookie == 0 || link->peer != NULL || link->attempts > 0 || link->rooms != NULL) {
        return;
    }
    const ENetAddress to = {link->route_host, link->route_port};
    cm_path_begin(&link->path, now_us());
    hold_settings(link, &link->host->peers[0]); // before the request is made: it carries them
    link->peer = enet_host_connect(link->host, &to, LINK_CHANNELS, 0);
    CM_ASSERT(link->peer == &link->host->peers[0]);
    link->peer->data = &link->hooks;
    uint8_t id[4] = {(uint8_t)link->cookie, (uint8_t)(link->cookie >> 8),
                     (uint8_t)(link->cookie >> 16), (uint8_t)(link->cookie >> 24)};
    memcpy(&link->peer->connectID, id, sizeof id);
    // Measured by hello and challenge: of several hellos the first, which is at least as much.
    enet_uint32 took = enet_time_get() - link->knock_ms;
    took = took < LINK_FIRST_RTT_MS ? took : LINK_FIRST_RTT_MS;
    link->peer->roundTripTime = took > 0 ? took : 1;
    link->peer->roundTripTimeVariance = link->peer->roundTripTime / 20 + 1;
    enet_peer_timeout(link->peer, ENET_PEER_TIMEOUT_LIMIT, LINK_TIMEOUT_MS, LINK_TIMEOUT_MS);
    enet_peer_ping_interval(link->peer, LINK_PING_MS);
}

// As a transport ---------------------------------------------------------------------------------

static void destroy(cm_transport *transport, carom_reason reason)
{
    cm_client_link *link = link_of(transport);
    drop_packet(link);
    if (link->peer != NULL) {
        enet_peer_disconnect_now(link->peer, reason);
    }
    cm_relay_pump(&link->relay); // the farewell
    cm_relay_close(&link->relay);
    if (link->host != NULL) {
        enet_host_destroy(link->host);
    }
    carom_allocator allocator = link->allocator;
    cm_crypto_wipe(link, sizeof *link);
    allocator.release(allocator.context, link);
}

static void close_connection(cm_transport *transport, cm_connection_id connection,
                             carom_reason reason, cm_close_how how)
{
    cm_client_link *link = link_of(transport);
    (void)connection;
    if (link->peer != NULL && how == CM_CLOSE_AFTER_ALL) {
        enet_peer_disconnect_later(link->peer, reason);
    } else if (link->peer != NULL) {
        enet_peer_reset(link->peer);
        link->peer = NULL;
    }
}

// The next ENet event; false when the socket is empty or the budget spent.
static bool service(cm_client_link *link, ENetEvent *event)
{
    for (uint32_t round = 0; round < LINK_ROUNDS; round++) {
        // Otherwise ENet would send a bandwidth command, which our servers refuse.
        link->host->recalculateBandwidthLimits = 0;
        cm_relay_pump(&link->relay);
        if (enet_host_service(link->host, event, 0) > 0) {
            return true;
        }
        if (!cm_enet_is_readable(link->host)) {
            return false;
        }
    }
    return false;
}

static void begin(cm_transport *transport, uint64_t now, uint64_t unix_s)
{
    (void)now; // ENet has a clock
    (void)unix_s;
    link_of(transport)->events = 0;
}

static bool poll_event(cm_transport *transport, cm_transport_event *event)
{
    cm_client_link *link = link_of(transport);
    drop_packet(link);
    *event = (cm_transport_event){.connection = CM_CONNECTION_ONLY};
    if (cm_link_follow(link, event)) {
        return true;
    }
    cm_link_say_hello(link);
    ENetEvent from_enet;
    while (link->events < LINK_EVENTS && service(link, &from_enet)) {
        link->events++;
        switch (from_enet.type) {
        case ENET_EVENT_TYPE_CONNECT:
            event->type = CM_TRANSPORT_OPENED;
            hold_settings(link, link->peer);
            return true;
        case ENET_EVENT_TYPE_DISCONNECT:
            event->type = CM_TRANSPORT_CLOSED;
            event->reason = from_enet.data < CAROM_REASON_COUNT ? (carom_reason)from_enet.data
                                                                : CAROM_REASON_NONE;
            link->peer = NULL;
            return true;
        case ENET_EVENT_TYPE_RECEIVE:
            link->packet = from_enet.packet;
            event->type = CM_TRANSPORT_RECEIVED;
            event->kind = from_enet.channelID == LINK_CONTROL ? CM_SEND_CONTROL : CM_SEND_PACKET;
            event->bytes = from_enet.packet->data;
            event->size = from_enet.packet->dataLength;
            return true;
        case ENET_EVENT_TYPE_NONE:
            break;
        }
    }
    return false;
}

// ENet lets go of a control message: it was acknowledged, or the link is at its end.
static void ENET_CALLBACK control_is_done(ENetPacket *packet)
{
    cm_control_sent *sent = packet->userData;
    cm_client_link *link = sent->link;
    sent->done = true;
    while (link->info.arrived < link->info.sent &&
           link->controls[link->info.arrived % CM_LINK_CONTROLS].done) {
        link->info.arrived++;
    }
}

// False: too many are under way.
static bool number_control(cm_client_link *link, ENetPacket *packet)
{
    if (link->info.sent - link->info.arrived == CM_LINK_CONTROLS) {
        return false;
    }
    cm_control_sent *sent = &link->controls[link->info.sent++ % CM_LINK_CONTROLS];
    *sent = (cm_control_sent){.link = link};
    packet->userData = sent;
    packet->freeCallback = control_is_done;
    return true;
}

static bool send_bytes(cm_transport *transport, cm_connection_id connection, cm_send_kind kind,
                       const void *bytes, size_t size)
{
    cm_client_link *link = link_of(transport);
    (void)connection;
    if (link->peer == NULL || link->peer->state != ENET_PEER_STATE_CONNECTED) {
        return false;
    }
    bool reliable = kind != CM_SEND_PACKET;
    hold_settings(link, link->peer);
    enet_uint32 flags = reliable ? ENET_PACKET_FLAG_RELIABLE : ENET_PACKET_FLAG_UNSEQUENCED;
    ENetPacket *packet = enet_packet_create(bytes, size, flags);
    if (packet == NULL) {
        return false;
    }
    bool numbered = !reliable || number_control(link, packet);
    if (!numbered || enet_peer_send(link->peer, reliable ? LINK_CONTROL : LINK_PLAY, packet) != 0) {
        enet_packet_destroy(packet);
        return false;
    }
    return true;
}

static void flush(cm_transport *transport)
{
    cm_client_link *link = link_of(transport);
    link->events = 0;
    connect_enet(link);
    if (cm_link_is_connected(link)) {
        hold_timeouts(link);
    }
    uint32_t probe = link->peer != NULL && link->peer->state == ENET_PEER_STATE_CONNECTED
                         ? cm_path_probe(&link->path, now_us())
                         : 0;
    if (probe > 0) {
        cm_link_send_raw(link, link->datagram, cm_frame_probe(&link->seal, probe, link->datagram));
    }
    enet_host_flush(link->host);
    cm_relay_pump(&link->relay);
    link->info.bytes_out += link->host->totalSentData;
    link->host->totalSentData = 0;
}

static cm_transport_caps caps_of(const cm_transport *transport, cm_connection_id connection)
{
    const cm_client_link *link = (const cm_client_link *)transport;
    (void)connection;
    return (cm_transport_caps){
        .unreliable = true, .sealed = true, .mtu = CM_FRAME_PACKET(link->path.known)};
}

static cm_transport_status status_of(const cm_transport *transport, cm_connection_id connection)
{
    const cm_client_link *link = (const cm_client_link *)transport;
    (void)connection;
    cm_transport_status status = link->info;
    status.address = link->addresses[link->address];
    status.silence_ms = enet_time_get() - link->heard_ms;
    if (link->peer != NULL) {
        status.round_trip_ms = link->peer->roundTripTime;
        status.round_trip_jitter_ms = 4 * link->peer->roundTripTimeVariance;
    }
    return status;
}

static const cm_transport_functions functions = {.begin = begin,
                                                 .poll = poll_event,
                                                 .send = send_bytes,
                                                 .close = close_connection,
                                                 .flush = flush,
                                                 .caps = caps_of,
                                                 .status = status_of,
                                                 .mark = mark,
                                                 .redirect = redirect,
                                                 .ask_rooms = ask_rooms,
                                                 .destroy = destroy};

// Making -----------------------------------------------------------------------------------------

static carom_result find_addresses(cm_client_link *link, const cm_client_link_def *def)
{
    for (uint32_t i = 0; def->pass != NULL && i < def->pass->server_count; i++) {
        if (cm_address_is_host(def->pass->servers[i].ip)) {
            link->addresses[link->address_count++] = def->pass->servers[i];
        }
    }
    if (def->pass == NULL) {
        link->address_count = cm_lookup(def->host, def->port, link->addresses);
    }
    return link->address_count > 0 ? CAROM_OK : CAROM_ERROR_NOT_FOUND;
}

static bool start(cm_client_link *link)
{
    link->host = enet_host_create(NULL, 1, LINK_CHANNELS, 0, 0);
    if (link->host == NULL) {
        return false;
    }
    uint32_t
        seed; // of what ENet draws; a number from our arguments keeps virtual networks the same
    link->random(link->context, &seed, sizeof seed);
    link->host->randomSeed = seed;
    link->host->maximumPacketSize = CM_CONTROL_MAX_FROM_SERVER + LINK_PACKET_SLACK;
    link->host->maximumWaitingData = CM_CONTROL_MAX_FROM_SERVER + LINK_PACKET_SLACK;
    link->host->mtu = CM_FRAME_MTU(CM_PATH_LEAST); // 1.3.18 gives a peer that connects this one
    link->hooks = (cm_enet_hooks){.owner = link, .seal = seal, .open = receive};
    cm_enet_hooks_set(&link->hooks, link->host);
    link->path.known = CM_PATH_LEAST;
    link->asked_port = link->addresses[0].port;
    cm_link_knock(link);
    return true;
}

carom_result cm_client_link_open(const cm_client_link_def *def, cm_transport **out)
{
    *out = NULL;
    // ENet's counts nothing and locks nothing on POSIX; starts Winsock elsewhere. Never
    // deinitialised, since the game may use ENet too.
    if (enet_initialize() != 0 || !cm_crypto_init()) {
        return CAROM_ERROR_IO;
    }
    cm_client_link *link = cm_memory_take(def->allocator, sizeof *link);
    if (link == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    link->transport = (cm_transport){&functions, 1};
    link->allocator = *def->allocator;
    link->random = def->random;
    link->context = def->context;
    link->relay.path = def->path;
    link->relay.allocator = &link->allocator;
    if (def->pass != NULL) {
        link->pass = *def->pass;
    }
    carom_result result = find_addresses(link, def);
    if (result == CAROM_OK && !start(link)) {
        result = CAROM_ERROR_IO;
    }
    if (result != CAROM_OK) {
        destroy(&link->transport, CAROM_REASON_NONE);
        return result;
    }
    *out = &link->transport;
    return CAROM_OK;
}
