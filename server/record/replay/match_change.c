// A file is first checked by opening it as an untrusted one; then one statement changes it.
// secure_delete overwrites the bytes of deleted rows. The log or journal of that transaction holds
// the old page until it is removed, and no file system promises that the removed bytes are
// overwritten.
#include "server/record/replay/match_change.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/record/format/match_db.h"

static carom_result check(const char *path, cm_match_error *error)
{
    cm_match_file *file;
    carom_result result = cm_match_open(path, &file, error);
    if (result == CAROM_OK) {
        cm_match_close(file);
    }
    return result;
}

static carom_result wrong(cm_match_db *db, const char *doing, cm_match_error *error)
{
    carom_result result = cm_match_db_wrong(db, doing, error);
    cm_match_db_close(db);
    return result;
}

static carom_result open_to_change(const char *path, cm_match_db *db, cm_match_error *error)
{
    memset(db, 0, sizeof *db);
    if (sqlite3_open_v2(path, &db->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
        return wrong(db, "opening", error);
    }
    sqlite3_extended_result_codes(db->db, 1);
    sqlite3_db_config(db->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    if (sqlite3_exec(db->db,
                     "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA secure_delete=ON;"
                     "PRAGMA locking_mode=EXCLUSIVE; PRAGMA synchronous=FULL",
                     NULL, NULL, NULL) != SQLITE_OK) {
        return wrong(db, "opening", error);
    }
    return CAROM_OK;
}

static bool erase_rows(sqlite3 *db, uint64_t client_id, uint32_t *rows)
{
    sqlite3_stmt *erase = NULL;
    char id[24];
    snprintf(id, sizeof id, "%llu", (unsigned long long)client_id);
    if (sqlite3_prepare_v2(db,
                           client_id == 0 ? "UPDATE personal SET salt = NULL, value = NULL "
                                            "WHERE value IS NOT NULL AND ?1 IS NOT NULL"
                                          : "UPDATE personal SET salt = NULL, value = NULL "
                                            "WHERE value IS NOT NULL AND client_id = ?1",
                           -1, &erase, NULL) != SQLITE_OK) {
        return false;
    }
    sqlite3_bind_text(erase, 1, id, -1, SQLITE_STATIC);
    bool done = sqlite3_step(erase) == SQLITE_DONE;
    *rows = (uint32_t)sqlite3_changes(db);
    sqlite3_finalize(erase);
    // Writes the log into the file and removes the log.
    return done && sqlite3_exec(db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL) == SQLITE_OK;
}

carom_result cm_match_erase(const char *path, uint64_t client_id, uint32_t *rows,
                            cm_match_error *error)
{
    cm_match_db db;
    *rows = 0;
    carom_result result = check(path, error);
    result = result == CAROM_OK ? open_to_change(path, &db, error) : result;
    if (result != CAROM_OK) {
        return result;
    }
    if (!erase_rows(db.db, client_id, rows)) {
        return wrong(&db, "erasing", error);
    }
    cm_match_db_close(&db);
    return CAROM_OK;
}

static bool copy_into(sqlite3 *db, const char *out)
{
    sqlite3_stmt *copy = NULL;
    bool done = sqlite3_prepare_v2(db, "VACUUM INTO ?1", -1, &copy, NULL) == SQLITE_OK;
    if (done) {
        sqlite3_bind_text(copy, 1, out, -1, SQLITE_STATIC);
        done = sqlite3_step(copy) == SQLITE_DONE;
    }
    sqlite3_finalize(copy);
    return done;
}

carom_result cm_match_extract(const char *path, const char *out, bool redact, cm_match_error *error)
{
    cm_match_db db;
    uint32_t rows;
    if (access(out, F_OK) == 0) {
        return cm_match_wrong(error, CAROM_ERROR_STATE, "%.200s: is there already", out);
    }
    carom_result result = check(path, error);
    result = result == CAROM_OK ? open_to_change(path, &db, error) : result;
    if (result != CAROM_OK) {
        return result;
    }
    sqlite3_db_config(db.db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (!copy_into(db.db, out)) {
        unlink(out);
        return wrong(&db, "copying", error);
    }
    cm_match_db_close(&db);
    if (redact) {
        result = cm_match_erase(out, 0, &rows, error);
        if (result != CAROM_OK) {
            unlink(out); // it may hold what was to be left out
        }
    }
    return result;
}
