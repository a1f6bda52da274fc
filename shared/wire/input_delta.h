// An input against another one of the same size, in bits: as input packets (input_packet.c) and
// relays (input_relay.c) have it.
//
//   1             same
//   else size     which bytes differ, not none
//        8 each   those bytes
//
// The public state of a module against an earlier one (view_packet.c) is each 4 bytes of it, the
// last perhaps fewer, as an input.
#ifndef CM_WIRE_INPUT_DELTA_H
#define CM_WIRE_INPUT_DELTA_H

#include "shared/base/bits.h"

// True where they are the same.
bool cm_input_delta_write(cm_bit_writer *writer, const uint8_t *from, const uint8_t *to,
                          uint32_t size);
// `bytes` is `from` before, `to` after. False where the bits say that nothing differs and that
// something does.
bool cm_input_delta_read(cm_bit_reader *reader, uint8_t *bytes, uint32_t size);

// Returns the bytes written; 0 where it were more than `size` or `capacity`.
size_t cm_state_delta_write(const uint8_t *from, const uint8_t *to, uint32_t size, uint8_t *bytes,
                            size_t capacity);
// `state` likewise. False for other bytes than a delta of that size has.
bool cm_state_delta_read(const uint8_t *bytes, size_t count, uint8_t *state, uint32_t size);

#endif
