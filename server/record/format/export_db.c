// The file of an export: written under a temporary name with bodies and their events, then renamed.
// It has no journal, because half an export is of no use: a failed or killed one is repeated. 400
// bodies at 60 Hz are 24,000 rows a second of the match, 2.4 MB; --every thins them.
#include "server/record/format/export_db.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/record/format/export_format.h"
#include "server/record/format/export_rows.h"
#include "server/record/format/match_db.h"
#include "shared/base/array.h"

static const char *const statements[CM_EXPORT_ROWS] = {
    [CM_EXPORT_ABOUT] = "INSERT INTO about VALUES(?1, ?2)",
    [CM_EXPORT_TICK] = "INSERT INTO ticks VALUES(?1, ?2, ?3)",
    [CM_EXPORT_NAME] = "INSERT OR IGNORE INTO temp.names VALUES(?1, ?2)",
    [CM_EXPORT_JOIN] = "INSERT INTO players VALUES(?1, ?2, "
                       "(SELECT name FROM temp.names WHERE client_id = ?2), ?3, NULL)",
    [CM_EXPORT_LEAVE] = "UPDATE players SET \"left\" = ?1 WHERE rowid = ?2",
    [CM_EXPORT_EVENT] = "INSERT INTO events VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
    [CM_EXPORT_INPUT] = "INSERT INTO inputs VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [CM_EXPORT_FIELD] = "INSERT INTO input_fields VALUES(?1, ?2, ?3, ?4)",
    [CM_EXPORT_STATISTICS] = "INSERT INTO statistics VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
    [CM_EXPORT_BODY] = "INSERT INTO bodies VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, NULL)",
    [CM_EXPORT_LAST] = "UPDATE bodies SET last_tick = ?1 WHERE body = ?2",
    [CM_EXPORT_TRACK] = "INSERT INTO tracks VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
                        "?12, ?13, ?14, ?15, ?16)",
    [CM_EXPORT_HAPPENING] = "INSERT INTO happenings VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, "
                            "?10, ?11, ?12, ?13, ?14, ?15)",
    [CM_EXPORT_GAME_EVENT] = "INSERT INTO game_events VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
};

// Making --------------------------------------------------------------------------------------

static carom_result wrong(cm_export_db *db, cm_match_error *error)
{
    return cm_match_wrong(error, CAROM_ERROR_IO, "%.200s: %s", db->path,
                          db->db != NULL ? sqlite3_errmsg(db->db) : "no memory");
}

static bool make_tables(cm_export_db *db, bool is_sandbox)
{
    static const char *const schema[] = {
#define TEXT(text) text,
        CM_EXPORT_SCHEMA(TEXT)
#undef TEXT
    };
    static const char *const sandbox[] = {
#define TEXT(text) text,
        CM_EXPORT_SANDBOX_SCHEMA(TEXT)
#undef TEXT
    };
    char mark[128];
    snprintf(mark, sizeof mark, "PRAGMA application_id=%d; PRAGMA user_version=%d; BEGIN",
             CM_EXPORT_APPLICATION_ID, CM_EXPORT_FORMAT);
    bool made = sqlite3_exec(db->db,
                             "PRAGMA page_size=16384; PRAGMA journal_mode=OFF;"
                             "PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
                             "PRAGMA cache_size=-8192;"
                             "CREATE TEMP TABLE names(client_id TEXT PRIMARY KEY, name TEXT)",
                             NULL, NULL, NULL) == SQLITE_OK &&
                sqlite3_exec(db->db, mark, NULL, NULL, NULL) == SQLITE_OK;
    for (size_t i = 0; made && i < sizeof schema / sizeof schema[0]; i++) {
        made = sqlite3_exec(db->db, schema[i], NULL, NULL, NULL) == SQLITE_OK;
    }
    for (size_t i = 0; made && is_sandbox && i < sizeof sandbox / sizeof sandbox[0]; i++) {
        made = sqlite3_exec(db->db, sandbox[i], NULL, NULL, NULL) == SQLITE_OK;
    }
    for (size_t i = 0; made && i < CM_EXPORT_ROWS; i++) {
        made = sqlite3_prepare_v3(db->db, statements[i], -1, SQLITE_PREPARE_PERSISTENT,
                                  &db->rows[i], NULL) == SQLITE_OK;
    }
    return made;
}

