// ENet's datagrams: what leaves is sealed, what comes passes the gate and the allow-list, and an
// IPv6 address becomes a stand-in that ENet can know.
#include <enet/enet.h>
#include <string.h>

#include "server/transport/enet/net_inner.h"
#include "shared/base/assert.h"
#include "shared/net/net.h"

#define PEER_ID_NONE  0xfffu
#define ROOMS_PARTS   16u // datagrams of one answer
#define ROOMS_MESSAGE 15u // bytes of a message of rooms besides them, at most
#define ROOMS_ROW     20u // of a room besides its texts

uint32_t cm_host_id_of(const ENetPeer *peer)
{
    uint8_t bytes[4];
    memcpy(bytes, &peer->connectID, sizeof bytes);
    return cm_frame_id(&(cm_frame_part){bytes, sizeof bytes});
}

uint32_t cm_host_connection_of(const cm_host *host, size_t index)
{
    const ENetPeer *peer = &host->enet->peers[index];
    return peer->state != ENET_PEER_STATE_DISCONNECTED
               ? cm_gate_find(host->gate, cm_host_id_of(peer))
               : CM_CONNECTION_NONE;
}

cm_peer_budget *cm_host_budget_of(cm_host *host, size_t index)
{
    cm_peer_budget *budget = &host->budgets[index];
    uint32_t id = cm_host_id_of(&host->enet->peers[index]);
    if (budget->id != id) {
        cm_peer_budget_begin(budget, id, enet_time_get());
    }
    return budget;
}

cm_connection_id cm_host_name_of(const cm_host *host, size_t index)
{
    return (cm_connection_id){(uint32_t)index, host->budgets[index].generation};
}

// Of IP and UDP.
static size_t headers_of(const cm_address *other)
{
    return CM_HOST_IP_UDP + (cm_address_is_ipv4(other->ip) ? 0 : CM_HOST_IPV6_MORE);
}

static size_t seal(void *owner, uint32_t id, const cm_frame_part *parts, size_t count,
                   uint8_t *datagram)
{
    cm_host *host = owner;
    uint32_t connection = cm_gate_find(host->gate, id);
    size_t size = connection != CM_CONNECTION_NONE
                      ? cm_gate_seal(host->gate, connection, parts, count, datagram)
                      : 0;
    host->stats.send_failed += size == 0; // it has no connection any more
    if (size > 0) {
        size_t more = host->stand_ins[connection].host != 0 ? CM_HOST_IPV6_MORE : 0;
        host->stats.sent_bytes += more; // flush counts the rest
        host->wire_bytes[connection] += size + CM_HOST_IP_UDP + more;
    }
    return size;
}

size_t cm_host_send_raw(cm_host *host, cm_address to, uint32_t carried, const uint8_t *bytes,
                        size_t size)
{
    size_t sent = carried != 0 ? cm_net_send_carried(carried, bytes, size)
                               : cm_net_send(host->enet->socket, &to, bytes, size);
    if (sent == 0) {
        return 0;
    }
    size += headers_of(&to);
    host->stats.sent_bytes += size;
    host->stats.sent_datagrams++;
    return size;
}

// In ---------------------------------------------------------------------------------------------

// The peer of a connection's id, or NULL.
static ENetPeer *find_peer(const cm_host *host, uint32_t id)
{
    ENetHost *enet = host->enet;
    for (size_t i = 0; i < enet->peerCount; i++) {
        if (enet->peers[i].state != ENET_PEER_STATE_DISCONNECTED &&
            cm_host_id_of(&enet->peers[i]) == id) {
            return &enet->peers[i];
        }
    }
    return NULL;
}

// Counts the list steps that ENet may need for so many commands of the peer: it walks the commands
// that came out of order, and those that wait for an ack.
static void count_steps(cm_host *host, ENetPeer *peer, uint32_t commands)
{
    size_t length = 1 + enet_list_size(&peer->sentReliableCommands);
    for (size_t i = 0; i < peer->channelCount; i++) {
        length += enet_list_size(&peer->channels[i].incomingReliableCommands);
        length += enet_list_size(&peer->channels[i].incomingUnreliableCommands);
    }
    host->turn_steps += length * commands;
    if (host->turn_steps > host->stats.turn_steps_max) {
        host->stats.turn_steps_max = host->turn_steps;
    }
}

