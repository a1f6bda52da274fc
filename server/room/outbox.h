// Messages that wait, in order: a module's for a client that is not known to have them, a player's
// for a tick with room. Pure; memory grows with what waits, up to a bound, and is freed once empty.
#ifndef CM_SERVER_ROOM_OUTBOX_H
#define CM_SERVER_ROOM_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cm_outbox {
    uint32_t count;    // messages
    size_t begin, end; // of what waits, in bytes
    size_t capacity;   //
    uint8_t *bytes;    // heads and messages
} cm_outbox;           // all zeros: empty

typedef struct cm_outbox_message {
    uint64_t tick;
    const uint8_t *bytes; // valid until the next call
    uint32_t size;
} cm_outbox_message;

// Copies the message. False, and nothing changed, where more than `most` bytes would wait
// (12 for each message beside its own) or memory is short.
bool cm_outbox_push(cm_outbox *outbox, uint64_t tick, const void *bytes, uint32_t size,
                    uint32_t most);
// The oldest message; false where none waits.
bool cm_outbox_peek(const cm_outbox *outbox, cm_outbox_message *message);
// Bytes of the messages that wait, their heads not counted.
uint32_t cm_outbox_bytes(const cm_outbox *outbox);
// Takes the oldest away; returns by how much that moves places (`at`, below) towards 0.
size_t cm_outbox_pop(cm_outbox *outbox);
// All of them, oldest first: the one at *at, which is 0 for the first and moves on; false at the
// end.
bool cm_outbox_next(const cm_outbox *outbox, size_t *at, cm_outbox_message *message);
void cm_outbox_clear(cm_outbox *outbox);

#endif
