// The one writer of match files (format: match_format.h).
//
// SQLite in WAL mode, locking_mode EXCLUSIVE set before it, so that the index of the log is on the
// heap and no second connection can come near (versions up to 3.51.2 can corrupt a log that two
// connections write or checkpoint). synchronous NORMAL survives kill -9 at any instant, FULL a
// power cut too. Typical: 10 transactions a second of 6 ticks, 3 pages each.
//
// The chain is made here, from what is handed over, in the order of the calls; each transaction
// also puts its newest value into `last`. Inputs stay as raw rows until the next keyframe, which
// packs them (with CM_RECORD_PACK_ROWS of them, earlier). A keyframe is compressed against the one
// before it, each KEYFRAME_RUN-th alone, so that a seek unpacks at most so many.
#include "server/record/store/match_writer_inner.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/record/format/match_format.h"
#include "server/record/format/chain.h"
#include "server/record/format/column.h"
#include "server/record/format/sign_key.h"

#define LOG_PAGES 1000 // of the log, before they are put into the file

bool cm_match_writer_fail(cm_match_writer *writer, const char *doing)
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

bool cm_match_writer_refuse(cm_match_writer *writer, const char *why)
{
    if (!writer->failed) {
        writer->failed = true;
        snprintf(writer->error, sizeof writer->error, "%s", why);
    }
    return false;
}

bool cm_match_writer_fail_memory(cm_match_writer *writer)
{
    return cm_match_writer_refuse(writer, "no memory for the recording");
}

bool cm_match_writer_run(cm_match_writer *writer, const char *sql)
{
    if (writer->failed) {
        return false;
    }
    return sqlite3_exec(writer->db, sql, NULL, NULL, NULL) == SQLITE_OK ||
           cm_match_writer_fail(writer, sql);
}

static sqlite3_stmt *prepare(cm_match_writer *writer, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (!writer->failed && sqlite3_prepare_v3(writer->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                              &statement, NULL) != SQLITE_OK) {
        cm_match_writer_fail(writer, sql);
    }
    return statement;
}

bool cm_match_writer_put(cm_match_writer *writer, sqlite3_stmt *statement,
                         const cm_sql_value *values, size_t count, const char *doing)
{
    cm_sql_bind(statement, values, count);
    bool done = sqlite3_step(statement) == SQLITE_DONE || cm_match_writer_fail(writer, doing);
    sqlite3_reset(statement);
    return done;
}

bool cm_match_writer_begin(cm_match_writer *writer)
{
    if (!writer->failed && !writer->in_transaction) {
        writer->in_transaction = cm_match_writer_run(writer, "BEGIN IMMEDIATE");
    }
    return !writer->failed;
}

// Head ----------------------------------------------------------------------------------------

static void put_meta(cm_match_writer *writer, const cm_match_info *meta)
{
    sqlite3_stmt *put = prepare(writer, "INSERT INTO meta(key, value) VALUES(?1, ?2)");
    for (uint32_t i = 0; i < CM_META_KEYS && !writer->failed; i++) {
        const cm_meta_key *key = &cm_meta_keys[i];
        char text[CM_META_TEXT_MAX];
        cm_sql_value value =
            cm_meta_text(meta, key, text) ? CM_TEXT(text) : CM_INT(strtoull(text, NULL, 10));
        if ((key->when == CM_META_OF_SEAM && meta->parent == 0) ||
            (key->when == CM_META_GIVEN && text[0] == '\0')) {
            continue;
        }
        cm_match_writer_put(writer, put, CM_VALUES(CM_TEXT(key->name), value), "writing the head");
        cm_chain_meta(&writer->chain, key->name, text);
    }
    sqlite3_finalize(put);
}

