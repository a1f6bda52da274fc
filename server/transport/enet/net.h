// Bytes in, bytes out: the one user of ENet in the server. A host with a number of peers, two
// channels: 0 carries control messages (reliable, ordered), 1 carries inputs and views
// (unsequenced, unreliable, one datagram each).
//
// Every datagram passes the door (gate.h) before ENet parses it, and what a client has sealed
// passes the allow-list (commands.h): what is refused has a reason and a counter.
#ifndef CM_SERVER_TRANSPORT_ENET_NET_H
#define CM_SERVER_TRANSPORT_ENET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/transport/enet/commands.h"
#include "server/auth/gate.h"

#define CM_CHANNEL_CONTROL     0u
#define CM_CHANNEL_PACKETS     1u

#define CM_HOST_RECEIVE_BUFFER (4 * 1024 * 1024) // bytes asked of the kernel; it may grant fewer

typedef struct cm_host cm_host;

typedef struct cm_host_def {
    uint32_t address; // network byte order
    uint16_t port;    // 0: any free one
    uint32_t peers;   // 1 to 4095
    uint32_t timeout_ms;
    uint32_t seed;
    // Who may come in (gate.h).
    const carom_token_keys *keys;      // NULL: everyone
    const carom_token_key *ticket_key; // of the tickets that come back; NULL: there are none
    uint8_t chance[3 * CM_KEY_BYTES];
} cm_host_def;

typedef enum cm_host_event_type {
    CM_HOST_NOTHING,
    CM_HOST_CONNECT,
    CM_HOST_DISCONNECT, // also after a timeout
    CM_HOST_RECEIVE,
    CM_HOST_MALFORMED, // the peer itself sent what is not allowed; it was dropped and counted
} cm_host_event_type;

typedef struct cm_host_event {
    cm_host_event_type type;
    uint32_t peer;
    uint32_t channel;
    carom_reason
        reason;   // of a disconnect: what the client said, TIMEOUT, or NONE where none is known
    bool evicted; // a disconnect: it said no Hello for long, and another one wanted its place
    const uint8_t *bytes; // valid until the next call
    size_t size;
} cm_host_event;

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

// The next event, or CM_HOST_NOTHING once the socket is empty or a turn's budget (datagrams, steps
// and events, set anew by cm_host_begin) is spent; what is left in the socket waits for the next.
// The times are of the host's clock and of the wall.
void cm_host_begin(cm_host *host, uint64_t now_us, uint64_t unix_s);
cm_host_event_type cm_host_next(cm_host *host, cm_host_event *event);

bool cm_host_send_reliable(cm_host *host, uint32_t peer, const void *bytes, size_t size);
// The same, and counted: of those since the connection's begin, how many were sent and how many are
// known to have arrived, all before them too.
bool cm_host_send_counted(cm_host *host, uint32_t peer, const void *bytes, size_t size);
void cm_host_counted(const cm_host *host, uint32_t peer, uint64_t *sent, uint64_t *arrived);
bool cm_host_send(cm_host *host, uint32_t peer, const void *bytes, size_t size);
// Bytes of reliable messages that the peer has not acknowledged.
size_t cm_host_outstanding(const cm_host *host, uint32_t peer);
// After all that is queued was delivered, or at once (no event follows).
void cm_host_disconnect(cm_host *host, uint32_t peer, uint32_t reason);
void cm_host_flush(cm_host *host);

// Bytes that a packet on channel 1 may have for this peer: grows when its path is known to carry
// more.
size_t cm_host_packet_max(const cm_host *host, uint32_t peer);
// What the peer's token said; NULL where none is wanted.
const cm_token *cm_host_token(const cm_host *host, uint32_t peer);
// Where the peer is, as ADDRESS:PORT.
#define CM_HOST_ADDRESS_MAX 24u
void cm_host_address(const cm_host *host, uint32_t peer, char text[CM_HOST_ADDRESS_MAX]);
cm_gate *cm_host_gate(cm_host *host);
// The peer has its welcome, and a crash leaves its join (cm_gate_welcomed).
void cm_host_welcomed(cm_host *host, uint32_t peer);
// The peer's Hello led into a room (cm_gate_joined).
void cm_host_joined(cm_host *host, uint32_t peer);
// Ends the connection at once; the other end is not told, and no event follows.
void cm_host_drop(cm_host *host, uint32_t peer);
// How long nothing was heard of a peer that is connected.
uint32_t cm_host_silence_ms(const cm_host *host, uint32_t peer);
uint32_t cm_host_peer_address(const cm_host *host, uint32_t peer); // IPv4, network byte order
uint32_t cm_host_round_trip_ms(const cm_host *host, uint32_t peer);
// What the next one may be longer by: four deviations, as for the resending of what is lost.
uint32_t cm_host_round_trip_jitter_ms(const cm_host *host, uint32_t peer);
int cm_host_descriptor(const cm_host *host);
uint16_t cm_host_port(const cm_host *host);
void cm_host_stats_get(const cm_host *host, cm_host_stats *stats);

#endif
