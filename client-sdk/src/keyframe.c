// See the header.
#include "client-sdk/src/keyframe.h"

#include <string.h>

#include "shared/base/memory.h"

// Appends; false where memory is short or more than `most` bytes would be kept.
static bool append(const carom_allocator *allocator, uint8_t **to, size_t *used, size_t *capacity,
                   size_t most, const void *bytes, size_t size)
{
    if (size > most - *used) {
        return false;
    }
    if (size > *capacity - *used) {
        size_t wanted = 2 * (*used + size);
        wanted = wanted < most ? wanted : most;
        uint8_t *grown = cm_memory_take(allocator, wanted);
        if (grown == NULL) {
            return false;
        }
        if (*used > 0) {
            memcpy(grown, *to, *used);
        }
        cm_memory_give(allocator, *to);
        *to = grown;
        *capacity = wanted;
    }
    memcpy(*to + *used, bytes, size);
    *used += size;
    return true;
}

bool cm_keyframe_inbox_begin(cm_keyframe_inbox *inbox, const carom_allocator *allocator,
                             const cm_control *welcome, const uint8_t *bytes, size_t size)
{
    cm_keyframe_inbox_clear(inbox, allocator);
    inbox->welcome = cm_memory_take(allocator, size);
    if (inbox->welcome == NULL) {
        return false;
    }
    memcpy(inbox->welcome, bytes, size);
    inbox->welcome_size = size;
    inbox->size = welcome->keyframe_size;
    return true;
}

cm_keyframe_state cm_keyframe_inbox_put(cm_keyframe_inbox *inbox, const carom_allocator *allocator,
                                        const cm_control *control, const uint8_t *bytes,
                                        size_t size)
{
    if (control->type == CM_CONTROL_KEYFRAME_PART && inbox->opened) {
        return CM_KEYFRAME_MALFORMED; // of no welcome
    }
    if (control->type == CM_CONTROL_KEYFRAME_PART) {
        size_t left = inbox->size - inbox->have;
        size_t wanted = left < CM_CONTROL_PART_SIZE ? left : CM_CONTROL_PART_SIZE;
        if (control->payload.size != wanted) {
            return CM_KEYFRAME_MALFORMED;
        }
        if (!append(allocator, &inbox->keyframe, &inbox->have, &inbox->capacity, inbox->size,
                    control->payload.data, control->payload.size)) {
            return CM_KEYFRAME_NO_MEMORY;
        }
        return inbox->have == inbox->size ? CM_KEYFRAME_WHOLE : CM_KEYFRAME_MORE;
    }
    uint32_t length = (uint32_t)size;
    bool kept = append(allocator, &inbox->behind, &inbox->behind_size, &inbox->behind_capacity,
                       CM_KEYFRAME_BEHIND_MAX, &length, sizeof length) &&
                append(allocator, &inbox->behind, &inbox->behind_size, &inbox->behind_capacity,
                       CM_KEYFRAME_BEHIND_MAX, bytes, size);
    return kept ? CM_KEYFRAME_MORE : CM_KEYFRAME_NO_MEMORY;
}

bool cm_keyframe_inbox_next(cm_keyframe_inbox *inbox, const uint8_t **bytes, size_t *size)
{
    if (inbox->at == inbox->behind_size) {
        return false;
    }
    uint32_t length;
    memcpy(&length, inbox->behind + inbox->at, sizeof length);
    *bytes = inbox->behind + inbox->at + sizeof length;
    *size = length;
    inbox->at += sizeof length + length;
    return true;
}

void cm_keyframe_inbox_open(cm_keyframe_inbox *inbox, const carom_allocator *allocator)
{
    cm_memory_give(allocator, inbox->welcome);
    cm_memory_give(allocator, inbox->keyframe);
    inbox->welcome = inbox->keyframe = NULL;
    inbox->size = inbox->have = inbox->capacity = 0;
    inbox->second = false; // its link is the only one now
    inbox->opened = true;
}

void cm_keyframe_inbox_clear(cm_keyframe_inbox *inbox, const carom_allocator *allocator)
{
    cm_memory_give(allocator, inbox->welcome);
    cm_memory_give(allocator, inbox->keyframe);
    cm_memory_give(allocator, inbox->behind);
    memset(inbox, 0, sizeof *inbox);
}
