// See json_reader.h.
#include "server/config/json_reader.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/config/options.h"
#include "shared/scene/spelling.h"

#define KEYS_MAX   32u
#define KEYS_BYTES 256u // of all of an object's keys

const cm_json_value *cm_json_open(cm_json_reader *reader, const char *text, size_t size,
                                  size_t size_max, cm_scene_error *error)
{
    cm_check check;
    json_error_t wrong;
    memset(error, 0, sizeof *error);
    *reader = (cm_json_reader){.text = {text, size, 1}, .error = error};
    cm_check_init(&check, error, 1);
    if (size > size_max) {
        snprintf(error->message, sizeof error->message, "%zu bytes, expected at most %zu", size,
                 size_max);
        reader->failed = true;
        return NULL;
    }
    reader->failed = !cm_json_check_size(&reader->text, &check);
    if (reader->failed) {
        return NULL;
    }
    reader->root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &wrong);
    if (reader->root == NULL) {
        error->line = wrong.line > 0 ? (uint32_t)wrong.line : 1;
        snprintf(error->message, sizeof error->message, "%s, expected JSON", wrong.text);
    } else if (!json_is_object(reader->root)) {
        error->line = 1;
        strcpy(error->message, "expected one object");
    }
    if (error->message[0] != '\0') {
        reader->failed = true;
        return NULL;
    }
    return reader->root;
}

void cm_json_close(cm_json_reader *reader)
{
    json_decref(reader->root);
    reader->root = NULL;
}

bool cm_json_failed(const cm_json_reader *reader)
{
    return reader->failed;
}

static void push(cm_json_reader *reader, const char *key, uint32_t index)
{
    if (reader->path.depth < CM_PATH_MAX) {
        reader->path.steps[reader->path.depth] = (cm_path_step){key, index};
    }
    reader->path.depth++;
}

void cm_json_leave(cm_json_reader *reader)
{
    reader->path.depth--;
}

uint32_t cm_json_line(cm_json_reader *reader, const char *key)
{
    push(reader, key, 0);
    uint32_t line = cm_json_find_line(&reader->text, &reader->path);
    cm_json_leave(reader);
    return line;
}

void cm_json_fail(cm_json_reader *reader, const char *key, const char *format, ...)
{
    if (reader->failed) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->error->message, sizeof reader->error->message, format, arguments);
    va_end(arguments);
    if (key != NULL) {
        push(reader, key, 0);
    }
    cm_path_text(&reader->path, reader->error->path, sizeof reader->error->path);
    reader->error->line = cm_json_find_line(&reader->text, &reader->path);
    if (key != NULL) {
        cm_json_leave(reader);
    }
    reader->failed = true;
}

bool cm_json_has(const cm_json_value *object, const char *key)
{
    return json_object_get(object, key) != NULL;
}

const cm_json_value *cm_json_member(const cm_json_value *object, const char *key)
{
    return json_object_get(object, key);
}

const cm_json_value *cm_json_at(const cm_json_value *array, uint32_t index)
{
    return json_array_get(array, index);
}

const cm_json_value *cm_json_each(const cm_json_value *object, void **next, const char **key)
{
    json_t *walked = (json_t *)object; // the library's walk takes no const
    *next = *next == NULL ? json_object_iter(walked) : json_object_iter_next(walked, *next);
    *key = *next != NULL ? json_object_iter_key(*next) : NULL;
    return *next != NULL ? json_object_iter_value(*next) : NULL;
}

uint32_t cm_json_count(const cm_json_value *array)
{
    return (uint32_t)json_array_size(array);
}

bool cm_json_is_object(const cm_json_value *value)
{
    return json_is_object(value);
}

bool cm_json_is_array(const cm_json_value *value)
{
    return json_is_array(value);
}

bool cm_json_is_number(const cm_json_value *value)
{
    return json_is_number(value);
}

bool cm_json_is_null(const cm_json_value *value)
{
    return json_is_null(value);
}

const char *cm_json_text_of(const cm_json_value *value)
{
    return json_string_value(value);
}

bool cm_json_bool_of(const cm_json_value *value, bool *out)
{
    *out = json_is_true(value);
    return json_is_boolean(value);
}

bool cm_json_integer_of(const cm_json_value *value, int64_t *out)
{
    *out = json_integer_value(value);
    return json_is_integer(value);
}

static const cm_json_value *enter(cm_json_reader *reader, const cm_json_value *object,
                                  const char *key, bool array)
{
    const cm_json_value *value = json_object_get(object, key);
    if (object != NULL && value == NULL) {
        cm_json_fail(reader, NULL, "'%s' is missing, expected an %s", key,
                     array ? "array" : "object");
    }
    push(reader, key, 0);
    if (value != NULL && (array ? !json_is_array(value) : !json_is_object(value))) {
        cm_json_fail(reader, NULL, "expected an %s", array ? "array" : "object");
    }
    return reader->failed ? NULL : value;
}

const cm_json_value *cm_json_enter_object(cm_json_reader *reader, const cm_json_value *object,
                                          const char *key)
{
    return enter(reader, object, key, false);
}

const cm_json_value *cm_json_enter_array(cm_json_reader *reader, const cm_json_value *object,
                                         const char *key, uint32_t *count)
{
    const cm_json_value *array = enter(reader, object, key, true);
    *count = (uint32_t)json_array_size(array);
    return array;
}

