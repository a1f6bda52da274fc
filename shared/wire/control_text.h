// Checks of untrusted strings, and of the form of a control message before protobuf reads it. Both
// look at bytes only and allocate nothing.
#ifndef CM_WIRE_CONTROL_TEXT_H
#define CM_WIRE_CONTROL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Valid UTF-8 of at most `max` bytes without control characters or marks that turn the direction of
// a log line.
bool cm_text_is_printable(const char *text, size_t max);

// The number of the one member that a Control sets (1 to 15), or 0: not a well-formed message, or
// not exactly one member, or one set twice. Unknown fields above 15 are passed over.
uint32_t cm_control_member(const uint8_t *bytes, size_t size);

#endif
