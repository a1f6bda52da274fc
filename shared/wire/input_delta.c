// See the header. Typical: 1 bit; 14 to 40 bits where a stick moved.
#include "shared/wire/input_delta.h"

#include <string.h>

bool cm_input_delta_write(cm_bit_writer *writer, const uint8_t *from, const uint8_t *to,
                          uint32_t size)
{
    bool same = size == 0 || memcmp(from, to, size) == 0;
    cm_write_bool(writer, same);
    for (uint32_t i = 0; i < size && !same; i++) {
        cm_write_bool(writer, from[i] != to[i]);
    }
    for (uint32_t i = 0; i < size && !same; i++) {
        if (from[i] != to[i]) {
            cm_write_bits(writer, to[i], 8);
        }
    }
    return same;
}

bool cm_input_delta_read(cm_bit_reader *reader, uint8_t *bytes, uint32_t size)
{
    if (cm_read_bool(reader)) {
        return true;
    }
    uint64_t changed = 0; // size is at most CAROM_INPUT_MAX, 64
    for (uint32_t i = 0; i < size; i++) {
        changed |= (uint64_t)cm_read_bool(reader) << i;
    }
    for (uint64_t left = changed; left != 0; left &= left - 1) {
        bytes[__builtin_ctzll(left)] = (uint8_t)cm_read_bits(reader, 8);
    }
    return changed != 0;
}
