// A message as JSON that imports to the same message: fields that are set, in the order of
// scene.proto, numbers in the fewest digits that read back exactly. The members of the scene, of
// its lists and of its materials stand on a line each, all below on one line.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/scene/map_json.h"
#include "shared/base/utf8.h"
#include "shared/scene/scene_json.h"

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

static void put_string(FILE *out, const char *text)
{
    char quoted[6 * CM_NAME_MAX + 3]; // strings of a checked scene are shorter than CM_NAME_MAX
    cm_json_quote(text, quoted, sizeof quoted);
    fputs(quoted, out);
}

static void put_double(FILE *out, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    // "-0" would be read as a whole number, which has no sign at zero.
    fputs(value == 0.0 && signbit(value) ? "-0.0" : text, out);
}

static void put_message(FILE *out, const ProtobufCMessage *message, unsigned depth);

static void put_value(FILE *out, const ProtobufCFieldDescriptor *field, const void *value,
                      unsigned depth)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE:
        put_double(out, *(const double *)value);
        break;
    case PROTOBUF_C_TYPE_UINT32:
        fprintf(out, "%" PRIu32, *(const uint32_t *)value);
        break;
    case PROTOBUF_C_TYPE_INT32:
        fprintf(out, "%" PRId32, *(const int32_t *)value);
        break;
    case PROTOBUF_C_TYPE_UINT64: {
        uint64_t whole = *(const uint64_t *)value;
        const char *quote = whole > 9007199254740992u ? "\"" : "";
        fprintf(out, "%s%" PRIu64 "%s", quote, whole, quote);
        break;
    }
    case PROTOBUF_C_TYPE_BOOL:
        fputs(*(const protobuf_c_boolean *)value ? "true" : "false", out);
        break;
    case PROTOBUF_C_TYPE_ENUM: {
        char name[44];
        const ProtobufCEnumValue *known =
            protobuf_c_enum_descriptor_get_value(field->descriptor, *(const int *)value);
        cm_enum_text(known, name, sizeof name);
        fprintf(out, "\"%s\"", name);
        break;
    }
    case PROTOBUF_C_TYPE_STRING:
        put_string(out, *(const char *const *)value);
        break;
    default:
        put_message(out, *(const ProtobufCMessage *const *)value, depth);
    }
}

static void put_field(FILE *out, const ProtobufCMessage *message,
                      const ProtobufCFieldDescriptor *field, unsigned depth)
{
    if (field->label != PROTOBUF_C_LABEL_REPEATED) {
        put_value(out, field, cm_field_at(message, field, 0), depth + 1);
        return;
    }
    bool entries = field->type == PROTOBUF_C_TYPE_MESSAGE && cm_message_is_entry(field->descriptor);
    size_t count = cm_field_count(message, field);
    fputs(entries ? "{" : "[", out);
    for (size_t i = 0; i < count; i++) {
        const void *value = cm_field_at(message, field, i);
        fputs(i > 0 ? "," : "", out);
        fputs(depth == 0 ? "\n    " : i > 0 ? " " : "", out);
        if (entries) {
            put_string(out, (*(const Cm__Scene__Material *const *)value)->name);
            fputs(": ", out);
        }
        put_value(out, field, value, depth + 1);
    }
    fputs(entries ? "}" : "]", out);
}

static void put_message(FILE *out, const ProtobufCMessage *message, unsigned depth)
{
    const ProtobufCMessageDescriptor *descriptor = message->descriptor;
    bool array = cm_message_is_array(descriptor), entry = cm_message_is_entry(descriptor);
    bool first = true;
    if (cm_message_is_setting(descriptor)) {
        put_field(out, message, &descriptor->fields[1], depth);
        return;
    }
    fputs(array ? "[" : "{", out);
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        if (!cm_field_present(message, field) || (entry && strcmp(field->name, "name") == 0)) {
            continue;
        }
        fputs(first ? "" : ",", out);
        fputs(depth == 0 ? "\n  " : first ? "" : " ", out);
        first = false;
        if (!array) {
            fprintf(out, "\"%s\": ", field->name);
        }
        put_field(out, message, field, depth);
    }
    fputs(depth == 0 ? "\n" : "", out);
    fputs(array ? "]" : "}", out);
}

char *cm_message_to_json(const ProtobufCMessage *message)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return NULL;
    }
    put_message(out, message, 0);
    fputs("\n", out);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}
