// Scenes as JSON: text to scene, file to scene, scene to text. Server side only.
#include "shared/scene/scene_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/scene/map_json.h"

carom_result cm_scene_from_json(const char *text, size_t size, cm_scene **scene,
                                cm_scene_error *error)
{
    cm_scene_error unused;
    cm_check check;
    cm_json_text json = {text, size, 1};
    *scene = NULL;
    cm_check_init(&check, error != NULL ? error : &unused);
    if (size > CM_SCENE_JSON_MAX) {
        cm_check_fail(&check, CAROM_ERROR_LIMIT_SIZE, "%zu bytes, expected at most %u", size,
                      CM_SCENE_JSON_MAX);
        return check.result;
    }
    check.find_line = cm_json_find_line;
    check.context = &json;
    cm_scene *made = cm_scene_new(NULL);
    if (made == NULL) {
        cm_check_fail(&check, CAROM_ERROR_MEMORY, "no memory for a scene");
        return check.result;
    }
    made->message = (Cm__Scene__Scene *)cm_json_to_message(&json, &cm__scene__scene__descriptor,
                                                           &made->pool, &check);
    if (made->message == NULL || !cm_scene_finish(made, &check)) {
        cm_scene_free(made);
        return check.result;
    }
    *scene = made;
    return CAROM_OK;
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
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        snprintf(error->message, sizeof error->message, "cannot be opened: %s", strerror(errno));
        return NULL;
    }
    const char *reason = NULL;
    char *bytes = read_all(file, limit, size, &reason);
    fclose(file);
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

uint32_t cm_scene_key_line(const char *path, const char *key)
{
    cm_scene_error unused;
    size_t size = 0;
    char *text = cm_scene_read_file(path, CM_SCENE_JSON_MAX, &size, &unused);
    if (text == NULL) {
        return 0;
    }
    cm_json_text json = {.text = text, .size = size, .first_line = 1};
    cm_path at = {.depth = 1, .steps = {{.key = key}}};
    uint32_t line = cm_json_find_line(&json, &at);
    free(text);
    return line;
}

char *cm_scene_to_json(const cm_scene *scene)
{
    return cm_message_to_json(&scene->message->base);
}
