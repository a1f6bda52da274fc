// ENet for the client: one host, one peer, two channels.
//
// What ENet would do of its own and a match does not want is turned off: its throttle (drops
// unreliable packets whenever the round trip varies), its default MTU, its 32 MiB limits. A single
// service call that reports nothing or an error does not mean an empty socket, so polling goes on
// until the socket is, or a budget is spent.
// Typical: 30 datagrams in and 60 out a second.
#include "client-sdk/src/link.h"

#include <string.h>

#include <enet/enet.h>

#include "shared/base/rng.h"
#include "shared/wire/control.h"
#include "shared/wire/packet.h"

#define LINK_MTU          1200u
#define LINK_CHANNELS     2u
#define LINK_ROUNDS       16u   // service calls without an event in one poll
#define LINK_EVENTS       4096u // between two flushes: a flood does not hold the frame up
#define LINK_PING_MS      250u
#define LINK_TIMEOUT_MS   30000u // ENet's own, of one reliable message; silence ends it earlier
#define LINK_PACKET_SLACK 1024u
#define LINK_FIRST_RTT_MS 250u // until one is measured; ENet takes 500 and resends as late

struct cm_client_link {
    const carom_allocator *allocator;
    ENetHost *host;
    ENetPeer *peer; // NULL once disconnected
    ENetPacket *packet;
    uint64_t bytes_in, bytes_out;
    uint32_t events; // since the last flush
    enet_uint32 opened_ms;
};

// Again and again: the other side may send ENet a command that changes these.
static void hold_settings(ENetPeer *peer)
{
    peer->mtu = LINK_MTU;
    peer->packetThrottle = ENET_PEER_PACKET_THROTTLE_SCALE;
    peer->packetThrottleLimit = ENET_PEER_PACKET_THROTTLE_SCALE;
    peer->packetThrottleDeceleration = 0;
}

// ENet measures first with the acknowledgement of the hello, and until then would resend it after
// half a second or more: the handshake took a round trip already.
static void guess_round_trip(const cm_client_link *link)
{
    enet_uint32 took = enet_time_get() - link->opened_ms;
    if (took < 2 * LINK_FIRST_RTT_MS) {
        link->peer->roundTripTime = took > 0 ? took : 1;
        link->peer->roundTripTimeVariance = took / 8 + 1;
    }
}

static void drop_packet(cm_client_link *link)
{
    if (link->packet) {
        enet_packet_destroy(link->packet);
        link->packet = NULL;
    }
}

static void count_bytes(cm_client_link *link)
{
    link->bytes_in += link->host->totalReceivedData;
    link->bytes_out += link->host->totalSentData;
    link->host->totalReceivedData = 0;
    link->host->totalSentData = 0;
}

static bool start(cm_client_link *link, const ENetAddress *address, uint32_t data, uint64_t seed)
{
    link->host = enet_host_create(NULL, 1, LINK_CHANNELS, 0, 0);
    if (!link->host) {
        return false;
    }
    link->host->maximumPacketSize = CM_CONTROL_MAX_FROM_SERVER + LINK_PACKET_SLACK;
    link->host->maximumWaitingData = CM_CONTROL_MAX_FROM_SERVER + LINK_PACKET_SLACK;
    // ENet mixes an address in; a number from our arguments keeps a virtual network reproducible.
    link->host->randomSeed = (enet_uint32)cm_splitmix(&seed);
    hold_settings(&link->host->peers[0]); // before the request is made: it carries them
    link->peer = enet_host_connect(link->host, address, LINK_CHANNELS, data);
    if (!link->peer) {
        return false;
    }
    link->opened_ms = enet_time_get();
    link->peer->roundTripTime = LINK_FIRST_RTT_MS;
    enet_peer_timeout(link->peer, ENET_PEER_TIMEOUT_LIMIT, LINK_TIMEOUT_MS, LINK_TIMEOUT_MS);
    enet_peer_ping_interval(link->peer, LINK_PING_MS);
    return true;
}

