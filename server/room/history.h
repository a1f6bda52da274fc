// The history: a ring of the last ticks of a room. Each slot has the saved game after its tick, its
// hash, and what went into and came out of it, so that the room can rewind to any tick in the ring
// and step again, and can hand over a tick for recording once it is confirmed. Pure.
//
// Memory is fixed at creation. Typical: 10 slots of some hundred KB.
#ifndef CM_SERVER_ROOM_HISTORY_H
#define CM_SERVER_ROOM_HISTORY_H

#include "shared/game/game_host.h"

#define CM_EVENTS_MAX      256    // of one tick; more wait for the next
#define CM_EVENT_BYTES_MAX 65536u // of one tick, likewise

// Of one room: what a long rewind of a fast and large world would take is refused at its start.
#define CM_HISTORY_BYTES_MAX ((size_t)512 << 20)

// Events with their bytes.
typedef struct cm_event_list {
    uint32_t count, size;
    cm_game_event events[CM_EVENTS_MAX];
    uint8_t bytes[CM_EVENT_BYTES_MAX];
} cm_event_list;

// Copies the event's bytes. False, and nothing changed, if there is no room.
bool cm_event_list_push(cm_event_list *list, const cm_game_event *event);
void cm_event_list_copy(cm_event_list *to, const cm_event_list *from);

typedef struct cm_history_slot {
    uint64_t tick, hash;
    uint8_t *image;
    size_t image_size;
    cm_event_list events;
    uint32_t input_count;
    carom_player_input inputs[CAROM_PLAYERS_MAX];
    uint32_t message_count;
    uint32_t messages_dropped; // that found no room among these
    bool closes;               // the match ends with this tick
    cm_game_message messages[CM_GAME_MESSAGES_MAX];
    uint32_t happened_count; // events to the outside
    uint32_t happened_dropped;
    carom_event happened[CAROM_EVENTS_MAX];
} cm_history_slot;

typedef struct cm_history cm_history;

// Bytes that so many slots take, at least 2^63 where they cannot be counted.
uint64_t cm_history_size(uint32_t ticks, size_t image_bound);
// NULL where memory is short.
cm_history *cm_history_create(uint32_t ticks, size_t image_bound);
void cm_history_destroy(cm_history *history);

// The slot for a tick, whatever it held before; its events are emptied unless it had this tick.
cm_history_slot *cm_history_make(cm_history *history, uint64_t tick);
// NULL for a tick that is not there (any more).
cm_history_slot *cm_history_find(const cm_history *history, uint64_t tick);
// Saves game, messages and events to the outside of the slot's tick.
void cm_history_save(cm_history *history, cm_history_slot *slot, const carom_game *game);
// The hash of the same state, apart: each has its time in the room's profile.
void cm_history_hash(cm_history_slot *slot, const carom_game *game);

#endif