// Checks an opened datagram of a connection: true if ENet may read it. A refused one can only come
// from the peer itself, since it was sealed.
static bool admit(cm_host *host, const cm_gate_result *passed)
{
    ENetHost *enet = host->enet;
    uint32_t index = ((uint32_t)passed->bytes[0] << 8 | passed->bytes[1]) & PEER_ID_NONE;
    // It names its peer; that must be the peer of this very connection.
    if (index >= enet->peerCount || cm_host_connection_of(host, index) != passed->connection) {
        host->stats.refused[CM_DATAGRAM_UNKNOWN]++;
        return false;
    }
    ENetPeer *peer = &enet->peers[index];
    cm_peer_budget *budget = cm_host_budget_of(host, index);
    budget->heard_ms = enet_time_get();
    cm_command_context context = {
        .reliable = peer->channelCount > 0 ? peer->channels[0].incomingReliableSequenceNumber : 0};
    cm_command_count count;
    cm_command_reason wrong = cm_commands_check(passed->bytes, passed->size, &context, &count);
    if (wrong != CM_COMMAND_REASON_COUNT) {
        host->stats.commands_refused[wrong]++;
        host->stats.refused[CM_DATAGRAM_COMMAND]++;
    } else if (!cm_peer_budget_spend_acks(budget, count.acks_wanted, enet_time_get())) {
        host->stats.refused[CM_DATAGRAM_ACKS]++;
    } else {
        cm_peer_budget_acked(budget, &count);
        count_steps(host, peer, count.commands);
        return true;
    }
    host->malformed = index;
    return false;
}

// Called before ENet makes a peer of a CONNECT: removes the peer of the connection that was evicted
// for it.
static void admit_connect(cm_host *host, const cm_gate_result *passed)
{
    ENetPeer *evicted = passed->evicted_id != 0 ? find_peer(host, passed->evicted_id) : NULL;
    if (evicted != NULL) {
        if (evicted->state == ENET_PEER_STATE_CONNECTED ||
            evicted->state == ENET_PEER_STATE_DISCONNECT_LATER) {
            CM_ASSERT(host->evicted_count < host->enet->peerCount);
            host->evicted[host->evicted_count++] =
                cm_host_name_of(host, (size_t)(evicted - host->enet->peers));
        }
        enet_peer_reset(evicted);
    }
}

void cm_host_free_stand_in(cm_host *host, uint32_t connection)
{
    cm_stand_in *known = &host->stand_ins[connection];
    if (!known->is_carried) {
        cm_net_stand_in_free(known->host);
    }
    *known = (cm_stand_in){0};
}

// Gives ENet a stand-in for an IPv6 connection, from its CONNECT on. False: no stand-in is left.
static bool take_stand_in(cm_host *host, uint32_t connection, const cm_address *from)
{
    cm_stand_in *known = &host->stand_ins[connection];
    if (known->host == 0 || !cm_address_equal(&known->of, from)) {
        cm_host_free_stand_in(host, connection); // the place is another connection's now
        *known = (cm_stand_in){.of = *from, .host = cm_net_stand_in(from)};
    }
    return known->host != 0;
}

// A datagram that passed the gate goes to ENet by the way by which its connection was opened, and
// by no other that has the same address: the ports of TCP and of UDP are not the same ones.
static bool find_way(cm_host *host, const cm_gate_result *passed, const cm_address *from,
                     uint32_t carried, uint32_t *from_host)
{
    cm_stand_in *known = &host->stand_ins[passed->connection];
    bool is_same = carried != 0 ? known->host == carried : !known->is_carried;
    if (!is_same && passed->is_connect) { // the place is another connection's now
        cm_host_free_stand_in(host, passed->connection);
        *known = (cm_stand_in){.of = *from, .host = carried, .is_carried = carried != 0};
    } else if (!is_same) {
        host->stats.refused[CM_DATAGRAM_MOVED]++;
        return false;
    }
    if (carried == 0 && !cm_address_is_ipv4(from->ip)) {
        if (passed->is_connect && !take_stand_in(host, passed->connection, from)) {
            host->stats.refused[CM_DATAGRAM_FULL]++; // sweep ends its connection
            return false;
        }
        *from_host = known->host;
    }
    return true;
}

