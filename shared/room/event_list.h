// The joins, leaves and messages of one tick, with their bytes, in the order in which they came.
#ifndef CM_ROOM_EVENT_LIST_H
#define CM_ROOM_EVENT_LIST_H

#include "shared/game/game_host.h"

#define CM_EVENTS_MAX      256u   // of one tick; more wait for the next
#define CM_EVENT_BYTES_MAX 65536u // of one tick, likewise

typedef struct cm_event_list {
    uint32_t count, size;
    cm_game_event events[CM_EVENTS_MAX];
    uint8_t bytes[CM_EVENT_BYTES_MAX];
} cm_event_list;

// Copies the event's bytes. False, and nothing changed, if there is no room.
bool cm_event_list_push(cm_event_list *list, const cm_game_event *event);
void cm_event_list_clear(cm_event_list *list);
void cm_event_list_copy(cm_event_list *to, const cm_event_list *from);
// Players (bits) whom an event of the list takes away.
uint64_t cm_event_list_leaving(const cm_event_list *list);

#endif
