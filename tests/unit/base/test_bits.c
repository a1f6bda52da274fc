// Goal: what cm_write_bits wrote, cm_read_bits reads, at any width and offset; the layout is least
// significant bit first; and an access past the end is flagged, never made.
// Method: fixed vectors for the layout, seeded random fields for the round trip, and guard bytes
// behind a buffer of each size for the overflow.
#include "shared/base/bits.h"
#include "shared/base/rng.h"

#include <criterion/criterion.h>
#include <string.h>

Test(bits, layout_is_least_significant_bit_first)
{
    uint8_t bytes[4] = {0xff, 0xff, 0xff, 0xff};
    cm_bit_writer w;
    cm_bit_writer_init(&w, bytes, sizeof bytes);
    cm_write_bits(&w, 1, 1);
    cm_write_bits(&w, 0x5, 3);
    cm_write_bits(&w, 0xabc, 12);
    cr_assert_eq(cm_bit_writer_bytes(&w), 2);
    cr_assert_eq(bytes[0], 0xcb);
    cr_assert_eq(bytes[1], 0xab);
    cm_write_bool(&w, true);
    cm_write_align(&w);
    cr_assert_eq(bytes[2], 0x01);
    cr_assert_eq(cm_bit_writer_bytes(&w), 3);
    cm_write_byte_run(&w, "Z", 1);
    cr_assert_eq(bytes[3], 'Z');
    cr_assert_not(w.overflow);
}

Test(bits, random_fields_round_trip)
{
    enum { FIELDS = 3000 };
    static uint64_t values[FIELDS];
    static uint32_t widths[FIELDS];
    static uint8_t bytes[FIELDS * 8];
    cm_rng rng;
    cm_rng_seed(&rng, 11);
    cm_bit_writer w;
    cm_bit_writer_init(&w, bytes, sizeof bytes);
    size_t bits = 0;
    for (uint32_t i = 0; i < FIELDS; i++) {
        widths[i] = cm_rng_below(&rng, 65);
        values[i] = cm_rng_next(&rng);
        cm_write_bits64(&w, values[i], widths[i]); // higher bits must be ignored
        bits += widths[i];
    }
    cr_assert_not(w.overflow);
    cr_assert_eq(cm_bit_writer_bytes(&w), (bits + 7) / 8);
    cm_bit_reader r;
    cm_bit_reader_init(&r, bytes, cm_bit_writer_bytes(&w));
    for (uint32_t i = 0; i < FIELDS; i++) {
        uint64_t mask = widths[i] == 64 ? UINT64_MAX : (UINT64_C(1) << widths[i]) - 1;
        cr_assert_eq(cm_read_bits64(&r, widths[i]), values[i] & mask, "field %u", i);
    }
    cr_assert_not(r.overflow);
    cr_assert(cm_bit_reader_left(&r) < 8);
}

Test(bits, a_run_is_the_bits_that_were_written)
{
    cm_rng rng;
    cm_rng_seed(&rng, 7);
    for (uint32_t round = 0; round < 2000; round++) {
        uint8_t run[8], once[16] = {0}, twice[16] = {0};
        uint32_t before = cm_rng_below(&rng, 20), count = cm_rng_below(&rng, 61);
        uint64_t value = cm_rng_next(&rng) & ((UINT64_C(1) << count) - 1);
        cm_bit_writer w;
        cm_bit_writer_init(&w, run, sizeof run);
        cm_write_bits64(&w, value, count);
        cm_bit_writer_init(&w, once, sizeof once);
        cm_write_bits(&w, 0x5a5a5, before);
        cm_write_bits64(&w, value, count);
        cm_bit_writer_init(&w, twice, sizeof twice);
        cm_write_bits(&w, 0x5a5a5, before);
        cm_write_bit_run(&w, run, count);
        cr_assert_eq(w.position, before + count);
        cr_assert_arr_eq(once, twice, sizeof once);
        if (count == 0) {
            continue;
        }
        // A bit too little room: nothing of it is written.
        size_t full = (before + count + 7) / 8;
        cm_bit_writer_init(&w, twice, full);
        cm_write_bits64(&w, UINT64_MAX, 64);
        cm_bit_writer_init(&w, twice, full);
        w.position = full * 8 - count + 1;
        memcpy(once, twice, sizeof once);
        cm_write_bit_run(&w, run, count);
        cr_assert(w.overflow);
        cr_assert_arr_eq(once, twice, sizeof once);
    }
}

Test(bits, overflow_is_sticky_and_harmless)
{
    for (size_t capacity = 0; capacity < 9; capacity++) {
        uint8_t bytes[16];
        memset(bytes, 0xee, sizeof bytes);
        cm_bit_writer w;
        cm_bit_writer_init(&w, bytes, capacity);
        for (uint32_t i = 0; i < 40; i++) {
            cm_write_bits(&w, 0xffffffffu, 7);
        }
        cr_assert(w.overflow);
        cm_write_bits(&w, 0, 0);
        cm_write_byte_run(&w, "abc", 3);
        cr_assert(w.overflow);
        for (size_t i = capacity; i < sizeof bytes; i++) {
            cr_assert_eq(bytes[i], 0xee);
        }
        memset(bytes, 0xff, sizeof bytes);
        cm_bit_reader r;
        cm_bit_reader_init(&r, bytes, capacity);
        size_t whole = capacity * 8 / 7;
        for (size_t i = 0; i < whole; i++) {
            cm_read_bits(&r, 7);
        }
        cr_assert_not(r.overflow);
        cr_assert_eq(cm_read_bits(&r, 32), 0);
        cr_assert(r.overflow);
        cr_assert_eq(cm_read_bits(&r, 1), 0);
        uint8_t run[4] = {1, 2, 3, 4};
        cm_read_byte_run(&r, run, sizeof run);
        cr_assert_eq(run[0] | run[1] | run[2] | run[3], 0);
    }
}

Test(bits, alignment_demands_zero_bits)
{
    const uint8_t good[2] = {0x01, 0x42}, bad[2] = {0x81, 0x42};
    cm_bit_reader r;
    uint8_t byte = 0;
    cm_bit_reader_init(&r, good, 2);
    cm_read_bits(&r, 3);
    cm_read_byte_run(&r, &byte, 1);
    cr_assert_eq(byte, 0x42);
    cr_assert_not(r.overflow);
    cm_bit_reader_init(&r, bad, 2);
    cm_read_bits(&r, 3);
    cm_read_align(&r);
    cr_assert(r.overflow);
}
