// Bits in and out of a byte buffer, least significant bit first: the lowest layer of the wire.
//
// Invariants: value bits are written from bit 0 upwards, into the lowest free bit of the present
// byte; the last byte's unused bits are zero. An access past the end sets `overflow`, writes
// nothing, reads zeros, and stays set: a whole packet is written or read, and the flag tested once.
// Neither owns the buffer. Typical: 1,200 bytes a packet, some 2,000 fields.
#ifndef CM_BASE_BITS_H
#define CM_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cm_bit_writer {
    uint8_t *bytes;
    size_t capacity; // bytes
    size_t position; // bits written
    bool overflow;
} cm_bit_writer;

typedef struct cm_bit_reader {
    const uint8_t *bytes;
    size_t size;     // bytes
    size_t position; // bits read
    bool overflow;
} cm_bit_reader;

void cm_bit_writer_init(cm_bit_writer *writer, void *bytes, size_t capacity);
// Writes the low `count` bits of value, 0 to 32; higher bits of value are ignored.
void cm_write_bits(cm_bit_writer *writer, uint32_t value, uint32_t count);
void cm_write_bits64(cm_bit_writer *writer, uint64_t value, uint32_t count); // 0 to 64
void cm_write_bool(cm_bit_writer *writer, bool value);
// Zero bits up to the next whole byte.
void cm_write_align(cm_bit_writer *writer);
// Copies `count` bits, from bit 0 of the first byte upwards. All of them or, past the end, none.
void cm_write_bit_run(cm_bit_writer *writer, const uint8_t *bytes, size_t count);
// Aligns, then copies.
void cm_write_byte_run(cm_bit_writer *writer, const void *bytes, size_t count);
// Bytes begun so far.
size_t cm_bit_writer_bytes(const cm_bit_writer *writer);

void cm_bit_reader_init(cm_bit_reader *reader, const void *bytes, size_t size);
uint32_t cm_read_bits(cm_bit_reader *reader, uint32_t count);   // 0 to 32
uint64_t cm_read_bits64(cm_bit_reader *reader, uint32_t count); // 0 to 64
bool cm_read_bool(cm_bit_reader *reader);
// Skips to the next whole byte. Skipped bits that are not zero set `overflow`: one packet has one
// form.
void cm_read_align(cm_bit_reader *reader);
// Aligns, then copies; zeros where the data ends early.
void cm_read_byte_run(cm_bit_reader *reader, void *bytes, size_t count);
// Bits not yet read.
size_t cm_bit_reader_left(const cm_bit_reader *reader);

#endif
