// Scenes in the catalogue, under their names, in packed form and in versions. A scene is used once
// a room, not once a tick.
#ifndef CM_SERVER_RECORD_CATALOGUE_SCENE_DB_H
#define CM_SERVER_RECORD_CATALOGUE_SCENE_DB_H

#include "server/record/catalogue/catalogue.h"

typedef struct cm_scene_row {
    char name[CM_NAME_MAX];
    uint32_t version; // the newest
    uint32_t bodies;
    uint64_t bytes;
    int64_t imported_at;
} cm_scene_row;

// Saving another scene under a known name makes its next version; the same one again makes none.
// Loading gives the newest, deleting removes all versions.
// Errors: CAROM_ERROR_IO, _NOT_FOUND, _CORRUPT, _VERSION (a newer schema) and those of
// cm_scene_unpack; `error` (never NULL) has the message.
carom_result cm_scene_db_save(const char *path, const char *name, const cm_scene *scene,
                              int64_t imported_at, cm_scene_error *error);
carom_result cm_scene_db_load(const char *path, const char *name, cm_scene **scene,
                              cm_scene_error *error);
// The same; fails at once if another process holds its lock.
carom_result cm_scene_db_try(const char *path, const char *name, cm_scene **scene,
                             cm_scene_error *error);
carom_result cm_scene_db_delete(const char *path, const char *name, cm_scene_error *error);
// Calls `row` for each scene, in order of names, until it returns false.
carom_result cm_scene_db_list(const char *path, bool (*row)(void *context, const cm_scene_row *row),
                              void *context, cm_scene_error *error);

#endif
