// JSON to a message, driven by the message's descriptor: a key is a field's name, so names stand in
// scene.proto and nowhere else. The one user of the JSON library in shared/scene.
//
// Strict: unknown keys, null, wrong types, numbers with a point where a whole one is meant,
// duplicate keys are refused. Ranges are checked later, on the message (ranges.c), for both forms.
#include "shared/scene/map_json.h"
#include "shared/scene/ranges.h"
#include "shared/scene/spelling.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define EXACT_MAX 9007199254740992LL // 2^53: above, JSON readers differ; decimal strings are meant

typedef struct map {
    cm_pool *pool;
    cm_check *check;
    const cm_range *range; // of the field that is read; NULL: none is known
} map;

static const char *type_text(const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "a whole number";
    case JSON_REAL:
        return "a number with a point or exponent";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a truth value";
    default:
        return "null";
    }
}

static bool wrong_type(map *m, const json_t *json, const char *expected)
{
    return cm_check_fail(m->check, CAROM_ERROR_ARGUMENT, "%s, expected %s", type_text(json),
                         expected);
}

static bool no_memory(map *m)
{
    return cm_check_fail(m->check, CAROM_ERROR_MEMORY, "a scene of more than %zu bytes in memory",
                         CM_POOL_LIMIT);
}

static bool map_whole(map *m, const json_t *json, long long low, long long high, long long *value)
{
    if (!json_is_integer(json)) {
        return wrong_type(m, json, "a whole number");
    }
    *value = json_integer_value(json);
    if (*value < low || *value > high) {
        bool known = m->range != NULL;
        return cm_check_fail(m->check, CAROM_ERROR_ARGUMENT, "%lld, expected %.0f to %.0f", *value,
                             known ? m->range->low : (double)low,
                             known ? m->range->high : (double)high);
    }
    return true;
}

// A whole number up to 2^53, or its decimal digits as a string.
static bool map_uint64(map *m, const json_t *json, uint64_t *value)
{
    long long whole = 0;
    if (json_is_integer(json)) {
        if (json_integer_value(json) > EXACT_MAX) {
            return cm_check_fail(m->check, CAROM_ERROR_ARGUMENT,
                                 "a number above 2^53, expected it as a string of decimal digits");
        }
        bool ok = map_whole(m, json, 0, EXACT_MAX, &whole);
        *value = ok ? (uint64_t)whole : 0;
        return ok;
    }
    if (!json_is_string(json)) {
        return wrong_type(m, json, "a whole number or a string of decimal digits");
    }
    const char *digits = json_string_value(json);
    uint64_t sum = 0;
    bool ok = digits[0] != '\0';
    for (const char *c = digits; *c != '\0' && ok; c++) {
        uint64_t digit = (uint64_t)(*c - '0');
        ok = *c >= '0' && *c <= '9' && sum <= (UINT64_MAX - digit) / 10;
        sum = ok ? sum * 10 + digit : 0;
    }
    *value = sum;
    return ok || cm_check_fail(m->check, CAROM_ERROR_ARGUMENT,
                               "'%.40s', expected decimal digits of a number below 2^64", digits);
}

static bool map_enum(map *m, const json_t *json, const ProtobufCEnumDescriptor *descriptor,
                     int *value)
{
    if (!json_is_string(json)) {
        return wrong_type(m, json, "a string");
    }
    char expected[160] = "";
    size_t at = 0;
    for (unsigned i = 0; i < descriptor->n_values; i++) {
        char text[48];
        cm_enum_text(&descriptor->values[i], text, sizeof text);
        if (strcmp(text, json_string_value(json)) == 0) {
            *value = descriptor->values[i].value;
            return true;
        }
        at +=
            (size_t)snprintf(expected + at, sizeof expected - at, "%s%s", i > 0 ? ", " : "", text);
        at = at < sizeof expected ? at : sizeof expected - 1;
    }
    return cm_check_fail(m->check, CAROM_ERROR_ARGUMENT, "'%.40s', expected one of %s",
                         json_string_value(json), expected);
}

static bool map_string(map *m, const json_t *json, char **value)
{
    if (!json_is_string(json)) {
        return wrong_type(m, json, "a string");
    }
    *value = cm_pool_string(m->pool, json_string_value(json));
    return *value != NULL || no_memory(m);
}

static ProtobufCMessage *map_message(map *m, json_t *json,
                                     const ProtobufCMessageDescriptor *descriptor,
                                     const char *entry_name, bool *ok);

