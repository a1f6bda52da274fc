// Opening catalogues, our own or untrusted ones. A file's schema is compared with what the
// migrations make in memory, so that there is one source of both. 2 ms for a small file; the check
// of pages reads all of it, 10 ms for 16 MiB.
#include "server/record/catalogue/catalogue.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/record/format/lock_holder.h"
#include "server/record/format/untrusted_db.h"

#define BUSY_MS        5000       // another writer is waited for
#define APPLICATION_ID 0x43524d43 // "CRMC"
#define NOT_OURS       "not a carom database"

static const char *const migrations[] = {
#include "catalogue.inc"
};

#define SCHEMA_VERSION ((int64_t)(sizeof migrations / sizeof migrations[0]))

// Errors --------------------------------------------------------------------------------------

carom_result cm_catalogue_refuse(cm_scene_error *error, carom_result result, const char *what,
                                 const char *detail)
{
    memset(error, 0, sizeof *error);
    snprintf(error->message, sizeof error->message, "%s%s%s", what, detail[0] != '\0' ? ": " : "",
             detail);
    return result;
}

static carom_result locked(cm_scene_error *error, sqlite3 *db)
{
    char holder[80], text[112];
    const char *path = sqlite3_db_filename(db, "main");
    cm_lock_holder(path != NULL ? path : "", holder, sizeof holder);
    snprintf(text, sizeof text, "locked by %s, try again later", holder);
    return cm_catalogue_refuse(error, CAROM_ERROR_IO, text, "");
}

carom_result cm_catalogue_wrong(cm_scene_error *error, sqlite3 *db, const char *what)
{
    switch (sqlite3_errcode(db) & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:
    case SQLITE_TOOBIG:
    case SQLITE_AUTH:
    case SQLITE_CONSTRAINT:
        return cm_catalogue_refuse(error, CAROM_ERROR_CORRUPT, what, sqlite3_errmsg(db));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return locked(error, db);
    default:
        return cm_catalogue_refuse(error, CAROM_ERROR_IO, what, sqlite3_errmsg(db));
    }
}

// Opening -------------------------------------------------------------------------------------

static carom_result open_file(const char *path, cm_catalogue_use use, sqlite3 **db,
                              cm_scene_error *error)
{
    bool make = use == CM_CATALOGUE_MAKE || use == CM_CATALOGUE_TRY;
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        return cm_catalogue_refuse(error, CAROM_ERROR_IO, "cannot be opened", "not a file");
    }
    // SQLite opens a file without write permission as read-only.
    int flags = SQLITE_OPEN_READWRITE | (make ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, db, flags, NULL) != SQLITE_OK) {
        int cause = sqlite3_system_errno(*db);
        return cm_catalogue_refuse(error, CAROM_ERROR_IO, "cannot be opened",
                                   cause != 0 ? strerror(cause) : sqlite3_errmsg(*db));
    }
    cm_untrusted_db_defend(*db, (int)(CM_SCENE_PACKED_MAX + (1u << 20)));
    bool waits = use != CM_CATALOGUE_TRY && use != CM_CATALOGUE_GLANCE;
    sqlite3_busy_timeout(*db, waits ? BUSY_MS : 0);
    return CAROM_OK;
}

// Checks by the version number that this build can read the file's schema.
static carom_result check_version(sqlite3 *db, int64_t *version, cm_scene_error *error)
{
    *version = cm_untrusted_number(db, "PRAGMA user_version");
    // A second question to one that is locked would wait as long again.
    int64_t application = *version < 0 ? -1 : cm_untrusted_number(db, "PRAGMA application_id");
    if (*version < 0 || application < 0) {
        return cm_catalogue_wrong(error, db, NOT_OURS);
    }
    if (application != APPLICATION_ID && (application != 0 || *version != 0)) {
        return cm_catalogue_refuse(error, CAROM_ERROR_CORRUPT, NOT_OURS,
                                   "it belongs to another application");
    }
    if (*version > SCHEMA_VERSION) {
        char text[128];
        snprintf(text, sizeof text, "its schema is %lld, expected at most %lld",
                 (long long)*version, (long long)SCHEMA_VERSION);
        return cm_catalogue_refuse(error, CAROM_ERROR_VERSION, "made by a newer carom", text);
    }
    return CAROM_OK;
}

// Schema --------------------------------------------------------------------------------------

#define SCHEMA_QUERY "SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_schema ORDER BY 1, 2"

