// See the header. Typical: 1 bit; 14 to 40 bits where a stick moved.
#include "shared/wire/input_delta.h"

#include <string.h>

#include "shared/wire/packet.h"

#define STATE_GROUP 4u

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

static uint32_t group(uint32_t size, uint32_t at)
{
    return size - at < STATE_GROUP ? size - at : STATE_GROUP;
}

size_t cm_state_delta_write(const uint8_t *from, const uint8_t *to, uint32_t size, uint8_t *bytes,
                            size_t capacity)
{
    cm_bit_writer writer;
    cm_bit_writer_init(&writer, bytes, capacity < size ? capacity : size);
    for (uint32_t at = 0; at < size; at += STATE_GROUP) {
        (void)cm_input_delta_write(&writer, from + at, to + at, group(size, at));
    }
    return writer.overflow ? 0 : cm_bit_writer_bytes(&writer);
}

bool cm_state_delta_read(const uint8_t *bytes, size_t count, uint8_t *state, uint32_t size)
{
    cm_bit_reader reader;
    bool good = true;
    cm_bit_reader_init(&reader, bytes, count);
    for (uint32_t at = 0; at < size; at += STATE_GROUP) {
        good = cm_input_delta_read(&reader, state + at, group(size, at)) && good;
    }
    return good && cm_packet_end(&reader) == CM_PACKET_OK;
}
