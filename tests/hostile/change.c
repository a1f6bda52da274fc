// Bytes that are changed.
#include <stdlib.h>
#include <string.h>

#include "tests/hostile/hostile.h"

#define GROWTH 64u // bytes

hostile_bytes hostile_copy(const void *data, size_t size)
{
    hostile_bytes bytes = {malloc(size > 0 ? size : 1), size};
    if (size > 0) {
        memcpy(bytes.data, data, size);
    }
    return bytes;
}

void hostile_release(hostile_bytes *bytes)
{
    free(bytes->data);
    *bytes = (hostile_bytes){NULL, 0};
}

uint64_t hostile_number(cm_rng *rng)
{
    static const uint64_t ends[] = {
        0,          1,          2,          0x7f,       0x80,       0xff,
        0x100,      0x7fff,     0x8000,     0xffff,     0x10000,    0x7fffffff,
        0x80000000, 0xffffffff, 0x7fc00000, 0x7f800000, 0xff800000, 0x7f7fffff,
        1u << 20,   0x00000001, 0x80000001, 1000,       1001,       UINT64_C(0x100000000),
        UINT64_MAX, INT64_MAX,  60,         63,         64,         65,
        256,        1024};
    uint32_t which = cm_rng_below(rng, 2 * (sizeof ends / sizeof ends[0]));
    uint32_t shift = cm_rng_below(rng, 64);
    return which < sizeof ends / sizeof ends[0] ? ends[which] : cm_rng_next(rng) >> shift;
}

static void put_number(cm_rng *rng, hostile_bytes *bytes)
{
    size_t width = (size_t)1 << cm_rng_below(rng, 4);
    if (width > bytes->size) {
        return;
    }
    size_t at = cm_rng_below(rng, (uint32_t)(bytes->size - width + 1));
    uint64_t number = hostile_number(rng);
    for (size_t i = 0; i < width; i++) {
        bytes->data[at + i] = (uint8_t)(number >> (8 * i));
    }
}

// Some bytes more, or fewer, at any place.
static void resize(cm_rng *rng, hostile_bytes *bytes)
{
    uint32_t size = (uint32_t)bytes->size, at = cm_rng_below(rng, size + 1);
    if (cm_rng_below(rng, 2) == 0) {
        uint32_t gone = size > at ? cm_rng_below(rng, size - at + 1) : 0;
        gone = cm_rng_below(rng, 2) == 0 && gone > 4 ? 1 + gone % 4 : gone;
        hostile_bytes less = {malloc(size - gone > 0 ? size - gone : 1), size - gone};
        memcpy(less.data, bytes->data, at);
        memcpy(less.data + at, bytes->data + at + gone, size - at - gone);
        hostile_release(bytes);
        *bytes = less;
        return;
    }
    uint32_t more = 1 + cm_rng_below(rng, cm_rng_below(rng, 8) == 0 ? GROWTH : 4);
    hostile_bytes grown = {malloc(size + more), size + more};
    memcpy(grown.data, bytes->data, at);
    for (uint32_t i = 0; i < more; i++) {
        grown.data[at + i] = (uint8_t)cm_rng_next(rng);
    }
    memcpy(grown.data + at + more, bytes->data + at, size - at);
    hostile_release(bytes);
    *bytes = grown;
}

hostile_bytes hostile_change(cm_rng *rng, hostile_bytes from)
{
    hostile_bytes bytes = hostile_copy(from.data, from.size);
    for (uint32_t n = 1 + cm_rng_below(rng, 4); n > 0; n--) {
        uint32_t what = bytes.size > 0 ? cm_rng_below(rng, 8) : 7;
        uint32_t at = bytes.size > 0 ? cm_rng_below(rng, (uint32_t)bytes.size) : 0;
        if (what < 3) {
            bytes.data[at] ^= (uint8_t)(1u << cm_rng_below(rng, 8));
        } else if (what == 3) {
            bytes.data[at] = (uint8_t)cm_rng_next(rng);
        } else if (what < 7) {
            put_number(rng, &bytes);
        } else {
            resize(rng, &bytes);
        }
    }
    return bytes;
}
