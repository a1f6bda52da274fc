// The inbox: validated inputs of players, kept for each tick until the room no longer can rewind to
// it. Pure. An input for tick t is used in the step that makes the state of tick t.
//
// A ring of ticks: as many as the room can rewind, plus as many as an input may come early. For a
// tick that the room has stepped, the ring also holds what was used for players whose input had not
// come (the held one), so that a late input equal to it needs no rewind.
#ifndef CM_ROOM_INBOX_H
#define CM_ROOM_INBOX_H

#include "shared/game/game_host.h"

typedef struct cm_inbox cm_inbox;

typedef enum cm_input_verdict {
    CM_INPUT_ON_TIME,
    CM_INPUT_LATE_EQUAL, // late, but what was held was right
    CM_INPUT_LATE,       // late, and the room has to rewind
    CM_INPUT_DUPLICATE,  // the first one for a tick and player stays
    CM_INPUT_TOO_OLD,    // its tick is confirmed, or the player was not there yet
    CM_INPUT_TOO_FAR,    // further ahead than the ring reaches
    CM_INPUT_BUDGET,     // its rewind is more than the player may cause (the room's verdict)
    CM_INPUT_INVALID,    // the module refuses the bytes (the room's verdict)
    CM_INPUT_POSE,       // the pointer's pose in it is none (the room's verdict)
    CM_INPUT_VERDICT_COUNT,
} cm_input_verdict;

#define CM_NO_TICK UINT64_MAX

// past, future: ticks. NULL where memory is short.
cm_inbox *cm_inbox_create(const carom_allocator *allocator, uint32_t past, uint32_t future,
                          uint32_t input_size);
void cm_inbox_destroy(cm_inbox *inbox);

// Inputs of a player count for ticks after `since`; closing forgets those after `tick`.
void cm_inbox_open(cm_inbox *inbox, uint32_t player, uint64_t since);
void cm_inbox_close(cm_inbox *inbox, uint32_t player, uint64_t tick);

// Judges an input against the newest tick stepped and the newest confirmed, and changes nothing.
// `cost`: the steps that its rewind adds to those already due.
cm_input_verdict cm_inbox_check(const cm_inbox *inbox, uint64_t now_tick, uint64_t confirmed,
                                uint32_t player, uint64_t tick, const uint8_t *bytes,
                                uint32_t *cost);
// Stores an input that cm_inbox_check found ON_TIME, LATE_EQUAL or LATE.
void cm_inbox_put(cm_inbox *inbox, uint64_t now_tick, uint32_t player, uint64_t tick,
                  const uint8_t *bytes);

// Tick of the earliest late input not yet stepped again, or CM_NO_TICK; taking clears it.
uint64_t cm_inbox_earliest_late(const cm_inbox *inbox);
uint64_t cm_inbox_pop_late(cm_inbox *inbox);

// The changed inputs for a tick, ascending players, given what the game holds. `leaving`: players
// (bits) to leave out. Returns how many (at most CAROM_PLAYERS_MAX).
uint32_t cm_inbox_gather(cm_inbox *inbox, uint64_t tick, const carom_game *game, uint64_t leaving,
                         carom_player_input *inputs);
// After the tick was stepped: keeps what was held for those whose input had not come.
void cm_inbox_stepped(cm_inbox *inbox, uint64_t tick, const carom_game *game);

// The player's input for a tick: the one that came or, where the tick was stepped, the one held.
// NULL: neither, or the ring does not have it any more. For a player who was not there then it is
// what an earlier one left.
const uint8_t *cm_inbox_input(const cm_inbox *inbox, uint64_t now_tick, uint32_t player,
                              uint64_t tick);

// The newest tick up to which every input of the player has come or no longer counts.
uint64_t cm_inbox_settled(const cm_inbox *inbox, uint32_t player, uint64_t confirmed);

#endif
