// Paths and failures of a check. Messages are made rarely, so nothing here is fast.
#include "shared/scene/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cm_check_init(cm_check *check, cm_scene_error *errors, uint32_t capacity)
{
    memset(check, 0, sizeof *check);
    memset(errors, 0, capacity * sizeof *errors);
    check->error = errors;
    check->capacity = capacity;
    check->result = CAROM_OK;
}

void cm_check_key(cm_check *check, const char *key)
{
    if (check->path.depth < CM_PATH_MAX) {
        check->path.steps[check->path.depth] = (cm_path_step){key, 0};
    }
    check->path.depth++;
}

void cm_check_index(cm_check *check, uint32_t index)
{
    if (check->path.depth < CM_PATH_MAX) {
        check->path.steps[check->path.depth] = (cm_path_step){NULL, index};
    }
    check->path.depth++;
}

void cm_check_item(cm_check *check, const char *key, size_t index)
{
    cm_check_key(check, key);
    cm_check_index(check, (uint32_t)index);
}

void cm_check_pop(cm_check *check)
{
    check->path.depth--;
}

bool cm_check_leave(cm_check *check, uint32_t depth, bool ok, bool *all)
{
    check->path.depth = depth;
    *all = *all && ok;
    return ok || (check->count < check->capacity && check->result != CAROM_ERROR_MEMORY);
}

static bool is_plain(const char *key)
{
    for (const char *at = key; *at != '\0'; at++) {
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                     (*at >= '0' && *at <= '9') || *at == '_';
        if (!plain) {
            return false;
        }
    }
    return key[0] != '\0';
}

// ["a b"], with a backslash before quotes and backslashes; returns its length as if it fitted.
static size_t put_quoted(char *text, size_t size, const char *key)
{
    char quoted[2 * 64 + 1];
    size_t length = 0;
    for (size_t i = 0; i < 64 && key[i] != '\0'; i++) {
        if (key[i] == '"' || key[i] == '\\') {
            quoted[length++] = '\\';
        }
        quoted[length++] = key[i];
    }
    quoted[length] = '\0';
    return (size_t)snprintf(text, size, "[\"%s\"]", quoted);
}

void cm_path_text(const cm_check_path *path, char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "$");
    uint32_t depth = path->depth < CM_PATH_MAX ? path->depth : CM_PATH_MAX;
    for (uint32_t i = 0; i < depth && at < size; i++) {
        const cm_path_step *step = &path->steps[i];
        if (step->key == NULL) {
            at += (size_t)snprintf(text + at, size - at, "[%u]", (unsigned)step->index);
        } else if (is_plain(step->key)) {
            at += (size_t)snprintf(text + at, size - at, ".%.64s", step->key);
        } else {
            at += put_quoted(text + at, size - at, step->key);
        }
    }
    // A hostile key must not write control characters on a terminal.
    for (char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = '?';
        }
    }
}

// True if this path, or one that contains it, already has an error: a fault inside something
// refused needs no second report.
static bool is_told(const cm_check *check, const char *path)
{
    for (uint32_t i = 0; i < check->count; i++) {
        size_t length = strlen(check->error[i].path);
        if (strncmp(check->error[i].path, path, length) == 0 &&
            (path[length] == '\0' || path[length] == '.' || path[length] == '[')) {
            return true;
        }
    }
    return false;
}

static bool fail(cm_check *check, carom_result result, const char *format, va_list arguments)
{
    check->result = check->result != CAROM_OK ? check->result : result;
    if (check->count == check->capacity) {
        return false;
    }
    cm_scene_error *error = &check->error[check->count];
    cm_path_text(&check->path, error->path, sizeof error->path);
    if (is_told(check, error->path)) {
        return false;
    }
    check->count++;
    if (check->find_line != NULL) {
        error->line = check->find_line(check->context, &check->path);
    }
    vsnprintf(error->message, sizeof error->message, format, arguments);
    for (char *c = error->message; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = '?';
        }
    }
    return false;
}

bool cm_check_fail(cm_check *check, carom_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(check, result, format, arguments);
    va_end(arguments);
    return false;
}

bool cm_check_fail_at(cm_check *check, const char *key, carom_result result, const char *format,
                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    cm_check_key(check, key);
    fail(check, result, format, arguments);
    cm_check_pop(check);
    va_end(arguments);
    return false;
}