// The rooms that one datagram holds.
static uint32_t count_fitting(const cm_control_room *rooms, uint32_t left)
{
    size_t size = CM_ROOMS_HEADER + ROOMS_MESSAGE;
    uint32_t count = 0;
    for (; count < left && count < CM_CONTROL_ROOMS_MAX; count++) {
        const cm_control_room *row = &rooms[count];
        size += ROOMS_ROW + strlen(row->name) + strlen(row->scene) + strlen(row->module);
        if (size > CM_PATH_LEAST) {
            break;
        }
    }
    return count;
}

static void send_rooms(cm_host *host, cm_address to, uint32_t carried, const cm_gate_result *ask)
{
    cm_control_room rooms[CM_HOST_ROOMS_MAX];
    uint32_t total = host->list_rooms != NULL
                         ? host->list_rooms(host->rooms_context, rooms, CM_HOST_ROOMS_MAX)
                         : 0;
    uint32_t at = ask->first < total ? ask->first : 0;
    for (uint32_t i = 0; host->list_rooms != NULL && i < ROOMS_PARTS && (i == 0 || at < total);
         i++) {
        cm_control part = {.type = CM_CONTROL_ROOMS,
                           .first = at,
                           .total = total,
                           .rooms = rooms + at,
                           .room_count = count_fitting(rooms + at, total - at)};
        uint8_t datagram[CM_PATH_LEAST] = {CM_WIRE_ROOMS}, *bytes;
        size_t size;
        if (cm_control_encode(&part, NULL, &bytes, &size) != CAROM_OK) {
            return;
        }
        CM_ASSERT(CM_ROOMS_HEADER + size <= sizeof datagram);
        memcpy(datagram + 1, ask->bytes, CM_ECHO_BYTES);
        memcpy(datagram + CM_ROOMS_HEADER, bytes, size);
        cm_control_release_bytes(NULL, bytes);
        cm_host_send_raw(host, to, carried, datagram, CM_ROOMS_HEADER + size);
        at += part.room_count;
    }
}

static bool receive(void *owner, uint32_t *from_host, uint16_t *from_port, uint8_t **bytes,
                    size_t *size)
{
    cm_host *host = owner;
    cm_address from;
    (void)from_port; // a stand-in has the port of what it stands for
    host->stats.received_datagrams++;
    if (++host->turn_datagrams > host->stats.turn_datagrams_max) {
        host->stats.turn_datagrams_max = host->turn_datagrams;
    }
    uint32_t carried = cm_net_sender_carried();
    cm_net_sender(&from);
    host->stats.received_bytes += *size + headers_of(&from);
    if (!cm_address_is_host(from.ip)) {
        host->stats.refused[CM_DATAGRAM_SOURCE]++;
        return false;
    }
    cm_gate_result result;
    cm_gate_receive(host->gate, from, host->now_us, host->unix_s, *bytes, *size, &result);
    if (result.reason != CM_DATAGRAM_REASON_COUNT) {
        host->stats.refused[result.reason]++;
    }
    if (result.verdict == CM_GATE_ANSWER) {
        cm_host_send_raw(host, from, carried, result.bytes, result.size);
    } else if (result.verdict == CM_GATE_ROOMS) {
        send_rooms(host, from, carried, &result);
    }
    if (result.verdict != CM_GATE_PASS || (!result.is_connect && !admit(host, &result))) {
        return false;
    }
    if (result.is_connect) {
        admit_connect(host, &result);
    }
    if (!find_way(host, &result, &from, carried, from_host)) {
        return false;
    }
    *bytes = result.bytes;
    *size = result.size;
    return true;
}

void cm_host_set_hooks(cm_host *host)
{
    host->hooks = (cm_enet_hooks){.owner = host, .seal = seal, .open = receive};
    cm_enet_hooks_set(&host->hooks, host->enet);
}