static void put_scene(cm_match_writer *writer, const uint8_t *bytes, size_t size)
{
    sqlite3_stmt *put = prepare(writer, "INSERT INTO scene(id, packed) VALUES(0, ?1)");
    size_t packed_size = 0;
    uint8_t *packed = cm_record_compress(bytes, size, NULL, 0, &packed_size);
    if (packed == NULL) {
        cm_match_writer_fail_memory(writer);
    } else if (!writer->failed) {
        cm_match_writer_put(writer, put, CM_VALUES(CM_BLOB(packed, packed_size)),
                            "writing the scene");
        cm_chain_scene(&writer->chain, bytes, size);
    }
    sqlite3_finalize(put);
    free(packed);
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
    // The change is committed behind the answer.
    set = set && sqlite3_step(statement) == SQLITE_DONE;
    if (!set) {
        cm_match_writer_fail(writer, sql);
    }
    sqlite3_finalize(statement);
    return set;
}

static int count_log(void *context, sqlite3 *db, const char *name, int pages)
{
    (void)db;
    (void)name;
    ((cm_match_writer *)context)->log_pages = pages;
    return SQLITE_OK;
}

// The one connection: exclusive from here on.
static void set_up(cm_match_writer *writer, bool durability_power)
{
    cm_match_writer_run(writer, "PRAGMA locking_mode=EXCLUSIVE");
    if (!writer->failed) {
        set_journal(writer, "wal");
    }
    sqlite3_wal_hook(writer->db, count_log, writer); // in the place of its own checkpoints
    cm_match_writer_run(writer,
                        durability_power ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
}

static void prepare_all(cm_match_writer *writer)
{
#define PREPARE(name, text) writer->put[PUT_##name] = prepare(writer, text);
    STATEMENTS(PREPARE)
#undef PREPARE
}

static void write_head(cm_match_writer *writer, const cm_match_writer_def *def)
{
    char sql[128];
    const cm_match_start *start = def->start;
    set_up(writer, def->durability_power);
    cm_match_writer_begin(writer);
    snprintf(sql, sizeof sql, "PRAGMA application_id=%d; PRAGMA user_version=%d",
             CM_MATCH_APPLICATION_ID, CM_MATCH_FORMAT);
    cm_match_writer_run(writer, sql);
#define CREATE(kind, name, text) cm_match_writer_run(writer, text);
    CM_MATCH_SCHEMA(CREATE)
#undef CREATE
    cm_chain_start(&writer->chain);
    put_meta(writer, &start->meta);
    put_scene(writer, start->scene, start->scene_size);
    prepare_all(writer);
    cm_recorded_tick tick = {.tick = start->tick, .hash = start->hash};
    tick.input.events = start->joins;
    tick.input.event_count = start->join_count;
    cm_match_writer_tick(writer, &tick);
    if (start->tick > 0) {
        cm_match_writer_keyframe(writer, start->keyframe, start->keyframe_size);
        if (writer->base_tick != start->tick && !writer->failed) {
            cm_match_writer_refuse(writer, "the state with which the file begins cannot be kept");
        }
    }
    cm_match_writer_commit(writer);
}

static cm_match_writer *make_writer(const cm_match_writer_def *def)
{
    cm_match_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL || (writer->pack = cm_record_pack_create()) == NULL) {
        free(writer);
        return NULL;
    }
    if (def->secret != NULL) {
        writer->has_secret = true;
        memcpy(writer->secret, def->secret, sizeof writer->secret);
    }
    return writer;
}

