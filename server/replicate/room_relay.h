// The relay of a room: which inputs of the other players a view tells its client (input_relay.h).
//
// A view tells what may be new since the newest view with a relay that the client acknowledged: the
// ticks after that one, and from the earliest on that a rewind has made again since. So nothing is
// kept for a client but which of its views arrived, and a lost view costs nothing.
//
// Views go when there is news: as soon as another player's input that changed came, between two
// ticks too, or in the tick of a late one. On an average no more go than `view_rate` a second. With
// exact sync they hold nothing else, and go again after two and a half intervals until the client
// has it. Else they go at their rate, and the next one half an interval before its time at most,
// for news; so the one after it comes later.
#ifndef CM_SERVER_REPLICATE_ROOM_RELAY_H
#define CM_SERVER_REPLICATE_ROOM_RELAY_H

#include "server/replicate/replica.h"
#include "server/room/room.h"
#include "server/session/roster.h"

#define CM_RELAY_FRAMES 128u // ticks whose rewinds are remembered

// Of one viewer.
typedef struct cm_relay_turn {
    bool waits;      // there is news that no view told
    uint64_t sent;   // tick of the last view
    uint32_t credit; // of views, in parts of a tick rate
} cm_relay_turn;

typedef struct cm_room_relay {
    bool is_on;
    uint64_t made[CM_RELAY_FRAMES]; // by tick: the earliest tick that its frame made
    // By viewer and player: the first tick told, at the latest, since the player's inputs were told
    // without a baseline.
    uint64_t since[CAROM_PLAYERS_MAX][CAROM_PLAYERS_MAX];
    uint64_t left_out;  // players whom a view had no room to tell of, each view
    bool is_all;        // exact sync: a view has nothing else
    uint32_t view_rate; // 0: views go at their rate, whatever is new
    uint8_t newest[CAROM_PLAYERS_MAX][CAROM_INPUT_MAX]; // the newest input that came, by player
    uint64_t inputs;                                    // of the room, when news was looked for
    cm_relay_turn turns[CAROM_PLAYERS_MAX];
} cm_room_relay;

// After each tick of the room.
void cm_room_relay_frame(cm_room_relay *relay, const cm_room *room);
// Between two ticks: whether an input came that may be news to somebody.
bool cm_room_relay_look(cm_room_relay *relay, const cm_room *room);
// True where the player's view goes now: its inputs are `late`, there is news of others, or it is
// its turn. And that it went.
bool cm_room_relay_is_due(cm_room_relay *relay, const cm_room *room, uint32_t player, bool late);
void cm_room_relay_went(cm_room_relay *relay, const cm_room *room, uint32_t player);
// Writes the relay of a player's view of the room's newest tick into its header, where there is
// anything to tell, and tells the replica what it tells.
void cm_room_relay_view(cm_room_relay *relay, const cm_room *room, const cm_roster *roster,
                        uint32_t player, cm_replica *replica, cm_view_header *header);

#endif
