// A message as JSON that imports to the same message: fields that are set, in the order of
// scene.proto, numbers in the fewest digits that read back exactly. The members of the scene, of
// its lists and of its materials stand on a line each, all below on one line.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/scene/map_json.h"
#include "shared/base/utf8.h"
#include "shared/scene/scene_json.h"

typedef struct emit {
    char *text;
    size_t size, capacity;
    bool failed;
} emit;

static void put_bytes(emit *e, const char *bytes, size_t size)
{
    if (e->failed) {
        return;
    }
    if (size + 1 > e->capacity - e->size) {
        size_t wanted = (e->size + size + 1) * 2 + 1024;
        char *grown = realloc(e->text, wanted);
        if (grown == NULL) {
            e->failed = true;
            return;
        }
        e->text = grown;
        e->capacity = wanted;
    }
    memcpy(e->text + e->size, bytes, size);
    e->size += size;
    e->text[e->size] = '\0';
}

static void put(emit *e, const char *text)
{
    put_bytes(e, text, strlen(text));
}

uint32_t cm_json_escape(const char **text, char out[CM_JSON_ESCAPE_MAX])
{
    const char *start = *text;
    uint32_t code = cm_utf8_next(text);
    if (code == CM_UTF8_NONE) {
        *text = start + 1;
        code = 0xfffd; // the replacement character
    }
    if (cm_utf8_is_control(code) || code == 0xfffd) {
        return (uint32_t)snprintf(out, CM_JSON_ESCAPE_MAX, "\\u%04x", (unsigned)code);
    }
    uint32_t length = 0;
    if (code == '"' || code == '\\') {
        out[length++] = '\\';
    }
    memcpy(out + length, start, (size_t)(*text - start));
    return length + (uint32_t)(*text - start);
}

size_t cm_json_quote(const char *text, char *out, size_t size)
{
    char one[CM_JSON_ESCAPE_MAX];
    size_t at = 0;
#define PUT(c) ((void)(at + 1 < size ? (out[at] = (char)(c)) : 0), ++at)
    PUT('"');
    while (*text != '\0') {
        uint32_t length = cm_json_escape(&text, one);
        for (uint32_t i = 0; i < length; i++) {
            PUT(one[i]);
        }
    }
    PUT('"');
#undef PUT
    if (size > 0) {
        out[at < size ? at : size - 1] = '\0';
    }
    return at;
}

static void put_string(emit *e, const char *text)
{
    char quoted[6 * CM_NAME_MAX + 3]; // strings of a checked scene are shorter than CM_NAME_MAX
    cm_json_quote(text, quoted, sizeof quoted);
    put(e, quoted);
}

static void put_double(emit *e, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    // "-0" would be read as a whole number, which has no sign at zero.
    put(e, value == 0.0 && signbit(value) ? "-0.0" : text);
}

static void put_message(emit *e, const ProtobufCMessage *message, unsigned depth);

static void put_value(emit *e, const ProtobufCFieldDescriptor *field, const void *value,
                      unsigned depth)
{
    char text[48];
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE:
        put_double(e, *(const double *)value);
        return;
    case PROTOBUF_C_TYPE_UINT32:
        snprintf(text, sizeof text, "%lu", (unsigned long)*(const uint32_t *)value);
        break;
    case PROTOBUF_C_TYPE_INT32:
        snprintf(text, sizeof text, "%ld", (long)*(const int32_t *)value);
        break;
    case PROTOBUF_C_TYPE_UINT64: {
        uint64_t whole = *(const uint64_t *)value;
        const char *quote = whole > 9007199254740992u ? "\"" : "";
        snprintf(text, sizeof text, "%s%llu%s", quote, (unsigned long long)whole, quote);
        break;
    }
    case PROTOBUF_C_TYPE_BOOL:
        put(e, *(const protobuf_c_boolean *)value ? "true" : "false");
        return;
    case PROTOBUF_C_TYPE_ENUM: {
        char name[44];
        const ProtobufCEnumValue *known =
            protobuf_c_enum_descriptor_get_value(field->descriptor, *(const int *)value);
        cm_enum_text(known, name, sizeof name);
        snprintf(text, sizeof text, "\"%s\"", name);
        break;
    }
    case PROTOBUF_C_TYPE_STRING:
        put_string(e, *(const char *const *)value);
        return;
    default:
        put_message(e, *(const ProtobufCMessage *const *)value, depth);
        return;
    }
    put(e, text);
}

static void put_field(emit *e, const ProtobufCMessage *message,
                      const ProtobufCFieldDescriptor *field, unsigned depth)
{
    if (field->label != PROTOBUF_C_LABEL_REPEATED) {
        put_value(e, field, cm_field_at(message, field, 0), depth + 1);
        return;
    }
    bool entries = field->type == PROTOBUF_C_TYPE_MESSAGE && cm_message_is_entry(field->descriptor);
    size_t count = cm_field_count(message, field);
    put(e, entries ? "{" : "[");
    for (size_t i = 0; i < count; i++) {
        const void *value = cm_field_at(message, field, i);
        put(e, i > 0 ? "," : "");
        put(e, depth == 0 ? "\n    " : i > 0 ? " " : "");
        if (entries) {
            put_string(e, (*(const Cm__Scene__Material *const *)value)->name);
            put(e, ": ");
        }
        put_value(e, field, value, depth + 1);
    }
    put(e, entries ? "}" : "]");
}

static void put_message(emit *e, const ProtobufCMessage *message, unsigned depth)
{
    const ProtobufCMessageDescriptor *descriptor = message->descriptor;
    bool array = cm_message_is_array(descriptor), entry = cm_message_is_entry(descriptor);
    bool first = true;
    if (cm_message_is_setting(descriptor)) {
        put_field(e, message, &descriptor->fields[1], depth);
        return;
    }
    put(e, array ? "[" : "{");
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        if (!cm_field_present(message, field) || (entry && strcmp(field->name, "name") == 0)) {
            continue;
        }
        put(e, first ? "" : ",");
        put(e, depth == 0 ? "\n  " : first ? "" : " ");
        first = false;
        if (!array) {
            put(e, "\"");
            put(e, field->name);
            put(e, "\": ");
        }
        put_field(e, message, field, depth);
    }
    put(e, depth == 0 ? "\n" : "");
    put(e, array ? "]" : "}");
}

char *cm_message_to_json(const ProtobufCMessage *message)
{
    emit e = {NULL, 0, 0, false};
    put_message(&e, message, 0);
    put(&e, "\n");
    if (e.failed) {
        free(e.text);
        return NULL;
    }
    return e.text;
}
