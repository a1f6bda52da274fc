// Little-endian bytes in and out, for the portable form of a world and for records.
//
// Byte by byte with shifts, so that the host's byte order and alignment never show. An access past
// the end sets `overflow`, writes nothing, reads zeros, and stays set: tested once at the end.
// A writer whose buffer is NULL only counts (size then tells what would have been written).
#ifndef CM_BASE_BYTES_H
#define CM_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct cm_byte_writer {
    uint8_t *bytes; // NULL: count only
    size_t capacity;
    size_t size; // written so far
    bool overflow;
} cm_byte_writer;

typedef struct cm_byte_reader {
    const uint8_t *bytes;
    size_t size;
    size_t position;
    bool overflow;
} cm_byte_reader;

static inline cm_byte_writer cm_byte_writer_make(void *bytes, size_t capacity)
{
    cm_byte_writer writer = {(uint8_t *)bytes, bytes != NULL ? capacity : SIZE_MAX, 0, false};
    return writer;
}

static inline cm_byte_reader cm_byte_reader_make(const void *bytes, size_t size)
{
    cm_byte_reader reader = {(const uint8_t *)bytes, size, 0, false};
    return reader;
}

static inline bool cm_byte_reserve(cm_byte_writer *writer, size_t count)
{
    if (writer->overflow || count > writer->capacity - writer->size) {
        writer->overflow = true;
        return false;
    }
    return true;
}

// The low `count` bytes of value, 1 to 8.
static inline void cm_put_uint(cm_byte_writer *writer, uint64_t value, size_t count)
{
    if (!cm_byte_reserve(writer, count)) {
        return;
    }
    if (writer->bytes != NULL) {
        for (size_t i = 0; i < count; i++) {
            writer->bytes[writer->size + i] = (uint8_t)(value >> (8 * i));
        }
    }
    writer->size += count;
}

static inline void cm_put_u8(cm_byte_writer *writer, uint8_t value)
{
    cm_put_uint(writer, value, 1);
}

static inline void cm_put_u16(cm_byte_writer *writer, uint16_t value)
{
    cm_put_uint(writer, value, 2);
}

static inline void cm_put_u32(cm_byte_writer *writer, uint32_t value)
{
    cm_put_uint(writer, value, 4);
}

static inline void cm_put_u64(cm_byte_writer *writer, uint64_t value)
{
    cm_put_uint(writer, value, 8);
}

static inline void cm_put_bytes(cm_byte_writer *writer, const void *bytes, size_t count)
{
    if (!cm_byte_reserve(writer, count)) {
        return;
    }
    if (writer->bytes != NULL && count > 0) {
        memcpy(writer->bytes + writer->size, bytes, count);
    }
    writer->size += count;
}

// `count` bytes as a number, 1 to 8; 0 past the end.
static inline uint64_t cm_get_uint(cm_byte_reader *reader, size_t count)
{
    if (reader->overflow || count > reader->size - reader->position) {
        reader->overflow = true;
        return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        value |= (uint64_t)reader->bytes[reader->position + i] << (8 * i);
    }
    reader->position += count;
    return value;
}

static inline uint8_t cm_get_u8(cm_byte_reader *reader)
{
    return (uint8_t)cm_get_uint(reader, 1);
}

static inline uint16_t cm_get_u16(cm_byte_reader *reader)
{
    return (uint16_t)cm_get_uint(reader, 2);
}

static inline uint32_t cm_get_u32(cm_byte_reader *reader)
{
    return (uint32_t)cm_get_uint(reader, 4);
}

static inline uint64_t cm_get_u64(cm_byte_reader *reader)
{
    return cm_get_uint(reader, 8);
}

// `count` bytes in place, or NULL past the end.
static inline const uint8_t *cm_get_bytes(cm_byte_reader *reader, size_t count)
{
    if (reader->overflow || count > reader->size - reader->position) {
        reader->overflow = true;
        return NULL;
    }
    const uint8_t *bytes = reader->bytes + reader->position;
    reader->position += count;
    return bytes;
}

static inline size_t cm_bytes_left(const cm_byte_reader *reader)
{
    return reader->overflow ? 0 : reader->size - reader->position;
}

#endif