carom_result cm_match_writer_open(const char *path, const cm_match_writer_def *def,
                                  cm_match_writer **out, char *error, size_t error_size)
{
    *out = NULL;
    if (!cm_crypto_init()) {
        snprintf(error, error_size, "the cryptographic library does not start");
        return CAROM_ERROR_STATE;
    }
    // By ourselves, so that a file that exists is never touched. Closed before SQLite opens it:
    // closing a descriptor later would drop the locks that SQLite holds through another.
    int descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
    if (descriptor < 0) {
        snprintf(error, error_size, "%s", strerror(errno));
        return CAROM_ERROR_IO;
    }
    close(descriptor);
    cm_match_writer *writer = make_writer(def);
    if (writer == NULL) {
        unlink(path);
        return CAROM_ERROR_MEMORY;
    }
    if (sqlite3_open_v2(path, &writer->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
        cm_match_writer_fail(writer, "opening");
    } else {
        sqlite3_extended_result_codes(writer->db, 1);
        write_head(writer, def);
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

// Going on ------------------------------------------------------------------------------------

static uint64_t number_of(cm_match_writer *writer, const char *sql)
{
    sqlite3_stmt *row = prepare(writer, sql);
    uint64_t number = 0;
    if (row != NULL && sqlite3_step(row) == SQLITE_ROW) {
        number = (uint64_t)sqlite3_column_int64(row, 0);
    } else {
        cm_match_writer_fail(writer, sql);
    }
    sqlite3_finalize(row);
    return number;
}

static void take_last(cm_match_writer *writer)
{
    sqlite3_stmt *row = prepare(writer, "SELECT tick, how, chain FROM last WHERE id = 0");
    uint64_t tick;
    if (row == NULL || sqlite3_step(row) != SQLITE_ROW || !cm_column_u64(row, 0, &tick) ||
        !cm_column_bytes(row, 2, writer->chain.value, sizeof writer->chain.value)) {
        cm_match_writer_refuse(writer, "last: expected a tick and 32 bytes");
    } else if (sqlite3_column_type(row, 1) != SQLITE_NULL) {
        cm_match_writer_refuse(writer, "the match has ended");
    } else {
        writer->tick = tick;
    }
    sqlite3_finalize(row);
}

static void take_sign_key(cm_match_writer *writer)
{
    char ours[CM_SIGN_KEY_TEXT], theirs[CM_SIGN_KEY_TEXT];
    sqlite3_stmt *row = prepare(writer, "SELECT value FROM meta WHERE key = 'sign_key'");
    cm_sign_key_text(writer->has_secret ? writer->secret : NULL, ours);
    if (row == NULL || sqlite3_step(row) != SQLITE_ROW ||
        !cm_column_text(row, 0, theirs, sizeof theirs)) {
        cm_match_writer_refuse(writer, "meta: sign_key: expected a text");
    } else if (theirs[0] == '\0') {
        writer->has_secret = false;
    } else if (strcmp(ours, theirs) != 0) {
        cm_match_writer_refuse(writer, "the match is signed by another key than sign_key");
    }
    sqlite3_finalize(row);
}

// The rows of inputs since the last pack, for the next one.
static void take_inputs(cm_match_writer *writer)
{
    cm_record_inputs found;
    sqlite3_stmt *row = prepare(writer, "SELECT tick, changed, arrived FROM inputs ORDER BY tick");
    int code = SQLITE_DONE;
    while (!writer->failed && (code = sqlite3_step(row)) == SQLITE_ROW) {
        const void *changed = sqlite3_column_blob(row, 1), *arrived = sqlite3_column_blob(row, 2);
        if (cm_confirmed_row_read(changed, (size_t)sqlite3_column_bytes(row, 1), arrived,
                                  (size_t)sqlite3_column_bytes(row, 2), &found) != NULL) {
            cm_match_writer_refuse(writer, "inputs: a row cannot be read");
            break;
        }
        cm_recorded_tick tick = {.tick = (uint64_t)sqlite3_column_int64(row, 0),
                                 .arrivals = found.arrivals,
                                 .arrival_count = found.arrival_count};
        tick.input.inputs = found.inputs;
        tick.input.input_count = found.input_count;
        if (!cm_record_pack_add(writer->pack, &tick)) {
            cm_match_writer_fail_memory(writer);
        }
    }
    if (!writer->failed && code != SQLITE_DONE) {
        cm_match_writer_fail(writer, "reading inputs");
    }
    sqlite3_finalize(row);
}

// Reads the state that a writer keeps of its file: everything that its caller does not pass.
static void take_state(cm_match_writer *writer)
{
    char sql[80];
    take_last(writer);
    take_sign_key(writer);
    writer->personal_rows = number_of(writer, "SELECT count(*) FROM personal");
    snprintf(sql, sizeof sql, "SELECT count(*) FROM personal WHERE tick > %llu",
             (unsigned long long)writer->tick);
    writer->is_past_tick = number_of(writer, sql) > 0;
    writer->base_tick = number_of(writer, "SELECT ifnull(max(tick), 0) FROM keyframes");
    // Rows of a tick that was committed whole: it takes no more of them.
    writer->statistics_tick = writer->tick;
    writer->statistics_players = CAROM_PLAYERS_MAX;
    take_inputs(writer);
    writer->resumes = true;
}

carom_result cm_match_writer_resume(const char *path, const cm_match_writer_def *def,
                                    cm_match_writer **out, char *error, size_t error_size)
{
    *out = NULL;
    cm_match_writer *writer = cm_crypto_init() ? make_writer(def) : NULL;
    if (writer == NULL) {
        snprintf(error, error_size, "no memory");
        return CAROM_ERROR_MEMORY;
    }
    if (sqlite3_open_v2(path, &writer->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
        cm_match_writer_fail(writer, "opening");
    } else {
        sqlite3_extended_result_codes(writer->db, 1);
        set_up(writer, def->durability_power);
        prepare_all(writer);
        take_state(writer);
    }
    if (writer->failed) {
        int code = sqlite3_errcode(writer->db);
        bool of_disk = code != SQLITE_OK && (code & 0xff) < SQLITE_ROW;
        snprintf(error, error_size, "%s", writer->error);
        cm_match_writer_close(writer);
        return of_disk ? CAROM_ERROR_IO : CAROM_ERROR_STATE;
    }
    *out = writer;
    return CAROM_OK;
}

uint64_t cm_match_writer_last(const cm_match_writer *writer)
{
    return writer->tick;
}

// Commits -------------------------------------------------------------------------------------

// SQLite's own checkpoints keep their errors to themselves; a failed fsync must not be tried again.
static bool checkpoint(cm_match_writer *writer)
{
    if (writer->log_pages < LOG_PAGES) {
        return true;
    }
    writer->log_pages = 0;
    return sqlite3_wal_checkpoint_v2(writer->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL) ==
               SQLITE_OK ||
           cm_match_writer_fail(writer, "moving the log into the file");
}

bool cm_match_writer_commit(cm_match_writer *writer)
{
    if (writer->failed || !writer->in_transaction) {
        return !writer->failed;
    }
    if (!cm_match_writer_put_last(writer, NULL)) {
        return false;
    }
    writer->in_transaction = false;
    return cm_match_writer_run(writer, "COMMIT") && checkpoint(writer);
}

uint64_t cm_match_writer_bytes(cm_match_writer *writer)
{
    if (writer->failed) {
        return 0;
    }
    uint64_t pages = 0;
    sqlite3_stmt *count = writer->put[PUT_page_count];
    if (sqlite3_step(count) == SQLITE_ROW) {
        pages = (uint64_t)sqlite3_column_int64(count, 0);
    }
    sqlite3_reset(count);
    return pages * 4096u;
}

const char *cm_match_writer_error(const cm_match_writer *writer)
{
    return writer->error;
}

// End -----------------------------------------------------------------------------------------

static void finalize_all(cm_match_writer *writer)
{
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        sqlite3_finalize(writer->put[i]);
        writer->put[i] = NULL;
    }
}

bool cm_match_writer_end(cm_match_writer *writer, cm_match_end end)
{
    if (cm_match_writer_begin(writer) && cm_match_writer_put_pack(writer)) {
        const char *how = cm_match_end_name(end);
        cm_chain_end(&writer->chain, writer->tick, how);
        cm_match_writer_put_last(writer, how);
        writer->in_transaction = false;
        cm_match_writer_run(writer, "COMMIT");
    }
    return !writer->failed;
}

bool cm_match_writer_finish(cm_match_writer *writer)
{
    cm_match_writer_commit(writer);
    finalize_all(writer); // a statement in use would keep the journal mode
    cm_match_writer_run(writer, "PRAGMA wal_checkpoint(TRUNCATE)");
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
    cm_crypto_wipe(writer->secret, sizeof writer->secret);
    cm_record_pack_free(writer->pack);
    free(writer->base);
    free(writer);
}