const cm_json_value *cm_json_enter_item(cm_json_reader *reader, const cm_json_value *array,
                                        uint32_t index)
{
    push(reader, NULL, index);
    const cm_json_value *value = json_array_get(array, index);
    if (array != NULL && value == NULL) {
        cm_json_fail(reader, NULL, "missing");
    } else if (value != NULL && !json_is_object(value) && !json_is_array(value)) {
        cm_json_fail(reader, NULL, "expected an object or an array");
    }
    return reader->failed ? NULL : value;
}

// NaN for what is no finite number.
static double number_of(const cm_json_value *value)
{
    double number = json_is_number(value) ? json_number_value(value) : NAN;
    return isfinite(number) ? number : NAN;
}

double cm_json_item(cm_json_reader *reader, const cm_json_value *array, uint32_t index)
{
    if (reader->failed || array == NULL) {
        return 0.0;
    }
    double number = number_of(json_array_get(array, index));
    if (isnan(number)) {
        push(reader, NULL, index);
        cm_json_fail(reader, NULL, "expected a finite number");
        cm_json_leave(reader);
        return 0.0;
    }
    return number;
}

double cm_json_number(cm_json_reader *reader, const cm_json_value *object, const char *key,
                      double low, double high, const double *fallback)
{
    const cm_json_value *value = json_object_get(object, key);
    if (reader->failed || object == NULL) {
        return 0.0;
    }
    if (value == NULL && fallback != NULL) {
        return *fallback;
    }
    if (value == NULL) {
        cm_json_fail(reader, NULL, "'%s' is missing, expected a number", key);
        return 0.0;
    }
    double number = number_of(value);
    if (isnan(number)) {
        cm_json_fail(reader, key, "expected a finite number");
        return 0.0;
    }
    if (number < low || number > high) {
        cm_json_fail(reader, key, "%.9g is out of range, expected %.9g to %.9g", number, low, high);
        return 0.0;
    }
    return number;
}

bool cm_json_bool(cm_json_reader *reader, const cm_json_value *object, const char *key,
                  bool fallback)
{
    const cm_json_value *value = json_object_get(object, key);
    if (value == NULL) {
        return fallback;
    }
    if (!json_is_boolean(value)) {
        cm_json_fail(reader, key, "expected true or false");
    }
    return json_is_true(value);
}

uint32_t cm_json_choice(cm_json_reader *reader, const cm_json_value *object, const char *key,
                        const char *choices)
{
    const cm_json_value *value = json_object_get(object, key);
    if (value == NULL) {
        return 0;
    }
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    int index = cm_choice_find(choices, text);
    if (index < 0) {
        cm_json_fail(reader, key, "expected one of %s", choices);
    }
    return index < 0 ? 0 : (uint32_t)index;
}

uint32_t cm_json_numbers(cm_json_reader *reader, const cm_json_value *object, const char *key,
                         uint32_t least, uint32_t most, bool optional, double *values)
{
    const cm_json_value *array = json_object_get(object, key);
    memset(values, 0, most * sizeof *values);
    if (reader->failed || object == NULL || (array == NULL && optional)) {
        return 0;
    }
    if (array == NULL) {
        cm_json_fail(reader, NULL, "'%s' is missing, expected an array of numbers", key);
        return 0;
    }
    size_t count = json_array_size(array);
    if (!json_is_array(array) || count < least || count > most) {
        cm_json_fail(reader, key, "expected an array of %u to %u numbers", least, most);
        return 0;
    }
    push(reader, key, 0);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = cm_json_item(reader, array, i);
    }
    cm_json_leave(reader);
    return (uint32_t)count;
}

void cm_json_vector(cm_json_reader *reader, const cm_json_value *object, const char *key,
                    bool optional, double v[3])
{
    cm_json_numbers(reader, object, key, 2, 3, optional, v);
}

const char *cm_json_name(cm_json_reader *reader, const cm_json_value *object, const char *name,
                         const char *other)
{
    if (!cm_json_has(object, other)) {
        return name;
    }
    if (cm_json_has(object, name)) {
        cm_json_fail(reader, other, "the same as '%s', expected one of them", name);
    }
    return other;
}

void cm_json_end_keys(cm_json_reader *reader, const cm_json_value *object, const char *choices,
                      const char *help)
{
    void *next = NULL;
    const char *key, *keys[KEYS_MAX];
    char names[KEYS_BYTES], *rest = names;
    uint32_t count = 0;
    snprintf(names, sizeof names, "%s", choices);
    while (count < KEYS_MAX && rest != NULL) {
        keys[count++] = strsep(&rest, "|");
    }
    while (cm_json_each(object, &next, &key) != NULL) {
        const char *nearest = cm_spelling_nearest(key, keys, count, sizeof *keys);
        if (nearest != NULL && cm_spelling_distance(key, nearest) == 0) {
            continue;
        }
        if (nearest != NULL) {
            cm_json_fail(reader, key, "unknown key, did you mean '%s'? (%s)", nearest, help);
        } else {
            cm_json_fail(reader, key, "unknown key, %s", help);
        }
        return;
    }
}

char *cm_json_print_without(const cm_json_value *object, const char *const *keys, size_t count)
{
    json_t *copy = json_copy((json_t *)object);
    for (size_t i = 0; i < count; i++) {
        (void)json_object_del(copy, keys[i]);
    }
    char *text = json_dumps(copy, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(copy);
    return text;
}
