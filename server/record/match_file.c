// Reading match files: head, scene, and every row's types and values, checked when the file is
// opened, then handed out tick by tick.
//
// Nothing of a row is believed: a type is asked before a value, since SQLite's columns hold any
// type. Ticks begin at 0 and count by one, which also bounds a scan of a damaged tree: the first
// repeated row ends it. One hour at 60 Hz is 216,000 rows, 0.2 s.
#include "server/record/match_file.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/record/match_db.h"
#include "server/record/record.h"

struct cm_match_file {
    cm_match_db db;
    sqlite3_stmt *ticks;
    sqlite3_stmt *keyframes;
    uint64_t next_tick; // expected of the next row
    cm_match_info info;
    cm_scene *scene;
    cm_record *record;
    uint8_t *keyframe;
};

typedef enum meta_kind { META_U64, META_U32, META_TEXT, META_END } meta_kind;

typedef struct meta_key {
    const char *name;
    meta_kind kind;
    size_t offset, size; // in cm_match_info
} meta_key;

#define META(kind, member)                                                                         \
    {                                                                                              \
#member, kind, offsetof(cm_match_info, member), sizeof(((cm_match_info *)0)->member)       \
    }

static const meta_key meta_keys[] = {
    META(META_U64, match_id),    META(META_U32, engine_version),  META(META_TEXT, engine_text),
    META(META_U64, layout_hash), META(META_TEXT, module),         META(META_U32, module_version),
    META(META_U64, seed),        META(META_U64, started_unix_ms), META(META_U32, tick_rate),
    META(META_END, end),
};

#define META_KEYS   (sizeof meta_keys / sizeof meta_keys[0])
#define META_NEEDED ((1u << (META_KEYS - 1)) - 1u) // all but the end

static sqlite3_stmt *prepare(cm_match_file *file, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(file->db.db, sql, -1, &statement, NULL);
    return statement;
}

// Head
// ---------------------------------------------------------------------------------------------

// For people and for JSON: printable, and nothing that would have to be escaped.
static bool is_plain(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] < 0x20 || text[i] > 0x7e || text[i] == '"' || text[i] == '\\') {
            return false;
        }
    }
    return true;
}

static carom_result take_text(const meta_key *key, sqlite3_stmt *row, char *to,
                              cm_match_error *error)
{
    const char *text = (const char *)sqlite3_column_text(row, 1);
    size_t size = (size_t)sqlite3_column_bytes(row, 1);
    if (text == NULL || size >= key->size || !is_plain(text, size)) {
        return cm_match_wrong(error, CAROM_ERROR_CORRUPT,
                              "meta: %s: expected at most %zu printable characters", key->name,
                              key->size - 1);
    }
    memcpy(to, text, size);
    to[size] = '\0';
    return CAROM_OK;
}

static carom_result take_meta(cm_match_info *info, const meta_key *key, sqlite3_stmt *row,
                              cm_match_error *error)
{
    char *to = (char *)info + key->offset;
    int expected = key->kind == META_TEXT ? SQLITE_TEXT : SQLITE_INTEGER;
    if (sqlite3_column_type(row, 1) != expected) {
        return cm_match_wrong(error, CAROM_ERROR_CORRUPT, "meta: %s: wrong type, expected %s",
                              key->name, key->kind == META_TEXT ? "text" : "an integer");
    }
    if (key->kind == META_TEXT) {
        return take_text(key, row, to, error);
    }
    sqlite3_int64 value = sqlite3_column_int64(row, 1);
    if (key->kind == META_U32 && (value < 0 || value > UINT32_MAX)) {
        return cm_match_wrong(error, CAROM_ERROR_CORRUPT,
                              "meta: %s: %lld, expected 0 to 4294967295", key->name,
                              (long long)value);
    }
    if (key->kind == META_END && (value < CM_MATCH_DRAINED || value > CM_MATCH_FAILED)) {
        return cm_match_wrong(error, CAROM_ERROR_CORRUPT, "meta: end: %lld, expected 1 to 3",
                              (long long)value);
    }
    if (key->kind == META_U64) {
        uint64_t bits = (uint64_t)value;
        memcpy(to, &bits, sizeof bits);
    } else if (key->kind == META_U32) {
        uint32_t number = (uint32_t)value;
        memcpy(to, &number, sizeof number);
    } else {
        info->end = (cm_match_end)value;
    }
    return CAROM_OK;
}

