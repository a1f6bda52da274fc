// The two packets that play a match: inputs up, views down. Each stands alone; proto/PROTOCOL.md
// describes every byte. Pure: bytes in, structs out; no socket, no clock.
//
// Both travel unsequenced and unreliable; ticks and acks are ours. A packet is refused as a whole,
// with a reason, when anything in it is malformed.
#ifndef CM_WIRE_PACKET_H
#define CM_WIRE_PACKET_H

#include "carom/game.h"
#include "shared/base/bits.h"
#include "shared/view/view.h"

#define CM_PROTOCOL_VERSION 5
// Datagrams are at most 1,200 bytes; ENet takes 12, a checksum 4, a seal 29.
#define CM_PACKET_MAX       1152
#define CM_PACKET_INPUT     1
#define CM_PACKET_VIEW      2
#define CM_PACKET_EPOCH_AT  1   // its byte in a view
#define CM_INPUTS_MAX       64  // ticks of inputs in one packet
#define CM_BASELINE_AGE_MAX 127 // packets back that a view's delta may refer to
#define CM_RELAY_MAX        256 // bytes of a view's relay

// The reasons for refusing a packet. The receiver has one counter for each.
#define CM_PACKET_REASONS(X)                                                                       \
    X(OK, "accepted")                                                                              \
    X(SHORT, "shorter than its header or its contents")                                            \
    X(LONG, "longer than a packet may be, or bytes left over")                                     \
    X(TYPE, "unknown packet type")                                                                 \
    X(RANGE, "a field is out of its range")                                                        \
    X(BASELINE, "refers to a baseline that the receiver does not have")                            \
    X(CHECK, "decodes to other values than were sent")                                             \
    X(STALE, "older than what the receiver still wants")

typedef enum cm_packet_reason {
#define CM_PACKET_REASON_ENUM(name, text) CM_PACKET_##name,
    CM_PACKET_REASONS(CM_PACKET_REASON_ENUM)
#undef CM_PACKET_REASON_ENUM
        CM_PACKET_REASON_COUNT
} cm_packet_reason;

const char *cm_packet_reason_text(cm_packet_reason reason);

// The end of a packet: all its bits read, none left over, padding zero.
cm_packet_reason cm_packet_end(cm_bit_reader *reader);

// Input packet: client -> server -------------------------------------------------------------
typedef struct cm_input_packet {
    uint8_t epoch;         // of the welcome that the client goes by
    uint16_t ack_sequence; // newest view packet received (0 and ack_bits 0: none yet)
    uint32_t ack_bits;     // bit i: ack_sequence - 1 - i was received too
    bool has_ack;
    uint32_t newest_tick; // tick that inputs[0] is for
    uint32_t count;       // inputs for newest_tick, newest_tick - 1, …; 0 to CM_INPUTS_MAX
    uint8_t inputs[CM_INPUTS_MAX][CAROM_INPUT_MAX];
} cm_input_packet;

// Returns bytes written, at most CM_PACKET_MAX: older inputs that do not fit are left out.
size_t cm_input_packet_write(const cm_input_packet *packet, uint32_t input_size, uint8_t *bytes,
                             size_t size);
cm_packet_reason cm_input_packet_read(const uint8_t *bytes, size_t size, uint32_t input_size,
                                      cm_input_packet *packet);

// View packet: server -> client --------------------------------------------------------------
typedef struct cm_view_header {
    uint8_t epoch;      // of the welcome that it belongs to
    uint16_t sequence;  // of the packet, a client's own counter, starts at 1, wraps
    uint32_t tick;      // the state after this many ticks
    uint32_t input_ack; // this client's inputs up to this tick are settled: do not resend them
    int16_t input_lead; // 1/16 ticks: how early the client's inputs came lately (least); the client
                        // steers its clock by it; CM_LEAD_UNKNOWN: none came
    bool has_public;    // the module's public state and `present` follow the header
    // Without it: the state may be another than the newest one that the client acknowledged; else
    // it is that one.
    bool public_unsure;
    uint8_t public_number; // counts the states of the room, mod 256
    uint8_t public_back;   // 0: as it is; else against state public_number - public_back
    uint32_t public_size;  // bytes: of the state, or of a delta (input_delta.h)
    uint8_t public_state[CAROM_MODULE_PUBLIC_MAX];
    uint64_t present; // with the public state: which players are present
    // The contact wrench on the viewer's pointer, mean over the tick: N and N m about its centre of
    // mass, world axes; finite.
    bool has_wrench;
    carom_vec3 force, torque;
    // The durable tick, if it has advanced since the view before: `tick` - `durable_age`, which is
    // not negative.
    bool has_durable;
    uint16_t durable_age;
    // The number of game messages and Events sent to this client since its join, mod 2^16, up to
    // the newest confirmed tick; sent once there was an Events message.
    bool has_messages;
    uint16_t messages;
    bool has_drives; // what drives joints follows the bodies
    // The inputs of other players (input_relay.h); 0 bytes: none.
    uint32_t relay_size;
    uint8_t relay[CM_RELAY_MAX];
} cm_view_header;

#define CM_STATES_KEPT  64u // newest public states that a delta may refer to
#define CM_LEAD_UNKNOWN INT16_MIN
// Ticks that an input may be older than the newest of its packet, for the lead to tell of it: one
// that is older waited for packets that were lost, and its lead is none of the path.
#define CM_LEAD_AGE 2u

typedef struct cm_view_entry {
    uint32_t index;        // body slot; of a drive CM_VIEW_DRIVES + the joint's
    uint32_t generation;   // its low 2 bits travel
    uint32_t baseline_age; // 0: stands alone; n: delta against this body in packet sequence - n
    cm_view_body body;
} cm_view_entry;

// Writing: begin, put bodies and then drives by ascending index until one does not fit, end.
typedef struct cm_view_writer {
    cm_bit_writer bits;
    bool has_drives; // to come; their list has not begun
    uint32_t last_index, last_age, count, check;
} cm_view_writer;

void cm_view_writer_begin(cm_view_writer *writer, const cm_view_header *header, uint8_t *bytes,
                          size_t size);
// `code`: the entry's body against its body in the packet that baseline_age names, or alone.
// False, and nothing written, if it does not fit within size. A drive needs a header with
// has_drives.
bool cm_view_writer_put(cm_view_writer *writer, const cm_view_entry *entry, cm_view_code code);
size_t cm_view_writer_end(cm_view_writer *writer);

// Reading. The callback finds the baseline of a body in an earlier packet; NULL: unknown, and the
// whole packet is refused with CM_PACKET_BASELINE. Entries are written to `entries`.
typedef const cm_view_body *cm_baseline_lookup(void *context, uint32_t index, uint16_t sequence);
#define CM_VIEW_ENTRIES_MAX 1024
cm_packet_reason cm_view_packet_read(const uint8_t *bytes, size_t size,
                                     const cm_view_config *config, cm_baseline_lookup *lookup,
                                     void *context, cm_view_header *header, cm_view_entry *entries,
                                     uint32_t *count);

// The number of past ticks for which a late input is accepted: one that is exactly rewind_ms late
// is accepted. Ticks further back are confirmed.
static inline uint32_t cm_window_ticks(uint32_t rewind_ms, uint32_t tick_rate)
{
    return rewind_ms == 0 ? 0 : (uint32_t)((uint64_t)rewind_ms * tick_rate / 1000) + 1;
}

// Wrap-around comparison of sequences: a is newer than b.
static inline bool cm_sequence_newer(uint16_t a, uint16_t b)
{
    return (int16_t)(uint16_t)(a - b) > 0;
}

#endif
