// The protocol of the race, shared by its rules and its clients: the input, the public state, the
// messages. The scene's module_config sets the laps of a race.
#ifndef RACE_H
#define RACE_H

#include <carom/game.h>

#define RACE_PLAYERS     8u
#define RACE_GATES_MAX   16u
#define RACE_WHEELBASE   1.6f  // m, between the axles
#define RACE_STEER_MAX   0.5f  // rad, of the front wheels, at rest
#define RACE_STEER_SPEED 12.0f // m/s at which they turn half as far

// The bodies of the scene that are gates: their user_data is this and their number. A car passes
// them in order, along their x axis; gate 0 is the finish.
#define RACE_GATE 100u

// The input of a player for a tick.
//   OFFSET  SIZE    CONTENT
//   0       1       throttle, a signed byte: 127 full ahead, -127 brakes and goes back
//   1       1       steering, likewise: 127 turns about +y, which is to the left
//   2       1       buttons: bit 0 puts the car back on the track, at the last gate that it passed
#define RACE_INPUT_SIZE 3u
#define RACE_BACK       1u

typedef enum race_phase {
    RACE_GRID = 0, // cars stand on the grid; the lights count down once a player is there
    RACE_RUN,
    RACE_OVER, // all have finished, or the time for it is over; then all begins again
} race_phase;

typedef struct race_seat {
    uint32_t player;   // slot + 1; 0: a free place
    carom_body_id car; // its chassis
    uint32_t next;     // gate
    uint32_t laps;     // that are done
    uint32_t place;    // 1 for who finished first; 0: drives still
    uint32_t best;     // ticks of the best lap; 0: none yet
    uint32_t since;    // tick in which it passed a gate, or was put back on the track
} race_seat;

// The public state: every client sees it (carom_client_public_state).
typedef struct race_public {
    uint32_t phase; // race_phase
    uint32_t laps;  // of a race
    uint32_t gates;
    carom_timer until; // the phase ends; stands while no player is there
    race_seat seat[RACE_PLAYERS];
} race_public;

// A message to all players: eight bytes.
//   OFFSET  SIZE    CONTENT
//   0       1       race_news
//   1       1       seat
//   2       1       laps done
//   3       1       place, 0: drives still
//   4       4       ticks of the lap, little-endian
typedef enum race_news {
    RACE_NEWS_GO = 1,
    RACE_NEWS_LAP,
    RACE_NEWS_FINISH, // the last lap
} race_news;
#define RACE_NEWS_SIZE 8u

// The module's `bot`.
void race_bot(const carom_game *game, uint32_t player, uint64_t random, uint8_t *input);

#endif
