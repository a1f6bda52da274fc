// Reads UTF-8 that has not been validated yet.
#ifndef CM_BASE_UTF8_H
#define CM_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_UTF8_NONE UINT32_MAX

// The code point at `*text` (NUL-terminated), which moves on behind it; or CM_UTF8_NONE, without
// moving, where the bytes are not UTF-8: overlong forms, surrogates and what lies above U+10FFFF
// are not.
uint32_t cm_utf8_next(const char **text);

// Control characters of both blocks, C0 with DEL and C1: a terminal obeys them.
static inline bool cm_utf8_is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

// A copy for a terminal or a line of text: control characters and bytes that are not UTF-8 stand
// as \xNN. Cut at a whole character where `size` (1 or more) is too small.
void cm_utf8_printable(const char *text, char *out, size_t size);

// UTF-8 of at most `max` bytes without control characters.
bool cm_utf8_is_name(const char *text, size_t max);

#endif
