// Checks that need no allocation: printable text, and the top level of a Control message.
//
// Invariants: reads inside [bytes, bytes + size) only; a varint has at most 10 bytes; groups (wire
// types 3 and 4) are refused, so nothing nests. Typical: a hello of 40 bytes, once a client.
#include "shared/wire/control_text.h"

#include "shared/base/utf8.h"

typedef struct cursor {
    const uint8_t *at, *end;
    bool failed;
} cursor;

bool cm_text_is_printable(const char *text, size_t max)
{
    const char *at = text;
    while (*at != '\0') {
        uint32_t code = cm_utf8_next(&at);
        bool line = code == 0x2028 || code == 0x2029;
        bool direction = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
                         code == 0x200e || code == 0x200f;
        if (code == CM_UTF8_NONE || cm_utf8_is_control(code) || line || direction ||
            (size_t)(at - text) > max) {
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