// One value into `slot`, which has the size of the field's type.
static bool map_value(map *m, json_t *json, const ProtobufCFieldDescriptor *field, void *slot,
                      const char *entry_name)
{
    long long whole = 0;
    bool ok = true;
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE:
        if (!json_is_number(json)) {
            return wrong_type(m, json, "a number");
        }
        *(double *)slot = json_number_value(json);
        return true;
    case PROTOBUF_C_TYPE_UINT32:
        ok = map_whole(m, json, 0, UINT32_MAX, &whole);
        *(uint32_t *)slot = (uint32_t)whole;
        return ok;
    case PROTOBUF_C_TYPE_INT32:
        ok = map_whole(m, json, INT32_MIN, INT32_MAX, &whole);
        *(int32_t *)slot = (int32_t)whole;
        return ok;
    case PROTOBUF_C_TYPE_UINT64:
        return map_uint64(m, json, slot);
    case PROTOBUF_C_TYPE_BOOL:
        if (!json_is_boolean(json)) {
            return wrong_type(m, json, "true or false");
        }
        *(protobuf_c_boolean *)slot = json_is_true(json);
        return true;
    case PROTOBUF_C_TYPE_ENUM:
        return map_enum(m, json, field->descriptor, slot);
    case PROTOBUF_C_TYPE_STRING:
        return map_string(m, json, slot);
    default: {
        *(ProtobufCMessage **)slot = map_message(m, json, field->descriptor, entry_name, &ok);
        return ok;
    }
    }
}

// An object whose keys are names, each value a message that has the key as its name.
static bool map_entries(map *m, json_t *json, const ProtobufCFieldDescriptor *field, char *items)
{
    if (!json_is_object(json)) {
        return wrong_type(m, json, "an object of names");
    }
    const char *key;
    json_t *value;
    char *item = items;
    uint32_t depth = m->check->path.depth;
    bool all = true;
    json_object_foreach(json, key, value)
    {
        cm_check_key(m->check, key);
        if (!cm_check_leave(m->check, depth, map_value(m, value, field, item, key), &all)) {
            return false;
        }
        item += cm_field_size(field);
    }
    return all;
}

static bool map_repeated(map *m, json_t *json, const ProtobufCFieldDescriptor *field,
                         ProtobufCMessage *message)
{
    bool entries = field->type == PROTOBUF_C_TYPE_MESSAGE && cm_message_is_entry(field->descriptor);
    if (!entries && !json_is_array(json)) {
        return wrong_type(m, json, "an array");
    }
    size_t count = entries ? json_object_size(json) : json_array_size(json);
    char *items = cm_pool_take(m->pool, count * cm_field_size(field));
    if (items == NULL) {
        return no_memory(m);
    }
    char *base = (char *)message;
    *(size_t *)(base + field->quantifier_offset) = count;
    *(char **)(base + field->offset) = items;
    if (entries) {
        return map_entries(m, json, field, items);
    }
    uint32_t depth = m->check->path.depth;
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        char *item = items + i * cm_field_size(field);
        cm_check_index(m->check, (uint32_t)i);
        bool ok = map_value(m, json_array_get(json, i), field, item, NULL);
        if (!cm_check_leave(m->check, depth, ok, &all)) {
            return false;
        }
    }
    return all;
}

static bool map_field(map *m, json_t *json, const ProtobufCFieldDescriptor *field,
                      ProtobufCMessage *message)
{
    char *base = (char *)message;
    const cm_range *range = cm_range_find(message->descriptor->short_name, field->name);
    if (range != NULL || !cm_message_is_array(message->descriptor)) {
        m->range = range; // else it is that of the field which the array is
    }
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        return map_repeated(m, json, field, message);
    }
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        uint32_t *chosen = (uint32_t *)(base + field->quantifier_offset);
        if (*chosen != 0) {
            return cm_check_fail(
                m->check, CAROM_ERROR_ARGUMENT, "a second geometry beside '%s', expected one",
                protobuf_c_message_descriptor_get_field(message->descriptor, *chosen)->name);
        }
        *chosen = field->id;
    } else if (field->label == PROTOBUF_C_LABEL_OPTIONAL && field->type != PROTOBUF_C_TYPE_STRING &&
               field->type != PROTOBUF_C_TYPE_MESSAGE) {
        *(protobuf_c_boolean *)(base + field->quantifier_offset) = 1;
    }
    return map_value(m, json, field, base + field->offset, NULL);
}

static bool map_array_form(map *m, json_t *json, ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *descriptor = message->descriptor;
    if (!json_is_array(json) || json_array_size(json) != descriptor->n_fields) {
        return cm_check_fail(m->check, CAROM_ERROR_ARGUMENT, "%s%s, expected an array of %u",
                             type_text(json), json_is_array(json) ? " of another length" : "",
                             descriptor->n_fields);
    }
    uint32_t depth = m->check->path.depth;
    bool all = true;
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        cm_check_index(m->check, i);
        bool ok = map_field(m, json_array_get(json, i), &descriptor->fields[i], message);
        if (!cm_check_leave(m->check, depth, ok, &all)) {
            return false;
        }
    }
    return all;
}

