// A confirmed tick: its inputs and events, the timing of its inputs, and the hash of the state
// after it. No rewind reaches it any more, so the scene and the confirmed ticks are the whole
// match. This is their only coding: a match file has each of the two blobs in a row
// (MATCH_FILE.md), a stream has whole ticks, one after the other.
//
// The two blobs; a blob of nothing has 0 bytes:
//
//   OFFSET  SIZE     changed: the inputs that differ from those of the tick before
//   0       8        players, a bit each, at least one
//   8       n x w    each player's input, ascending players; w is that of the longest, 0 to 64
//
//   OFFSET  SIZE     arrived: how inputs for the tick came
//   0       8        players, a bit each, at least one
//   8       8        of these, those whose input had the room rewind
//   16      n x 2    each lead, in 1/16 ticks before the tick was due, negative: late
//
// A whole tick; all numbers little-endian:
//
//   OFFSET  SIZE     a tick
//   0       1        flags: 1 the server had died, and another went on with this tick; 2 events;
//                    4 inputs; 8 arrived; 16 it follows the tick before it in the stream
//   1       8        hash
//   9       8        tick, but for one that follows
//   ...     2        with events: how many; then each: type (1), player (1), client id (8), size
//   (2),
//                    bytes
//   ...     1 to 10  with inputs: players, a bit each, 7 bits a byte and its highest set but for
//   the
//                    last; then w (1), then n x w as in changed
//   ...     2        with arrived: its bytes, then these
//
// The reader accepts hostile bytes: it returns a tick within the limits, or an error. Typical: 30
// to 60 bytes for 8 players who steer with sticks.
#ifndef CM_WIRE_CONFIRMED_H
#define CM_WIRE_CONFIRMED_H

#include <stdbool.h>
#include <stddef.h>

#include "carom/game.h"

#define CM_CONFIRMED_EVENTS_MAX 256u // of one tick
// Bytes of a tick's two blobs, and of a whole tick, at most.
#define CM_CONFIRMED_CHANGED_MAX (8u + CAROM_PLAYERS_MAX * CAROM_INPUT_MAX)
#define CM_CONFIRMED_ARRIVED_MAX (16u + CAROM_PLAYERS_MAX * 2u)
#define CM_CONFIRMED_HEAD        32u // of a whole tick beside events, inputs and arrived, at most
#define CM_CONFIRMED_EVENT_HEAD  12u

typedef enum cm_game_event_type {
    CM_EVENT_JOIN = 1,    // bytes: user data
    CM_EVENT_LEAVE = 2,   // bytes: CM_LEAVE_REFUSED of a player whom the module refused, else none
    CM_EVENT_MESSAGE = 3, // bytes: the message
    CM_EVENT_END = 4,     // of no player: the match ends with this tick
} cm_game_event_type;

#define CM_LEAVE_REFUSED "refused"

// An event of a game between two ticks; events are applied before the inputs, in this order.
typedef struct cm_game_event {
    uint32_t type;
    uint32_t player;
    uint64_t client_id; // of a join: who the player is; 0 otherwise
    const uint8_t *bytes;
    uint32_t size;
} cm_game_event;

typedef struct cm_tick_input {
    const cm_game_event *events;
    uint32_t event_count;
    const carom_player_input *inputs; // only of players whose input changed, ascending slots
    uint32_t input_count;
} cm_tick_input;

// The timing of one input: it arrived `lead` 1/16 ticks before its tick was due; negative: late.
typedef struct cm_arrival {
    uint8_t player;
    bool rewound; // the room went back for it
    int16_t lead;
} cm_arrival;

// The end of a match.
typedef enum cm_match_end {
    CM_MATCH_LIVE = 0, // no end was written: the server was killed, or it is running
    CM_MATCH_DRAINED = 1,
    CM_MATCH_ENDED = 2,
    CM_MATCH_FAILED = 3,
    CM_MATCH_CUT = 4, // its server was killed, and no other could go on with it
} cm_match_end;

// Of one player up to a tick, since it joined.
typedef struct cm_player_statistics {
    uint32_t player;
    uint64_t inputs, late, rewound_ticks, refused;
} cm_player_statistics;

// A confirmed tick and all that went into it. Arrivals in ascending players, each once.
typedef struct cm_confirmed_tick {
    uint64_t tick, hash;
    cm_tick_input input;
    const cm_arrival *arrivals;
    uint32_t arrival_count;
    bool resumed; // the server had died, and another went on with this tick
    bool follows; // in a stream, the tick before it: then its number is not told
} cm_confirmed_tick;

// True if a tick is within the limits: counts, ascending players, sizes of payloads.
bool cm_confirmed_fits(const cm_confirmed_tick *tick);
uint32_t cm_confirmed_payload_max(uint32_t event_type);
// Bytes of the longest of some inputs, without the zeros at their ends.
uint32_t cm_confirmed_width(const carom_player_input *inputs, uint32_t count);

typedef struct cm_confirmed_row {
    uint64_t tick;
    size_t changed_size, arrived_size;
    uint8_t changed[CM_CONFIRMED_CHANGED_MAX];
    uint8_t arrived[CM_CONFIRMED_ARRIVED_MAX];
} cm_confirmed_row;

void cm_confirmed_row_write(const cm_confirmed_tick *tick, cm_confirmed_row *row);

// The contents of the two blobs.
typedef struct cm_confirmed_inputs {
    uint64_t tick;
    uint32_t input_count, arrival_count;
    carom_player_input inputs[CAROM_PLAYERS_MAX];
    cm_arrival arrivals[CAROM_PLAYERS_MAX];
} cm_confirmed_inputs;
// NULL, or what is wrong, as a constant text. One of the blobs has bytes.
const char *cm_confirmed_row_read(const uint8_t *changed, size_t changed_size,
                                  const uint8_t *arrived, size_t arrived_size,
                                  cm_confirmed_inputs *out);

// Bytes of a whole tick, which has to fit; writing needs as many and returns them.
size_t cm_confirmed_size(const cm_confirmed_tick *tick);
size_t cm_confirmed_write(const cm_confirmed_tick *tick, uint8_t *bytes, size_t size);

// The memory for reading a whole tick: `tick` points into the other members, and into the bytes
// read.
typedef struct cm_confirmed_read_tick {
    cm_confirmed_tick tick;
    cm_game_event events[CM_CONFIRMED_EVENTS_MAX];
    cm_confirmed_inputs inputs;
} cm_confirmed_read_tick;
// Reads one tick from the beginning of `bytes`; `*used`: its bytes. NULL, or what is wrong. One
// that follows is the next after what `out` held.
const char *cm_confirmed_read(const uint8_t *bytes, size_t size, cm_confirmed_read_tick *out,
                              size_t *used);

#endif
