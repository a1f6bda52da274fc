// Rows of the catalogue's table `matches`. A day of a busy server is some thousand of them.
#include "server/record/catalogue/match_index.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/record/format/match_db.h"
#include "shared/wire/crypto.h"

#define HASH_BYTES 32u

// Entries -------------------------------------------------------------------------------------

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

void cm_match_index_directory(const char *directory, char name[CM_INDEX_FILE_MAX])
{
    char *whole = realpath(directory, NULL);
    snprintf(name, CM_INDEX_FILE_MAX, "%.255s", whole != NULL ? whole : directory);
    free(whole);
}

static void put_path(cm_match_entry *entry, const char *path)
{
    char directory[4096];
    const char *name = name_of(path);
    snprintf(directory, sizeof directory, "%.*s", (int)(name - path), path);
    cm_match_index_directory(directory[0] != '\0' ? directory : ".", entry->directory);
    snprintf(entry->file, sizeof entry->file, "%.255s", name);
}

void cm_match_entry_begin(cm_match_entry *entry, const cm_match_def *def, const char *path)
{
    memset(entry, 0, sizeof *entry);
    carom_world_def world;
    cm_scene_world_def(def->scene, &world);
    entry->match_id = def->match_id;
    entry->module_version = def->module_version;
    entry->engine_version = CAROM_ENGINE_VERSION;
    entry->tick_rate = world.tick_rate;
    entry->started_unix_ms = def->started_unix_ms;
    put_path(entry, path);
    snprintf(entry->scene, sizeof entry->scene, "%s", cm_scene_name(def->scene));
    snprintf(entry->module, sizeof entry->module, "%s", def->module);
}

carom_result cm_match_file_hash(const char *path, char hash[CM_INDEX_HASH_TEXT],
                                cm_match_error *error)
{
    uint8_t block[65536], value[HASH_BYTES];
    cm_crypto_stream stream;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file >= 0 ? 1 : -1;
    cm_crypto_stream_begin(&stream, sizeof value);
    while (size > 0 && (size = read(file, block, sizeof block)) > 0) {
        cm_crypto_stream_add(&stream, block, (size_t)size);
    }
    cm_crypto_stream_end(&stream, value, sizeof value);
    int cause = errno;
    if (file >= 0) {
        close(file);
    }
    cm_crypto_hex(value, sizeof value, hash);
    return size == 0 ? CAROM_OK : cm_match_wrong(error, CAROM_ERROR_IO, "%s", strerror(cause));
}

carom_result cm_match_entry_read(cm_match_entry *entry, const char *path, cm_match_error *error)
{
    cm_match_head head;
    memset(entry, 0, sizeof *entry);
    carom_result result = cm_match_head_read(path, &head, error);
    if (result == CAROM_OK && head.info.end == CM_MATCH_LIVE) {
        result = cm_match_wrong(error, CAROM_ERROR_STATE, "it has no end");
    }
    if (result != CAROM_OK) {
        return result;
    }
    entry->match_id = head.info.match_id;
    entry->module_version = head.info.module_version;
    entry->engine_version = head.info.engine_version;
    entry->tick_rate = head.info.tick_rate;
    entry->started_unix_ms = head.info.started_unix_ms;
    entry->is_ended = true;
    entry->ticks = head.info.ticks;
    entry->bytes = head.info.bytes;
    put_path(entry, path);
    snprintf(entry->scene, sizeof entry->scene, "%s", head.scene);
    snprintf(entry->module, sizeof entry->module, "%s", head.info.module);
    snprintf(entry->end, sizeof entry->end, "%s", cm_match_end_name(head.info.end));
    cm_crypto_hex(head.chain, sizeof head.chain, entry->chain);
    return cm_match_file_hash(path, entry->file_hash, error);
}

// Rows ----------------------------------------------------------------------------------------

