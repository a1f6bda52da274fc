// Reading match files: head, scene and keyframes; match_rows.c reads the ticks. All is checked once
// when the file is opened.
//
// Nothing of a row is believed: a type is asked before a value, since SQLite's columns hold any
// type. Ticks begin at 0 and count by one, which also bounds a scan of a damaged tree: the first
// repeated row ends it. One hour at 60 Hz is 216,000 rows, 0.2 s.
#include "server/record/format/match_file.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/record/format/match_meta.h"
#include "server/record/format/match_rows.h"

_Static_assert(CM_RECORD_FRAME_HEAD == 18, "as the query asks for it");

// A keyframe's run of others below it: more than any writer makes is a wrong file.
#define KEYFRAME_RUN_MAX 64u

// Head ----------------------------------------------------------------------------------------

// For people and for JSON: printable, and nothing that would have to be escaped.
static bool is_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text < 0x20 || *text > 0x7e || *text == '"' || *text == '\\') {
            return false;
        }
    }
    return true;
}

// A room's name; code that prints it quotes it.
static bool is_visible(const char *text)
{
    while (*text > 0x20 && *text <= 0x7e) {
        text++;
    }
    return *text == '\0';
}

static bool is_module_hash(const char *text)
{
    return text[0] == '\0' || cm_text_is_hex(text, CM_MODULE_HASH_TEXT - 1);
}

// None of its four numbers, or all.
static bool is_seam(const cm_match_info *info)
{
    if (info->parent == 0) {
        return info->origin == 0 && info->gap_from == 0 && info->gap_to == 0;
    }
    return info->origin != 0 && info->parent != info->match_id && info->origin != info->match_id &&
           info->gap_from > 0 && info->gap_from <= info->gap_to;
}

// The value as text, which is what the chain holds, and in `info`.
static carom_result take_meta(cm_match_info *info, const cm_meta_key *key, sqlite3_stmt *row,
                              char text[CM_META_TEXT_MAX], cm_match_error *error)
{
    char *to = (char *)info + key->offset;
    uint64_t number = 0;
    if (key->kind == CM_META_TEXT || key->kind == CM_META_NAME) {
        if (!cm_column_text(row, 1, text, key->size) ||
            !(key->kind == CM_META_TEXT ? is_plain(text) : is_visible(text))) {
            return cm_match_corrupt(error, "meta: %s: expected at most %zu printable characters",
                                    key->name, key->size - 1);
        }
        memcpy(to, text, strlen(text) + 1);
        return CAROM_OK;
    }
    if (key->kind == CM_META_HEX) {
        if (!cm_column_text(row, 1, text, 17) || !cm_text_is_hex(text, 16)) {
            return cm_match_corrupt(error, "meta: %s: expected 16 hexadecimal digits", key->name);
        }
        number = strtoull(text, NULL, 16);
    } else {
        if (!cm_column_u64(row, 1, &number) || (key->kind == CM_META_U32 && number > UINT32_MAX)) {
            return cm_match_corrupt(error, "meta: %s: expected an integer, 0 to %s", key->name,
                                    key->kind == CM_META_U32 ? "4294967295" : "2^63 - 1");
        }
        snprintf(text, CM_META_TEXT_MAX, "%llu", (unsigned long long)number);
    }
    if (key->kind == CM_META_U32) {
        uint32_t small = (uint32_t)number;
        memcpy(to, &small, sizeof small);
    } else {
        memcpy(to, &number, sizeof number);
    }
    return CAROM_OK;
}

