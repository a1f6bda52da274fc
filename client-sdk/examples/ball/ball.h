// The protocol of the ball game, shared by its rules and its clients: the input, the public state,
// the messages. Two teams play a match; the scene's module_config sets the goals to win.
#ifndef BALL_H
#define BALL_H

#include <carom/game.h>

#define BALL_PLAYERS     8u    // four a team; seats 0, 2, 4, 6 are red
#define BALL_HALF_LENGTH 12.0f // m, from the middle to the goal line; red plays towards +x
#define BALL_HALF_WIDTH  7.0f

// The input of a player for a tick.
//   OFFSET  SIZE    CONTENT
//   0       1       drive along x, a signed byte, -127 to 127
//   1       1       drive along z, likewise
//   2       1       buttons: bit 0 kicks what is in reach, as often as it can while held
#define BALL_INPUT_SIZE 3u
#define BALL_KICK       1u

typedef enum ball_phase {
    BALL_PLAY = 0,
    BALL_PAUSE, // after a goal, until the ball is back in the middle
    BALL_OVER,  // a team has won; then all begins again
} ball_phase;

// A place in a team. All of a state is 32-bit words, as ids and timers are: the same everywhere.
typedef struct ball_seat {
    uint32_t player; // slot + 1; 0: a free place
    uint32_t goals;
    carom_body_id body; // of the player
} ball_seat;

// The public state: every client sees it (carom_client_public_state) and predicts from it.
typedef struct ball_public {
    uint32_t phase;    // ball_phase
    uint32_t to_win;   // goals
    uint32_t score[2]; // of red, of blue
    carom_timer pause; // until play goes on
    carom_body_id ball;
    ball_seat seat[BALL_PLAYERS];
} ball_public;

// A message to all players: four bytes.
typedef enum ball_news {
    BALL_NEWS_GOAL = 1, // team, score of red, score of blue
    BALL_NEWS_WON,      // likewise
} ball_news;
#define BALL_NEWS_SIZE 4u

// The module's `bot`.
void ball_bot(const carom_game *game, uint32_t player, uint64_t random, uint8_t *input);

static inline uint32_t ball_team(uint32_t seat)
{
    return seat % 2u;
}

#endif
