// Opening match files, also those of a killed writer.
//
// - One file, no log: opened read-only. If its head says that it had a log (the file alone was
//   copied away from a killed server), it is opened as immutable: what its last checkpoint held.
// - A log or journal beside it (its server was killed): opened for writing, because SQLite reads a
//   log only so, in exclusive mode (the log's index is on the heap), told not to checkpoint at
//   closing: nothing is changed, and the server can resume from it later.
// - The same, but the file may not be written: file and log are copied to a private folder first.
// - A server writes it: that server holds the lock, and the message names it. No descriptor of our
// own is opened on the file: closing it would drop the locks that a writer in this process holds.
// Limits bound memory; the schema has to be ours, text for text.
#include "server/record/format/match_db.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/record/format/match_format.h"
#include "server/record/format/record.h"
#include "server/record/format/untrusted_db.h"

#define PATH_BYTES 4608
#define BLOB_MAX   (CM_RECORD_KEYFRAME_MAX + (1u << 20)) // an incompressible keyframe, packed

carom_result cm_match_wrong(cm_match_error *error, carom_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return result;
}

carom_result cm_match_db_wrong(const cm_match_db *db, const char *place, cm_match_error *error)
{
    const char *said = sqlite3_errmsg(db->db);
    switch (sqlite3_errcode(db->db) & 0xff) {
    case SQLITE_NOTADB:
        return cm_match_wrong(error, CAROM_ERROR_MAGIC, "not a match file: %s", said);
    case SQLITE_BUSY:
        return cm_match_wrong(error, CAROM_ERROR_IO,
                              "held by a running server (or by another reader of its log)");
    case SQLITE_IOERR:
        if (sqlite3_extended_errcode(db->db) == SQLITE_IOERR_SHORT_READ) {
            break; // truncated
        }
        return cm_match_wrong(error, CAROM_ERROR_IO, "%s: %s", place, said);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_NOMEM:
        return cm_match_wrong(error, CAROM_ERROR_IO, "%s: %s", place, said);
    default:
        break;
    }
    return cm_match_corrupt(error, "%s: %s", place, said);
}

static void defend(sqlite3 *db)
{
    cm_untrusted_db_defend(db, (int)BLOB_MAX);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_busy_timeout(db, 0);
    // A second connection of this process must not share a cache.
    sqlite3_exec(db, "PRAGMA query_only=ON; PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL);
}

// Opens and reads once, which takes the lock and reads the log.
static int try_open(const char *name, int flags, sqlite3 **db)
{
    int code = sqlite3_open_v2(name, db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK) {
        return code;
    }
    defend(*db);
    return sqlite3_exec(*db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
}

static bool has_beside(const char *path, const char *suffix)
{
    char name[PATH_BYTES];
    struct stat about;
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return stat(name, &about) == 0 && about.st_size > 0;
}

// A path as a URI, so that no name of a file can hold a parameter.
static void uri_of(const char *path, const char *parameters, char *uri, size_t size)
{
    size_t at = (size_t)snprintf(uri, size, "file:%s", path[0] == '/' ? "" : "./");
    for (const char *c = path; *c != '\0' && at + 4 < size; c++) {
        if (*c == '%' || *c == '?' || *c == '#' || (unsigned char)*c < 0x21) {
            at += (size_t)snprintf(uri + at, size - at, "%%%02x", (unsigned)(unsigned char)*c);
        } else {
            uri[at++] = *c;
        }
    }
    snprintf(uri + at, size - at, "%s", parameters);
}

static bool copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb");
    FILE *out = in != NULL ? fopen(to, "wb") : NULL;
    bool copied = out != NULL;
    char block[65536];
    size_t size;
    while (copied && (size = fread(block, 1, sizeof block, in)) > 0) {
        copied = fwrite(block, 1, size, out) == size;
    }
    copied = copied && ferror(in) == 0;
    if (out != NULL) {
        copied = fclose(out) == 0 && copied;
    }
    if (in != NULL) {
        fclose(in);
    }
    return copied;
}

static const char *const beside[] = {"", "-wal", "-journal"};

static void remove_copy(char *folder)
{
    char name[PATH_BYTES];
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        snprintf(name, sizeof name, "%s/match%s", folder, beside[i]);
        unlink(name);
    }
    rmdir(folder);
    free(folder);
}

