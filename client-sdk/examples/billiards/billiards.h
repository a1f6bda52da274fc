// The protocol of the billiards game, shared by its rules and its clients: the input, the public
// state, the messages. Two play nine-ball: the lowest number on the table is hit first, and who
// pots the nine with a fair stroke has the frame.
#ifndef BILLIARDS_H
#define BILLIARDS_H

#include <carom/game.h>

#define BILLIARDS_PLAYERS     2u
#define BILLIARDS_BALLS       10u     // the cue ball is 0
#define BILLIARDS_RADIUS      0.0286f // m, of a ball
#define BILLIARDS_HALF_LENGTH 1.27f   // m, between the cushions, along x
#define BILLIARDS_HALF_WIDTH  0.635f  // along z
#define BILLIARDS_BALL        100u    // user_data of ball 0; the others follow
#define BILLIARDS_FASTEST     7.0f    // m/s, of the cue ball at full power

// The input of a player for a tick: a cue.
//   OFFSET  SIZE    CONTENT
//   0       2       aim, little-endian: where the cue ball is to go, 65536ths of a turn from +x to
//   +z 2       1       power, 0 to 255 3       1       side, a signed byte: the tip right of the
//   middle, 127 is half of a radius 4       1       height, likewise: above the middle 5       1
//   buttons: bit 0 strikes when it is pressed 6       1       where the cue ball is put, when it is
//   in hand, along x: a signed byte, 127 is a
//                   ball's radius from the cushion
//   7       1       likewise along z
#define BILLIARDS_INPUT_SIZE 8u
#define BILLIARDS_STRIKE     1u

typedef enum billiards_phase {
    BILLIARDS_AIM = 0,
    BILLIARDS_ROLL, // until all balls rest
    BILLIARDS_OVER, // a frame is won; then the balls are racked again
} billiards_phase;

typedef struct billiards_seat {
    uint32_t player; // slot + 1; 0: a free place
    uint32_t frames; // won
    uint32_t fouls;  // one after the other: the third loses the frame
} billiards_seat;

// The state, all of it public: everybody sees the whole table anyway, since it is played with exact
// sync. All of it is 32-bit words, as ids and timers are: the same everywhere.
typedef struct billiards_public {
    uint32_t phase;   // billiards_phase
    uint32_t turn;    // seat
    uint32_t in_hand; // 1: the cue ball may be put anywhere
    uint32_t on;      // bit b: ball b is on the table
    uint32_t to_win;  // frames
    uint32_t since;   // tick of the last change of phase
    uint32_t strokes; // in this frame
    uint32_t cue;     // as its player holds it now: aim, power << 16, side << 24
    uint32_t pressed; // bit of each seat: it held the strike button in the last tick
    carom_timer until;
    // Of the stroke that rolls.
    uint32_t lowest;    // the ball to hit first
    uint32_t first_hit; // ball; 0: none
    uint32_t potted;    // bits
    uint32_t cushion;   // 1: a ball met a cushion after the first hit
    billiards_seat seat[BILLIARDS_PLAYERS];
    carom_body_id ball[BILLIARDS_BALLS];
} billiards_public;

// A message to all players: four bytes.
//   OFFSET  SIZE    CONTENT
//   0       1       billiards_news
//   1       1       seat
//   2       1       ball potted; why it is a foul (billiards_foul); frames won
//   3       1       0
typedef enum billiards_news {
    BILLIARDS_NEWS_POT = 1,
    BILLIARDS_NEWS_FOUL,
    BILLIARDS_NEWS_FRAME,
    BILLIARDS_NEWS_MATCH, // the frames to win are won; all begins again
} billiards_news;
#define BILLIARDS_NEWS_SIZE 4u

typedef enum billiards_foul {
    BILLIARDS_FOUL_MISS = 1,   // no ball was hit
    BILLIARDS_FOUL_WRONG_BALL, // not the lowest number first
    BILLIARDS_FOUL_CUE_BALL,   // it fell, or left the table
    BILLIARDS_FOUL_CUSHION,    // after the hit no ball met a cushion and none fell
    BILLIARDS_FOUL_TIME,       // no stroke within a minute
} billiards_foul;

// The module's `bot`.
void billiards_bot(const carom_game *game, uint32_t player, uint64_t random, uint8_t *input);

static inline uint32_t billiards_lowest(uint32_t on)
{
    uint32_t ball = 1;
    while (ball < BILLIARDS_BALLS - 1u && (on >> ball & 1u) == 0) {
        ball++;
    }
    return ball;
}

#endif
