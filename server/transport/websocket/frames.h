// The frames of a WebSocket (RFC 6455) that a server reads and writes. Pure: bytes in, what they
// are out; nothing is allocated.
//
// OFFSET SIZE of a frame: 0 1 FIN, three reserved bits, opcode; 1 1 MASK, length (126: two bytes
// follow, 127: eight); then 4 of the mask, which what a client sends must have; then the payload.
//
// A message is a datagram: binary, 1 to CM_FRAMES_MESSAGE_MAX bytes, in one frame or in pieces.
// What is refused is refused by its head, before its payload is read; the reader is of no use then.
// Typical: 60 messages of 40 to 200 bytes a second, one frame each.
#ifndef CM_SERVER_TRANSPORT_WEBSOCKET_FRAMES_H
#define CM_SERVER_TRANSPORT_WEBSOCKET_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_FRAMES_MESSAGE_MAX 1200u // bytes: the largest datagram
#define CM_FRAMES_CONTROL_MAX 125u  // bytes of a control frame
#define CM_FRAMES_IDLE_MAX    64u   // control frames and empty pieces between two messages
#define CM_FRAMES_HEAD_MAX    4u    // bytes of a head that is written

// Name, code of the close, text.
#define CM_FRAME_REASONS(X)                                                                        \
    X(UNMASKED, 1002, "a frame of a client without a mask")                                        \
    X(RESERVED, 1002, "a reserved bit or opcode")                                                  \
    X(CONTROL, 1002, "a control frame in pieces, or too long")                                     \
    X(ORDER, 1002, "a piece of no message, or a message inside another")                           \
    X(TEXT, 1003, "a text message")                                                                \
    X(LARGE, 1009, "a message larger than a datagram")                                             \
    X(IDLE, 1008, "too many control frames and empty pieces without a message")

typedef enum cm_frame_reason {
#define CM_FRAME_ENUM(name, code, text) CM_FRAME_##name,
    CM_FRAME_REASONS(CM_FRAME_ENUM)
#undef CM_FRAME_ENUM
        CM_FRAME_REASON_COUNT
} cm_frame_reason;

uint16_t cm_frame_reason_code(cm_frame_reason reason);
const char *cm_frame_reason_text(cm_frame_reason reason);

typedef enum cm_frames_event {
    CM_FRAMES_MORE,    // all bytes are taken, and nothing is whole
    CM_FRAMES_MESSAGE, // of `size` bytes, in `message`
    CM_FRAMES_PING,    // of `control_size` bytes, in `control`
    CM_FRAMES_CLOSE,
    CM_FRAMES_REFUSED, // why: `reason`
} cm_frames_event;

typedef struct cm_frames_reader { // zeroed: nothing came yet
    cm_frame_reason reason;
    uint8_t head[14];
    uint32_t head_size; // bytes of it that came
    uint64_t left;      // of the payload; once the head is whole
    uint32_t at;        // bytes of the payload that came
    bool is_last;       // the frame ends its message
    bool in_message;    // pieces of one came
    bool is_whole;      // the message was handed out
    uint8_t opcode;
    uint32_t idle; // since the last message
    uint32_t size, control_size;
    uint8_t message[CM_FRAMES_MESSAGE_MAX], control[CM_FRAMES_CONTROL_MAX];
} cm_frames_reader;

// Takes bytes until something is whole; `taken` of them. What it gives lives until the next call.
cm_frames_event cm_frames_read(cm_frames_reader *reader, const uint8_t *bytes, size_t size,
                               size_t *taken);

#define CM_FRAMES_BINARY 0x2u
#define CM_FRAMES_CLOSED 0x8u
#define CM_FRAMES_PONG   0xau
// The head of a whole frame of a server, up to CM_FRAMES_MESSAGE_MAX bytes; returns its size.
size_t cm_frames_head(uint8_t head[CM_FRAMES_HEAD_MAX], uint8_t opcode, size_t size);

#endif
