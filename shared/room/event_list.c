// Typical: no event in most ticks, a join or a message of some bytes now and then.
#include "shared/room/event_list.h"

#include <string.h>

#include "shared/base/assert.h"

bool cm_event_list_push(cm_event_list *list, const cm_game_event *event)
{
    if (list->count == CM_EVENTS_MAX || event->size > CM_EVENT_BYTES_MAX - list->size) {
        return false;
    }
    cm_game_event *kept = &list->events[list->count++];
    *kept = *event;
    kept->bytes = list->bytes + list->size;
    if (event->size > 0) {
        memcpy(list->bytes + list->size, event->bytes, event->size);
    }
    list->size += event->size;
    return true;
}

void cm_event_list_clear(cm_event_list *list)
{
    list->count = 0;
    list->size = 0;
}

void cm_event_list_copy(cm_event_list *to, const cm_event_list *from)
{
    cm_event_list_clear(to);
    for (uint32_t i = 0; i < from->count; i++) {
        bool fits = cm_event_list_push(to, &from->events[i]);
        CM_ASSERT(fits);
    }
}

uint64_t cm_event_list_leaving(const cm_event_list *list)
{
    uint64_t players = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->events[i].type == CM_EVENT_LEAVE) {
            players |= UINT64_C(1) << list->events[i].player;
        }
    }
    return players;
}