// File and log into a new private folder; NULL where that fails. Only for files that may not be
// written, so that none of them has a writer in this process.
static char *make_copy(const char *path)
{
    const char *temporary = getenv("TMPDIR");
    char from[PATH_BYTES], to[PATH_BYTES];
    snprintf(to, sizeof to, "%s/carom-match-XXXXXX", temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(to) == NULL) {
        return NULL;
    }
    char *folder = strdup(to);
    for (size_t i = 0; folder != NULL && i < sizeof beside / sizeof beside[0]; i++) {
        snprintf(from, sizeof from, "%s%s", path, beside[i]);
        if (snprintf(to, sizeof to, "%s/match%s", folder, beside[i]) >= (int)sizeof to ||
            ((i == 0 || has_beside(path, beside[i])) && !copy_file(from, to))) {
            remove_copy(folder);
            return NULL;
        }
    }
    return folder;
}

static int open_with_log(const char *path, cm_match_db *out)
{
    int code = try_open(path, SQLITE_OPEN_READWRITE, &out->db);
    if (code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY) {
        return code;
    }
    bool writable = out->db != NULL && sqlite3_db_readonly(out->db, "main") == 0;
    if (writable && (code & 0xff) != SQLITE_CANTOPEN && (code & 0xff) != SQLITE_READONLY) {
        return code;
    }
    char name[PATH_BYTES];
    char *folder = make_copy(path);
    if (folder == NULL) {
        return code;
    }
    sqlite3_close(out->db);
    out->copy = folder;
    snprintf(name, sizeof name, "%s/match", folder);
    return try_open(name, SQLITE_OPEN_READWRITE, &out->db);
}

static int open_alone(const char *path, cm_match_db *out)
{
    char uri[3 * PATH_BYTES];
    int code = try_open(path, SQLITE_OPEN_READONLY, &out->db);
    if (code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_NOTADB) {
        return code;
    }
    sqlite3_close(out->db);
    uri_of(path, "?immutable=1", uri, sizeof uri);
    return try_open(uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, &out->db);
}

typedef struct schema_row {
    const char *type, *name, *sql;
} schema_row;

static const schema_row schema[] = {
#define ROW(kind, name, text) {#kind, #name, text},
    CM_MATCH_SCHEMA(ROW)
#undef ROW
};

#define SCHEMA_ROWS (sizeof schema / sizeof schema[0])

static bool is_row(sqlite3_stmt *row, const schema_row *expected)
{
    const char *type = (const char *)sqlite3_column_text(row, 0);
    const char *name = (const char *)sqlite3_column_text(row, 1);
    const char *sql = (const char *)sqlite3_column_text(row, 2);
    return type != NULL && name != NULL && sql != NULL && strcmp(type, expected->type) == 0 &&
           strcmp(name, expected->name) == 0 && strcmp(sql, expected->sql) == 0;
}

static carom_result check_schema(const cm_match_db *db, cm_match_error *error)
{
    sqlite3_stmt *rows = NULL;
    if (sqlite3_prepare_v2(db->db, "SELECT type, name, sql FROM sqlite_schema", -1, &rows, NULL) !=
        SQLITE_OK) {
        return cm_match_db_wrong(db, "sqlite_schema", error);
    }
    uint32_t found = 0;
    carom_result result = CAROM_OK;
    int code = SQLITE_DONE;
    while (result == CAROM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(rows, 1);
        if (found == SCHEMA_ROWS || !is_row(rows, &schema[found])) {
            result = cm_match_corrupt(error, "schema: '%.40s' is not as expected: %s%s, as written",
                                      name != NULL ? name : "NULL",
                                      found < SCHEMA_ROWS ? schema[found].type : "no more",
                                      found < SCHEMA_ROWS ? schema[found].name : "");
        }
        found++;
    }
    if (result == CAROM_OK && code != SQLITE_DONE) {
        result = cm_match_db_wrong(db, "sqlite_schema", error);
    } else if (result == CAROM_OK && found != SCHEMA_ROWS) {
        result = cm_match_corrupt(error, "schema: %u tables and views, expected %zu", found,
                                  SCHEMA_ROWS);
    }
    sqlite3_finalize(rows);
    return result;
}

