// A relay: the inputs of a room's other players, told to a client in a view (packet.h), so that it
// predicts what they do with what they did. It tells of each player the input of every tick from
// the first that may be new to the client up to the view's tick, as the server has it now (the one
// that came, or the one held), and of the ticks after it, for which one came already.
//
//   bits, least significant first:
//     7       back: the first tick is the view's tick - back + 1
//     6       slots, less one
//     1 each  slots that are told of
//     for each of these, ascending:
//       1     based: its first input is against that of tick - back, which the client was told;
//             else against zeros
//       1     as many ticks ahead as the player before (first: 0); else
//       5     ticks after the view's
//       1     every input equals the one before it; else
//       each  tick, ascending, against the one before (input_delta.h)
//     padding, zero, to a whole byte
//
// Pure: bytes in, inputs out. Typical: 12 bytes for 7 players at 60 ms of round trip.
#ifndef CM_WIRE_INPUT_RELAY_H
#define CM_WIRE_INPUT_RELAY_H

#include "shared/wire/packet.h"

#define CM_RELAY_BACK_MAX  127u
#define CM_RELAY_AHEAD_MAX 31u

// The input of a player for a tick, of as many bytes as inputs have; NULL: it is not known.
typedef const uint8_t *cm_relay_input(void *context, uint32_t player, uint64_t tick);

typedef struct cm_input_relay {
    uint64_t tick;    // of the view
    uint32_t back;    // at most CM_RELAY_BACK_MAX and `tick`
    uint64_t players; // a bit each
    uint64_t based;   // of these
    uint32_t input_size;
} cm_input_relay;

// Returns the bytes, 0 where there is no player or they are more than `size`. `*news`: something
// differs from what a client would hold.
size_t cm_input_relay_write(const cm_input_relay *relay, cm_relay_input *input, void *context,
                            uint8_t *bytes, size_t size, bool *news);

// Told of one tick of one player, once the whole relay was found well-formed.
typedef void cm_relay_told(void *context, uint32_t player, uint64_t tick, const uint8_t *bytes);
// The relay of a view of `tick`. A player whose baseline `input` does not know is left out.
cm_packet_reason cm_input_relay_read(const uint8_t *bytes, size_t size, uint64_t tick,
                                     uint32_t input_size, cm_relay_input *input,
                                     cm_relay_told *told, void *context);

#endif
