// What all cases share: reading with paths and lines, writing with 17 digits. The largest case is a
// few kB; the cap is the scene's.
#include "server/tools/eval/eval.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/scene/map_json.h"

#define DEPTH_MAX 16u

const cm_eval_case *const cm_eval_cases[] = {&cm_eval_impact_case, &cm_eval_circle_case,
                                             &cm_eval_lcp_case, &cm_eval_volume_case, NULL};

struct cm_eval {
    cm_json_text text;
    cm_path path;
    bool failed;
    cm_scene_error *error;
    FILE *out; // to memory
    uint32_t depth;
    bool started[DEPTH_MAX + 1], closes_array[DEPTH_MAX + 1];
};

// In ---------------------------------------------------------------------------------------------

bool cm_eval_failed(const cm_eval *eval)
{
    return eval->failed;
}

static void push(cm_eval *eval, const char *key, uint32_t index)
{
    if (eval->path.depth < CM_PATH_MAX) {
        eval->path.steps[eval->path.depth] = (cm_path_step){key, index};
    }
    eval->path.depth++;
}

void cm_eval_leave(cm_eval *eval)
{
    eval->path.depth--;
}

void cm_eval_fail(cm_eval *eval, const char *key, const char *format, ...)
{
    if (eval->failed) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(eval->error->message, sizeof eval->error->message, format, arguments);
    va_end(arguments);
    if (key != NULL) {
        push(eval, key, 0);
    }
    cm_path_text(&eval->path, eval->error->path, sizeof eval->error->path);
    eval->error->line = cm_json_find_line(&eval->text, &eval->path);
    if (key != NULL) {
        cm_eval_leave(eval);
    }
    eval->failed = true;
}

bool cm_eval_has(const json_t *object, const char *key)
{
    return json_object_get(object, key) != NULL;
}

static const json_t *enter(cm_eval *eval, const json_t *object, const char *key, bool array)
{
    const json_t *value = json_object_get(object, key);
    if (object != NULL && value == NULL) {
        cm_eval_fail(eval, NULL, "'%s' is missing, expected an %s", key,
                     array ? "array" : "object");
    }
    push(eval, key, 0);
    if (value != NULL && (array ? !json_is_array(value) : !json_is_object(value))) {
        cm_eval_fail(eval, NULL, "expected an %s", array ? "array" : "object");
    }
    return eval->failed ? NULL : value;
}

const json_t *cm_eval_enter_object(cm_eval *eval, const json_t *object, const char *key)
{
    return enter(eval, object, key, false);
}

const json_t *cm_eval_enter_array(cm_eval *eval, const json_t *object, const char *key,
                                  uint32_t *count)
{
    const json_t *array = enter(eval, object, key, true);
    *count = (uint32_t)json_array_size(array);
    return array;
}

const json_t *cm_eval_enter_item(cm_eval *eval, const json_t *array, uint32_t index)
{
    push(eval, NULL, index);
    const json_t *value = json_array_get(array, index);
    if (array != NULL && value == NULL) {
        cm_eval_fail(eval, NULL, "missing");
    } else if (value != NULL && !json_is_object(value) && !json_is_array(value)) {
        cm_eval_fail(eval, NULL, "expected an object or an array");
    }
    return eval->failed ? NULL : value;
}

// NaN for what is no finite number.
static double number_of(const json_t *value)
{
    double number = json_is_number(value) ? json_number_value(value) : NAN;
    return isfinite(number) ? number : NAN;
}

double cm_eval_item(cm_eval *eval, const json_t *array, uint32_t index)
{
    if (eval->failed || array == NULL) {
        return 0.0;
    }
    double number = number_of(json_array_get(array, index));
    if (isnan(number)) {
        push(eval, NULL, index);
        cm_eval_fail(eval, NULL, "expected a finite number");
        cm_eval_leave(eval);
        return 0.0;
    }
    return number;
}

double cm_eval_number(cm_eval *eval, const json_t *object, const char *key, double low, double high,
                      const double *fallback)
{
    const json_t *value = json_object_get(object, key);
    if (eval->failed || object == NULL) {
        return 0.0;
    }
    if (value == NULL && fallback != NULL) {
        return *fallback;
    }
    if (value == NULL) {
        cm_eval_fail(eval, NULL, "'%s' is missing, expected a number", key);
        return 0.0;
    }
    double number = number_of(value);
    if (isnan(number)) {
        cm_eval_fail(eval, key, "expected a finite number");
        return 0.0;
    }
    if (number < low || number > high) {
        cm_eval_fail(eval, key, "%.9g is out of range, expected %.9g to %.9g", number, low, high);
        return 0.0;
    }
    return number;
}

bool cm_eval_bool(cm_eval *eval, const json_t *object, const char *key, bool fallback)
{
    const json_t *value = json_object_get(object, key);
    if (value == NULL) {
        return fallback;
    }
    if (!json_is_boolean(value)) {
        cm_eval_fail(eval, key, "expected true or false");
    }
    return json_is_true(value);
}

uint32_t cm_eval_choice(cm_eval *eval, const json_t *object, const char *key, const char *choices)
{
    const json_t *value = json_object_get(object, key);
    if (value == NULL) {
        return 0;
    }
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    uint32_t index = 0;
    for (const char *at = choices; at != NULL; index++) {
        const char *bar = strchr(at, '|');
        size_t length = bar != NULL ? (size_t)(bar - at) : strlen(at);
        if (strlen(text) == length && strncmp(text, at, length) == 0) {
            return index;
        }
        at = bar != NULL ? bar + 1 : NULL;
    }
    cm_eval_fail(eval, key, "expected one of %s", choices);
    return 0;
}

