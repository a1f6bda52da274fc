// See the header.
#include "shared/wire/events.h"

#include <string.h>

#include "shared/base/assert.h"
#include "shared/base/bytes.h"

size_t cm_events_write(const carom_event *events, uint32_t count,
                       uint8_t bytes[CM_EVENTS_BYTES_MAX])
{
    CM_ASSERT(count <= CAROM_EVENTS_MAX);
    cm_byte_writer writer = cm_byte_writer_make(bytes, CM_EVENTS_BYTES_MAX);
    for (uint32_t i = 0; i < count; i++) {
        cm_put_u32(&writer, events[i].kind);
        cm_put_u32(&writer, events[i].key);
        cm_put_u64(&writer, events[i].subjects[0]);
        cm_put_u64(&writer, events[i].subjects[1]);
        cm_put_u8(&writer, (uint8_t)events[i].size);
        cm_put_bytes(&writer, events[i].bytes, events[i].size);
    }
    return writer.size;
}

static bool is_known(const carom_event *events, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (carom_event_is_same(&events[i], &events[count])) {
            return true;
        }
    }
    return false;
}

bool cm_events_read(const uint8_t *bytes, size_t size, uint64_t tick,
                    carom_event events[CAROM_EVENTS_MAX], uint32_t *count)
{
    cm_byte_reader reader = cm_byte_reader_make(bytes, size);
    *count = 0;
    do {
        carom_event *event = &events[*count];
        memset(event, 0, sizeof *event);
        event->tick = tick;
        event->kind = cm_get_u32(&reader);
        event->key = cm_get_u32(&reader);
        event->subjects[0] = cm_get_u64(&reader);
        event->subjects[1] = cm_get_u64(&reader);
        event->size = cm_get_u8(&reader);
        const uint8_t *more = cm_get_bytes(&reader, event->size);
        if (reader.overflow || event->size > CAROM_EVENT_BYTES_MAX || is_known(events, *count)) {
            return false;
        }
        if (event->size > 0) {
            memcpy(event->bytes, more, event->size);
        }
        ++*count;
    } while (cm_bytes_left(&reader) > 0 && *count < CAROM_EVENTS_MAX);
    return cm_bytes_left(&reader) == 0;
}
