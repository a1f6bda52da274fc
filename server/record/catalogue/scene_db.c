// Rows of the catalogue's table `scenes`. Each call opens it, does one thing and closes it. Data
// from a file is untrusted until it is unpacked and checked.
#include "server/record/catalogue/scene_db.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/format/column.h"

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
    sqlite3 *db;
    carom_result result = cm_catalogue_open(path, CM_CATALOGUE_MAKE, &db, error);
    if (result != CAROM_OK) {
        return result;
    }
    size_t size = cm_scene_packed_size(scene);
    uint8_t *packed = size <= CM_SCENE_PACKED_MAX ? malloc(size + 1) : NULL;
    sqlite3_stmt *insert = NULL;
    if (packed == NULL) {
        result = cm_catalogue_refuse(error, CAROM_ERROR_LIMIT_SIZE, "too large in packed form", "");
    } else if (sqlite3_prepare_v2(db,
                                  "INSERT INTO scenes SELECT ?1, 1 + ifnull(max(version), 0), 1, "
                                  "?2, ?3, ?4 FROM scenes WHERE name = ?1 HAVING NOT EXISTS "
                                  "(SELECT 1 FROM scenes WHERE name = ?1 AND packed = ?2 AND "
                                  "version = (SELECT max(version) FROM scenes WHERE name = ?1))",
                                  -1, &insert, NULL) != SQLITE_OK) {
        result = cm_catalogue_wrong(error, db, "not a carom database");
    } else {
        cm_scene_pack(scene, packed);
        sqlite3_bind_text(insert, 1, name, -1, SQLITE_STATIC);
        sqlite3_bind_blob(insert, 2, packed, (int)size, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 3, cm_scene_body_count(scene));
        sqlite3_bind_int64(insert, 4, imported_at);
        if (sqlite3_step(insert) != SQLITE_DONE) {
            result = cm_catalogue_wrong(error, db, "cannot be written");
        }
    }
    sqlite3_finalize(insert);
    sqlite3_close(db);
    free(packed);
    return result;
}

static carom_result unpack_row(sqlite3_stmt *select, const char *name, cm_scene **scene,
                               cm_scene_error *error)
{
    const uint8_t *packed = sqlite3_column_blob(select, 0);
    int size = sqlite3_column_bytes(select, 0);
    if (sqlite3_column_int64(select, 1) != 1 || packed == NULL || size <= 0) {
        return cm_catalogue_refuse(error, CAROM_ERROR_VERSION,
                                   "a scene of another format, expected format 1", name);
    }
    carom_result result = cm_scene_unpack(packed, (size_t)size, NULL, scene, error);
    return result;
}

carom_result cm_scene_db_load(const char *path, const char *name, cm_scene **scene,
                              cm_scene_error *error)
{
    sqlite3 *db;
    *scene = NULL;
    carom_result result = cm_catalogue_open(path, CM_CATALOGUE_READ, &db, error);
    if (result != CAROM_OK) {
        return result;
    }
    sqlite3_stmt *select = NULL;
    if (sqlite3_prepare_v2(db,
                           "SELECT packed, format FROM scenes WHERE name = ?1 "
                           "ORDER BY version DESC LIMIT 1",
                           -1, &select, NULL) != SQLITE_OK) {
        result = cm_catalogue_wrong(error, db, "not a carom database");
    } else {
        sqlite3_bind_text(select, 1, name, -1, SQLITE_STATIC);
        int step = sqlite3_step(select);
        if (step == SQLITE_ROW) {
            result = unpack_row(select, name, scene, error);
        } else if (step == SQLITE_DONE) {
            result = refuse_name(error, name);
        } else {
            result = cm_catalogue_wrong(error, db, "cannot be read");
        }
    }
    sqlite3_finalize(select);
    sqlite3_close(db);
    return result;
}

carom_result cm_scene_db_delete(const char *path, const char *name, cm_scene_error *error)
{
    sqlite3 *db;
    carom_result result = cm_catalogue_open(path, CM_CATALOGUE_CHANGE, &db, error);
    if (result != CAROM_OK) {
        return result;
    }
    sqlite3_stmt *remove = NULL;
    if (sqlite3_prepare_v2(db, "DELETE FROM scenes WHERE name = ?1", -1, &remove, NULL) !=
        SQLITE_OK) {
        result = cm_catalogue_wrong(error, db, "not a carom database");
    } else {
        sqlite3_bind_text(remove, 1, name, -1, SQLITE_STATIC);
        if (sqlite3_step(remove) != SQLITE_DONE) {
            result = cm_catalogue_wrong(error, db, "cannot be written");
        } else if (sqlite3_changes(db) == 0) {
            result = refuse_name(error, name);
        }
    }
    sqlite3_finalize(remove);
    sqlite3_close(db);
    return result;
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
    return cm_catalogue_rows(path, newest, "scenes", list_row, &to, error);
}
