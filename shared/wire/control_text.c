// Checks that need no allocation: printable text, and the top level of a Control message.
//
// Invariants: reads inside [bytes, bytes + size) only; a varint has at most 10 bytes; groups (wire
// types 3 and 4) are refused, so nothing nests. Typical: a hello of 40 bytes, once a client.
#include "shared/wire/control_text.h"

typedef struct cursor {
    const uint8_t *at, *end;
    bool failed;
} cursor;

// The next code point, or UINT32_MAX where the bytes are not UTF-8 (overlong forms, surrogates and
// what lies above U+10FFFF are not).
static uint32_t next_code(const uint8_t **text)
{
    const uint8_t *t = *text;
    uint32_t first = t[0];
    if (first < 0x80) {
        *text = t + 1;
        return first;
    }
    uint32_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc2 || first > 0xf4) {
        return UINT32_MAX;
    }
    uint32_t code = first & (0x3fu >> more);
    for (uint32_t i = 1; i <= more; i++) {
        if ((t[i] & 0xc0u) != 0x80) { // the final NUL stops here too
            return UINT32_MAX;
        }
        code = code << 6 | (t[i] & 0x3fu);
    }
    static const uint32_t least[4] = {0, 0x80, 0x800, 0x10000};
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    if (code < least[more] || surrogate || code > 0x10ffff) {
        return UINT32_MAX;
    }
    *text = t + more + 1;
    return code;
}

bool cm_text_is_printable(const char *text, size_t max)
{
    const uint8_t *start = (const uint8_t *)text;
    const uint8_t *t = start;
    while (*t != 0) {
        uint32_t code = next_code(&t);
        bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
        bool line = code == 0x2028 || code == 0x2029;
        bool direction = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
                         code == 0x200e || code == 0x200f;
        if (code == UINT32_MAX || control || line || direction || (size_t)(t - start) > max) {
            return false;
        }
    }
    return true;
}

static uint64_t next_varint(cursor *c)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < 10 && c->at < c->end; i++) {
        uint8_t byte = *c->at++;
        value |= (uint64_t)(byte & 0x7fu) << (7 * i);
        if (byte < 0x80) {
            return value;
        }
    }
    c->failed = true;
    return 0;
}

static void skip(cursor *c, uint64_t count)
{
    if (count > (uint64_t)(c->end - c->at)) {
        c->failed = true;
        return;
    }
    c->at += count;
}

static void skip_value(cursor *c, uint32_t wire_type)
{
    switch (wire_type) {
    case 0:
        next_varint(c);
        break;
    case 1:
        skip(c, 8);
        break;
    case 2:
        skip(c, next_varint(c));
        break;
    case 5:
        skip(c, 4);
        break;
    default:
        c->failed = true;
    }
}

uint32_t cm_control_member(const uint8_t *bytes, size_t size)
{
    cursor c = {bytes, bytes + size, false};
    uint32_t member = 0;
    while (c.at < c.end && !c.failed) {
        uint64_t tag = next_varint(&c);
        uint64_t number = tag >> 3;
        if (number == 0 || number > 0x1fffffff) {
            return 0;
        }
        if (number <= 15) {
            if (member != 0 || (tag & 7) != 2) {
                return 0;
            }
            member = (uint32_t)number;
        }
        skip_value(&c, (uint32_t)(tag & 7));
    }
    return c.failed ? 0 : member;
}
