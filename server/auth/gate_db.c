// Rows wait in an array under a lock that is never held during I/O; the thread swaps it for its
// own, writes all of it as one transaction, and sleeps until the next.
#include "server/auth/gate_db.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include "shared/base/array.h"

#define APPLICATION_ID "1130655314" // "CdoR"
#define ROW_BYTES_MAX  4096

typedef struct row_list {
    cm_gate_row *rows;
    uint32_t count, capacity;
} row_list;

struct cm_gate_db {
    sqlite3 *sqlite;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool has_thread, stopping, failed;
    char error[256];
    row_list waiting; // under the lock
    row_list batch;   // the thread's
};

// Writing ----------------------------------------------------------------------------------------

static bool write_row(sqlite3 *sqlite, const cm_gate_row *row)
{
    static const char *const texts[] = {
        [CM_GATE_ROW_USED] = "INSERT OR REPLACE INTO used VALUES(?1, ?2)",
        [CM_GATE_ROW_CLIENT] = "INSERT OR REPLACE INTO bans VALUES(2, ?2)",
        [CM_GATE_ROW_ADDRESS] = "INSERT OR REPLACE INTO bans VALUES(3, ?2)",
        [CM_GATE_ROW_TERM] = "INSERT OR REPLACE INTO terms VALUES(?2, ?3, ?4)",
        [CM_GATE_ROW_ADDRESS_TERM] = "INSERT OR REPLACE INTO address_terms VALUES(?2, ?3, ?4)",
    };
    static const char *const lifts[] = {
        [CM_GATE_ROW_CLIENT] = "DELETE FROM bans WHERE kind = 2 AND who = ?2",
        [CM_GATE_ROW_ADDRESS] = "DELETE FROM bans WHERE kind = 3 AND who = ?2",
        [CM_GATE_ROW_TERM] = "DELETE FROM terms WHERE who = ?2",
        [CM_GATE_ROW_ADDRESS_TERM] = "DELETE FROM address_terms WHERE who = ?2",
    };
    sqlite3_stmt *statement = NULL;
    bool done = sqlite3_prepare_v2(sqlite, row->gone ? lifts[row->kind] : texts[row->kind], -1,
                                   &statement, NULL) == SQLITE_OK;
    if (done) {
        if (row->kind == CM_GATE_ROW_USED) {
            sqlite3_bind_blob(statement, 1, row->id, CM_GATE_DB_ID, SQLITE_STATIC);
        }
        sqlite3_bind_int64(statement, 2, (sqlite3_int64)row->number);
        if (row->kind >= CM_GATE_ROW_TERM && !row->gone) {
            sqlite3_bind_int64(statement, 3, (sqlite3_int64)row->until_unix_s);
            sqlite3_bind_text(statement, 4, row->reason, -1, SQLITE_STATIC);
        }
        done = sqlite3_step(statement) == SQLITE_DONE;
    }
    sqlite3_finalize(statement);
    return done;
}

static bool run(sqlite3 *sqlite, const char *text)
{
    return sqlite3_exec(sqlite, text, NULL, NULL, NULL) == SQLITE_OK;
}

static bool write_batch(cm_gate_db *db)
{
    bool done = run(db->sqlite, "BEGIN");
    for (uint32_t i = 0; done && i < db->batch.count; i++) {
        done = write_row(db->sqlite, &db->batch.rows[i]);
    }
    return done && run(db->sqlite, "COMMIT");
}

static void *thread_main(void *user)
{
    cm_gate_db *db = user;
    pthread_mutex_lock(&db->lock);
    for (;;) {
        while (db->waiting.count == 0 && !db->stopping) {
            pthread_cond_wait(&db->wake, &db->lock);
        }
        if (db->waiting.count == 0) {
            break;
        }
        row_list batch = db->waiting;
        db->waiting = db->batch;
        db->waiting.count = 0;
        db->batch = batch;
        bool try = !db->failed;
        pthread_mutex_unlock(&db->lock);
        bool done = try && write_batch(db);
        pthread_mutex_lock(&db->lock);
        if (try && !done) { // never again: after a failed write the file's state is unknown
            db->failed = true;
            snprintf(db->error, sizeof db->error, "%s", sqlite3_errmsg(db->sqlite));
        }
    }
    pthread_mutex_unlock(&db->lock);
    return NULL;
}