static bool same_text(sqlite3_stmt *a, sqlite3_stmt *b, int at)
{
    const char *x = (const char *)sqlite3_column_text(a, at);
    const char *y = (const char *)sqlite3_column_text(b, at);
    return x != NULL && y != NULL && strcmp(x, y) == 0;
}

// The first table, index or view of the file that `made` has not, or has otherwise; NULL for none.
static bool same_schema(sqlite3_stmt *file, sqlite3_stmt *made, char *other, size_t size)
{
    while (true) {
        int x = sqlite3_step(file), y = sqlite3_step(made);
        if (x == SQLITE_DONE && y == SQLITE_DONE) {
            return true;
        }
        bool same = x == SQLITE_ROW && y == SQLITE_ROW;
        for (int at = 0; same && at < 4; at++) {
            same = same_text(file, made, at);
        }
        if (!same) {
            const char *name = x == SQLITE_ROW   ? (const char *)sqlite3_column_text(file, 1)
                               : y == SQLITE_ROW ? (const char *)sqlite3_column_text(made, 1)
                                                 : NULL;
            snprintf(other, size, "schema: '%.40s' is not as expected",
                     name != NULL ? name : "sqlite_schema");
            return false;
        }
    }
}

// Databases made before migrations had numbers hold one table of scenes, or nothing.
static bool is_unnumbered(sqlite3 *db)
{
    return cm_untrusted_number(
               db, "SELECT count(*) FROM sqlite_schema WHERE name NOT IN ('scenes', "
                   "'sqlite_autoindex_scenes_1') OR tbl_name <> 'scenes' OR type NOT IN "
                   "('table', 'index')") == 0;
}

static carom_result check_schema(sqlite3 *db, int64_t version, cm_scene_error *error)
{
    if (version == 0) {
        return is_unnumbered(db) ? CAROM_OK
                                 : cm_catalogue_refuse(error, CAROM_ERROR_CORRUPT, NOT_OURS,
                                                       "schema: not that of any version");
    }
    sqlite3 *memory = NULL;
    sqlite3_stmt *file = NULL, *made = NULL;
    char other[96] = "";
    bool good = sqlite3_open(":memory:", &memory) == SQLITE_OK;
    for (int64_t i = 0; good && i < version; i++) {
        good = sqlite3_exec(memory, migrations[i], NULL, NULL, NULL) == SQLITE_OK;
    }
    good = good && sqlite3_prepare_v2(memory, SCHEMA_QUERY, -1, &made, NULL) == SQLITE_OK;
    carom_result result = CAROM_OK;
    if (!good) {
        result = cm_catalogue_refuse(error, CAROM_ERROR_MEMORY, "no memory", "");
    } else if (sqlite3_prepare_v2(db, SCHEMA_QUERY, -1, &file, NULL) != SQLITE_OK) {
        result = cm_catalogue_wrong(error, db, NOT_OURS);
    } else if (!same_schema(file, made, other, sizeof other)) {
        result = cm_catalogue_refuse(error, CAROM_ERROR_CORRUPT, NOT_OURS, other);
    }
    sqlite3_finalize(file);
    sqlite3_finalize(made);
    sqlite3_close(memory);
    return result;
}

static carom_result check_pages(sqlite3 *db, cm_scene_error *error)
{
    char found[160];
    if (cm_untrusted_db_check_pages(db, found, sizeof found)) {
        return CAROM_OK;
    }
    return found[0] != '\0' ? cm_catalogue_refuse(error, CAROM_ERROR_CORRUPT, "damaged", found)
                            : cm_catalogue_wrong(error, db, "damaged");
}

// Runs what the file has not had yet, all of it or nothing. Another process may have been first.
static carom_result migrate(sqlite3 *db, cm_scene_error *error)
{
    char sql[128];
    bool done = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    int64_t version = done ? cm_untrusted_number(db, "PRAGMA user_version") : SCHEMA_VERSION;
    for (; done && version < SCHEMA_VERSION; version++) {
        done = sqlite3_exec(db, migrations[version], NULL, NULL, NULL) == SQLITE_OK;
    }
    snprintf(sql, sizeof sql, "PRAGMA user_version = %lld; PRAGMA application_id = %d; COMMIT",
             (long long)SCHEMA_VERSION, APPLICATION_ID);
    done = done && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
    return done ? CAROM_OK : cm_catalogue_wrong(error, db, "cannot be brought up to date");
}

