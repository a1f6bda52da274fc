// The transport (transport.h) over ENet. A host has a number of peers and two channels: 0 carries
// control messages (reliable, ordered), 1 carries inputs and views (unsequenced, unreliable, one
// datagram each).
//
// Every datagram passes the gate (gate.h) before ENet parses it, and what a client has sealed
// passes the allow-list (commands.h): what is refused has a reason and a counter.
#ifndef CM_SERVER_TRANSPORT_ENET_NET_H
#define CM_SERVER_TRANSPORT_ENET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/transport/enet/commands.h"
#include "server/auth/gate.h"
#include "shared/net/net.h"
#include "shared/transport/transport.h"
#include "shared/wire/control.h"

#define CM_CHANNEL_CONTROL     0u
#define CM_CHANNEL_PACKETS     1u

#define CM_HOST_RECEIVE_BUFFER (4 * 1024 * 1024) // bytes asked of the kernel; it may grant fewer

typedef struct cm_host cm_host;

typedef struct cm_host_def {
    cm_address listen; // port 0: any free one
    uint32_t peers;    // 1 to 4095
    uint32_t timeout_ms;
    uint32_t seed;
    // Keys of admission (gate.h).
    const carom_token_keys *keys;      // NULL: everyone
    const carom_token_key *ticket_key; // of the tickets that come back; NULL: there are none
    uint8_t chance[3 * CM_KEY_BYTES];
} cm_host_def;

// The rooms, as many as fit; returns how many. Texts live until the next call.
typedef uint32_t cm_list_rooms(void *context, cm_control_room *rooms, uint32_t capacity);
#define CM_HOST_ROOMS_MAX 256u

typedef struct cm_host_stats {
    uint64_t refused[CM_DATAGRAM_REASON_COUNT];
    uint64_t commands_refused[CM_COMMAND_REASON_COUNT]; // each counts as COMMAND above too
    uint64_t sent_bytes, sent_datagrams; // bytes as on the wire, IP and UDP headers counted
    uint64_t received_bytes, received_datagrams;
    uint64_t send_failed; // packets that could not be queued
    uint64_t narrowed;    // peers ended because their path carries less than it did
    uint64_t slow;        // peers ended because they did not acknowledge what they were sent
    uint64_t handshakes;  // connections opened
    // The most work that one turn had: datagrams, and list elements that ENet may have walked over
    // for their commands. Both are bounded, whatever comes: a tick never waits for longer.
    uint64_t turn_datagrams_max, turn_steps_max;
} cm_host_stats;

// NULL with a message: the address is taken, or this build's ENet does not use our socket
// functions.
cm_host *cm_host_create(const cm_host_def *def, char *error, size_t error_size);
void cm_host_destroy(cm_host *host);

cm_transport *cm_host_transport(cm_host *host);
cm_gate *cm_host_gate(cm_host *host);
// Tells the rooms to clients that have no connection yet. NULL, as at first: nobody is answered.
void cm_host_set_rooms(cm_host *host, cm_list_rooms *list, void *context);
// The carrier brings datagrams besides the socket; kept by the caller. NULL, as at first: nobody
// does.
void cm_host_set_carrier(cm_host *host, const cm_net_carrier *carrier);
int cm_host_descriptor(const cm_host *host);
uint16_t cm_host_port(const cm_host *host);
void cm_host_stats_get(const cm_host *host, cm_host_stats *stats);

#endif