static carom_result read_meta_rows(cm_match_file *file, sqlite3_stmt *rows, cm_match_error *error)
{
    for (size_t i = 0; i < CM_META_KEYS; i++) {
        char name[24], text[CM_META_TEXT_MAX];
        int code = sqlite3_step(rows);
        if (code != SQLITE_ROW && code != SQLITE_DONE) {
            return cm_match_db_wrong(&file->db, "meta", error);
        }
        bool read = code == SQLITE_ROW && cm_column_text(rows, 0, name, sizeof name);
        while (read && cm_meta_keys[i].when != CM_META_ALWAYS &&
               strcmp(name, cm_meta_keys[i].name) > 0) {
            i++;
        }
        if (!read || strcmp(name, cm_meta_keys[i].name) != 0) {
            return cm_match_corrupt(error, "meta: key '%.23s': expected '%s'",
                                    read && is_plain(name) ? name : "", cm_meta_keys[i].name);
        }
        carom_result result = take_meta(&file->info, &cm_meta_keys[i], rows, text, error);
        if (result != CAROM_OK) {
            return result;
        }
        cm_chain_meta(&file->head, name, text);
    }
    if (sqlite3_step(rows) == SQLITE_ROW) {
        return cm_match_corrupt(error, "meta: a key too many");
    }
    if (file->info.tick_rate < 1 || file->info.tick_rate > 1000) {
        return cm_match_corrupt(error, "meta: tick_rate: %u, expected 1 to 1000",
                                file->info.tick_rate);
    }
    if (!is_seam(&file->info)) {
        return cm_match_corrupt(error,
                                "meta: parent, origin, gap_from, gap_to: expected none of them, or "
                                "other matches and two ticks in order");
    }
    if (!is_module_hash(file->info.module_file) || !is_module_hash(file->info.module_source)) {
        return cm_match_corrupt(error, "meta: module_file, module_source: expected nothing, or 64 "
                                       "hexadecimal digits");
    }
    if (file->info.sign_key[0] != '\0' && !cm_text_is_hex(file->info.sign_key, 2 * CM_KEY_BYTES)) {
        return cm_match_corrupt(error,
                                "meta: sign_key: expected nothing, or 64 hexadecimal digits");
    }
    return CAROM_OK;
}

static carom_result read_meta(cm_match_file *file, cm_match_error *error)
{
    sqlite3_stmt *rows = cm_match_prepare(file, "SELECT key, value FROM meta ORDER BY key");
    if (rows == NULL) {
        return cm_match_db_wrong(&file->db, "meta", error);
    }
    cm_chain_start(&file->head);
    carom_result result = read_meta_rows(file, rows, error);
    sqlite3_finalize(rows);
    return result;
}

static carom_result unpack_scene(cm_match_file *file, sqlite3_stmt *row, cm_match_error *error)
{
    if (sqlite3_column_type(row, 0) != SQLITE_INTEGER || sqlite3_column_int64(row, 0) != 0 ||
        sqlite3_column_type(row, 1) != SQLITE_BLOB) {
        return cm_match_corrupt(error, "scene: row 0: expected id 0 and a blob");
    }
    const void *packed = sqlite3_column_blob(row, 1);
    size_t packed_size = (size_t)sqlite3_column_bytes(row, 1), size = 0;
    uint8_t *bytes =
        packed == NULL ? NULL
                       : cm_record_expand(packed, packed_size, NULL, 0, CM_SCENE_PACKED_MAX, &size);
    if (bytes == NULL) {
        return cm_match_corrupt(error,
                                "scene: row 0: packed: no whole zstd frame of at most 16 MiB");
    }
    cm_chain_scene(&file->head, bytes, size);
    cm_crypto_hash(file->scene_hash, sizeof file->scene_hash, bytes, size, NULL);
    cm_scene_error why;
    carom_result result = cm_scene_unpack(bytes, size, NULL, &file->scene, &why);
    free(bytes);
    if (result == CAROM_OK || result == CAROM_ERROR_MEMORY) {
        return result;
    }
    file->scene = NULL;
    if (file->info.engine_version != CAROM_ENGINE_VERSION) {
        return CAROM_OK; // it informs all the same
    }
    return cm_match_corrupt(error, "scene: row 0: %s: %.200s", why.path, why.message);
}

static carom_result read_scene(cm_match_file *file, cm_match_error *error)
{
    sqlite3_stmt *rows = cm_match_prepare(file, "SELECT id, packed FROM scene");
    carom_result result;
    int code = rows != NULL ? sqlite3_step(rows) : SQLITE_ERROR;
    if (code == SQLITE_ROW) {
        result = unpack_scene(file, rows, error);
        if (result == CAROM_OK && sqlite3_step(rows) == SQLITE_ROW) {
            result = cm_match_corrupt(error, "scene: expected one row");
        }
    } else if (code == SQLITE_DONE) {
        result = cm_match_corrupt(error, "scene: no row, expected one");
    } else {
        result = cm_match_db_wrong(&file->db, "scene", error);
    }
    sqlite3_finalize(rows);
    return result;
}

