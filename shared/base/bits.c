// Bit reader and writer; see bits.h. Works a byte at a time, so that byte order never shows: at
// most five bytes for a field. About 2,000 fields a packet, 30 packets a second for each client.
#include "shared/base/bits.h"

#include "shared/base/assert.h"

#include <string.h>

void cm_bit_writer_init(cm_bit_writer *writer, void *bytes, size_t capacity)
{
    writer->bytes = bytes;
    writer->capacity = capacity;
    writer->position = 0;
    writer->overflow = false;
}

void cm_write_bits(cm_bit_writer *writer, uint32_t value, uint32_t count)
{
    CM_ASSERT(count <= 32);
    if (writer->overflow || count > writer->capacity * 8 - writer->position) {
        writer->overflow = true;
        return;
    }
    uint64_t rest = value & ((UINT64_C(1) << count) - 1);
    while (count > 0) {
        size_t byte = writer->position / 8;
        uint32_t used = (uint32_t)(writer->position % 8);
        uint32_t take = 8 - used < count ? 8 - used : count;
        uint32_t kept = used == 0 ? 0u : writer->bytes[byte];
        uint32_t part = (uint32_t)rest & ((1u << take) - 1u);
        writer->bytes[byte] = (uint8_t)(kept | part << used);
        rest >>= take;
        count -= take;
        writer->position += take;
    }
}

void cm_write_bits64(cm_bit_writer *writer, uint64_t value, uint32_t count)
{
    CM_ASSERT(count <= 64);
    uint32_t low = count < 32 ? count : 32;
    cm_write_bits(writer, (uint32_t)value, low);
    cm_write_bits(writer, (uint32_t)(value >> 32), count - low);
}

void cm_write_bool(cm_bit_writer *writer, bool value)
{
    cm_write_bits(writer, value ? 1u : 0u, 1);
}

void cm_write_bit_run(cm_bit_writer *writer, const uint8_t *bytes, size_t count)
{
    if (writer->overflow || count > writer->capacity * 8 - writer->position) {
        writer->overflow = true;
        return;
    }
    while (count > 0) {
        uint32_t take = count < 32 ? (uint32_t)count : 32, word = 0;
        for (uint32_t i = 0; 8 * i < take; i++) {
            word |= (uint32_t)*bytes++ << (8 * i);
        }
        cm_write_bits(writer, word, take);
        count -= take;
    }
}

void cm_write_align(cm_bit_writer *writer)
{
    // The rest of a byte is zero already; only the position moves.
    writer->position = (writer->position + 7) / 8 * 8;
}

void cm_write_byte_run(cm_bit_writer *writer, const void *bytes, size_t count)
{
    cm_write_align(writer);
    if (writer->overflow || count > writer->capacity - writer->position / 8) {
        writer->overflow = true;
        return;
    }
    if (count > 0) {
        memcpy(writer->bytes + writer->position / 8, bytes, count);
    }
    writer->position += count * 8;
}

size_t cm_bit_writer_bytes(const cm_bit_writer *writer)
{
    return (writer->position + 7) / 8;
}

void cm_bit_reader_init(cm_bit_reader *reader, const void *bytes, size_t size)
{
    reader->bytes = bytes;
    reader->size = size;
    reader->position = 0;
    reader->overflow = false;
}

uint32_t cm_read_bits(cm_bit_reader *reader, uint32_t count)
{
    CM_ASSERT(count <= 32);
    if (reader->overflow || count > reader->size * 8 - reader->position) {
        reader->overflow = true;
        return 0;
    }
    uint64_t value = 0;
    uint32_t have = 0;
    while (have < count) {
        uint32_t used = (uint32_t)(reader->position % 8);
        uint32_t take = 8 - used < count - have ? 8 - used : count - have;
        uint32_t part =
            ((uint32_t)reader->bytes[reader->position / 8] >> used) & ((1u << take) - 1u);
        value |= (uint64_t)part << have;
        have += take;
        reader->position += take;
    }
    return (uint32_t)value;
}

uint64_t cm_read_bits64(cm_bit_reader *reader, uint32_t count)
{
    CM_ASSERT(count <= 64);
    uint32_t low = count < 32 ? count : 32;
    uint64_t value = cm_read_bits(reader, low);
    return value | (uint64_t)cm_read_bits(reader, count - low) << 32;
}

bool cm_read_bool(cm_bit_reader *reader)
{
    return cm_read_bits(reader, 1) != 0;
}

void cm_read_align(cm_bit_reader *reader)
{
    uint32_t odd = (uint32_t)(reader->position % 8);
    if (odd != 0 && cm_read_bits(reader, 8 - odd) != 0) {
        reader->overflow = true;
    }
}

void cm_read_byte_run(cm_bit_reader *reader, void *bytes, size_t count)
{
    cm_read_align(reader);
    if (reader->overflow || count > reader->size - reader->position / 8) {
        reader->overflow = true;
        memset(bytes, 0, count);
        return;
    }
    if (count > 0) {
        memcpy(bytes, reader->bytes + reader->position / 8, count);
    }
    reader->position += count * 8;
}

size_t cm_bit_reader_left(const cm_bit_reader *reader)
{
    return reader->size * 8 - reader->position;
}
