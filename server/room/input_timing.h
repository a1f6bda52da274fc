// How the inputs of each tick came, and what each player's came to in all: for the record. Pure. A
// ring of ticks from the oldest that a rewind can reach to the newest that an input may be for.
#ifndef CM_SERVER_ROOM_INPUT_TIMING_H
#define CM_SERVER_ROOM_INPUT_TIMING_H

#include "server/record/store/store.h"

typedef struct cm_arrivals cm_arrivals;

// `ring`: ticks that inputs may be apart. NULL where memory is short.
cm_arrivals *cm_arrivals_create(uint32_t ring);
void cm_arrivals_destroy(cm_arrivals *arrivals);

// A player's counts begin.
void cm_arrivals_open(cm_arrivals *arrivals, uint32_t player);
// They go on from what they were.
void cm_arrivals_go_on(cm_arrivals *arrivals, const cm_player_statistics *counts);

// An input was taken: `lead` in 1/16 ticks before its tick was due, `cost` in ticks stepped again.
void cm_arrivals_put(cm_arrivals *arrivals, uint32_t player, uint64_t tick, int64_t lead,
                     bool is_late, uint32_t cost);
void cm_arrivals_refused(cm_arrivals *arrivals, uint32_t player);

// Of one tick, ascending players: returns how many.
uint32_t cm_arrivals_of(const cm_arrivals *arrivals, uint64_t tick,
                        cm_arrival out[CAROM_PLAYERS_MAX]);
// Of every player that was there since the start, as counted since its last join.
uint32_t cm_arrivals_statistics(const cm_arrivals *arrivals,
                                cm_player_statistics out[CAROM_PLAYERS_MAX]);

#endif
