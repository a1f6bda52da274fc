// A player of the ball game that plays by itself, as a person would: it looks at what its client
// shows, and sets its input.
#ifndef BALL_BOT_H
#define BALL_BOT_H

#include "ball.h"

#include <carom/client.h>

// What everybody sees of the rules, as of the newest view; NULL before the game is joined.
const ball_public *ball_seen(const carom_client *client);

// Gives the player's input for the ticks to come. Call once a frame, after carom_client_update.
void ball_play(carom_client *client);

// The decision alone, a pure function of what is seen: the nearest of a team goes behind the ball
// and kicks it at the goal, the others stand ready, the one furthest from it between ball and goal.
typedef struct ball_sight {
    uint32_t seat; // the bot's own
    bool there[BALL_PLAYERS];
    carom_vec3 place[BALL_PLAYERS], ball, ball_velocity;
} ball_sight;

void ball_steer(const ball_sight *sight, uint8_t input[BALL_INPUT_SIZE]);

#endif