// Rows ----------------------------------------------------------------------------------------

// Every tick once, for its faults and for the counts.
static carom_result check_ticks(cm_match_file *file, cm_match_error *error)
{
    cm_recorded_tick tick;
    carom_result result;
    while ((result = cm_match_next(file, &tick, error)) == CAROM_OK) {
        file->info.ticks = tick.tick;
        file->info.resumes += tick.resumed;
        file->info.inputs += tick.input.input_count;
        for (uint32_t i = 0; i < tick.input.event_count; i++) {
            file->info.joins += tick.input.events[i].type == CM_EVENT_JOIN;
            file->info.leaves += tick.input.events[i].type == CM_EVENT_LEAVE;
        }
    }
    if (result == CAROM_ERROR_NOT_FOUND && file->next_tick == file->info.gap_to) {
        return cm_match_corrupt(error, "ticks: no row, expected tick %llu",
                                (unsigned long long)file->next_tick);
    }
    cm_match_rewind(file);
    return result == CAROM_ERROR_NOT_FOUND ? CAROM_OK : result;
}

static carom_result wrong_keyframe(cm_match_error *error, uint64_t tick)
{
    return cm_match_corrupt(error,
                            "keyframes: row %llu: packed: no whole zstd frame of at most 64 MiB",
                            (unsigned long long)tick);
}

// Bounds the unpacked size of all keyframes before the first is unpacked: a few packed kilobytes
// may unpack to 64 MiB, and a file has room for many of them.
static carom_result check_size(sqlite3_stmt *row, uint64_t *sum, cm_match_error *error)
{
    const void *head = sqlite3_column_blob(row, 3);
    size_t size = (size_t)sqlite3_column_bytes(row, 3);
    uint64_t announced = head != NULL ? cm_record_announced_size(head, size) : UINT64_MAX;
    if (announced > CM_RECORD_KEYFRAME_MAX) {
        return wrong_keyframe(error, (uint64_t)sqlite3_column_int64(row, 0));
    }
    *sum += announced;
    if (*sum > CM_RECORD_KEYFRAMES_MAX) {
        return cm_match_corrupt(error,
                                "keyframes: row %lld: all up to this one are above %u GiB when "
                                "unpacked (CM_RECORD_KEYFRAMES_MAX)",
                                (long long)sqlite3_column_int64(row, 0),
                                (unsigned)(CM_RECORD_KEYFRAMES_MAX >> 30));
    }
    return CAROM_OK;
}

static carom_result check_keyframe(cm_match_file *file, sqlite3_stmt *row, uint64_t last,
                                   uint32_t *run, cm_match_error *error)
{
    uint64_t tick = (uint64_t)sqlite3_column_int64(row, 0), base = 0;
    bool whole = sqlite3_column_type(row, 1) == SQLITE_NULL;
    const char *type = (const char *)sqlite3_column_text(row, 2);
    uint64_t least = file->info.gap_to > 0 ? file->info.gap_to : 1;
    if (tick < least || tick > file->info.ticks) {
        return cm_match_corrupt(
            error, "keyframes: row %lld: expected a tick of the match, %llu to %llu",
            (long long)tick, (unsigned long long)least, (unsigned long long)file->info.ticks);
    }
    if (file->info.gap_to > 0 && last == 0 && tick != least) {
        return cm_match_corrupt(
            error, "keyframes: row %llu: expected one of tick %llu, with which it begins",
            (unsigned long long)tick, (unsigned long long)least);
    }
    if (type == NULL || strcmp(type, "blob") != 0) {
        return cm_match_corrupt(error, "keyframes: row %llu: packed: wrong type, expected a blob",
                                (unsigned long long)tick);
    }
    *run = whole ? 0 : *run + 1;
    if (!whole &&
        (!cm_column_u64(row, 1, &base) || base == 0 || base != last || *run > KEYFRAME_RUN_MAX)) {
        return cm_match_corrupt(
            error, "keyframes: row %llu: base: expected the keyframe before it, or NULL",
            (unsigned long long)tick);
    }
    return CAROM_OK;
}

