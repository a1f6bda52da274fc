// Scenes in SQLite. Opened defensively: a file from a stranger cannot run triggers or views, nor
// make us take more than the limits set here. Writing waits for another writer up to five seconds.
#include "server/record/scene_db.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUSY_MS        5000
#define APPLICATION_ID 0x43524d43 // "CRMC"

static const char *const migrations[] = {
#include "catalogue.inc"
};

#define SCHEMA_VERSION ((int64_t)(sizeof migrations / sizeof migrations[0]))

static carom_result refuse(cm_scene_error *error, carom_result result, const char *what,
                           const char *detail)
{
    memset(error, 0, sizeof *error);
    snprintf(error->message, sizeof error->message, "%s%s%s", what, detail[0] != '\0' ? ": " : "",
             detail);
    return result;
}

static carom_result refuse_name(cm_scene_error *error, const char *name)
{
    memset(error, 0, sizeof *error);
    snprintf(error->message, sizeof error->message,
             "no scene '%.127s', expected a name that 'carom scene list' shows", name);
    return CAROM_ERROR_NOT_FOUND;
}

// SQLITE_NOTADB and CORRUPT are the file's fault (bad input), the rest the machine's.
static carom_result refuse_sqlite(cm_scene_error *error, sqlite3 *db, const char *what)
{
    int code = sqlite3_errcode(db) & 0xff;
    bool corrupt = code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR;
    return refuse(error, corrupt ? CAROM_ERROR_CORRUPT : CAROM_ERROR_IO, what, sqlite3_errmsg(db));
}

// A database is only made by a write. SQLite's own words for one that is missing do not say so.
static carom_result find_db(const char *path, cm_scene_error *error)
{
    if (access(path, R_OK) == 0) {
        return CAROM_OK;
    }
    char what[160];
    snprintf(what, sizeof what,
             "cannot be opened: %.60s, expected a database that 'carom scene import' made",
             strerror(errno));
    return refuse(error, CAROM_ERROR_NOT_FOUND, what, "");
}

static carom_result open_file(const char *path, bool write, sqlite3 **db, cm_scene_error *error)
{
    int flags = write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    *db = NULL;
    if (sqlite3_open_v2(path, db, flags, NULL) != SQLITE_OK) {
        int cause = sqlite3_system_errno(*db);
        carom_result result = refuse(error, CAROM_ERROR_IO, "cannot be opened",
                                     cause != 0 ? strerror(cause) : sqlite3_errmsg(*db));
        sqlite3_close(*db);
        *db = NULL;
        return result;
    }
    sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, (int)(2 * CM_SCENE_PACKED_MAX));
    sqlite3_limit(*db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_busy_timeout(*db, BUSY_MS);
    if (sqlite3_exec(*db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;", NULL, NULL, NULL) !=
        SQLITE_OK) {
        carom_result result = refuse_sqlite(error, *db, "not a database of scenes");
        sqlite3_close(*db);
        *db = NULL;
        return result;
    }
    return CAROM_OK;
}

// One integer of a pragma; -1 where it cannot be read.
static int64_t pragma_of(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *row = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW) {
        value = sqlite3_column_int64(row, 0);
    }
    sqlite3_finalize(row);
    return value;
}

// Runs what the file has not had yet, all of it or nothing.
static carom_result migrate(sqlite3 *db, cm_scene_error *error)
{
    char sql[128];
    bool done = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    int64_t version = done ? pragma_of(db, "PRAGMA user_version") : SCHEMA_VERSION;
    for (; done && version < SCHEMA_VERSION; version++) {
        done = sqlite3_exec(db, migrations[version], NULL, NULL, NULL) == SQLITE_OK;
    }
    snprintf(sql, sizeof sql, "PRAGMA user_version = %lld; PRAGMA application_id = %d; COMMIT",
             (long long)SCHEMA_VERSION, APPLICATION_ID);
    done = done && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
    return done ? CAROM_OK : refuse_sqlite(error, db, "not a database of scenes");
}

// Whether this build can read the file's schema; `old` says that it needs migrating.
static carom_result check_version(sqlite3 *db, bool *old, cm_scene_error *error)
{
    int64_t version = pragma_of(db, "PRAGMA user_version");
    int64_t application = pragma_of(db, "PRAGMA application_id");
    if (version < 0 || application < 0) {
        return refuse_sqlite(error, db, "not a database of scenes");
    }
    if (application != APPLICATION_ID && (application != 0 || version != 0)) {
        return refuse(error, CAROM_ERROR_CORRUPT, "not a database of scenes",
                      "it belongs to another application");
    }
    if (version > SCHEMA_VERSION) {
        char text[128];
        snprintf(text, sizeof text, "its schema is %lld, expected at most %lld", (long long)version,
                 (long long)SCHEMA_VERSION);
        return refuse(error, CAROM_ERROR_VERSION, "made by a newer carom", text);
    }
    *old = version < SCHEMA_VERSION;
    return CAROM_OK;
}

// The database at the present schema.
static carom_result open_db(const char *path, bool write, sqlite3 **db, cm_scene_error *error)
{
    bool old = false;
    carom_result result = open_file(path, write, db, error);
    result = result == CAROM_OK ? check_version(*db, &old, error) : result;
    if (result == CAROM_OK && old && !write) {
        sqlite3_close(*db);
        result = open_file(path, true, db, error);
    }
    if (result == CAROM_OK && old) {
        result = migrate(*db, error);
    }
    if (result != CAROM_OK) {
        sqlite3_close(*db);
        *db = NULL;
    }
    return result;
}