carom_result cm_export_db_create(const cm_export_def *def, cm_export_db **out,
                                 cm_match_error *error)
{
    *out = NULL;
    if (access(def->path, F_OK) == 0) {
        return cm_match_wrong(error, CAROM_ERROR_STATE, "%.200s: is there already", def->path);
    }
    cm_export_db *db = calloc(1, sizeof *db);
    size_t length = strlen(def->path);
    char *part = malloc(length + 8), *path = strdup(def->path);
    if (db == NULL || part == NULL || path == NULL) {
        free(db);
        free(part);
        free(path);
        return cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory");
    }
    snprintf(part, length + 8, "%s.XXXXXX", def->path);
    *db = (cm_export_db){
        .path = path, .part = part, .from = def->from, .to = def->to, .every = def->every};
    carom_result result = CAROM_OK;
    int file = mkstemp(part);
    if (file < 0) {
        result = cm_match_wrong(error, CAROM_ERROR_IO, "%.200s: %s", path, strerror(errno));
        part[0] = '\0';
    } else {
        close(file); // this process has no other connection to it: no lock is lost
        bool made = sqlite3_open_v2(part, &db->db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                    make_tables(db, def->is_sandbox);
        result = made ? CAROM_OK : wrong(db, error);
    }
    if (result != CAROM_OK) {
        cm_export_db_abandon(db);
        return result;
    }
    *out = db;
    return CAROM_OK;
}

static void close_db(cm_export_db *db)
{
    for (size_t i = 0; i < CM_EXPORT_ROWS; i++) {
        sqlite3_finalize(db->rows[i]);
        db->rows[i] = NULL;
    }
    sqlite3_close(db->db);
    db->db = NULL;
}

void cm_export_db_abandon(cm_export_db *db)
{
    if (db == NULL) {
        return;
    }
    close_db(db);
    if (db->part[0] != '\0') {
        unlink(db->part);
    }
    free(db->part);
    free(db->path);
    free(db->slots);
    free(db);
}

static carom_result put_last_tick(cm_export_db *db, const cm_export_slot *slot,
                                  cm_match_error *error)
{
    return cm_export_put(db, CM_EXPORT_LAST, CM_VALUES(CM_INT(slot->last_tick), CM_INT(slot->body)),
                         error);
}

static bool put_last_ticks(cm_export_db *db, cm_match_error *error)
{
    carom_result result = CAROM_OK;
    for (uint32_t i = 0; result == CAROM_OK && i < db->slot_count; i++) {
        if (db->slots[i].generation > 0) {
            result = put_last_tick(db, &db->slots[i], error);
        }
    }
    return result == CAROM_OK;
}

// On the disk, and for those to read whom a new file is for.
static bool sync_file(const char *path)
{
    mode_t mask = umask(077);
    umask(mask);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool done = file >= 0 && fsync(file) == 0 && fchmod(file, 0666 & ~mask) == 0;
    if (file >= 0) {
        close(file);
    }
    return done;
}

carom_result cm_export_db_finish(cm_export_db *db, cm_match_error *error)
{
    carom_result result = CAROM_OK;
    if (!put_last_ticks(db, error)) {
        result = CAROM_ERROR_IO;
    } else if (sqlite3_exec(db->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
        result = wrong(db, error);
    }
    if (result == CAROM_OK) {
        close_db(db);
        if (!sync_file(db->part)) {
            result = cm_match_wrong(error, CAROM_ERROR_IO, "%.200s: %s", db->path, strerror(errno));
        }
    }
    if (result == CAROM_OK) {
        // A link never replaces what came there meanwhile.
        if (link(db->part, db->path) != 0) {
            result = cm_match_wrong(error, errno == EEXIST ? CAROM_ERROR_STATE : CAROM_ERROR_IO,
                                    "%.200s: %s", db->path, strerror(errno));
        }
    }
    cm_export_db_abandon(db);
    return result;
}

carom_result cm_export_put(cm_export_db *db, cm_export_row row, const cm_sql_value *values,
                           size_t count, cm_match_error *error)
{
    sqlite3_stmt *statement = db->rows[row];
    cm_sql_bind(statement, values, count);
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? CAROM_OK : wrong(db, error);
}

// Bodies --------------------------------------------------------------------------------------

static cm_export_slot *slot_at(cm_export_db *db, uint32_t index)
{
    uint32_t before = db->slot_count;
    if (!cm_array_reserve(&db->slots, &db->slot_count, index + 1, sizeof *db->slots)) {
        return NULL;
    }
    memset(db->slots + before, 0, (db->slot_count - before) * sizeof *db->slots);
    return &db->slots[index];
}

static carom_result put_body(cm_export_db *db, uint64_t tick, const cm_export_body *body,
                             cm_match_error *error)
{
    static const char *const types[] = {"static", "kinematic", "dynamic"};
    return cm_export_put(db, CM_EXPORT_BODY,
                         CM_VALUES(CM_INT(db->slots[body->id.index].body), CM_INT(body->id.index),
                                   CM_INT(body->id.generation), CM_TEXT(body->name),
                                   CM_TEXT(types[body->state->type]), CM_REAL(body->state->mass),
                                   CM_INT(tick)),
                         error);
}

static carom_result put_track(cm_export_db *db, uint64_t tick, int64_t body,
                              const carom_body_state *s, cm_match_error *error)
{
    const carom_vec3 p = s->position, v = s->linear_velocity, w = s->angular_velocity;
    const carom_quat q = s->orientation;
    return cm_export_put(db, CM_EXPORT_TRACK,
                         CM_VALUES(CM_INT(tick), CM_INT(body), CM_REAL(p.x), CM_REAL(p.y),
                                   CM_REAL(p.z), CM_REAL(q.x), CM_REAL(q.y), CM_REAL(q.z),
                                   CM_REAL(q.w), CM_REAL(v.x), CM_REAL(v.y), CM_REAL(v.z),
                                   CM_REAL(w.x), CM_REAL(w.y), CM_REAL(w.z), CM_INT(s->asleep)),
                         error);
}

carom_result cm_export_db_body(cm_export_db *db, uint64_t tick, const cm_export_body *body,
                               cm_match_error *error)
{
    cm_export_slot *slot = slot_at(db, body->id.index);
    carom_result result = CAROM_OK;
    if (slot == NULL) {
        return cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory");
    }
    if (slot->generation != body->id.generation) {
        if (slot->generation > 0) { // another body had this place before
            result = put_last_tick(db, slot, error);
        }
        *slot = (cm_export_slot){.generation = body->id.generation, .body = db->body_count++};
        result = result == CAROM_OK ? put_body(db, tick, body, error) : result;
    }
    slot->last_tick = tick;
    return result == CAROM_OK && body->is_tracked
               ? put_track(db, tick, slot->body, body->state, error)
               : result;
}

// Happenings ----------------------------------------------------------------------------------

static cm_sql_value number_of(const cm_export_db *db, carom_body_id id)
{
    bool known = !carom_body_id_is_null(id) && id.index < db->slot_count &&
                 db->slots[id.index].generation == id.generation;
    return known ? CM_INT(db->slots[id.index].body) : (cm_sql_value){0};
}

carom_result cm_export_db_happening(cm_export_db *db, uint64_t tick,
                                    const cm_export_happening *what, cm_match_error *error)
{
    db->happening_number = db->happening_tick == tick ? db->happening_number : 0;
    db->happening_tick = tick;
    cm_sql_value values[15] = {CM_INT(tick),
                               CM_INT(db->happening_number++),
                               CM_TEXT(what->type),
                               number_of(db, what->body),
                               number_of(db, what->other),
                               CM_TEXT(what->joint)};
    if (what->contact != NULL) {
        const carom_contact_event *c = what->contact;
        const float parts[] = {c->point.x,  c->point.y,  c->point.z, c->normal.x,
                               c->normal.y, c->normal.z, c->impulse};
        for (int i = 0; i < 7; i++) {
            values[6 + i] = CM_REAL(parts[i]);
        }
    }
    if (what->broken != NULL) {
        values[13] = CM_REAL(what->broken->force);
        values[14] = CM_REAL(what->broken->torque);
    }
    return cm_export_put(db, CM_EXPORT_HAPPENING, values, 15, error);
}

carom_result cm_export_db_game_event(cm_export_db *db, const carom_event *event, uint32_t number,
                                     const char *name, cm_match_error *error)
{
    return cm_export_put(db, CM_EXPORT_GAME_EVENT,
                         CM_VALUES(CM_INT(event->tick), CM_INT(number), CM_INT(event->kind),
                                   CM_TEXT(name[0] != '\0' ? name : NULL), CM_INT(event->key),
                                   CM_INT(event->subjects[0]), CM_INT(event->subjects[1]),
                                   CM_BLOB(event->bytes, event->size)),
                         error);
}
