// The timing of the inputs of each tick, and each player's totals. Pure. Timing is a ring
// of ticks from the oldest that a rewind can reach to the newest that an input may be for.
#ifndef CM_SERVER_ROOM_INPUT_TIMING_H
#define CM_SERVER_ROOM_INPUT_TIMING_H

#include "server/room/sink.h"

typedef struct cm_input_timing cm_input_timing;

// `ring`: ticks that inputs may be apart. NULL where memory is short.
cm_input_timing *cm_input_timing_create(uint32_t ring);
void cm_input_timing_destroy(cm_input_timing *timing);

// An input was taken: `lead` in 1/16 ticks before its tick was due, and whether it had the room
// rewind.
void cm_input_timing_put(cm_input_timing *timing, uint32_t player, uint64_t tick, int64_t lead,
                         bool rewound);
// Of one tick, ascending players: returns how many.
uint32_t cm_input_timing_of(const cm_input_timing *timing, uint64_t tick,
                            cm_arrival out[CAROM_PLAYERS_MAX]);

// Totals of each player's inputs. Zeroed: nobody was there.
typedef struct cm_input_counts {
    uint64_t known; // players that were there, a bit each
    cm_player_statistics players[CAROM_PLAYERS_MAX];
} cm_input_counts;

// A player's counts begin, or go on from what they were.
void cm_input_counts_open(cm_input_counts *counts, uint32_t player);
void cm_input_counts_go_on(cm_input_counts *counts, const cm_player_statistics *from);
void cm_input_counts_add(cm_input_counts *counts, const cm_sink_input *input);
// Of every player that was there since the start, as counted since its last join, ascending.
uint32_t cm_input_counts_list(const cm_input_counts *counts,
                              cm_player_statistics out[CAROM_PLAYERS_MAX]);

#endif