carom_result cm_scene_db_save(const char *path, const char *name, const cm_scene *scene,
                              int64_t imported_at, cm_scene_error *error)
{
    sqlite3 *db;
    carom_result result = open_db(path, true, &db, error);
    if (result != CAROM_OK) {
        return result;
    }
    size_t size = cm_scene_packed_size(scene);
    uint8_t *packed = size <= CM_SCENE_PACKED_MAX ? malloc(size + 1) : NULL;
    sqlite3_stmt *insert = NULL;
    if (packed == NULL) {
        result = refuse(error, CAROM_ERROR_LIMIT_SIZE, "too large in packed form", "");
    } else if (sqlite3_prepare_v2(db,
                                  "INSERT INTO scenes SELECT ?1, 1 + ifnull(max(version), 0), 1, "
                                  "?2, ?3, ?4 FROM scenes WHERE name = ?1 HAVING NOT EXISTS "
                                  "(SELECT 1 FROM scenes WHERE name = ?1 AND packed = ?2 AND "
                                  "version = (SELECT max(version) FROM scenes WHERE name = ?1))",
                                  -1, &insert, NULL) != SQLITE_OK) {
        result = refuse_sqlite(error, db, "not a database of scenes");
    } else {
        cm_scene_pack(scene, packed);
        sqlite3_bind_text(insert, 1, name, -1, SQLITE_STATIC);
        sqlite3_bind_blob(insert, 2, packed, (int)size, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 3, cm_scene_body_count(scene));
        sqlite3_bind_int64(insert, 4, imported_at);
        if (sqlite3_step(insert) != SQLITE_DONE) {
            result = refuse_sqlite(error, db, "cannot be written");
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
        return refuse(error, CAROM_ERROR_VERSION, "a scene of another format, expected format 1",
                      name);
    }
    carom_result result = cm_scene_unpack(packed, (size_t)size, NULL, scene, error);
    return result;
}

carom_result cm_scene_db_load(const char *path, const char *name, cm_scene **scene,
                              cm_scene_error *error)
{
    sqlite3 *db;
    *scene = NULL;
    carom_result result = find_db(path, error);
    result = result == CAROM_OK ? open_db(path, false, &db, error) : result;
    if (result != CAROM_OK) {
        return result;
    }
    sqlite3_stmt *select = NULL;
    if (sqlite3_prepare_v2(db,
                           "SELECT packed, format FROM scenes WHERE name = ?1 "
                           "ORDER BY version DESC LIMIT 1",
                           -1, &select, NULL) != SQLITE_OK) {
        result = refuse_sqlite(error, db, "not a database of scenes");
    } else {
        sqlite3_bind_text(select, 1, name, -1, SQLITE_STATIC);
        int step = sqlite3_step(select);
        if (step == SQLITE_ROW) {
            result = unpack_row(select, name, scene, error);
        } else if (step == SQLITE_DONE) {
            result = refuse_name(error, name);
        } else {
            result = refuse_sqlite(error, db, "cannot be read");
        }
    }
    sqlite3_finalize(select);
    sqlite3_close(db);
    return result;
}

carom_result cm_scene_db_delete(const char *path, const char *name, cm_scene_error *error)
{
    sqlite3 *db;
    carom_result result = find_db(path, error);
    result = result == CAROM_OK ? open_db(path, true, &db, error) : result;
    if (result != CAROM_OK) {
        return result;
    }
    sqlite3_stmt *remove = NULL;
    if (sqlite3_prepare_v2(db, "DELETE FROM scenes WHERE name = ?1", -1, &remove, NULL) !=
        SQLITE_OK) {
        result = refuse_sqlite(error, db, "not a database of scenes");
    } else {
        sqlite3_bind_text(remove, 1, name, -1, SQLITE_STATIC);
        if (sqlite3_step(remove) != SQLITE_DONE) {
            result = refuse_sqlite(error, db, "cannot be written");
        } else if (sqlite3_changes(db) == 0) {
            result = refuse_name(error, name);
        }
    }
    sqlite3_finalize(remove);
    sqlite3_close(db);
    return result;
}

carom_result cm_scene_db_list(const char *path, bool (*row)(void *context, const cm_scene_row *row),
                              void *context, cm_scene_error *error)
{
    sqlite3 *db;
    carom_result result = find_db(path, error);
    result = result == CAROM_OK ? open_db(path, false, &db, error) : result;
    if (result != CAROM_OK) {
        return result;
    }
    sqlite3_stmt *select = NULL;
    if (sqlite3_prepare_v2(
            db,
            "SELECT name, bodies, length(packed), imported_at, version FROM scenes s WHERE "
            "version = (SELECT max(version) FROM scenes WHERE name = s.name) ORDER BY name",
            -1, &select, NULL) != SQLITE_OK) {
        result = refuse_sqlite(error, db, "not a database of scenes");
        sqlite3_close(db);
        return result;
    }
    int step;
    while ((step = sqlite3_step(select)) == SQLITE_ROW) {
        cm_scene_row found = {.bodies = (uint32_t)sqlite3_column_int64(select, 1),
                              .bytes = (uint64_t)sqlite3_column_int64(select, 2),
                              .imported_at = sqlite3_column_int64(select, 3),
                              .version = (uint32_t)sqlite3_column_int64(select, 4)};
        const char *name = (const char *)sqlite3_column_text(select, 0);
        snprintf(found.name, sizeof found.name, "%s", name != NULL ? name : "");
        if (!row(context, &found)) {
            break;
        }
    }
    if (step != SQLITE_ROW && step != SQLITE_DONE) {
        result = refuse_sqlite(error, db, "cannot be read");
    }
    sqlite3_finalize(select);
    sqlite3_close(db);
    return result;
}
