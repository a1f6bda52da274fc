// The one writer of match files (format: match_format.h).
//
// SQLite in WAL mode, locking_mode EXCLUSIVE set before it, so that the index of the log is on the
// heap and no second connection can come near (versions up to 3.51.2 can corrupt a log that two
// connections write or checkpoint). synchronous NORMAL survives kill -9 at any instant, FULL a
// power cut too. Typical: 20 transactions a second of 3 rows, 2 pages each.
#include "server/record/match_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/record/match_format.h"
#include "server/record/record.h"
#include "shared/sim/inspect.h"

#ifndef CAROM_COMMIT
#define CAROM_COMMIT "unknown"
#endif

struct cm_match_writer {
    sqlite3 *db;
    sqlite3_stmt *insert_tick, *insert_keyframe, *page_count;
    bool in_transaction;
    bool failed;
    char error[160];
};

static bool fail(cm_match_writer *writer, const char *doing)
{
    if (!writer->failed) {
        writer->failed = true;
        int number = sqlite3_system_errno(writer->db);
        snprintf(writer->error, sizeof writer->error, "%s: %s%s%s", doing,
                 sqlite3_errmsg(writer->db), number != 0 ? ": " : "",
                 number != 0 ? strerror(number) : "");
    }
    return false;
}

static bool run(cm_match_writer *writer, const char *sql)
{
    if (writer->failed) {
        return false;
    }
    return sqlite3_exec(writer->db, sql, NULL, NULL, NULL) == SQLITE_OK || fail(writer, sql);
}

static sqlite3_stmt *prepare(cm_match_writer *writer, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (!writer->failed && sqlite3_prepare_v3(writer->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                              &statement, NULL) != SQLITE_OK) {
        fail(writer, sql);
    }
    return statement;
}

// Steps a statement that returns no row, and makes it ready again.
static bool step(cm_match_writer *writer, sqlite3_stmt *statement, const char *doing)
{
    bool done = sqlite3_step(statement) == SQLITE_DONE || fail(writer, doing);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return done;
}

static bool begin(cm_match_writer *writer)
{
    if (!writer->failed && !writer->in_transaction) {
        writer->in_transaction = run(writer, "BEGIN IMMEDIATE");
    }
    return !writer->failed;
}

static void put_integer(cm_match_writer *writer, sqlite3_stmt *put, const char *key, uint64_t value)
{
    if (!writer->failed) {
        sqlite3_bind_text(put, 1, key, -1, SQLITE_STATIC);
        sqlite3_bind_int64(put, 2, (sqlite3_int64)value);
        step(writer, put, "writing the head");
    }
}

static void put_text(cm_match_writer *writer, sqlite3_stmt *put, const char *key, const char *value)
{
    if (!writer->failed) {
        sqlite3_bind_text(put, 1, key, -1, SQLITE_STATIC);
        sqlite3_bind_text(put, 2, value, -1, SQLITE_STATIC);
        step(writer, put, "writing the head");
    }
}

static void put_meta(cm_match_writer *writer, const cm_match_def *def)
{
    sqlite3_stmt *put = prepare(writer, "INSERT INTO meta(key, value) VALUES(?1, ?2)");
    carom_world_def world;
    cm_scene_world_def(def->scene, &world);
    put_integer(writer, put, "match_id", def->match_id);
    put_integer(writer, put, "engine_version", CAROM_ENGINE_VERSION);
    put_text(writer, put, "engine_text", "carom, commit " CAROM_COMMIT);
    put_integer(writer, put, "layout_hash", cm_layout_hash());
    put_text(writer, put, "module", def->module);
    put_integer(writer, put, "module_version", def->module_version);
    put_integer(writer, put, "seed", def->seed);
    put_integer(writer, put, "started_unix_ms", def->started_unix_ms);
    put_integer(writer, put, "tick_rate", world.tick_rate);
    sqlite3_finalize(put);
}

static void put_scene(cm_match_writer *writer, const cm_scene *scene)
{
    sqlite3_stmt *put = prepare(writer, "INSERT INTO scene(id, packed) VALUES(0, ?1)");
    size_t size = cm_scene_packed_size(scene);
    size_t packed_size = 0;
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    uint8_t *packed = NULL;
    if (bytes != NULL) {
        cm_scene_pack(scene, bytes);
        packed = cm_record_pack(bytes, size, &packed_size);
    }
    if (!writer->failed) {
        if (packed == NULL) {
            writer->failed = true;
            snprintf(writer->error, sizeof writer->error, "no memory for the scene");
        } else {
            sqlite3_bind_blob64(put, 1, packed, packed_size, SQLITE_STATIC);
            step(writer, put, "writing the scene");
        }
    }
    sqlite3_finalize(put);
    free(packed);
    free(bytes);
}

// The pragma answers with the mode that it is in, not with an error, where it could not be set.
static bool set_journal(cm_match_writer *writer, const char *mode)
{
    char sql[48];
    snprintf(sql, sizeof sql, "PRAGMA journal_mode=%s", mode);
    sqlite3_stmt *statement = prepare(writer, sql);
    if (statement == NULL) {
        return false;
    }
    bool set = sqlite3_step(statement) == SQLITE_ROW &&
               sqlite3_stricmp((const char *)sqlite3_column_text(statement, 0), mode) == 0;
    if (!set) {
        fail(writer, sql);
    }
    sqlite3_finalize(statement);
    return set;
}

