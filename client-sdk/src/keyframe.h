// A welcome whose keyframe comes in parts (KeyframePart of PROTOCOL.md), until it is whole: the
// welcome as it came, the keyframe as far as it came, and the messages that came behind the
// welcome, which are for the world that it brings. Memory grows with what arrives, never with what
// a server announces. Typical: none; a room of 30,000 bodies sends 80 parts of 256 KiB.
#ifndef CM_CLIENT_KEYFRAME_H
#define CM_CLIENT_KEYFRAME_H

#include "shared/wire/control.h"

#define CM_KEYFRAME_BEHIND_MAX (16u << 20) // bytes of messages behind a welcome; more end the join

typedef struct cm_keyframe_inbox {
    uint8_t *welcome; // the message; NULL: no keyframe is awaited any more
    size_t welcome_size;
    uint8_t *keyframe;
    size_t size, have, capacity; // of the keyframe: announced, arrived, allocated
    uint8_t *behind;             // each message with its size (uint32_t) before it
    size_t behind_size, behind_capacity;
    // The keyframe was whole, and its world is there: what came behind it is handled from here on,
    // and what comes now waits behind that. With exact sync the ticks among it take their time.
    bool opened;
    size_t at;
    bool second;       // it comes by the second link of a comeback
    uint64_t began_us; // when the welcome came
    uint64_t heard_us; // when something of it came last
} cm_keyframe_inbox;   // all zeros: nothing is awaited

typedef enum cm_keyframe_state {
    CM_KEYFRAME_MORE,
    CM_KEYFRAME_WHOLE,
    CM_KEYFRAME_MALFORMED, // a part of another size than the announced ones
    CM_KEYFRAME_NO_MEMORY, // or more came behind the welcome than is kept
} cm_keyframe_state;

// Begins a keyframe in parts: a welcome with a keyframe_size, and its bytes, which are copied. An
// incomplete one is dropped.
bool cm_keyframe_inbox_begin(cm_keyframe_inbox *inbox, const carom_allocator *allocator,
                             const cm_control *welcome, const uint8_t *bytes, size_t size);
// The next message behind that welcome: a part, or one that waits.
cm_keyframe_state cm_keyframe_inbox_put(cm_keyframe_inbox *inbox, const carom_allocator *allocator,
                                        const cm_control *control, const uint8_t *bytes,
                                        size_t size);
// The next of the messages that wait, oldest first; false at the end.
bool cm_keyframe_inbox_next(cm_keyframe_inbox *inbox, const uint8_t **bytes, size_t *size);
// The welcome was handled: it and the keyframe are released.
void cm_keyframe_inbox_open(cm_keyframe_inbox *inbox, const carom_allocator *allocator);
void cm_keyframe_inbox_clear(cm_keyframe_inbox *inbox, const carom_allocator *allocator);

#endif
