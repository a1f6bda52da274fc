// A range coder: symbols of 32,768 shares into bytes and back, the same code both ways.
//
// After Martin's range encoding (1979) with carries, as byte-wise coders do it: `low` may overflow
// into bytes already written, which waits in `pending`. The end is the fewest bytes that name a
// number inside the last interval; zeros after them are not written, and are read as zeros. A
// decoder does bounded work on any bytes, and reports afterwards how many it used.
#ifndef CM_CODEC_RANGE_H
#define CM_CODEC_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_RANGE_BITS  15
#define CM_RANGE_WHOLE (1u << CM_RANGE_BITS)

typedef struct cm_range {
    uint8_t *out;      // encoding
    const uint8_t *in; // decoding
    size_t size, at;
    uint64_t low;
    uint32_t range, code, pending;
    uint8_t held;
    bool begun, overflow;
    uint32_t *counts; // learning: how often each symbol came, at its place in the model
} cm_range;

static inline void cm_range_put(cm_range *r, uint8_t byte)
{
    if (r->at < r->size) {
        r->out[r->at] = byte;
    } else {
        r->overflow |= byte != 0; // zeros at the end are left out again
    }
    r->at++;
}

static inline void cm_range_shift(cm_range *r)
{
    if (r->low < 0xff000000u || r->low > 0xffffffffu) {
        uint8_t carry = (uint8_t)(r->low >> 32);
        if (r->begun) {
            cm_range_put(r, (uint8_t)(r->held + carry));
        }
        for (; r->pending > 0; r->pending--) {
            cm_range_put(r, (uint8_t)(0xffu + carry));
        }
        r->held = (uint8_t)(r->low >> 24);
        r->begun = true;
    } else {
        r->pending++;
    }
    r->low = (r->low & 0x00ffffffu) << 8;
}

static inline void cm_range_write_init(cm_range *r, uint8_t *out, size_t size)
{
    *r = (cm_range){.out = out, .size = size, .range = 0xffffffffu};
}

static inline void cm_range_write(cm_range *r, uint32_t start, uint32_t share)
{
    uint32_t part = r->range >> CM_RANGE_BITS;
    r->low += (uint64_t)part * start;
    r->range = part * share;
    while (r->range < 1u << 24) {
        r->range <<= 8;
        cm_range_shift(r);
    }
}

// The bytes that stand for all that was written.
static inline size_t cm_range_finish(cm_range *r)
{
    // The number with the most zeros at its end.
    uint64_t last = r->low + r->range - 1;
    for (int bits = 32; bits >= 0; bits--) {
        uint64_t number = last >> bits << bits;
        if (number >= r->low) {
            r->low = number;
            break;
        }
    }
    for (int i = 0; i < 5; i++) {
        cm_range_shift(r);
    }
    while (r->at > 0 && (r->at > r->size || r->out[r->at - 1] == 0)) {
        r->at--;
    }
    return r->at;
}

static inline uint8_t cm_range_get(cm_range *r)
{
    uint8_t byte = r->at < r->size ? r->in[r->at] : 0;
    r->at++;
    return byte;
}

static inline void cm_range_read_init(cm_range *r, const uint8_t *in, size_t size)
{
    *r = (cm_range){.in = in, .size = size, .range = 0xffffffffu};
    for (int i = 0; i < 4; i++) {
        r->code = r->code << 8 | cm_range_get(r);
    }
}

// The next symbol's position among the shares; cm_range_take then removes it.
static inline uint32_t cm_range_read(cm_range *r)
{
    uint32_t share = r->code / (r->range >> CM_RANGE_BITS);
    return share < CM_RANGE_WHOLE ? share : CM_RANGE_WHOLE - 1;
}

static inline void cm_range_take(cm_range *r, uint32_t start, uint32_t share)
{
    uint32_t part = r->range >> CM_RANGE_BITS;
    r->code -= part * start;
    r->range = part * share;
    while (r->range < 1u << 24) {
        r->range <<= 8;
        r->code = r->code << 8 | cm_range_get(r);
    }
}

#endif