static carom_result read_meta_row(cm_match_file *file, sqlite3_stmt *row, uint32_t *seen,
                                  cm_match_error *error)
{
    const char *name =
        sqlite3_column_type(row, 0) == SQLITE_TEXT ? (const char *)sqlite3_column_text(row, 0) : "";
    for (uint32_t i = 0; name != NULL && i < META_KEYS; i++) {
        if (strcmp(name, meta_keys[i].name) == 0 && (*seen >> i & 1u) == 0) {
            *seen |= 1u << i;
            return take_meta(&file->info, &meta_keys[i], row, error);
        }
    }
    return cm_match_wrong(error, CAROM_ERROR_CORRUPT, "meta: key '%.40s': unknown or twice",
                          name != NULL ? name : "");
}

static carom_result read_meta(cm_match_file *file, cm_match_error *error)
{
    sqlite3_stmt *rows = prepare(file, "SELECT key, value FROM meta");
    if (rows == NULL) {
        return cm_match_db_wrong(&file->db, "meta", error);
    }
    uint32_t seen = 0;
    carom_result result = CAROM_OK;
    int code = SQLITE_DONE;
    while (result == CAROM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        result = read_meta_row(file, rows, &seen, error);
    }
    if (result == CAROM_OK && code != SQLITE_DONE) {
        result = cm_match_db_wrong(&file->db, "meta", error);
    }
    for (uint32_t i = 0; result == CAROM_OK && i < META_KEYS; i++) {
        if ((META_NEEDED >> i & 1u) != 0 && (seen >> i & 1u) == 0) {
            result =
                cm_match_wrong(error, CAROM_ERROR_CORRUPT, "meta: %s: missing", meta_keys[i].name);
        }
    }
    if (result == CAROM_OK && (file->info.tick_rate < 1 || file->info.tick_rate > 1000)) {
        result = cm_match_wrong(error, CAROM_ERROR_CORRUPT,
                                "meta: tick_rate: %u, expected 1 to 1000", file->info.tick_rate);
    }
    sqlite3_finalize(rows);
    return result;
}

static carom_result unpack_scene(cm_match_file *file, sqlite3_stmt *row, cm_match_error *error)
{
    if (sqlite3_column_type(row, 0) != SQLITE_INTEGER || sqlite3_column_int64(row, 0) != 0 ||
        sqlite3_column_type(row, 1) != SQLITE_BLOB) {
        return cm_match_wrong(error, CAROM_ERROR_CORRUPT, "scene: row 0: expected id 0 and a blob");
    }
    const void *packed = sqlite3_column_blob(row, 1);
    size_t packed_size = (size_t)sqlite3_column_bytes(row, 1), size = 0;
    uint8_t *bytes =
        packed == NULL ? NULL : cm_record_unpack(packed, packed_size, CM_SCENE_PACKED_MAX, &size);
    if (bytes == NULL) {
        return cm_match_wrong(error, CAROM_ERROR_CORRUPT,
                              "scene: row 0: packed: no whole zstd frame of at most 16 MiB");
    }
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
    return cm_match_wrong(error, CAROM_ERROR_CORRUPT, "scene: row 0: %s: %.200s", why.path,
                          why.message);
}

static carom_result read_scene(cm_match_file *file, cm_match_error *error)
{
    sqlite3_stmt *rows = prepare(file, "SELECT id, packed FROM scene");
    carom_result result;
    int code = rows != NULL ? sqlite3_step(rows) : SQLITE_ERROR;
    if (code == SQLITE_ROW) {
        result = unpack_scene(file, rows, error);
        if (result == CAROM_OK && sqlite3_step(rows) == SQLITE_ROW) {
            result = cm_match_wrong(error, CAROM_ERROR_CORRUPT, "scene: expected one row");
        }
    } else if (code == SQLITE_DONE) {
        result = cm_match_wrong(error, CAROM_ERROR_CORRUPT, "scene: no row, expected one");
    } else {
        result = cm_match_db_wrong(&file->db, "scene", error);
    }
    sqlite3_finalize(rows);
    return result;
}

// Rows
// ---------------------------------------------------------------------------------------------