static void write_head(cm_match_writer *writer, const cm_match_def *def, uint64_t hash_0,
                       bool durability_power)
{
    char sql[128];
    run(writer, "PRAGMA locking_mode=EXCLUSIVE");
    if (!writer->failed) {
        set_journal(writer, "wal");
    }
    run(writer, durability_power ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
    begin(writer);
    snprintf(sql, sizeof sql, "PRAGMA application_id=%d; PRAGMA user_version=%d",
             CM_MATCH_APPLICATION_ID, CM_MATCH_FORMAT);
    run(writer, sql);
#define CREATE(name, text) run(writer, text);
    CM_MATCH_TABLES(CREATE)
#undef CREATE
    put_meta(writer, def);
    put_scene(writer, def->scene);
    writer->insert_tick = prepare(writer, "INSERT INTO ticks(tick, hash, input) VALUES(?1,?2,?3)");
    writer->insert_keyframe = prepare(writer, "INSERT INTO keyframes(tick, packed) VALUES(?1, ?2)");
    writer->page_count = prepare(writer, "PRAGMA page_count");
    cm_match_writer_tick(writer, 0, hash_0, NULL, 0);
    cm_match_writer_commit(writer);
}

carom_result cm_match_writer_open(const char *path, const cm_match_def *def, uint64_t hash_0,
                                  bool durability_power, cm_match_writer **out, char *error,
                                  size_t error_size)
{
    *out = NULL;
    // By ourselves, so that a file that exists is never touched. Closed before SQLite opens it:
    // closing a descriptor later would drop the locks that SQLite holds through another.
    int descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
    if (descriptor < 0) {
        snprintf(error, error_size, "%s", strerror(errno));
        return CAROM_ERROR_IO;
    }
    close(descriptor);
    cm_match_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) {
        unlink(path);
        return CAROM_ERROR_MEMORY;
    }
    if (sqlite3_open_v2(path, &writer->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
        fail(writer, "opening");
    } else {
        sqlite3_extended_result_codes(writer->db, 1);
        write_head(writer, def, hash_0, durability_power);
    }
    if (writer->failed) {
        snprintf(error, error_size, "%s", writer->error);
        cm_match_writer_close(writer);
        unlink(path); // ours, and worth nothing without its head
        return CAROM_ERROR_IO;
    }
    *out = writer;
    return CAROM_OK;
}

bool cm_match_writer_tick(cm_match_writer *writer, uint64_t tick, uint64_t hash,
                          const uint8_t *input, size_t size)
{
    if (!begin(writer)) {
        return false;
    }
    sqlite3_bind_int64(writer->insert_tick, 1, (sqlite3_int64)tick);
    sqlite3_bind_int64(writer->insert_tick, 2, (sqlite3_int64)hash);
    if (size > 0) {
        sqlite3_bind_blob64(writer->insert_tick, 3, input, size, SQLITE_STATIC);
    }
    return step(writer, writer->insert_tick, "writing a tick");
}

bool cm_match_writer_keyframe(cm_match_writer *writer, uint64_t tick, const uint8_t *bytes,
                              size_t size)
{
    if (!begin(writer)) {
        return false;
    }
    size_t packed_size = 0;
    uint8_t *packed = cm_record_pack(bytes, size, &packed_size);
    if (packed == NULL) {
        return true; // a keyframe is a convenience: the ticks are the record
    }
    sqlite3_bind_int64(writer->insert_keyframe, 1, (sqlite3_int64)tick);
    sqlite3_bind_blob64(writer->insert_keyframe, 2, packed, packed_size, SQLITE_STATIC);
    bool done = step(writer, writer->insert_keyframe, "writing a keyframe");
    free(packed);
    return done;
}

bool cm_match_writer_commit(cm_match_writer *writer)
{
    if (writer->failed || !writer->in_transaction) {
        return !writer->failed;
    }
    writer->in_transaction = false;
    return run(writer, "COMMIT");
}

uint64_t cm_match_writer_bytes(cm_match_writer *writer)
{
    if (writer->failed) {
        return 0;
    }
    uint64_t pages = 0;
    if (sqlite3_step(writer->page_count) == SQLITE_ROW) {
        pages = (uint64_t)sqlite3_column_int64(writer->page_count, 0);
    }
    sqlite3_reset(writer->page_count);
    return pages * 4096u;
}

const char *cm_match_writer_error(const cm_match_writer *writer)
{
    return writer->error;
}

static void finalize_all(cm_match_writer *writer)
{
    sqlite3_finalize(writer->insert_tick);
    sqlite3_finalize(writer->insert_keyframe);
    sqlite3_finalize(writer->page_count);
    writer->insert_tick = writer->insert_keyframe = writer->page_count = NULL;
}

bool cm_match_writer_finish(cm_match_writer *writer, cm_match_end end)
{
    if (end != CM_MATCH_LIVE && begin(writer)) {
        sqlite3_stmt *put = prepare(writer, "INSERT INTO meta(key, value) VALUES(?1, ?2)");
        put_integer(writer, put, "end", (uint64_t)end);
        sqlite3_finalize(put);
    }
    cm_match_writer_commit(writer);
    finalize_all(writer); // a statement in use would keep the journal mode
    run(writer, "PRAGMA wal_checkpoint(TRUNCATE)");
    return !writer->failed && set_journal(writer, "delete");
}

void cm_match_writer_close(cm_match_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    finalize_all(writer);
    if (writer->db != NULL) {
        // No checkpoint at closing: after an error it would be a retry, after finish there is none.
        sqlite3_db_config(writer->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        sqlite3_close(writer->db);
    }
    free(writer);
}
