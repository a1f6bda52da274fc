// The results of the last ticks of a room, until they are confirmed: the hash, what the module sent
// and emitted, and what went into the tick, for whoever records it. A tick that is stepped again
// replaces what it had. States and inputs by tick are the timeline's (shared/room/timeline.h).
//
// Memory is fixed at creation. Typical: 10 slots of 100 KB.
#ifndef CM_SERVER_ROOM_HISTORY_H
#define CM_SERVER_ROOM_HISTORY_H

#include "shared/game/game_host.h"

// Of one room: what a long rewind of a fast and large world would take is refused at its start.
#define CM_HISTORY_BYTES_MAX ((size_t)512 << 20)

typedef struct cm_history_slot {
    uint64_t tick, hash;
    cm_tick_input input; // what went into it: valid as long as the slot
    uint32_t message_count;
    uint32_t messages_dropped; // that found no room among these
    bool closes;               // the match ends with this tick
    uint64_t refused, kicked;  // players (bits) with a slot whom the module does not want
    uint8_t kick_reasons[CAROM_PLAYERS_MAX]; // of the kicked
    cm_game_message messages[CM_GAME_MESSAGES_MAX];
    uint32_t happened_count; // events to the outside
    uint32_t happened_dropped;
    carom_event happened[CAROM_EVENTS_MAX];
} cm_history_slot;

typedef struct cm_history cm_history;

// Bytes that so many slots take.
uint64_t cm_history_size(uint32_t ticks);
// NULL where memory is short.
cm_history *cm_history_create(uint32_t ticks);
void cm_history_destroy(cm_history *history);

// The slot for a tick, emptied.
cm_history_slot *cm_history_make(cm_history *history, uint64_t tick);
// NULL for a tick that is not there (any more).
cm_history_slot *cm_history_find(const cm_history *history, uint64_t tick);
// Messages and events to the outside of the game's newest tick.
void cm_history_collect(cm_history_slot *slot, const carom_game *game);
// The hash of the same state, apart: each has its time in the room's profile.
void cm_history_hash(cm_history_slot *slot, const carom_game *game);

#endif
