// Goal: the small tools of shared/base keep their words: bytes round trip and flag the end, the
// hash spreads every bit, random numbers are the published ones, results have texts. Method: fixed
// vectors where a wrong byte order or constant would show, seeded statistics otherwise.
#include "shared/base/bytes.h"
#include "shared/base/hash.h"
#include "shared/base/rng.h"
#include "carom/types.h"

#include <criterion/criterion.h>

Test(base, bytes_are_little_endian)
{
    uint8_t bytes[23];
    cm_byte_writer w = cm_byte_writer_make(bytes, sizeof bytes);
    cm_put_u8(&w, 0x01);
    cm_put_u16(&w, 0x0203);
    cm_put_u32(&w, 0x04050607u);
    cm_put_u64(&w, UINT64_C(0x08090a0b0c0d0e0f));
    cm_put_bytes(&w, "caromCAR", 8);
    cr_assert_not(w.overflow);
    const uint8_t expected[15] = {1, 3, 2, 7, 6, 5, 4, 15, 14, 13, 12, 11, 10, 9, 8};
    cr_assert_arr_eq(bytes, expected, 15);
    cm_byte_reader r = cm_byte_reader_make(bytes, sizeof bytes);
    cr_assert_eq(cm_get_u8(&r), 1);
    cr_assert_eq(cm_get_u16(&r), 0x0203);
    cr_assert_eq(cm_get_u32(&r), 0x04050607u);
    cr_assert_eq(cm_get_u64(&r), UINT64_C(0x08090a0b0c0d0e0f));
    cr_assert_eq(cm_bytes_left(&r), 8);
    cr_assert_arr_eq(cm_get_bytes(&r, 8), "caromCAR", 8);
    cr_assert_not(r.overflow);
}

Test(base, bytes_flag_the_end_and_keep_it)
{
    uint8_t bytes[4] = {1, 2, 3, 0xee};
    cm_byte_reader r = cm_byte_reader_make(bytes, 3);
    cr_assert_eq(cm_get_u32(&r), 0);
    cr_assert(r.overflow);
    cr_assert_eq(cm_get_u8(&r), 0);
    cr_assert_null(cm_get_bytes(&r, 0));
    cm_byte_writer w = cm_byte_writer_make(bytes, 3);
    cm_put_u32(&w, 7);
    cm_put_u8(&w, 7);
    cr_assert(w.overflow);
    cr_assert_eq(bytes[0], 1);
    cr_assert_eq(bytes[3], 0xee);
    cm_byte_writer counting = cm_byte_writer_make(NULL, 0);
    cm_put_u64(&counting, 0);
    cm_put_bytes(&counting, bytes, 3);
    cr_assert_eq(counting.size, 11);
    cr_assert_not(counting.overflow);
}

static uint64_t hash_two(uint64_t a, uint64_t b)
{
    cm_hash hash = cm_hash_begin(0);
    cm_hash_u64(&hash, a);
    cm_hash_u64(&hash, b);
    return cm_hash_end(&hash);
}

// Each input bit turns each output bit in 40 to 60% of 2,000 trials (five standard
// deviations: 5.6%).
Test(base, hash_spreads_every_bit)
{
    enum { TRIALS = 2000 };
    cm_rng rng;
    cm_rng_seed(&rng, 5);
    for (uint32_t in = 0; in < 128; in++) {
        uint32_t turned[64] = {0};
        for (uint32_t trial = 0; trial < TRIALS; trial++) {
            uint64_t a = cm_rng_next(&rng), b = cm_rng_next(&rng);
            uint64_t difference =
                hash_two(a, b) ^ hash_two(a ^ (in < 64 ? UINT64_C(1) << in : 0),
                                          b ^ (in < 64 ? 0 : UINT64_C(1) << (in - 64)));
            for (uint32_t out = 0; out < 64; out++) {
                turned[out] += (uint32_t)(difference >> out) & 1u;
            }
        }
        for (uint32_t out = 0; out < 64; out++) {
            cr_assert(turned[out] > TRIALS * 2 / 5, "bit %u to %u: %u", in, out, turned[out]);
            cr_assert(turned[out] < TRIALS * 3 / 5, "bit %u to %u: %u", in, out, turned[out]);
        }
    }
}

Test(base, hash_tells_order_length_and_sign_of_zero)
{
    cr_assert_neq(hash_two(1, 2), hash_two(2, 1));
    cm_hash none = cm_hash_begin(0), one = cm_hash_begin(0), two = cm_hash_begin(0);
    cm_hash_u64(&one, 0);
    cm_hash_u64(&two, 0);
    cm_hash_u64(&two, 0);
    cr_assert_neq(cm_hash_end(&none), cm_hash_end(&one));
    cr_assert_neq(cm_hash_end(&one), cm_hash_end(&two));
    cm_hash plus = cm_hash_begin(0), minus = cm_hash_begin(0);
    cm_hash_f32(&plus, 0.0f);
    cm_hash_f32(&minus, -0.0f);
    cr_assert_neq(cm_hash_end(&plus), cm_hash_end(&minus));
}

// Small, similar inputs: 4,096 hashes without a collision.
Test(base, hash_of_small_numbers_collides_no_more_than_chance)
{
    enum { COUNT = 4096 };
    static uint64_t seen[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        seen[i] = hash_two(i & 63, i >> 6);
        for (uint32_t j = 0; j < i; j++) {
            cr_assert_neq(seen[i], seen[j]);
        }
    }
}

// First outputs of splitmix64 from seed 0 (the published reference values).
Test(base, splitmix_gives_the_published_values)
{
    uint64_t state = 0;
    cr_assert_eq(cm_splitmix(&state), UINT64_C(0xe220a8397b1dcdaf));
    cr_assert_eq(cm_splitmix(&state), UINT64_C(0x6e789e6aa1b965f4));
    cr_assert_eq(cm_splitmix(&state), UINT64_C(0x06c45d188009454f));
}

Test(base, rng_ranges_hold_and_fill)
{
    cm_rng rng;
    cm_rng_seed(&rng, 0);
    uint32_t counts[10] = {0};
    double sum = 0.0;
    for (uint32_t i = 0; i < 100000; i++) {
        counts[cm_rng_below(&rng, 10)]++;
        double unit = cm_rng_unit(&rng);
        cr_assert(unit >= 0.0 && unit < 1.0);
        sum += unit;
        float range = cm_rng_range(&rng, -2.0f, 3.0f);
        cr_assert(range >= -2.0f && range <= 3.0f);
    }
    for (uint32_t i = 0; i < 10; i++) {
        cr_assert(counts[i] > 9500 && counts[i] < 10500, "%u: %u", i, counts[i]);
    }
    cr_assert(sum > 49500.0 && sum < 50500.0);
}

Test(base, every_result_has_a_text)
{
    for (int i = 0; i < CAROM_RESULT_COUNT; i++) {
        cr_assert_gt(strlen(carom_result_text((carom_result)i)), 3);
    }
    cr_assert_str_eq(carom_result_text((carom_result)12345), "unknown result");
    cr_assert_str_eq(carom_result_text(CAROM_OK), "done");
}
