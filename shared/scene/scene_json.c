// Scenes as JSON: text to scene, file to scene, scene to text. Server side only.
#include "shared/scene/scene_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/scene/map_json.h"

static carom_result check_text(const char *text, size_t size, cm_scene **scene, cm_check *check)
{
    cm_json_text json = {text, size, 1};
    *scene = NULL;
    if (size > CM_SCENE_JSON_MAX) {
        cm_check_fail(check, CAROM_ERROR_LIMIT_SIZE, "%zu bytes, expected at most %u", size,
                      CM_SCENE_JSON_MAX);
        return check->result;
    }
    check->find_line = cm_json_find_line;
    check->context = &json;
    cm_scene *made = cm_scene_new(NULL);
    if (made == NULL) {
        cm_check_fail(check, CAROM_ERROR_MEMORY, "no memory for a scene");
        return check->result;
    }
    ProtobufCMessage *message =
        cm_json_to_message(&json, &cm__scene__scene__descriptor, &made->pool, check);
    made->message = (Cm__Scene__Scene *)message;
    if (check->result != CAROM_OK && message != NULL && check->count < check->capacity) {
        check->path.depth = 0;
        cm_check_values(check, message); // of what could be read
    }
    if (check->result != CAROM_OK || !cm_scene_finish(made, check)) {
        cm_scene_free(made);
        return check->result;
    }
    *scene = made;
    return CAROM_OK;
}

carom_result cm_scene_from_json(const char *text, size_t size, cm_scene **scene,
                                cm_scene_error *error)
{
    cm_scene_error unused;
    cm_check check;
    cm_check_init(&check, error != NULL ? error : &unused, 1);
    return check_text(text, size, scene, &check);
}

// As a reader of the file meets them. Errors of one line stay in the order of their finding.
static void sort_by_line(cm_scene_error *errors, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        cm_scene_error moved = errors[i];
        uint32_t at = i;
        for (; at > 0 && errors[at - 1].line > moved.line; at--) {
            errors[at] = errors[at - 1];
        }
        errors[at] = moved;
    }
}

carom_result cm_scene_validate(const char *text, size_t size, cm_scene **scene,
                               cm_scene_error *errors, uint32_t *count)
{
    cm_check check;
    cm_check_init(&check, errors, *count);
    carom_result result = check_text(text, size, scene, &check);
    *count = check.count;
    sort_by_line(errors, check.count);
    return result;
}

// Grows by doubling; stops one read past the limit, so a device without end is no trap.
static char *read_all(FILE *file, size_t limit, size_t *size, const char **reason)
{
    char *bytes = NULL;
    size_t capacity = 0, used = 0, got = 1;
    while (got > 0 && used <= limit) {
        if (used == capacity) {
            capacity = capacity == 0 ? 65536 : capacity * 2;
            char *grown = realloc(bytes, capacity);
            if (grown == NULL) {
                *reason = "out of memory";
                free(bytes);
                return NULL;
            }
            bytes = grown;
        }
        errno = 0;
        got = fread(bytes + used, 1, capacity - used, file);
        used += got;
    }
    *size = used;
    *reason = ferror(file) ? strerror(errno) : NULL;
    return bytes;
}

char *cm_scene_read_file(const char *path, size_t limit, size_t *size, cm_scene_error *error)
{
    memset(error, 0, sizeof *error);
    bool input = strcmp(path, "-") == 0;
    FILE *file = input ? stdin : fopen(path, "rb");
    if (file == NULL) {
        snprintf(error->message, sizeof error->message, "cannot be opened: %s", strerror(errno));
        return NULL;
    }
    const char *reason = NULL;
    char *bytes = read_all(file, limit, size, &reason);
    if (!input) {
        fclose(file);
    }
    if (reason != NULL) {
        snprintf(error->message, sizeof error->message, "cannot be read: %s", reason);
    } else if (*size > limit) {
        snprintf(error->message, sizeof error->message, "longer than %zu bytes, the most allowed",
                 limit);
    } else {
        return bytes;
    }
    free(bytes);
    return NULL;
}

carom_result cm_scene_from_file(const char *path, cm_scene **scene, cm_scene_error *error)
{
    cm_scene_error unused;
    size_t size = 0;
    error = error != NULL ? error : &unused;
    *scene = NULL;
    char *text = cm_scene_read_file(path, CM_SCENE_JSON_MAX, &size, error);
    if (text == NULL) {
        return CAROM_ERROR_IO;
    }
    carom_result result = cm_scene_from_json(text, size, scene, error);
    free(text);
    return result;
}

// A path's text back into its steps; `keys` has as much room as the text. A text that was cut ends
// early, and the line found is that of a container.
static void parse_path(const char *text, char *keys, cm_check_path *path)
{
    const char *at = text + (text[0] == '$');
    path->depth = 0;
    while (*at != '\0' && path->depth < CM_PATH_MAX) {
        cm_path_step *step = &path->steps[path->depth++];
        bool quoted = strncmp(at, "[\"", 2) == 0;
        *step = (cm_path_step){NULL, 0};
        if (*at == '[' && !quoted) {
            step->index = (uint32_t)strtoul(at + 1, NULL, 10);
            at += strcspn(at, "]");
            at += *at == ']';
            continue;
        }
        step->key = keys;
        for (at += quoted ? 2 : 1; *at != '\0' && strchr(quoted ? "\"" : ".[", *at) == NULL; at++) {
            at += quoted && *at == '\\' && at[1] != '\0';
            *keys++ = *at;
        }
        *keys++ = '\0';
        at += quoted ? strspn(at, "\"]") : 0;
    }
}

void cm_scene_find_lines(const char *text, size_t size, cm_scene_error *errors, uint32_t count)
{
    cm_json_text json = {.text = text, .size = size, .first_line = 1};
    for (uint32_t i = 0; i < count; i++) {
        char keys[sizeof errors[i].path];
        cm_check_path path;
        parse_path(errors[i].path, keys, &path);
        errors[i].line = cm_json_find_line(&json, &path);
    }
}

void cm_scene_find_lines_in(const char *file, cm_scene_error *errors, uint32_t count)
{
    cm_scene_error unused;
    size_t size = 0;
    bool input = strcmp(file, "-") == 0; // read once, and gone
    char *text = input ? NULL : cm_scene_read_file(file, CM_SCENE_JSON_MAX, &size, &unused);
    if (text != NULL) {
        cm_scene_find_lines(text, size, errors, count);
    }
    free(text);
}

char *cm_scene_to_json(const cm_scene *scene)
{
    return cm_message_to_json(&scene->message->base);
}