static carom_result check_keyframes(cm_match_file *file, cm_match_error *error)
{
    sqlite3_stmt *rows =
        cm_match_prepare(file, "SELECT tick, base, typeof(packed), substr(packed, 1, 18) FROM "
                               "keyframes ORDER BY tick");
    if (rows == NULL) {
        return cm_match_db_wrong(&file->db, "keyframes", error);
    }
    carom_result result = CAROM_OK;
    uint64_t last = 0, sum = 0;
    uint32_t run = 0;
    int code = SQLITE_DONE;
    while (result == CAROM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        result = check_keyframe(file, rows, last, &run, error);
        result = result == CAROM_OK ? check_size(rows, &sum, error) : result;
        last = (uint64_t)sqlite3_column_int64(rows, 0);
        file->info.keyframes++;
    }
    if (result == CAROM_OK && code != SQLITE_DONE) {
        result = cm_match_db_wrong(&file->db, "keyframes", error);
    } else if (result == CAROM_OK && file->info.gap_to > 0 && file->info.keyframes == 0) {
        result = cm_match_corrupt(error, "keyframes: none, expected the one with which it begins");
    }
    sqlite3_finalize(rows);
    return result;
}

static uint64_t sum_of(cm_match_file *file, const char *sql)
{
    sqlite3_stmt *row = cm_match_prepare(file, sql);
    uint64_t sum = 0;
    if (row != NULL && sqlite3_step(row) == SQLITE_ROW) {
        sum = (uint64_t)sqlite3_column_int64(row, 0);
    }
    sqlite3_finalize(row);
    return sum;
}

// The end of the match, for people; the proof checks whether it is true.
static carom_result read_end(cm_match_file *file, cm_match_error *error)
{
    sqlite3_stmt *row = cm_match_prepare(file, "SELECT how FROM last WHERE id = 0");
    if (row == NULL) {
        return cm_match_db_wrong(&file->db, "last", error);
    }
    char how[16] = "";
    carom_result result = CAROM_OK;
    int code = sqlite3_step(row);
    if (code == SQLITE_ROW && sqlite3_column_type(row, 0) != SQLITE_NULL) {
        file->info.end = CM_MATCH_LIVE;
        cm_column_text(row, 0, how, sizeof how);
        for (int end = CM_MATCH_DRAINED; end <= CM_MATCH_CUT; end++) {
            if (strcmp(how, cm_match_end_name((cm_match_end)end)) == 0) {
                file->info.end = (cm_match_end)end;
            }
        }
        if (file->info.end == CM_MATCH_LIVE) {
            result =
                cm_match_corrupt(error, "last: how: expected drained, ended, failed, cut or NULL");
        }
    } else if (code != SQLITE_ROW && code != SQLITE_DONE) {
        result = cm_match_db_wrong(&file->db, "last", error);
    }
    sqlite3_finalize(row);
    return result;
}

// Keyframes -----------------------------------------------------------------------------------

// Unpacks the row against what is unpacked already, which is its base or not needed.
static carom_result unpack_keyframe(cm_match_file *file, sqlite3_stmt *row, cm_match_error *error)
{
    uint64_t tick = (uint64_t)sqlite3_column_int64(row, 0);
    bool whole = sqlite3_column_type(row, 1) == SQLITE_NULL;
    const void *packed = sqlite3_column_blob(row, 2);
    size_t packed_size = (size_t)sqlite3_column_bytes(row, 2), size = 0;
    uint8_t *bytes = NULL;
    if (packed != NULL && (whole || file->keyframe != NULL)) {
        bytes = cm_record_expand(packed, packed_size, whole ? NULL : file->keyframe,
                                 whole ? 0 : file->keyframe_size, CM_RECORD_KEYFRAME_MAX, &size);
    }
    free(file->keyframe);
    file->keyframe = bytes;
    file->keyframe_size = size;
    file->keyframe_tick = tick;
    return bytes != NULL ? CAROM_OK : wrong_keyframe(error, tick);
}

