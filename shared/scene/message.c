// Generic access to messages over the protobuf-c descriptors: the rules by which JSON and message
// correspond stand here once, for import, export and checks.
#include "shared/scene/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/vec.h"

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

carom_vec3 cm_scene_vec(const Cm__Scene__Vec3 *v, carom_vec3 absent)
{
    return v == NULL ? absent : cm_vec((float)v->x, (float)v->y, (float)v->z);
}

carom_quat cm_scene_quat(const Cm__Scene__Quat *q)
{
    if (q == NULL) {
        return cm_quat_identity();
    }
    carom_quat rounded = {(float)q->x, (float)q->y, (float)q->z, (float)q->w};
    return cm_quat_normalize(rounded);
}

uint32_t cm_message_material(const Cm__Scene__Scene *scene, const char *name)
{
    for (size_t i = 0; i < scene->n_materials; i++) {
        if (strcmp(scene->materials[i]->name, name) == 0) {
            return (uint32_t)i + 1;
        }
    }
    return 0;
}

typedef struct names {
    const char *first;
    size_t stride;
} names;

static const char *name_at(const names *of, uint32_t i)
{
    return *(const char *const *)(of->first + i * of->stride);
}

static bool is_before(const names *of, uint32_t i, uint32_t j)
{
    int order = strcmp(name_at(of, i), name_at(of, j));
    return order != 0 ? order < 0 : i < j;
}

// Lets the entry sink in a heap whose last name in order is at its top.
static void sink(const names *of, uint32_t *order, uint32_t count, uint32_t at)
{
    uint32_t entry = order[at], child;
    while ((child = 2 * at + 1) < count) {
        child += child + 1 < count && is_before(of, order[child], order[child + 1]);
        if (!is_before(of, entry, order[child])) {
            break;
        }
        order[at] = order[child];
        at = child;
    }
    order[at] = entry;
}

uint32_t cm_names_sort(const char *const *first, size_t stride, uint32_t count, uint32_t *order)
{
    names of = {(const char *)first, stride};
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    // By a heap: qsort takes no names along, and qsort_r is not everywhere.
    for (uint32_t i = count / 2; i-- > 0;) {
        sink(&of, order, count, i);
    }
    for (uint32_t end = count; end-- > 1;) {
        uint32_t last = order[0];
        order[0] = order[end];
        order[end] = last;
        sink(&of, order, end, 0);
    }
    for (uint32_t i = 1; i < count; i++) {
        if (strcmp(name_at(&of, order[i - 1]), name_at(&of, order[i])) == 0) {
            return i;
        }
    }
    return 0;
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
