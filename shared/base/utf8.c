// One code point at a time, read inside the text only: a final NUL ends a sequence too early.
#include "shared/base/utf8.h"

#include <string.h>

uint32_t cm_utf8_next(const char **text)
{
    static const uint32_t LEAST[4] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *t = (const unsigned char *)*text;
    uint32_t first = t[0];
    if (first < 0x80) {
        *text += 1;
        return first;
    }
    uint32_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc2 || first > 0xf4) {
        return CM_UTF8_NONE;
    }
    uint32_t code = first & (0x3fu >> more);
    for (uint32_t i = 1; i <= more; i++) {
        if ((t[i] & 0xc0u) != 0x80) {
            return CM_UTF8_NONE;
        }
        code = code << 6 | (t[i] & 0x3fu);
    }
    if (code < LEAST[more] || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) {
        return CM_UTF8_NONE;
    }
    *text += more + 1;
    return code;
}

void cm_utf8_printable(const char *text, char *out, size_t size)
{
    static const char HEX[] = "0123456789abcdef";
    size_t at = 0;
    while (*text != '\0') {
        const char *start = text;
        uint32_t code = cm_utf8_next(&text);
        bool shown = code != CM_UTF8_NONE && !cm_utf8_is_control(code);
        text += code == CM_UTF8_NONE;
        size_t bytes = (size_t)(text - start), need = shown ? bytes : 4 * bytes;
        if (at + need >= size) {
            break;
        }
        for (size_t i = 0; i < bytes && !shown; i++, at += 4) {
            unsigned char byte = (unsigned char)start[i];
            memcpy(out + at, (const char[4]){'\\', 'x', HEX[byte >> 4], HEX[byte & 15]}, 4);
        }
        if (shown) {
            memcpy(out + at, start, bytes);
            at += bytes;
        }
    }
    out[at] = '\0';
}

bool cm_utf8_is_name(const char *text, size_t max)
{
    const char *at = text;
    while (*at != '\0') {
        uint32_t code = cm_utf8_next(&at);
        if (code == CM_UTF8_NONE || cm_utf8_is_control(code) || (size_t)(at - text) > max) {
            return false;
        }
    }
    return true;
}
