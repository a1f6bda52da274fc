// A stable sort of 30-bit keys with values: nothing where they are sorted, insertion for short
// lists, else three passes of ten bits.
//
// Invariant: the result is a function of the keys and of the order in which they came, so sorted
// input of equal keys stays sorted by whatever the caller had sorted it by before (ids).
// Typical: 1,000 Morton keys a step; partner lists of 2 to 20, one of 1,000 for the ground.
#include "shared/sim/state/sort.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 10u
#define DIGITS     (1u << DIGIT_BITS)
#define SHORT_LIST 48u

static void sort_short(uint32_t *keys, uint32_t *values, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t key = keys[i], value = values[i], j = i;
        for (; j > 0 && keys[j - 1] > key; j--) {
            keys[j] = keys[j - 1];
            values[j] = values[j - 1];
        }
        keys[j] = key;
        values[j] = value;
    }
}

static void sort_digit(const uint32_t *keys, const uint32_t *values, uint32_t *to_keys,
                       uint32_t *to_values, uint32_t count, uint32_t shift, uint32_t start[DIGITS])
{
    uint32_t sum = 0;
    for (uint32_t d = 0; d < DIGITS; d++) {
        uint32_t here = start[d];
        start[d] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = start[keys[i] >> shift & (DIGITS - 1u)]++;
        to_keys[place] = keys[i];
        to_values[place] = values[i];
    }
}

static bool is_sorted(const uint32_t *keys, uint32_t count)
{
    uint32_t i = 1;
    while (i < count && keys[i - 1] <= keys[i]) {
        i++;
    }
    return i >= count;
}

void cm_sort(uint32_t *keys, uint32_t *values, uint32_t *spare_keys, uint32_t *spare_values,
             uint32_t count)
{
    if (count <= SHORT_LIST) {
        sort_short(keys, values, count);
        return;
    }
    if (is_sorted(keys, count)) {
        return;
    }
    uint32_t start[3][DIGITS];
    memset(start, 0, sizeof start);
    for (uint32_t i = 0; i < count; i++) {
        start[0][keys[i] & (DIGITS - 1u)]++;
        start[1][keys[i] >> DIGIT_BITS & (DIGITS - 1u)]++;
        start[2][keys[i] >> 2 * DIGIT_BITS & (DIGITS - 1u)]++;
    }
    sort_digit(keys, values, spare_keys, spare_values, count, 0, start[0]);
    sort_digit(spare_keys, spare_values, keys, values, count, DIGIT_BITS, start[1]);
    sort_digit(keys, values, spare_keys, spare_values, count, 2 * DIGIT_BITS, start[2]);
    memcpy(keys, spare_keys, count * sizeof *keys);
    memcpy(values, spare_values, count * sizeof *values);
}
