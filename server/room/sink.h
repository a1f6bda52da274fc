// A sink is told what becomes of a room's ticks: which inputs came, which ticks no rewind can reach
// any more, up to which tick the match is kept, and how it ended. The recorder (server/node) is
// one; a stream of the match is another. A room knows its sinks by this table alone.
//
// Each callback may be NULL. It copies what it wants to keep and changes nothing of the room.
// Order: a tick's inputs come before the tick is confirmed; ticks are confirmed one after the
// other, each once, and nothing follows `ended` but `durable`.
#ifndef CM_SERVER_ROOM_SINK_H
#define CM_SERVER_ROOM_SINK_H

#include "carom/durability.h"

#include "shared/room/inbox.h"

#define CM_SINKS_MAX 4u // of one room

// A player who took a slot. Name and address identify a person; the simulation never sees them.
typedef struct cm_sink_player {
    uint32_t player;
    uint64_t client_id;
    const char *name, *address;
} cm_sink_player;

typedef struct cm_sink_input {
    uint32_t player;
    uint64_t tick;
    const uint8_t *bytes; // of the game's input
    cm_input_verdict verdict;
    uint32_t cost; // ticks that are stepped again for it
} cm_sink_input;

typedef struct cm_sink {
    void *context;
    void (*joined)(void *context, const cm_sink_player *player);
    // An input was taken, or is refused for the first time.
    void (*arrived)(void *context, const cm_sink_input *input);
    void (*confirmed)(void *context, const cm_confirmed_tick *tick);
    // The durability of the match, and the newest durable tick: now and then, also where nothing
    // changed.
    void (*durable)(void *context, carom_durability durability, uint64_t tick);
    void (*ended)(void *context, cm_match_end how);
} cm_sink;

#endif