static carom_result take_tick(cm_match_file *file, sqlite3_stmt *row, cm_match_tick *tick,
                              cm_match_error *error)
{
    sqlite3_int64 number = sqlite3_column_int64(row, 0);
    if (number < 0 || (uint64_t)number != file->next_tick) {
        return cm_match_wrong(error, CAROM_ERROR_CORRUPT,
                              "ticks: row %lld: expected tick %llu, none may be left out",
                              (long long)number, (unsigned long long)file->next_tick);
    }
    if (sqlite3_column_type(row, 1) != SQLITE_INTEGER) {
        return cm_match_wrong(error, CAROM_ERROR_CORRUPT,
                              "ticks: row %lld: hash: wrong type, expected an integer",
                              (long long)number);
    }
    int type = sqlite3_column_type(row, 2);
    if (type != SQLITE_NULL && type != SQLITE_BLOB) {
        return cm_match_wrong(error, CAROM_ERROR_CORRUPT,
                              "ticks: row %lld: input: wrong type, expected a blob or NULL",
                              (long long)number);
    }
    const void *bytes = sqlite3_column_blob(row, 2);
    size_t size = (size_t)sqlite3_column_bytes(row, 2);
    if (bytes == NULL && size > 0) {
        return cm_match_db_wrong(&file->db, "ticks", error);
    }
    // What another engine recorded is shown, not understood: its message may have other fields.
    bool ours = file->info.engine_version == CAROM_ENGINE_VERSION;
    const char *wrong = cm_record_tick_decode(file->record, bytes, ours ? size : 0);
    if (wrong == NULL && number == 0 && size > 0) {
        wrong = "tick 0 is the scene after start, expected NULL";
    }
    if (wrong != NULL) {
        return cm_match_wrong(error, CAROM_ERROR_CORRUPT, "ticks: row %lld: input: %s",
                              (long long)number, wrong);
    }
    tick->tick = (uint64_t)number;
    tick->hash = (uint64_t)sqlite3_column_int64(row, 1);
    tick->input = *cm_record_input(file->record);
    file->next_tick++;
    return CAROM_OK;
}

carom_result cm_match_next(cm_match_file *file, cm_match_tick *tick, cm_match_error *error)
{
    if (file->ticks == NULL) {
        file->ticks = prepare(file, "SELECT tick, hash, input FROM ticks ORDER BY tick");
        if (file->ticks == NULL) {
            return cm_match_db_wrong(&file->db, "ticks", error);
        }
    }
    int code = sqlite3_step(file->ticks);
    if (code == SQLITE_DONE) {
        return CAROM_ERROR_NOT_FOUND;
    }
    if (code != SQLITE_ROW) {
        return cm_match_db_wrong(&file->db, "ticks", error);
    }
    return take_tick(file, file->ticks, tick, error);
}

static void rewind_ticks(cm_match_file *file)
{
    sqlite3_finalize(file->ticks);
    file->ticks = NULL;
    file->next_tick = 0;
}

// Every tick once, for its faults and for the counts.
static carom_result check_ticks(cm_match_file *file, cm_match_error *error)
{
    cm_match_tick tick;
    carom_result result;
    while ((result = cm_match_next(file, &tick, error)) == CAROM_OK) {
        file->info.ticks = tick.tick;
        file->info.inputs += tick.input.input_count;
        for (uint32_t i = 0; i < tick.input.event_count; i++) {
            file->info.joins += tick.input.events[i].type == CM_EVENT_JOIN;
            file->info.leaves += tick.input.events[i].type == CM_EVENT_LEAVE;
        }
    }
    if (result == CAROM_ERROR_NOT_FOUND && file->next_tick == 0) {
        return cm_match_wrong(error, CAROM_ERROR_CORRUPT, "ticks: no row, expected tick 0");
    }
    rewind_ticks(file);
    return result == CAROM_ERROR_NOT_FOUND ? CAROM_OK : result;
}

