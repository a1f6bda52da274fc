// Checks of ENet's protocol in a client's datagrams: an allow-list of commands, and bounds on
// everything that a peer could make long or make us answer. Pure: checks one opened datagram,
// before ENet reads it.
//
// Allowed: ACK, PING, DISCONNECT; SEND_RELIABLE and SEND_FRAGMENT on channel 0; SEND_UNSEQUENCED on
// channel 1. All else (sequenced unreliable packets, bandwidth and throttle settings) is refused
// with the whole datagram. ENet keeps a reliable command that came ahead of a missing one in a list
// that it walks: the distance is bounded, so is the number of commands and of acks asked for.
#ifndef CM_SERVER_TRANSPORT_ENET_COMMANDS_H
#define CM_SERVER_TRANSPORT_ENET_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_COMMANDS_MAX     32u   // in a datagram; ENet itself sends no more
#define CM_COMMANDS_AHEAD   128u  // reliable sequences that may come before their turn
#define CM_COMMANDS_MESSAGE 2048u // bytes of a reliable message
#define CM_COMMANDS_PACKET  1152u // bytes of an unsequenced packet

#define CM_COMMAND_REASONS(X)                                                                      \
    X(TRUNCATED, "a command ends behind the datagram")                                             \
    X(COUNT, "more commands than ENet sends")                                                      \
    X(KIND, "a command that this protocol does not use")                                           \
    X(CHANNEL, "a command on a channel that is not its own")                                       \
    X(FLAGS, "a command with flags that are not its own")                                          \
    X(SIZE, "a message that is empty or too large")                                                \
    X(AHEAD, "a reliable command too far ahead")

typedef enum cm_command_reason {
#define CM_COMMAND_ENUM(name, text) CM_COMMAND_##name,
    CM_COMMAND_REASONS(CM_COMMAND_ENUM)
#undef CM_COMMAND_ENUM
        CM_COMMAND_REASON_COUNT
} cm_command_reason;

const char *cm_command_reason_text(cm_command_reason reason);

// The state of channel 0 in ENet's peer.
typedef struct cm_command_context {
    uint16_t reliable; // sequence that channel 0 handed over last
} cm_command_context;

typedef struct cm_command_count {
    uint32_t commands, acks_wanted; // acks that it makes us send
    uint16_t acked; // the newest of our commands on channel 0 that it acks, if has_acked
    bool has_acked;
} cm_command_count;

// `frame` as cm_frame_open gives it. CM_COMMAND_REASON_COUNT: it may go to ENet.
cm_command_reason cm_commands_check(const uint8_t *frame, size_t size,
                                    const cm_command_context *context, cm_command_count *count);

#endif