uint32_t cm_eval_numbers(cm_eval *eval, const json_t *object, const char *key, uint32_t least,
                         uint32_t most, bool optional, double *values)
{
    const json_t *array = json_object_get(object, key);
    memset(values, 0, most * sizeof *values);
    if (eval->failed || object == NULL || (array == NULL && optional)) {
        return 0;
    }
    if (array == NULL) {
        cm_eval_fail(eval, NULL, "'%s' is missing, expected an array of numbers", key);
        return 0;
    }
    size_t count = json_array_size(array);
    if (!json_is_array(array) || count < least || count > most) {
        cm_eval_fail(eval, key, "expected an array of %u to %u numbers", least, most);
        return 0;
    }
    push(eval, key, 0);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = cm_eval_item(eval, array, i);
    }
    cm_eval_leave(eval);
    return (uint32_t)count;
}

void cm_eval_vector(cm_eval *eval, const json_t *object, const char *key, bool optional,
                    double v[3])
{
    cm_eval_numbers(eval, object, key, 2, 3, optional, v);
}

const char *cm_eval_name(cm_eval *eval, const json_t *object, const char *name, const char *other)
{
    if (!cm_eval_has(object, other)) {
        return name;
    }
    if (cm_eval_has(object, name)) {
        cm_eval_fail(eval, other, "the same as '%s', expected one of them", name);
    }
    return other;
}

void cm_eval_end_keys(cm_eval *eval, const json_t *object, const char *const *keys, size_t count)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        bool known = false;
        for (size_t i = 0; i < count; i++) {
            known = known || strcmp(key, keys[i]) == 0;
        }
        if (!known) {
            cm_eval_fail(eval, key, "unknown key, see 'carom help eval'");
            return;
        }
    }
}

// Out --------------------------------------------------------------------------------------------

static void put_key(cm_eval *eval, const char *key)
{
    if (eval->started[eval->depth]) {
        fputs(", ", eval->out);
    }
    eval->started[eval->depth] = true;
    if (key != NULL) {
        fprintf(eval->out, "\"%s\": ", key);
    }
}

static void open_level(cm_eval *eval, const char *key, bool array)
{
    put_key(eval, key);
    fputc(array ? '[' : '{', eval->out);
    if (eval->depth < DEPTH_MAX) {
        eval->depth++;
    }
    eval->started[eval->depth] = false;
    eval->closes_array[eval->depth] = array;
}

void cm_out_object(cm_eval *eval, const char *key)
{
    open_level(eval, key, false);
}

void cm_out_array(cm_eval *eval, const char *key)
{
    open_level(eval, key, true);
}

void cm_out_end(cm_eval *eval)
{
    fputc(eval->closes_array[eval->depth] ? ']' : '}', eval->out);
    eval->depth--;
}

void cm_out_number(cm_eval *eval, const char *key, double value)
{
    if (!isfinite(value)) {
        cm_eval_fail(eval, NULL, "the result is not finite, expected smaller numbers");
    }
    put_key(eval, key);
    fprintf(eval->out, "%.17g", value + 0.0); // no -0
}

void cm_out_bool(cm_eval *eval, const char *key, bool value)
{
    put_key(eval, key);
    fputs(value ? "true" : "false", eval->out);
}

void cm_out_text(cm_eval *eval, const char *key, const char *text)
{
    put_key(eval, key);
    fprintf(eval->out, "\"%s\"", text);
}

void cm_out_numbers(cm_eval *eval, const char *key, const double *values, size_t count)
{
    cm_out_array(eval, key);
    for (size_t i = 0; i < count; i++) {
        cm_out_number(eval, NULL, values[i]);
    }
    cm_out_end(eval);
}

// One case ---------------------------------------------------------------------------------------

static json_t *parse(cm_eval *eval)
{
    cm_check check;
    cm_check_init(&check, eval->error, 1);
    if (!cm_json_check_size(&eval->text, &check)) {
        return NULL;
    }
    json_error_t wrong;
    json_t *root = json_loadb(eval->text.text, eval->text.size, JSON_REJECT_DUPLICATES, &wrong);
    if (root == NULL) {
        eval->error->line = wrong.line > 0 ? (uint32_t)wrong.line : 1;
        snprintf(eval->error->message, sizeof eval->error->message, "%s, expected JSON",
                 wrong.text);
    } else if (!json_is_object(root)) {
        eval->error->line = 1;
        strcpy(eval->error->message, "expected one object");
        json_decref(root);
        root = NULL;
    }
    return root;
}

carom_result cm_eval_run(const cm_eval_case *which, const char *text, size_t size, char **line,
                         cm_scene_error *error)
{
    cm_eval eval = {.text = {text, size, 1}, .error = error};
    size_t length = 0;
    *line = NULL;
    memset(error, 0, sizeof *error);
    json_t *root = parse(&eval);
    if (root == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    eval.out = open_memstream(line, &length);
    if (eval.out != NULL) {
        cm_out_object(&eval, NULL);
        which->run(&eval, root);
        cm_out_end(&eval);
    }
    bool written = eval.out != NULL && fclose(eval.out) == 0;
    json_decref(root);
    if (written && !eval.failed) {
        return CAROM_OK;
    }
    free(*line);
    *line = NULL;
    if (!eval.failed) {
        strcpy(error->message, "out of memory");
    }
    return eval.failed ? CAROM_ERROR_ARGUMENT : CAROM_ERROR_MEMORY;
}