// A text of an older file, made safe to print.
static void old_text(sqlite3 *db, const char *sql, char *text, size_t size)
{
    sqlite3_stmt *row = NULL;
    text[0] = '\0';
    if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW && sqlite3_column_text(row, 0) != NULL) {
        snprintf(text, size, "%s", (const char *)sqlite3_column_text(row, 0));
        for (char *at = text; *at != '\0'; at++) {
            *at = *at < 0x20 || *at > 0x7e ? '?' : *at;
        }
    }
    sqlite3_finalize(row);
}

// From here on nothing but reading our tables: whatever a file brings along is not run.
static int authorize(void *context, int action, const char *first, const char *second,
                     const char *database, const char *trigger)
{
    (void)context;
    (void)first;
    (void)second;
    (void)database;
    bool reads = action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION;
    return reads && trigger == NULL ? SQLITE_OK : SQLITE_DENY;
}

static carom_result check_pages(const cm_match_db *db, cm_match_error *error)
{
    char found[160];
    if (cm_untrusted_db_check_pages(db->db, found, sizeof found)) {
        return CAROM_OK;
    }
    return found[0] != '\0' ? cm_match_corrupt(error, "pages: %s", found)
                            : cm_match_db_wrong(db, "pages", error);
}

// The error for a file of another format names the engine that wrote it.
static carom_result other_format(const cm_match_db *db, int64_t version, cm_match_error *error)
{
    char number[24], text[64];
    old_text(db->db, "SELECT value FROM meta WHERE key = 'engine_version'", number, sizeof number);
    old_text(db->db, "SELECT value FROM meta WHERE key = 'engine_text'", text, sizeof text);
    return cm_match_wrong(error, CAROM_ERROR_VERSION,
                          "recorded by engine %s (%s) in format %lld of match files; this build "
                          "reads format %d",
                          number[0] != '\0' ? number : "unknown", text, (long long)version,
                          CM_MATCH_FORMAT);
}

carom_result cm_match_db_open(const char *path, cm_match_db *out, uint32_t *format,
                              cm_match_error *error)
{
    struct stat about;
    memset(out, 0, sizeof *out);
    if (strlen(path) > PATH_BYTES - 512) {
        return cm_match_wrong(error, CAROM_ERROR_IO, "the path is too long");
    }
    if (stat(path, &about) != 0) {
        return cm_match_wrong(error, CAROM_ERROR_IO, "%s", strerror(errno));
    }
    if (!S_ISREG(about.st_mode)) {
        return cm_match_wrong(error, CAROM_ERROR_MAGIC, "not a file");
    }
    bool log = has_beside(path, "-wal") || has_beside(path, "-journal");
    int code = log ? open_with_log(path, out) : open_alone(path, out);
    if (code != SQLITE_OK) {
        return cm_match_db_wrong(out, "opening", error);
    }
    if (cm_untrusted_number(out->db, "PRAGMA application_id") != CM_MATCH_APPLICATION_ID) {
        return cm_match_wrong(error, CAROM_ERROR_MAGIC,
                              "not a match file: application_id, expected 0x%08x",
                              (unsigned)CM_MATCH_APPLICATION_ID);
    }
    int64_t version = cm_untrusted_number(out->db, "PRAGMA user_version");
    if (version != CM_MATCH_FORMAT) {
        return other_format(out, version, error);
    }
    *format = (uint32_t)version;
    // SQLite reads zeros where the last page is cut.
    int64_t pages = cm_untrusted_number(out->db, "PRAGMA page_count");
    int64_t page = cm_untrusted_number(out->db, "PRAGMA page_size");
    if (!log && (pages < 1 || page < 512 || about.st_size < pages * page)) {
        return cm_match_corrupt(error, "truncated: %lld bytes, expected %lld pages of %lld",
                                (long long)about.st_size, (long long)pages, (long long)page);
    }
    carom_result result = check_schema(out, error);
    if (result == CAROM_OK) {
        result = check_pages(out, error);
    }
    if (result == CAROM_OK) {
        sqlite3_set_authorizer(out->db, authorize, NULL);
    }
    return result;
}

void cm_match_db_close(cm_match_db *db)
{
    sqlite3_close(db->db);
    if (db->copy != NULL) {
        remove_copy(db->copy);
    }
    memset(db, 0, sizeof *db);
}
