// See the header. Typical: one or two kept at a time.
#include "client-sdk/src/messages.h"

#include <string.h>

#include "shared/base/memory.h"

cm_kept_message *cm_message_log_at(cm_message_log *log, uint32_t i)
{
    return &log->ring[(log->first + i) % CM_MESSAGES_KEPT];
}

bool cm_message_log_add(cm_message_log *log, const carom_allocator *allocator, uint64_t on_link,
                        const void *bytes, uint32_t size)
{
    if (log->count == CM_MESSAGES_KEPT) {
        return false;
    }
    uint8_t *copy = cm_memory_take(allocator, size);
    if (copy == NULL) {
        return false;
    }
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    *cm_message_log_at(log, log->count++) = (cm_kept_message){on_link, size, copy};
    return true;
}

void cm_message_log_undo(cm_message_log *log, const carom_allocator *allocator)
{
    cm_kept_message *last = cm_message_log_at(log, --log->count);
    cm_memory_give(allocator, last->bytes);
}

static void drop_first(cm_message_log *log, const carom_allocator *allocator)
{
    cm_memory_give(allocator, log->ring[log->first].bytes);
    log->first = (log->first + 1) % CM_MESSAGES_KEPT;
    log->count--;
    log->taken++;
}

void cm_message_log_settled(cm_message_log *log, const carom_allocator *allocator, uint64_t settled)
{
    while (log->count > 0 && cm_message_log_at(log, 0)->on_link < settled) {
        drop_first(log, allocator);
    }
}

void cm_message_log_received(cm_message_log *log, const carom_allocator *allocator, uint64_t taken)
{
    while (log->count > 0 && log->taken < taken) {
        drop_first(log, allocator);
    }
    log->taken = taken; // a server that lies about it has messages twice, or not at all
}

void cm_message_log_clear(cm_message_log *log, const carom_allocator *allocator)
{
    while (log->count > 0) {
        drop_first(log, allocator);
    }
    memset(log, 0, sizeof *log);
}