// Those from the last one that stands alone, up to `tick`: each is the base of the next.
static carom_result unpack_run(cm_match_file *file, uint64_t tick, cm_match_error *error)
{
    sqlite3_stmt *rows = cm_match_prepare(
        file, "SELECT tick, base, packed FROM keyframes WHERE tick <= ?1 AND tick > ?2 AND tick >= "
              "(SELECT max(tick) FROM keyframes WHERE tick <= ?1 AND base IS NULL) ORDER BY tick");
    if (rows == NULL) {
        return cm_match_db_wrong(&file->db, "keyframes", error);
    }
    // Continues from the keyframe that was unpacked last, if it is an earlier one.
    uint64_t have = file->keyframe != NULL && file->keyframe_tick < tick ? file->keyframe_tick : 0;
    sqlite3_bind_int64(rows, 1, (sqlite3_int64)tick);
    sqlite3_bind_int64(rows, 2, (sqlite3_int64)have);
    carom_result result = CAROM_OK;
    int code = SQLITE_DONE;
    while (result == CAROM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        result = unpack_keyframe(file, rows, error);
    }
    if (result == CAROM_OK && code != SQLITE_DONE) {
        result = cm_match_db_wrong(&file->db, "keyframes", error);
    }
    sqlite3_finalize(rows);
    if (result == CAROM_OK && file->keyframe_tick != tick) {
        result = wrong_keyframe(error, tick);
    }
    return result;
}

carom_result cm_match_keyframe(cm_match_file *file, uint64_t from, uint64_t *tick,
                               const uint8_t **bytes, size_t *size, cm_match_error *error)
{
    if (file->keyframe_query == NULL) {
        file->keyframe_query = cm_match_prepare(
            file, "SELECT tick FROM keyframes WHERE tick >= ?1 ORDER BY tick LIMIT 1");
    }
    sqlite3_stmt *query = file->keyframe_query;
    if (query == NULL) {
        return cm_match_db_wrong(&file->db, "keyframes", error);
    }
    sqlite3_bind_int64(query, 1, from > INT64_MAX ? INT64_MAX : (sqlite3_int64)from);
    int code = sqlite3_step(query);
    *tick = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(query, 0) : 0;
    sqlite3_reset(query);
    if (code == SQLITE_DONE) {
        return CAROM_ERROR_NOT_FOUND;
    }
    if (code != SQLITE_ROW) {
        return cm_match_db_wrong(&file->db, "keyframes", error);
    }
    carom_result result = CAROM_OK;
    if (file->keyframe == NULL || file->keyframe_tick != *tick) {
        result = unpack_run(file, *tick, error);
    }
    *bytes = file->keyframe;
    *size = file->keyframe_size;
    return result;
}

carom_result cm_match_keyframe_before(cm_match_file *file, uint64_t tick, uint64_t *found,
                                      cm_match_error *error)
{
    sqlite3_stmt *query = cm_match_prepare(
        file, "SELECT tick FROM keyframes WHERE tick <= ?1 ORDER BY tick DESC LIMIT 1");
    sqlite3_bind_int64(query, 1, tick > INT64_MAX ? INT64_MAX : (sqlite3_int64)tick);
    int code = query != NULL ? sqlite3_step(query) : SQLITE_ERROR;
    *found = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(query, 0) : 0;
    carom_result result = code == SQLITE_ROW    ? CAROM_OK
                          : code == SQLITE_DONE ? CAROM_ERROR_NOT_FOUND
                                                : cm_match_db_wrong(&file->db, "keyframes", error);
    sqlite3_finalize(query);
    return result;
}

// Making --------------------------------------------------------------------------------------

// With its log, where its server was killed.
static uint64_t bytes_of(const char *path)
{
    struct stat about;
    uint64_t bytes = stat(path, &about) == 0 ? (uint64_t)about.st_size : 0;
    char *log = malloc(strlen(path) + 5);
    if (log != NULL) {
        strcat(strcpy(log, path), "-wal");
        bytes += stat(log, &about) == 0 ? (uint64_t)about.st_size : 0;
        free(log);
    }
    return bytes;
}

// Opened, with meta and scene read.
static carom_result open_head(const char *path, cm_match_file **out, cm_match_error *error)
{
    memset(error, 0, sizeof *error);
    cm_match_file *file = *out = calloc(1, sizeof *file);
    if (file == NULL || !cm_crypto_init()) {
        return cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory");
    }
    file->info.bytes = bytes_of(path);
    carom_result result = cm_match_db_open(path, &file->db, &file->info.format, error);
    result = result == CAROM_OK ? read_meta(file, error) : result;
    file->next_tick = file->info.gap_to;
    return result == CAROM_OK ? read_scene(file, error) : result;
}

