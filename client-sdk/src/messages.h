// Messages to the module that may have to be sent again: those that the server is not known to
// have. They are numbered from the join on, as the server counts them; so each reaches the module
// once, whatever connections it took.
#ifndef CM_CLIENT_MESSAGES_H
#define CM_CLIENT_MESSAGES_H

#include "carom/types.h"

#define CM_MESSAGES_KEPT 128u

typedef struct cm_kept_message {
    uint64_t on_link; // its number among the control messages of the link
    uint32_t size;
    uint8_t *bytes;
} cm_kept_message;

typedef struct cm_message_log {
    uint64_t taken;        // all up to this number are with the server
    uint32_t first, count; // the kept ones: taken + 1, …
    cm_kept_message ring[CM_MESSAGES_KEPT];
} cm_message_log;

// False: full, or memory is short.
bool cm_message_log_add(cm_message_log *log, const carom_allocator *allocator, uint64_t on_link,
                        const void *bytes, uint32_t size);
// Without the newest one, which could not be sent.
void cm_message_log_undo(cm_message_log *log, const carom_allocator *allocator);
// The oldest is 0.
cm_kept_message *cm_message_log_at(cm_message_log *log, uint32_t i);
// The link's first `settled` control messages have arrived.
void cm_message_log_settled(cm_message_log *log, const carom_allocator *allocator,
                            uint64_t settled);
// The server has the first `taken` messages.
void cm_message_log_received(cm_message_log *log, const carom_allocator *allocator, uint64_t taken);
void cm_message_log_clear(cm_message_log *log, const carom_allocator *allocator);

#endif
