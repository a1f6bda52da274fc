// The relay of a room: which inputs of the other players a view tells its client (input_relay.h).
//
// A view tells what may be new since the newest view with a relay that the client acknowledged: the
// ticks after that one, and from the earliest on that a rewind has made again since. So nothing is
// kept for a client but which of its views arrived, and a lost view costs nothing.
#ifndef CM_SERVER_REPLICATE_ROOM_RELAY_H
#define CM_SERVER_REPLICATE_ROOM_RELAY_H

#include "server/replicate/replica.h"
#include "server/room/room.h"
#include "server/session/roster.h"

#define CM_RELAY_FRAMES 128u // ticks whose rewinds are remembered

typedef struct cm_room_relay {
    bool is_on;
    uint64_t made[CM_RELAY_FRAMES]; // by tick: the earliest tick that its frame made
    // By viewer and player: the first tick told, at the latest, since the player's inputs were told
    // without a baseline.
    uint64_t since[CAROM_PLAYERS_MAX][CAROM_PLAYERS_MAX];
    uint64_t left_out; // players whom a view had no room to tell of, each view
} cm_room_relay;

// After each tick of the room.
void cm_room_relay_frame(cm_room_relay *relay, const cm_room *room);
// Writes the relay of a player's view of the room's newest tick into its header, where there is
// anything to tell, and tells the replica what it tells.
void cm_room_relay_view(cm_room_relay *relay, const cm_room *room, const cm_roster *roster,
                        uint32_t player, cm_replica *replica, cm_view_header *header);

#endif
