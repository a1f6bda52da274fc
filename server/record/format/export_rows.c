// The contents of a match file as plain rows of an export, made without simulation. Players and
// statistics are those of the whole match; the rest is of the requested ticks.
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "server/record/format/export_rows.h"
#include "server/record/format/match_rows.h"

#define POSE_FIELDS 13

// A player's slot as the rows are read: who is there, and the input it holds.
typedef struct slot {
    bool is_there;
    int64_t row; // of `players`
    char client_id[24];
    uint8_t input[CAROM_INPUT_MAX];
} slot;

typedef struct exporting {
    cm_export_db *db;
    cm_match_file *file;
    cm_match_error *error;
    uint32_t pose_bytes, input_bytes;
    bool is_sandbox;
    slot slots[CAROM_PLAYERS_MAX];
} exporting;

static bool is_wanted(const exporting *run, uint64_t tick)
{
    return tick >= run->db->from && tick <= run->db->to;
}

// About ---------------------------------------------------------------------------------------

static carom_result about_text(exporting *run, const char *key, const char *value)
{
    sqlite3_stmt *row = cm_export_read(run->db, CM_EXPORT_ABOUT);
    sqlite3_bind_text(row, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_text(row, 2, value, -1, SQLITE_STATIC);
    return cm_export_put(run->db, row, run->error);
}

static carom_result about_number(exporting *run, const char *key, uint64_t value)
{
    sqlite3_stmt *row = cm_export_read(run->db, CM_EXPORT_ABOUT);
    sqlite3_bind_text(row, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_int64(row, 2, (sqlite3_int64)value);
    return cm_export_put(run->db, row, run->error);
}

static carom_result put_about(exporting *run)
{
    const cm_match_info *info = &run->file->info;
    char id[24], seed[24];
    snprintf(id, sizeof id, "%016llx", (unsigned long long)info->match_id);
    snprintf(seed, sizeof seed, "%016llx", (unsigned long long)info->seed);
    const struct {
        const char *key, *text;
        uint64_t number;
    } rows[] = {
        {"match_id", id, 0},
        {"scene", cm_scene_name(run->file->scene), 0},
        {"module", info->module, 0},
        {"module_version", NULL, info->module_version},
        {"engine_version", NULL, info->engine_version},
        {"engine_text", info->engine_text, 0},
        {"seed", seed, 0},
        {"tick_rate", NULL, info->tick_rate},
        {"started_unix_ms", NULL, info->started_unix_ms},
        {"ticks", NULL, info->ticks},
        {"end", cm_match_end_name(info->end), 0},
        {"first_tick", NULL, run->db->from},
        {"last_tick", NULL, run->db->to},
        {"every", NULL, run->db->every},
    };
    carom_result result = CAROM_OK;
    for (size_t i = 0; result == CAROM_OK && i < sizeof rows / sizeof rows[0]; i++) {
        result = rows[i].text != NULL ? about_text(run, rows[i].key, rows[i].text)
                                      : about_number(run, rows[i].key, rows[i].number);
    }
    return result;
}

// Names, which come before players: a file has a name with the join or after it.
static carom_result put_names(exporting *run)
{
    cm_cursor names = {0};
    char client[24], name[CM_RECORD_PERSONAL_MAX + 1];
    carom_result result = cm_cursor_open(
        run->file, &names, "personal",
        "SELECT tick, client_id, value FROM personal WHERE kind = 'name' AND value IS NOT NULL "
        "ORDER BY number",
        run->error);
    while (result == CAROM_OK && names.has_row) {
        if (!cm_column_text(names.query, 1, client, sizeof client) ||
            !cm_column_text(names.query, 2, name, sizeof name)) {
            result = cm_match_wrong(run->error, CAROM_ERROR_CORRUPT,
                                    "personal: row of tick %llu: expected an id and a text",
                                    (unsigned long long)names.tick);
            break;
        }
        sqlite3_stmt *row = cm_export_read(run->db, CM_EXPORT_NAME);
        sqlite3_bind_text(row, 1, client, -1, SQLITE_STATIC);
        sqlite3_bind_text(row, 2, name, -1, SQLITE_STATIC);
        result = cm_export_put(run->db, row, run->error);
        result = result == CAROM_OK ? cm_cursor_step(run->file, &names, run->error) : result;
    }
    cm_cursor_close(&names);
    return result;
}

static carom_result put_statistics(exporting *run)
{
    cm_cursor rows = {0};
    carom_result result =
        cm_cursor_open(run->file, &rows, "statistics",
                       "SELECT tick, player, inputs, late, rewound_ticks, refused FROM statistics "
                       "ORDER BY tick, player",
                       run->error);
    while (result == CAROM_OK && rows.has_row) {
        sqlite3_stmt *row = cm_export_read(run->db, CM_EXPORT_STATISTICS);
        for (int i = 0; i < 6; i++) {
            uint64_t value;
            if (!cm_column_u64(rows.query, i, &value)) {
                result = cm_match_wrong(run->error, CAROM_ERROR_CORRUPT,
                                        "statistics: row %llu: expected a player and four counts",
                                        (unsigned long long)rows.tick);
            }
            sqlite3_bind_int64(row, i + 1, (sqlite3_int64)value);
        }
        if (result == CAROM_OK) { // of the whole match, as players are
            result = cm_export_put(run->db, row, run->error);
        }
        result = result == CAROM_OK ? cm_cursor_step(run->file, &rows, run->error) : result;
    }
    cm_cursor_close(&rows);
    return result;
}

// Events --------------------------------------------------------------------------------------

static carom_result put_join(exporting *run, const cm_game_event *event, uint64_t tick)
{
    slot *who = &run->slots[event->player];
    *who = (slot){.is_there = true};
    snprintf(who->client_id, sizeof who->client_id, "%llu", (unsigned long long)event->client_id);
    sqlite3_stmt *row = cm_export_read(run->db, CM_EXPORT_JOIN);
    sqlite3_bind_int64(row, 1, event->player);
    sqlite3_bind_text(row, 2, who->client_id, -1, SQLITE_STATIC);
    sqlite3_bind_int64(row, 3, (sqlite3_int64)tick);
    carom_result result = cm_export_put(run->db, row, run->error);
    who->row = sqlite3_last_insert_rowid(run->db->db);
    return result;
}

static carom_result put_leave(exporting *run, const cm_game_event *event, uint64_t tick)
{
    slot *who = &run->slots[event->player];
    sqlite3_stmt *row = cm_export_read(run->db, CM_EXPORT_LEAVE);
    sqlite3_bind_int64(row, 1, (sqlite3_int64)tick);
    sqlite3_bind_int64(row, 2, who->row);
    carom_result result = who->is_there ? cm_export_put(run->db, row, run->error) : CAROM_OK;
    *who = (slot){0};
    return result;
}

static carom_result put_event(exporting *run, const cm_recorded_tick *tick, uint32_t number)
{
    static const char *const types[] = {"", "join", "leave", "message", "end"};
    const cm_game_event *event = &tick->input.events[number];
    carom_result result = CAROM_OK;
    if (is_wanted(run, tick->tick)) {
        sqlite3_stmt *row = cm_export_read(run->db, CM_EXPORT_EVENT);
        char client[24];
        snprintf(client, sizeof client, "%llu", (unsigned long long)event->client_id);
        sqlite3_bind_int64(row, 1, (sqlite3_int64)tick->tick);
        sqlite3_bind_int64(row, 2, number);
        sqlite3_bind_text(row, 3, types[event->type], -1, SQLITE_STATIC);
        sqlite3_bind_int64(row, 4, event->player);
        sqlite3_bind_text(
            row, 5, event->type == CM_EVENT_JOIN ? client : run->slots[event->player].client_id, -1,
            SQLITE_TRANSIENT);
        if (event->size > 0) {
            sqlite3_bind_blob(row, 6, event->bytes, (int)event->size, SQLITE_STATIC);
        }
        result = cm_export_put(run->db, row, run->error);
    }
    if (result == CAROM_OK && event->type == CM_EVENT_JOIN) {
        result = put_join(run, event, tick->tick);
    } else if (result == CAROM_OK && event->type == CM_EVENT_LEAVE) {
        result = put_leave(run, event, tick->tick);
    }
    return result;
}

// Inputs --------------------------------------------------------------------------------------

static double f32_at(const uint8_t *bytes)
{
    uint32_t bits = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                    (uint32_t)bytes[3] << 24;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static carom_result put_field(exporting *run, uint64_t tick, uint32_t player, const char *field,
                              double value)
{
    sqlite3_stmt *row = cm_export_read(run->db, CM_EXPORT_FIELD);
    sqlite3_bind_int64(row, 1, (sqlite3_int64)tick);
    sqlite3_bind_int64(row, 2, player);
    sqlite3_bind_text(row, 3, field, -1, SQLITE_STATIC);
    sqlite3_bind_double(row, 4, value);
    return cm_export_put(run->db, row, run->error);
}

// Those of a pointer's pose (carom/game.h), then those of the sandbox. Only another module itself
// knows the meaning of its bytes.
static carom_result put_fields(exporting *run, uint64_t tick, uint32_t player, const uint8_t *bytes)
{
    static const char *const pose[POSE_FIELDS] = {
        "position_x",        "position_y",        "position_z",         "orientation_x",
        "orientation_y",     "orientation_z",     "orientation_w",      "linear_velocity_x",
        "linear_velocity_y", "linear_velocity_z", "angular_velocity_x", "angular_velocity_y",
        "angular_velocity_z"};
    carom_result result = CAROM_OK;
    for (uint32_t i = 0; result == CAROM_OK && run->pose_bytes > 0 && i < POSE_FIELDS; i++) {
        result = put_field(run, tick, player, pose[i], f32_at(bytes + 4 * i));
    }
    if (!run->is_sandbox) {
        return result;
    }
    const uint8_t *own = bytes + run->pose_bytes;
    const struct {
        const char *name;
        double value;
    } fields[] = {{"force_x", f32_at(own)},
                  {"force_z", f32_at(own + 4)},
                  {"hold", own[8] & 1},
                  {"jump", own[8] >> 1 & 1}};
    for (size_t i = 0; result == CAROM_OK && i < 4; i++) {
        result = put_field(run, tick, player, fields[i].name, fields[i].value);
    }
    return result;
}

// A player of whom an input changed, or came, or both.
static carom_result put_input(exporting *run, uint64_t tick, uint32_t player, bool changed,
                              const cm_arrival *arrival)
{
    const slot *who = &run->slots[player];
    sqlite3_stmt *row = cm_export_read(run->db, CM_EXPORT_INPUT);
    sqlite3_bind_int64(row, 1, (sqlite3_int64)tick);
    sqlite3_bind_int64(row, 2, player);
    if (who->is_there) {
        sqlite3_bind_text(row, 3, who->client_id, -1, SQLITE_STATIC);
    }
    sqlite3_bind_int(row, 4, changed);
    if (arrival != NULL) {
        double lead = (double)arrival->lead / 16.0, rate = (double)run->file->info.tick_rate;
        sqlite3_bind_double(row, 5, (double)tick - lead);
        sqlite3_bind_double(row, 6, lead < 0.0 ? -lead * 1000.0 / rate : 0.0);
        sqlite3_bind_int(row, 7, arrival->rewound);
    }
    sqlite3_bind_blob(row, 8, who->input, (int)run->input_bytes, SQLITE_STATIC);
    carom_result result = cm_export_put(run->db, row, run->error);
    return result == CAROM_OK && changed ? put_fields(run, tick, player, who->input) : result;
}

static carom_result put_inputs(exporting *run, const cm_recorded_tick *tick)
{
    const cm_tick_input *input = &tick->input;
    uint32_t i = 0, k = 0;
    carom_result result = CAROM_OK;
    while (result == CAROM_OK && (i < input->input_count || k < tick->arrival_count)) {
        uint32_t changed = i < input->input_count ? input->inputs[i].player : UINT32_MAX;
        uint32_t arrived = k < tick->arrival_count ? tick->arrivals[k].player : UINT32_MAX;
        uint32_t player = changed < arrived ? changed : arrived;
        if (changed == player) {
            memcpy(run->slots[player].input, input->inputs[i++].bytes, CAROM_INPUT_MAX);
        }
        const cm_arrival *arrival = arrived == player ? &tick->arrivals[k++] : NULL;
        if (is_wanted(run, tick->tick)) {
            result = put_input(run, tick->tick, player, changed == player, arrival);
        }
    }
    return result;
}

// Ticks ---------------------------------------------------------------------------------------

static carom_result put_tick(exporting *run, const cm_recorded_tick *tick)
{
    carom_result result = CAROM_OK;
    char hash[24];
    for (uint32_t i = 0; result == CAROM_OK && i < tick->input.event_count; i++) {
        result = put_event(run, tick, i);
    }
    result = result == CAROM_OK ? put_inputs(run, tick) : result;
    if (result != CAROM_OK || !is_wanted(run, tick->tick)) {
        return result;
    }
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)tick->hash);
    sqlite3_stmt *row = cm_export_read(run->db, CM_EXPORT_TICK);
    sqlite3_bind_int64(row, 1, (sqlite3_int64)tick->tick);
    sqlite3_bind_double(row, 2, (double)tick->tick / (double)run->file->info.tick_rate);
    sqlite3_bind_text(row, 3, hash, -1, SQLITE_STATIC);
    return cm_export_put(run->db, row, run->error);
}

carom_result cm_export_db_records(cm_export_db *db, cm_match_file *file, cm_match_error *error)
{
    const carom_module *module = cm_module_find(file->info.module);
    exporting run = {.db = db, .file = file, .error = error};
    run.pose_bytes = cm_scene_pointer_bytes(file->scene);
    run.input_bytes = module != NULL ? cm_scene_input_size(file->scene, module) : CAROM_INPUT_MAX;
    run.is_sandbox = module == &carom_module_sandbox;
    cm_recorded_tick tick;
    cm_match_seek(file, 0);
    carom_result result = put_about(&run);
    result = result == CAROM_OK ? put_names(&run) : result;
    result = result == CAROM_OK ? put_statistics(&run) : result;
    while (result == CAROM_OK && (result = cm_match_next(file, &tick, error)) == CAROM_OK) {
        result = put_tick(&run, &tick);
    }
    cm_match_seek(file, 0);
    return result == CAROM_ERROR_NOT_FOUND ? CAROM_OK : result;
}
