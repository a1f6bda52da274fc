// Text of the recorded vectors: a growing string, and packets' fields as JSON.
#ifndef CM_TESTS_WIRE_VECTOR_TEXT_H
#define CM_TESTS_WIRE_VECTOR_TEXT_H

#include "shared/wire/control.h"
#include "shared/wire/packet.h"

typedef struct vector_text {
    char *text;
    size_t size, capacity;
    bool first; // in the list being written
} vector_text;

__attribute__((format(printf, 2, 3))) void vector_put(vector_text *out, const char *format, ...);
// Begins an element of a list: a comma where it is not the first.
void vector_next(vector_text *out);
void vector_hex(vector_text *out, const void *bytes, size_t size);
void vector_body(vector_text *out, const cm_view_body *body);
void vector_pose(vector_text *out, const cm_view_pose *pose);
void vector_input(vector_text *out, const cm_input_packet *packet, uint32_t input_size);
void vector_header(vector_text *out, const cm_view_header *header);
void vector_entry(vector_text *out, const cm_view_entry *entry);
void vector_control(vector_text *out, const cm_control *control);
const char *vector_reason(cm_packet_reason reason);

// Compares with the recorded file, or records it where CAROM_RECORD_VECTORS is set; frees the text.
void vector_finish(vector_text *out, const char *name);

#endif