static carom_result read_last(cm_match_file *file, uint8_t chain[CM_CHAIN_BYTES],
                              cm_match_error *error)
{
    carom_result result = read_end(file, error);
    sqlite3_stmt *row = cm_match_prepare(file, "SELECT tick, chain FROM last WHERE id = 0");
    if (result == CAROM_OK && (row == NULL || sqlite3_step(row) != SQLITE_ROW ||
                               !cm_column_u64(row, 0, &file->info.ticks) ||
                               !cm_column_bytes(row, 1, chain, CM_CHAIN_BYTES))) {
        result = cm_match_corrupt(error, "last: expected a tick and 32 bytes");
    }
    sqlite3_finalize(row);
    return result;
}

carom_result cm_match_last(cm_match_file *file, uint64_t *tick, cm_match_end *end,
                           cm_match_error *error)
{
    uint8_t chain[CM_CHAIN_BYTES];
    carom_result result = read_last(file, chain, error);
    *tick = file->info.ticks;
    *end = file->info.end;
    return result;
}

static carom_result open_file(const char *path, bool read, cm_match_file **out,
                              cm_match_error *error)
{
    cm_match_file *file;
    uint8_t chain[CM_CHAIN_BYTES];
    *out = NULL;
    carom_result result = open_head(path, &file, error);
    if (result == CAROM_OK) {
        result = read ? check_ticks(file, error) : read_last(file, chain, error);
    }
    result = result == CAROM_OK ? check_keyframes(file, error) : result;
    result = result == CAROM_OK ? read_end(file, error) : result;
    if (result != CAROM_OK) {
        if (error->message[0] == '\0') {
            cm_match_wrong(error, result, "%s", carom_result_text(result));
        }
        cm_match_close(file);
        return result;
    }
    file->info.input_bytes = sum_of(file, "SELECT sum(length(packed)) FROM packs");
    file->info.keyframe_bytes = sum_of(file, "SELECT sum(length(packed)) FROM keyframes");
    *out = file;
    return CAROM_OK;
}

carom_result cm_match_open(const char *path, cm_match_file **file, cm_match_error *error)
{
    return open_file(path, true, file, error);
}

carom_result cm_match_open_unread(const char *path, cm_match_file **file, cm_match_error *error)
{
    return open_file(path, false, file, error);
}

carom_result cm_match_head_read(const char *path, cm_match_head *head, cm_match_error *error)
{
    cm_match_file *file;
    memset(head, 0, sizeof *head);
    carom_result result = open_head(path, &file, error);
    result = result == CAROM_OK ? read_last(file, head->chain, error) : result;
    if (result == CAROM_OK) {
        head->info = file->info;
        snprintf(head->scene, sizeof head->scene, "%s",
                 file->scene != NULL ? cm_scene_name(file->scene) : "");
    }
    cm_match_close(file);
    return result;
}

carom_result cm_match_attach(sqlite3 *db, cm_match_file **out, cm_match_error *error)
{
    memset(error, 0, sizeof *error);
    cm_match_file *file = *out = calloc(1, sizeof *file);
    if (file == NULL) {
        return cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory");
    }
    file->db.db = db;
    file->is_attached = true;
    carom_result result = read_meta(file, error);
    file->next_tick = file->info.gap_to;
    result = result == CAROM_OK ? read_scene(file, error) : result;
    if (result != CAROM_OK) {
        cm_match_close(file);
        *out = NULL;
    }
    return result;
}

void cm_match_close(cm_match_file *file)
{
    if (file == NULL) {
        return;
    }
    cm_match_rewind(file);
    sqlite3_finalize(file->keyframe_query);
    if (!file->is_attached) {
        cm_match_db_close(&file->db);
    }
    cm_scene_free(file->scene);
    cm_record_pack_free(file->pack);
    free(file->payloads);
    free(file->keyframe);
    free(file);
}

void cm_match_info_get(const cm_match_file *file, cm_match_info *info)
{
    *info = file->info;
}

const cm_scene *cm_match_scene(const cm_match_file *file)
{
    return file->scene;
}
