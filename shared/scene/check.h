// The state of a scene's check: the path from the root to the present place, and the errors found,
// each with path, line and message. Private to shared/scene.
//
// A check that fails returns false and leaves the path where it stands. A loop over items goes on
// with the next one through cm_check_leave, while there is room for more errors: one for most
// callers, who want the first; many for `carom scene validate`.
//
// The path is kept as steps, not as text, so that the line can be found by walking the text along
// them; the text of a path is made only when a check fails.
#ifndef CM_SCENE_CHECK_H
#define CM_SCENE_CHECK_H

#include "shared/scene/scene.h"

#define CM_PATH_MAX 16u // deeper than the schema can go

typedef struct cm_path_step {
    const char *key; // NULL: an index
    uint32_t index;
} cm_path_step;

typedef struct cm_check_path {
    uint32_t depth;
    cm_path_step steps[CM_PATH_MAX];
} cm_check_path;

typedef struct cm_check {
    cm_scene_error *error; // of `capacity`; never NULL
    uint32_t capacity, count;
    cm_check_path path;
    carom_result result; // CAROM_OK until something failed, then the first failure's
    // The line of a path, 0 where there is none; NULL for the packed form.
    uint32_t (*find_line)(const void *context, const cm_check_path *path);
    const void *context;
} cm_check;

void cm_check_init(cm_check *check, cm_scene_error *errors, uint32_t capacity);
void cm_check_key(cm_check *check, const char *key);
void cm_check_index(cm_check *check, uint32_t index);
// Item `index` of the list `key`.
void cm_check_item(cm_check *check, const char *key, size_t index);
void cm_check_pop(cm_check *check);

// Back at `depth`, after an item that was `ok` or failed: true where the next may be looked at.
// `all` becomes false with the first that failed.
bool cm_check_leave(cm_check *check, uint32_t depth, bool ok, bool *all);

// Records a failure at the present path, unless one of the same path or of what holds it is there
// already; returns false always.
bool cm_check_fail(cm_check *check, carom_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// The same at the path's child `key`.
bool cm_check_fail_at(cm_check *check, const char *key, carom_result result, const char *format,
                      ...) __attribute__((format(printf, 4, 5)));

// $.bodies[3].mass; a key with other characters than letters, digits and _ is quoted.
void cm_path_text(const cm_check_path *path, char *text, size_t size);

#endif