void cm_gate_db_keep(cm_gate_db *db, const cm_gate_row *row)
{
    pthread_mutex_lock(&db->lock);
    row_list *list = &db->waiting;
    if (list->count < CM_GATE_DB_QUEUE &&
        cm_array_reserve(&list->rows, &list->capacity, list->count + 1, sizeof *list->rows)) {
        list->rows[list->count++] = *row;
    } else if (!db->failed) {
        db->failed = true;
        snprintf(db->error, sizeof db->error, "more rows wait than there is place for");
    }
    pthread_mutex_unlock(&db->lock);
    pthread_cond_signal(&db->wake);
}

bool cm_gate_db_is_valid(cm_gate_db *db, char *error, size_t error_size)
{
    pthread_mutex_lock(&db->lock);
    bool valid = !db->failed;
    if (!valid) {
        snprintf(error, error_size, "%s", db->error);
    }
    pthread_mutex_unlock(&db->lock);
    return valid;
}

// Opening and reading ----------------------------------------------------------------------------

static carom_result open_file(const char *path, uint64_t now_unix_s, sqlite3 **sqlite)
{
    if (sqlite3_open_v2(path, sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
        SQLITE_OK) {
        return CAROM_ERROR_IO;
    }
    sqlite3_db_config(*sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(*sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(*sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(*sqlite, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(*sqlite, SQLITE_LIMIT_LENGTH, ROW_BYTES_MAX);
    sqlite3_limit(*sqlite, SQLITE_LIMIT_ATTACHED, 0);
    char expire[96];
    snprintf(expire, sizeof expire, "DELETE FROM used WHERE expires <= %llu",
             (unsigned long long)now_unix_s);
    bool done =
        run(*sqlite, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cell_size_check = ON;"
                     "PRAGMA mmap_size = 0; PRAGMA journal_mode = WAL;"
                     "PRAGMA synchronous = NORMAL; PRAGMA application_id = " APPLICATION_ID ";"
                     "CREATE TABLE IF NOT EXISTS used(id BLOB PRIMARY KEY, expires INTEGER NOT "
                     "NULL) WITHOUT ROWID;"
                     "CREATE TABLE IF NOT EXISTS bans(kind INTEGER, who INTEGER, PRIMARY "
                     "KEY(kind, who)) WITHOUT ROWID;"
                     "CREATE TABLE IF NOT EXISTS terms(who INTEGER PRIMARY KEY, until INTEGER NOT "
                     "NULL, reason TEXT NOT NULL);"
                     "CREATE TABLE IF NOT EXISTS address_terms(who INTEGER PRIMARY KEY, until "
                     "INTEGER NOT NULL, reason TEXT NOT NULL);") &&
        run(*sqlite, expire);
    return done ? CAROM_OK : CAROM_ERROR_CORRUPT;
}

carom_result cm_gate_db_open(const char *directory, uint64_t now_unix_s, cm_gate_db **out,
                             char *error, size_t error_size)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/gate.db", directory);
    *out = NULL;
    cm_gate_db *db = calloc(1, sizeof *db);
    if (db == NULL) {
        snprintf(error, error_size, "%s: out of memory", path);
        return CAROM_ERROR_MEMORY;
    }
    pthread_mutex_init(&db->lock, NULL);
    pthread_cond_init(&db->wake, NULL);
    carom_result result = open_file(path, now_unix_s, &db->sqlite);
    if (result != CAROM_OK) {
        bool busy = (sqlite3_errcode(db->sqlite) & 0xff) == SQLITE_BUSY;
        snprintf(error, error_size, "%s: %s", path,
                 busy ? "another server uses it, expected a folder of matches for each"
                      : sqlite3_errmsg(db->sqlite));
        cm_gate_db_close(db);
        return busy ? CAROM_ERROR_IO : result;
    }
    *out = db;
    return CAROM_OK;
}

static void start(cm_gate_db *db)
{
    db->has_thread = pthread_create(&db->thread, NULL, thread_main, db) == 0;
    db->failed = !db->has_thread;
    if (db->failed) {
        snprintf(db->error, sizeof db->error, "no thread could be started");
    }
}

carom_result cm_gate_db_read(cm_gate_db *db, void (*take)(void *context, const cm_gate_row *row),
                             void *context)
{
    sqlite3_stmt *select = NULL;
    const char *text = "SELECT 1, id, expires, 0, '' FROM used UNION ALL "
                       "SELECT kind, x'', who, 0, '' FROM bans UNION ALL "
                       "SELECT 4, x'', who, until, reason FROM terms UNION ALL "
                       "SELECT 5, x'', who, until, reason FROM address_terms";
    bool valid = sqlite3_prepare_v2(db->sqlite, text, -1, &select, NULL) == SQLITE_OK;
    int step = SQLITE_DONE;
    for (uint32_t count = 0; valid && (step = sqlite3_step(select)) == SQLITE_ROW; count++) {
        cm_gate_row row = {.kind = (cm_gate_row_kind)sqlite3_column_int(select, 0),
                           .number = (uint64_t)sqlite3_column_int64(select, 2)};
        const void *id = sqlite3_column_blob(select, 1);
        bool used = row.kind == CM_GATE_ROW_USED;
        valid = count < 5 * CM_GATE_DB_ROWS && row.kind >= CM_GATE_ROW_USED &&
                row.kind <= CM_GATE_ROW_ADDRESS_TERM && (!used || row.number > 0) &&
                sqlite3_column_bytes(select, 1) == (used ? (int)CM_GATE_DB_ID : 0) &&
                sqlite3_column_bytes(select, 4) <= (int)CM_BAN_REASON_MAX;
        if (valid && used) {
            memcpy(row.id, id, sizeof row.id);
        }
        if (valid && row.kind >= CM_GATE_ROW_TERM) {
            const unsigned char *reason = sqlite3_column_text(select, 4);
            row.until_unix_s = (uint64_t)sqlite3_column_int64(select, 3);
            snprintf(row.reason, sizeof row.reason, "%s",
                     reason != NULL ? (const char *)reason : "");
        }
        if (valid) {
            take(context, &row);
        }
    }
    sqlite3_finalize(select);
    if (!valid || step != SQLITE_DONE) {
        return CAROM_ERROR_CORRUPT;
    }
    start(db);
    return db->failed ? CAROM_ERROR_MEMORY : CAROM_OK;
}

void cm_gate_db_close(cm_gate_db *db)
{
    if (db == NULL) {
        return;
    }
    if (db->has_thread) {
        pthread_mutex_lock(&db->lock);
        db->stopping = true;
        pthread_mutex_unlock(&db->lock);
        pthread_cond_signal(&db->wake);
        pthread_join(db->thread, NULL);
    }
    sqlite3_close(db->sqlite);
    pthread_cond_destroy(&db->wake);
    pthread_mutex_destroy(&db->lock);
    free(db->waiting.rows);
    free(db->batch.rows);
    free(db);
}

_Static_assert(CM_GATE_DB_ID == CM_TOKEN_NONCE_BYTES, "the id that is kept is a token's");

void cm_gate_db_keep_used(cm_gate_db *db, const cm_used_token *token)
{
    cm_gate_row row = {.kind = CM_GATE_ROW_USED, .number = token->expires_unix_s};
    memcpy(row.id, token->id, sizeof row.id);
    cm_gate_db_keep(db, &row);
}

void cm_gate_db_keep_ban(cm_gate_db *db, bool by_address, uint64_t who, bool banned)
{
    cm_gate_row row = {.kind = by_address ? CM_GATE_ROW_ADDRESS : CM_GATE_ROW_CLIENT,
                       .gone = !banned,
                       .number = who};
    cm_gate_db_keep(db, &row);
}

void cm_gate_db_keep_term(cm_gate_db *db, const cm_ban_term *term, bool gone)
{
    cm_gate_row row = {.kind = term->by_address ? CM_GATE_ROW_ADDRESS_TERM : CM_GATE_ROW_TERM,
                       .gone = gone,
                       .number = term->who,
                       .until_unix_s = term->until_unix_s};
    memcpy(row.reason, term->reason, sizeof row.reason);
    cm_gate_db_keep(db, &row);
}
