// A queue in one block of memory: a head, its message, the next head. Popping moves the begin; a
// push that finds no room at the end moves what waits to the front first.
//
//   OFFSET  SIZE  of a message, native byte order
//   0       8     tick
//   8       4     size
//   12      size  bytes
// Typical: empty; while a hundred clients join at once, some KB each.
#include "server/room/outbox.h"

#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"

#define HEAD_SIZE 12u

static bool make_room(cm_outbox *outbox, size_t needed)
{
    size_t used = outbox->end - outbox->begin;
    if (used + needed > outbox->capacity) {
        size_t capacity = 2 * (used + needed);
        uint8_t *grown = malloc(capacity);
        if (grown == NULL) {
            return false;
        }
        if (used > 0) {
            memcpy(grown, outbox->bytes + outbox->begin, used);
        }
        free(outbox->bytes);
        outbox->bytes = grown;
        outbox->capacity = capacity;
    } else if (used > 0) {
        memmove(outbox->bytes, outbox->bytes + outbox->begin, used);
    }
    outbox->begin = 0;
    outbox->end = used;
    return true;
}

bool cm_outbox_push(cm_outbox *outbox, uint64_t tick, const void *bytes, uint32_t size,
                    uint32_t most)
{
    size_t needed = HEAD_SIZE + (size_t)size;
    if (outbox->end - outbox->begin + needed > most) {
        return false;
    }
    if (outbox->capacity - outbox->end < needed && !make_room(outbox, needed)) {
        return false;
    }
    uint8_t *at = outbox->bytes + outbox->end;
    memcpy(at, &tick, sizeof tick);
    memcpy(at + 8, &size, sizeof size);
    if (size > 0) {
        memcpy(at + HEAD_SIZE, bytes, size);
    }
    outbox->end += needed;
    outbox->count++;
    return true;
}

bool cm_outbox_next(const cm_outbox *outbox, size_t *at, cm_outbox_message *message)
{
    if (outbox->begin + *at == outbox->end) {
        return false;
    }
    const uint8_t *head = outbox->bytes + outbox->begin + *at;
    memcpy(&message->tick, head, sizeof message->tick);
    memcpy(&message->size, head + 8, sizeof message->size);
    message->bytes = head + HEAD_SIZE;
    *at += HEAD_SIZE + (size_t)message->size;
    return true;
}

bool cm_outbox_peek(const cm_outbox *outbox, cm_outbox_message *message)
{
    size_t at = 0;
    return cm_outbox_next(outbox, &at, message);
}

uint32_t cm_outbox_bytes(const cm_outbox *outbox)
{
    return (uint32_t)(outbox->end - outbox->begin) - HEAD_SIZE * outbox->count;
}

size_t cm_outbox_pop(cm_outbox *outbox)
{
    cm_outbox_message message;
    bool waits = cm_outbox_peek(outbox, &message);
    CM_ASSERT(waits);
    size_t popped = HEAD_SIZE + (size_t)message.size;
    outbox->begin += popped;
    if (--outbox->count == 0) {
        cm_outbox_clear(outbox);
    }
    return popped;
}

void cm_outbox_clear(cm_outbox *outbox)
{
    free(outbox->bytes);
    memset(outbox, 0, sizeof *outbox);
}
