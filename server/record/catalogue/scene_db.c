// Rows of the catalogue's table `scenes`. Each call opens it, does one thing and closes it. Data
// from a file is untrusted until it is unpacked and checked.
#include "server/record/catalogue/scene_db.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static carom_result refuse_name(cm_scene_error *error, const char *name)
{
    memset(error, 0, sizeof *error);
    snprintf(error->message, sizeof error->message,
             "no scene '%.127s', expected a name that 'carom scene list' shows", name);
    return CAROM_ERROR_NOT_FOUND;
}

carom_result cm_scene_db_save(const char *path, const char *name, const cm_scene *scene,
                              int64_t imported_at, cm_scene_error *error)
{
    size_t size = cm_scene_packed_size(scene);
    uint8_t *packed = size <= CM_SCENE_PACKED_MAX ? malloc(size + 1) : NULL;
    if (packed == NULL) {
        return cm_catalogue_refuse(error, CAROM_ERROR_LIMIT_SIZE, "too large in packed form", "");
    }
    cm_scene_pack(scene, packed);
    carom_result result = cm_catalogue_change(
        path, CM_CATALOGUE_MAKE,
        "INSERT INTO scenes SELECT ?1, 1 + ifnull(max(version), 0), 1, ?2, ?3, ?4 FROM scenes "
        "WHERE name = ?1 HAVING NOT EXISTS (SELECT 1 FROM scenes WHERE name = ?1 AND packed = ?2 "
        "AND version = (SELECT max(version) FROM scenes WHERE name = ?1))",
        CM_VALUES(CM_TEXT(name), CM_BLOB(packed, size), CM_INT(cm_scene_body_count(scene)),
                  CM_INT(imported_at)),
        NULL, error);
    free(packed);
    return result;
}

typedef struct loading {
    const char *name;
    cm_scene **scene;
    bool found;
    carom_result result;
    cm_scene_error *error;
} loading;

static cm_catalogue_row unpack_row(void *context, sqlite3_stmt *row)
{
    loading *to = context;
    to->found = true;
    const uint8_t *packed = sqlite3_column_blob(row, 0);
    int size = sqlite3_column_bytes(row, 0);
    to->result = sqlite3_column_int64(row, 1) != 1 || packed == NULL || size <= 0
                     ? cm_catalogue_refuse(to->error, CAROM_ERROR_VERSION,
                                           "a scene of another format, expected format 1", to->name)
                     : cm_scene_unpack(packed, (size_t)size, NULL, to->scene, to->error);
    return CM_CATALOGUE_ENOUGH;
}

static carom_result load(const char *path, cm_catalogue_use use, const char *name, cm_scene **scene,
                         cm_scene_error *error)
{
    loading to = {.name = name, .scene = scene, .error = error};
    *scene = NULL;
    carom_result result = cm_catalogue_rows(
        path, use,
        "SELECT packed, format FROM scenes WHERE name = ?1 ORDER BY version DESC LIMIT 1",
        CM_VALUES(CM_TEXT(name)), "scenes", unpack_row, &to, error);
    if (result == CAROM_OK) {
        result = to.found ? to.result : refuse_name(error, name);
    }
    return result;
}

carom_result cm_scene_db_load(const char *path, const char *name, cm_scene **scene,
                              cm_scene_error *error)
{
    return load(path, CM_CATALOGUE_READ, name, scene, error);
}

carom_result cm_scene_db_try(const char *path, const char *name, cm_scene **scene,
                             cm_scene_error *error)
{
    return load(path, CM_CATALOGUE_GLANCE, name, scene, error);
}

carom_result cm_scene_db_delete(const char *path, const char *name, cm_scene_error *error)
{
    int changes = 0;
    carom_result result =
        cm_catalogue_change(path, CM_CATALOGUE_CHANGE, "DELETE FROM scenes WHERE name = ?1",
                            CM_VALUES(CM_TEXT(name)), &changes, error);
    return result == CAROM_OK && changes == 0 ? refuse_name(error, name) : result;
}

static bool take_row(sqlite3_stmt *row, cm_scene_row *found)
{
    uint64_t bodies, imported_at, version;
    if (!cm_column_text(row, 0, found->name, sizeof found->name) ||
        !cm_column_u64(row, 1, &bodies) || bodies > UINT32_MAX ||
        !cm_column_u64(row, 2, &found->bytes) || !cm_column_u64(row, 3, &imported_at) ||
        !cm_column_u64(row, 4, &version) || version > UINT32_MAX) {
        return false;
    }
    found->bodies = (uint32_t)bodies;
    found->imported_at = (int64_t)imported_at;
    found->version = (uint32_t)version;
    return true;
}

typedef struct listing {
    bool (*take)(void *context, const cm_scene_row *row);
    void *context;
} listing;

static cm_catalogue_row list_row(void *context, sqlite3_stmt *row)
{
    const listing *to = context;
    cm_scene_row found;
    if (!take_row(row, &found)) {
        return CM_CATALOGUE_BAD;
    }
    return to->take(to->context, &found) ? CM_CATALOGUE_NEXT : CM_CATALOGUE_ENOUGH;
}

carom_result cm_scene_db_list(const char *path, bool (*row)(void *context, const cm_scene_row *row),
                              void *context, cm_scene_error *error)
{
    static const char newest[] =
        "SELECT name, bodies, length(packed), imported_at, version FROM scenes s WHERE "
        "version = (SELECT max(version) FROM scenes WHERE name = s.name) ORDER BY name";
    listing to = {row, context};
    return cm_catalogue_rows(path, CM_CATALOGUE_READ, newest, NULL, 0, "scenes", list_row, &to,
                             error);
}