static carom_result check_keyframes(cm_match_file *file, cm_match_error *error)
{
    sqlite3_stmt *rows = prepare(file, "SELECT tick, typeof(packed) FROM keyframes ORDER BY tick");
    if (rows == NULL) {
        return cm_match_db_wrong(&file->db, "keyframes", error);
    }
    carom_result result = CAROM_OK;
    sqlite3_int64 last = -1;
    int code = SQLITE_DONE;
    while (result == CAROM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        sqlite3_int64 tick = sqlite3_column_int64(rows, 0);
        const char *type = (const char *)sqlite3_column_text(rows, 1);
        if (tick <= last || (uint64_t)tick > file->info.ticks) {
            result = cm_match_wrong(error, CAROM_ERROR_CORRUPT,
                                    "keyframes: row %lld: expected a tick of the match, 0 to %llu",
                                    (long long)tick, (unsigned long long)file->info.ticks);
        } else if (type == NULL || strcmp(type, "blob") != 0) {
            result = cm_match_wrong(error, CAROM_ERROR_CORRUPT,
                                    "keyframes: row %lld: packed: wrong type, expected a blob",
                                    (long long)tick);
        }
        last = tick;
        file->info.keyframes++;
    }
    if (result == CAROM_OK && code != SQLITE_DONE) {
        result = cm_match_db_wrong(&file->db, "keyframes", error);
    }
    sqlite3_finalize(rows);
    return result;
}

carom_result cm_match_keyframe(cm_match_file *file, uint64_t from, uint64_t *tick,
                               const uint8_t **bytes, size_t *size, cm_match_error *error)
{
    if (file->keyframes == NULL) {
        file->keyframes = prepare(
            file, "SELECT tick, packed FROM keyframes WHERE tick >= ?1 ORDER BY tick LIMIT 1");
    }
    if (file->keyframes == NULL) {
        return cm_match_db_wrong(&file->db, "keyframes", error);
    }
    sqlite3_reset(file->keyframes);
    sqlite3_bind_int64(file->keyframes, 1, from > INT64_MAX ? INT64_MAX : (sqlite3_int64)from);
    int code = sqlite3_step(file->keyframes);
    if (code == SQLITE_DONE) {
        return CAROM_ERROR_NOT_FOUND;
    }
    if (code != SQLITE_ROW) {
        return cm_match_db_wrong(&file->db, "keyframes", error);
    }
    *tick = (uint64_t)sqlite3_column_int64(file->keyframes, 0);
    const void *packed = sqlite3_column_blob(file->keyframes, 1);
    size_t packed_size = (size_t)sqlite3_column_bytes(file->keyframes, 1);
    free(file->keyframe);
    file->keyframe =
        packed == NULL ? NULL : cm_record_unpack(packed, packed_size, CM_RECORD_KEYFRAME_MAX, size);
    sqlite3_reset(file->keyframes);
    if (file->keyframe == NULL) {
        return cm_match_wrong(error, CAROM_ERROR_CORRUPT,
                              "keyframes: row %llu: packed: no whole zstd frame of at most 64 MiB",
                              (unsigned long long)*tick);
    }
    *bytes = file->keyframe;
    return CAROM_OK;
}

// Making
// -------------------------------------------------------------------------------------------

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

carom_result cm_match_open(const char *path, cm_match_file **out, cm_match_error *error)
{
    *out = NULL;
    memset(error, 0, sizeof *error);
    cm_match_file *file = calloc(1, sizeof *file);
    if (file == NULL || (file->record = cm_record_create()) == NULL) {
        free(file);
        return cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory");
    }
    file->info.bytes = bytes_of(path);
    carom_result result = cm_match_db_open(path, &file->db, &file->info.format, error);
    if (result == CAROM_OK) {
        result = read_meta(file, error);
    }
    if (result == CAROM_OK) {
        result = read_scene(file, error);
    }
    if (result == CAROM_OK) {
        result = check_ticks(file, error);
    }
    if (result == CAROM_OK) {
        result = check_keyframes(file, error);
    }
    if (result != CAROM_OK) {
        if (error->message[0] == '\0') {
            cm_match_wrong(error, result, "%s", carom_result_text(result));
        }
        cm_match_close(file);
        return result;
    }
    *out = file;
    return CAROM_OK;
}

void cm_match_close(cm_match_file *file)
{
    if (file == NULL) {
        return;
    }
    sqlite3_finalize(file->ticks);
    sqlite3_finalize(file->keyframes);
    cm_match_db_close(&file->db);
    cm_scene_free(file->scene);
    cm_record_free(file->record);
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