static carom_result put_entry(const char *path, cm_catalogue_use use, const cm_match_entry *entry,
                              cm_scene_error *error)
{
    cm_sql_value values[14] = {
        CM_HEX16(entry->match_id),     CM_TEXT(entry->file),     CM_TEXT(entry->directory),
        CM_TEXT(entry->scene),         CM_TEXT(entry->module),   CM_INT(entry->module_version),
        CM_INT(entry->engine_version), CM_INT(entry->tick_rate), CM_INT(entry->started_unix_ms)};
    if (entry->is_ended) {
        values[9] = CM_TEXT(entry->end);
        values[10] = CM_INT(entry->ticks);
        values[11] = CM_INT(entry->bytes);
        values[12] = CM_TEXT(entry->chain);
        values[13] = CM_TEXT(entry->file_hash);
    }
    return cm_catalogue_change(path, use,
                               "INSERT OR REPLACE INTO matches VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, "
                               "?8, ?9, ?10, ?11, ?12, ?13, ?14)",
                               values, 14, NULL, error);
}

carom_result cm_match_index_put(const char *db, const cm_match_entry *entry, cm_scene_error *error)
{
    return put_entry(db, CM_CATALOGUE_MAKE, entry, error);
}

carom_result cm_match_index_try(const char *db, const cm_match_entry *entry, cm_scene_error *error)
{
    return put_entry(db, CM_CATALOGUE_TRY, entry, error);
}

carom_result cm_match_index_remove(const char *path, uint64_t match_id, cm_scene_error *error)
{
    return cm_catalogue_change(path, CM_CATALOGUE_CHANGE, "DELETE FROM matches WHERE match_id = ?1",
                               CM_VALUES(CM_HEX16(match_id)), NULL, error);
}

static bool take_u32(sqlite3_stmt *row, int at, uint32_t *value)
{
    uint64_t number;
    bool good = cm_column_u64(row, at, &number) && number <= UINT32_MAX;
    *value = good ? (uint32_t)number : 0;
    return good;
}

static bool take_end(sqlite3_stmt *row, cm_match_entry *entry)
{
    return cm_column_text(row, 9, entry->end, sizeof entry->end) &&
           cm_column_u64(row, 10, &entry->ticks) && cm_column_u64(row, 11, &entry->bytes) &&
           cm_column_text(row, 12, entry->chain, sizeof entry->chain) &&
           cm_text_is_hex(entry->chain, 2 * HASH_BYTES) &&
           cm_column_text(row, 13, entry->file_hash, sizeof entry->file_hash) &&
           cm_text_is_hex(entry->file_hash, 2 * HASH_BYTES);
}

// Every value by its type and size; a name of a file names no other folder.
static bool take_entry(sqlite3_stmt *row, cm_match_entry *entry)
{
    char id[17];
    memset(entry, 0, sizeof *entry);
    if (!cm_column_text(row, 0, id, sizeof id) || !cm_text_is_hex(id, 16) ||
        !cm_column_text(row, 1, entry->file, sizeof entry->file) || entry->file[0] == '\0' ||
        strchr(entry->file, '/') != NULL ||
        !cm_column_text(row, 2, entry->directory, sizeof entry->directory) ||
        !cm_column_text(row, 3, entry->scene, sizeof entry->scene) ||
        !cm_column_text(row, 4, entry->module, sizeof entry->module) ||
        !take_u32(row, 5, &entry->module_version) || !take_u32(row, 6, &entry->engine_version) ||
        !take_u32(row, 7, &entry->tick_rate) || !cm_column_u64(row, 8, &entry->started_unix_ms)) {
        return false;
    }
    entry->match_id = strtoull(id, NULL, 16);
    entry->is_ended = sqlite3_column_type(row, 9) != SQLITE_NULL;
    return !entry->is_ended || take_end(row, entry);
}

typedef struct listing {
    bool (*take)(void *context, const cm_match_entry *entry);
    void *context;
} listing;

static cm_catalogue_row list_row(void *context, sqlite3_stmt *row)
{
    const listing *to = context;
    cm_match_entry entry;
    if (!take_entry(row, &entry)) {
        return CM_CATALOGUE_BAD;
    }
    return to->take(to->context, &entry) ? CM_CATALOGUE_NEXT : CM_CATALOGUE_ENOUGH;
}

carom_result cm_match_index_list(const char *path,
                                 bool (*take)(void *context, const cm_match_entry *entry),
                                 void *context, cm_scene_error *error)
{
    listing to = {take, context};
    return cm_catalogue_rows(path, CM_CATALOGUE_READ, "SELECT * FROM matches ORDER BY match_id",
                             NULL, 0, "matches", list_row, &to, error);
}
