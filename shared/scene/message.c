// Generic access to messages over the protobuf-c descriptors: the rules by which JSON and message
// correspond stand here once, for import, export and checks.
#include "shared/scene/message.h"

#include <stdio.h>
#include <string.h>

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool cm_message_is_array(const ProtobufCMessageDescriptor *descriptor)
{
    static const char *const names[] = {"Vec3", "Quat", "Range", "Bounds", "Count", "Triangle"};
    return is_one_of(descriptor->short_name, names, sizeof names / sizeof names[0]);
}

bool cm_message_is_entry(const ProtobufCMessageDescriptor *descriptor)
{
    return strcmp(descriptor->short_name, "Material") == 0 || cm_message_is_setting(descriptor);
}

bool cm_message_is_setting(const ProtobufCMessageDescriptor *descriptor)
{
    return strcmp(descriptor->short_name, "Setting") == 0;
}

void cm_enum_text(const ProtobufCEnumValue *value, char *text, size_t size)
{
    snprintf(text, size, "%s", value->name[0] == '_' ? value->name + 1 : value->name);
    for (char *c = text; *c != '\0'; c++) {
        if (*c >= 'A' && *c <= 'Z') {
            *c = (char)(*c - 'A' + 'a');
        }
    }
}

size_t cm_field_size(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE:
        return sizeof(double);
    case PROTOBUF_C_TYPE_UINT64:
        return sizeof(uint64_t);
    case PROTOBUF_C_TYPE_STRING:
        return sizeof(char *);
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(ProtobufCMessage *);
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    default:
        return sizeof(uint32_t);
    }
}

bool cm_field_present(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    const char *base = (const char *)message;
    if (field->label == PROTOBUF_C_LABEL_REQUIRED) {
        return true;
    }
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        return cm_field_count(message, field) > 0;
    }
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        return *(const uint32_t *)(base + field->quantifier_offset) == field->id;
    }
    if (field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_MESSAGE) {
        return *(void *const *)(base + field->offset) != NULL;
    }
    return *(const protobuf_c_boolean *)(base + field->quantifier_offset) != 0;
}

size_t cm_field_count(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    if (field->label != PROTOBUF_C_LABEL_REPEATED) {
        return cm_field_present(message, field) ? 1 : 0;
    }
    return *(const size_t *)((const char *)message + field->quantifier_offset);
}

const void *cm_field_at(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                        size_t index)
{
    const char *value = (const char *)message + field->offset;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        return *(const char *const *)value + index * cm_field_size(field);
    }
    return value;
}