// From here on: reading our tables, and where it was asked for changing them.
static int authorize(void *context, int action, const char *first, const char *second,
                     const char *database, const char *trigger)
{
    (void)second;
    (void)database;
    bool changes = context != NULL;
    if (trigger != NULL) {
        return SQLITE_DENY;
    }
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
        return SQLITE_OK;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
        return changes && strncmp(first, "sqlite_", 7) != 0 ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_TRANSACTION:
        return changes ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
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
    return cm_catalogue_refuse(error, CAROM_ERROR_NOT_FOUND, what, "");
}

carom_result cm_catalogue_open(const char *path, cm_catalogue_use use, sqlite3 **db,
                               cm_scene_error *error)
{
    int64_t version = 0;
    *db = NULL;
    bool reads = use == CM_CATALOGUE_READ || use == CM_CATALOGUE_GLANCE;
    bool must_be = reads || use == CM_CATALOGUE_CHANGE;
    carom_result result = must_be ? find_db(path, error) : CAROM_OK;
    result = result == CAROM_OK ? open_file(path, use, db, error) : result;
    result = result == CAROM_OK ? check_version(*db, &version, error) : result;
    result = result == CAROM_OK ? check_schema(*db, version, error) : result;
    result = result == CAROM_OK ? check_pages(*db, error) : result;
    if (result == CAROM_OK && version < SCHEMA_VERSION) {
        result = migrate(*db, error);
    }
    if (result != CAROM_OK) {
        sqlite3_close(*db);
        *db = NULL;
        return result;
    }
    sqlite3_set_authorizer(*db, authorize, reads ? NULL : (void *)authorize);
    return CAROM_OK;
}

carom_result cm_catalogue_version(const char *path, int64_t *version, int64_t *newest,
                                  cm_scene_error *error)
{
    sqlite3 *db = NULL;
    *version = 0;
    *newest = SCHEMA_VERSION;
    carom_result result = find_db(path, error);
    result = result == CAROM_OK ? open_file(path, CM_CATALOGUE_READ, &db, error) : result;
    result = result == CAROM_OK ? check_version(db, version, error) : result;
    result = result == CAROM_OK ? check_schema(db, *version, error) : result;
    sqlite3_close(db);
    return result;
}

// The file and the statement: to be finalized and closed, also after an error.
static carom_result prepare(const char *path, cm_catalogue_use use, const char *sql, sqlite3 **db,
                            sqlite3_stmt **statement, cm_scene_error *error)
{
    *statement = NULL;
    carom_result result = cm_catalogue_open(path, use, db, error);
    if (result == CAROM_OK && sqlite3_prepare_v2(*db, sql, -1, statement, NULL) != SQLITE_OK) {
        result = cm_catalogue_wrong(error, *db, NOT_OURS);
    }
    return result;
}

carom_result cm_catalogue_change(const char *path, cm_catalogue_use use, const char *sql,
                                 const cm_sql_value *values, size_t count, int *changes,
                                 cm_scene_error *error)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    carom_result result = prepare(path, use, sql, &db, &statement, error);
    if (result == CAROM_OK) {
        cm_sql_bind(statement, values, count);
        if (sqlite3_step(statement) != SQLITE_DONE) {
            result = cm_catalogue_wrong(error, db, "cannot be written");
        }
        if (changes != NULL) {
            *changes = sqlite3_changes(db);
        }
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return result;
}

carom_result cm_catalogue_rows(const char *path, cm_catalogue_use use, const char *sql,
                               const cm_sql_value *values, size_t count, const char *table,
                               cm_catalogue_row (*take)(void *context, sqlite3_stmt *row),
                               void *context, cm_scene_error *error)
{
    sqlite3 *db;
    sqlite3_stmt *rows;
    carom_result result = prepare(path, use, sql, &db, &rows, error);
    if (result == CAROM_OK) {
        cm_sql_bind(rows, values, count);
    }
    cm_catalogue_row said = CM_CATALOGUE_NEXT;
    int code = SQLITE_DONE;
    while (result == CAROM_OK && said == CM_CATALOGUE_NEXT &&
           (code = sqlite3_step(rows)) == SQLITE_ROW) {
        said = take(context, rows);
    }
    if (said == CM_CATALOGUE_BAD) {
        result = cm_catalogue_refuse(error, CAROM_ERROR_CORRUPT, table,
                                     "a row whose values are not as expected");
    } else if (result == CAROM_OK && code != SQLITE_ROW && code != SQLITE_DONE) {
        result = cm_catalogue_wrong(error, db, "cannot be read");
    }
    sqlite3_finalize(rows);
    sqlite3_close(db);
    return result;
}