carom_result cm_client_link_open(const carom_allocator *allocator, const char *host, uint16_t port,
                                 uint32_t data, uint64_t seed, cm_client_link **out)
{
    *out = NULL;
    // Counts nothing and locks nothing on POSIX; starts Winsock elsewhere. Never deinitialised,
    // since the game may use ENet too.
    if (enet_initialize() != 0) {
        return CAROM_ERROR_IO;
    }
    ENetAddress address;
    memset(&address, 0, sizeof address);
    if (enet_address_set_host(&address, host) != 0) {
        return CAROM_ERROR_NOT_FOUND;
    }
    address.port = port;
    cm_client_link *link = allocator->allocate(allocator->context, sizeof *link);
    if (!link) {
        return CAROM_ERROR_MEMORY;
    }
    memset(link, 0, sizeof *link);
    link->allocator = allocator;
    if (!start(link, &address, data, seed)) {
        if (link->host) {
            enet_host_destroy(link->host);
        }
        allocator->release(allocator->context, link);
        return CAROM_ERROR_IO;
    }
    *out = link;
    return CAROM_OK;
}

void cm_client_link_close(cm_client_link *link, uint32_t data)
{
    if (!link) {
        return;
    }
    drop_packet(link);
    if (link->peer) {
        enet_peer_disconnect_now(link->peer, data);
    }
    enet_host_destroy(link->host);
    link->allocator->release(link->allocator->context, link);
}

void cm_client_link_leave(cm_client_link *link, uint32_t data)
{
    if (link->peer) {
        enet_peer_disconnect_later(link->peer, data);
    }
}

// The next ENet event; false when the socket is empty or the budget spent.
static bool service(cm_client_link *link, ENetEvent *event)
{
    for (uint32_t round = 0; round < LINK_ROUNDS; round++) {
        if (enet_host_service(link->host, event, 0) > 0) {
            return true;
        }
        enet_uint32 condition = ENET_SOCKET_WAIT_RECEIVE;
        if (enet_socket_wait(link->host->socket, &condition, 0) != 0 ||
            !(condition & ENET_SOCKET_WAIT_RECEIVE)) {
            return false;
        }
    }
    return false;
}

bool cm_client_link_poll(cm_client_link *link, cm_link_event *event)
{
    drop_packet(link);
    memset(event, 0, sizeof *event);
    ENetEvent from_enet;
    while (link->events < LINK_EVENTS && service(link, &from_enet)) {
        link->events++;
        count_bytes(link);
        switch (from_enet.type) {
        case ENET_EVENT_TYPE_CONNECT:
            event->type = CM_LINK_CONNECTED;
            hold_settings(link->peer);
            guess_round_trip(link);
            return true;
        case ENET_EVENT_TYPE_DISCONNECT:
            event->type = CM_LINK_DISCONNECTED;
            event->data = from_enet.data;
            link->peer = NULL;
            return true;
        case ENET_EVENT_TYPE_RECEIVE:
            link->packet = from_enet.packet;
            event->type = CM_LINK_RECEIVED;
            event->channel = from_enet.channelID;
            event->bytes = from_enet.packet->data;
            event->size = from_enet.packet->dataLength;
            return true;
        case ENET_EVENT_TYPE_NONE:
            break;
        }
    }
    return false;
}

bool cm_client_link_send(cm_client_link *link, uint32_t channel, const uint8_t *bytes, size_t size)
{
    if (!link->peer || link->peer->state != ENET_PEER_STATE_CONNECTED) {
        return false;
    }
    hold_settings(link->peer);
    enet_uint32 flags =
        channel == CM_LINK_CONTROL ? ENET_PACKET_FLAG_RELIABLE : ENET_PACKET_FLAG_UNSEQUENCED;
    ENetPacket *packet = enet_packet_create(bytes, size, flags);
    if (!packet) {
        return false;
    }
    if (enet_peer_send(link->peer, (enet_uint8)channel, packet) != 0) {
        enet_packet_destroy(packet);
        return false;
    }
    return true;
}

void cm_client_link_flush(cm_client_link *link)
{
    link->events = 0;
    enet_host_flush(link->host);
    count_bytes(link);
}

void cm_client_link_info(const cm_client_link *link, cm_link_info *info)
{
    memset(info, 0, sizeof *info);
    info->bytes_in = link->bytes_in;
    info->bytes_out = link->bytes_out;
    if (link->peer) {
        info->rtt_ms = link->peer->roundTripTime;
    }
}