static bool unknown_key(map *m, const ProtobufCMessageDescriptor *descriptor, bool entry)
{
    char expected[300] = "";
    size_t at = 0, first = entry ? 1 : 0;
    const cm_check_path *path = &m->check->path;
    const char *key = path->depth <= CM_PATH_MAX ? path->steps[path->depth - 1].key : "";
    for (size_t i = first; i < descriptor->n_fields && at < sizeof expected; i++) {
        at += (size_t)snprintf(expected + at, sizeof expected - at, "%s%s", at > 0 ? ", " : "",
                               descriptor->fields[i].name);
    }
    const char *nearest =
        cm_spelling_nearest(key, &descriptor->fields[first].name, descriptor->n_fields - first,
                            sizeof *descriptor->fields);
    return cm_check_fail(m->check, CAROM_ERROR_ARGUMENT,
                         "column %u: unknown key '%.64s', %s%s%sexpected one of %s",
                         (unsigned)cm_json_find_column(m->check->context, path), key,
                         nearest != NULL ? "did you mean '" : "", nearest != NULL ? nearest : "",
                         nearest != NULL ? "'? " : "", expected);
}

static bool map_object_form(map *m, json_t *json, ProtobufCMessage *message, bool entry)
{
    const ProtobufCMessageDescriptor *descriptor = message->descriptor;
    if (!json_is_object(json)) {
        return wrong_type(m, json, "an object");
    }
    const char *key;
    json_t *value;
    uint32_t depth = m->check->path.depth;
    bool all = true;
    json_object_foreach(json, key, value)
    {
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(descriptor, key);
        bool unknown = field == NULL || (entry && strcmp(key, "name") == 0);
        cm_check_key(m->check, key);
        bool ok = unknown ? unknown_key(m, descriptor, entry) : map_field(m, value, field, message);
        if (!cm_check_leave(m->check, depth, ok, &all)) {
            return false;
        }
    }
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        bool named_by_key = entry && strcmp(field->name, "name") == 0;
        if (field->label == PROTOBUF_C_LABEL_REQUIRED && !named_by_key &&
            json_object_get(json, field->name) == NULL) {
            all = cm_check_fail_at(m->check, field->name, CAROM_ERROR_ARGUMENT,
                                   "missing, expected a value: it has no default");
        }
    }
    return all;
}

// NULL without memory; else a message, which holds what could be read where `ok` is false.
static ProtobufCMessage *map_message(map *m, json_t *json,
                                     const ProtobufCMessageDescriptor *descriptor,
                                     const char *entry_name, bool *ok)
{
    *ok = false;
    ProtobufCMessage *message = cm_pool_take(m->pool, descriptor->sizeof_message);
    if (message == NULL) {
        no_memory(m);
        return NULL;
    }
    descriptor->message_init(message);
    if (entry_name != NULL) {
        const ProtobufCFieldDescriptor *name =
            protobuf_c_message_descriptor_get_field_by_name(descriptor, "name");
        char *copy = cm_pool_string(m->pool, entry_name);
        if (copy == NULL) {
            no_memory(m);
            return NULL;
        }
        *(char **)((char *)message + name->offset) = copy;
    }
    if (cm_message_is_setting(descriptor)) {
        *ok = map_field(m, json, &descriptor->fields[1], message);
        return message;
    }
    *ok = cm_message_is_array(descriptor) ? map_array_form(m, json, message)
                                          : map_object_form(m, json, message, entry_name != NULL);
    return message;
}

static void fail_text(const cm_json_text *text, const json_error_t *error, cm_check *check)
{
    cm_json_place place;
    cm_json_place_path(text, (size_t)error->position, &place);
    check->path = place.path;
    enum json_error_code code = json_error_code(error);
    if (code == json_error_duplicate_key) {
        cm_check_fail(check, CAROM_ERROR_ARGUMENT, "duplicate key, expected each key once");
    } else if (code == json_error_numeric_overflow) {
        cm_check_fail(check, CAROM_ERROR_ARGUMENT,
                      "%s, expected a number that binary64 holds, or, where 64 bits are meant, a "
                      "string of decimal digits",
                      error->text);
    } else {
        cm_check_fail(check, CAROM_ERROR_ARGUMENT, "not JSON: %s, expected %s", error->text,
                      place.path.depth > 0 ? "JSON" : "one JSON object");
    }
    check->path.depth = 0;
    check->error->line = text->first_line + (error->line > 0 ? (uint32_t)error->line - 1 : 0);
}

ProtobufCMessage *cm_json_to_message(const cm_json_text *text,
                                     const ProtobufCMessageDescriptor *descriptor, cm_pool *pool,
                                     cm_check *check)
{
    if (!cm_json_check_size(text, check)) {
        return NULL;
    }
    json_error_t error;
    json_t *json = json_loadb(text->text, text->size, JSON_REJECT_DUPLICATES, &error);
    if (json == NULL) {
        fail_text(text, &error, check);
        return NULL;
    }
    map m = {pool, check, NULL};
    bool ok;
    ProtobufCMessage *message = map_message(&m, json, descriptor, NULL, &ok);
    json_decref(json);
    return message;
}
