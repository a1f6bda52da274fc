// A player of the race that drives by itself, as a person would: it looks at what its client shows,
// and sets its input.
#ifndef RACE_BOT_H
#define RACE_BOT_H

#include "race.h"

#include <carom/client.h>

// What everybody sees of the rules, as of the newest view; NULL before the game is joined.
const race_public *race_seen(const carom_client *client);

// Gives the player's input for the ticks to come. Call once a frame, after carom_client_update.
void race_play(carom_client *client);

// The decision alone, a pure function of what is seen: pure pursuit of a point ahead on the way
// from gate to gate, as fast as the bend there allows.
typedef struct race_sight {
    carom_vec3 place, velocity;
    carom_quat orientation;
    carom_vec3 gate[RACE_GATES_MAX];
    uint32_t gates, next;
    uint32_t waited; // ticks since the last gate
} race_sight;

void race_steer(const race_sight *sight, uint8_t input[RACE_INPUT_SIZE]);

// The gates of a world, in the order of their numbers.
void race_find_gates(const carom_world *world, race_sight *sight);

#endif
