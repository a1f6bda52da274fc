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
    uint64_t client_id;
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

static carom_result put(exporting *run, cm_export_row row, const cm_sql_value *values, size_t count)
{
    return cm_export_put(run->db, row, values, count, run->error);
}

// About ---------------------------------------------------------------------------------------

static carom_result put_about(exporting *run)
{
    const cm_match_info *info = &run->file->info;
    const cm_sql_value rows[][2] = {
        {CM_TEXT("match_id"), CM_HEX16(info->match_id)},
        {CM_TEXT("scene"), CM_TEXT(cm_scene_name(run->file->scene))},
        {CM_TEXT("module"), CM_TEXT(info->module)},
        {CM_TEXT("module_version"), CM_INT(info->module_version)},
        {CM_TEXT("engine_version"), CM_INT(info->engine_version)},
        {CM_TEXT("engine_text"), CM_TEXT(info->engine_text)},
        {CM_TEXT("seed"), CM_HEX16(info->seed)},
        {CM_TEXT("tick_rate"), CM_INT(info->tick_rate)},
        {CM_TEXT("started_unix_ms"), CM_INT(info->started_unix_ms)},
        {CM_TEXT("ticks"), CM_INT(info->ticks)},
        {CM_TEXT("end"), CM_TEXT(cm_match_end_name(info->end))},
        {CM_TEXT("first_tick"), CM_INT(run->db->from)},
        {CM_TEXT("last_tick"), CM_INT(run->db->to)},
        {CM_TEXT("every"), CM_INT(run->db->every)},
    };
    carom_result result = CAROM_OK;
    for (size_t i = 0; result == CAROM_OK && i < sizeof rows / sizeof rows[0]; i++) {
        result = put(run, CM_EXPORT_ABOUT, rows[i], 2);
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
            result = cm_match_corrupt(run->error,
                                      "personal: row of tick %llu: expected an id and a text",
                                      (unsigned long long)names.tick);
            break;
        }
        result = put(run, CM_EXPORT_NAME, CM_VALUES(CM_TEXT(client), CM_TEXT(name)));
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
        cm_sql_value values[6];
        for (int i = 0; i < 6; i++) {
            uint64_t value;
            if (!cm_column_u64(rows.query, i, &value)) {
                result = cm_match_corrupt(run->error,
                                          "statistics: row %llu: expected a player and four counts",
                                          (unsigned long long)rows.tick);
            }
            values[i] = CM_INT(value);
        }
        if (result == CAROM_OK) { // of the whole match, as players are
            result = put(run, CM_EXPORT_STATISTICS, values, 6);
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
    *who = (slot){.is_there = true, .client_id = event->client_id};
    carom_result result = put(
        run, CM_EXPORT_JOIN, CM_VALUES(CM_INT(event->player), CM_ID(who->client_id), CM_INT(tick)));
    who->row = sqlite3_last_insert_rowid(run->db->db);
    return result;
}

static carom_result put_leave(exporting *run, const cm_game_event *event, uint64_t tick)
{
    slot *who = &run->slots[event->player];
    carom_result result = who->is_there
                              ? put(run, CM_EXPORT_LEAVE, CM_VALUES(CM_INT(tick), CM_INT(who->row)))
                              : CAROM_OK;
    *who = (slot){0};
    return result;
}

static carom_result put_event(exporting *run, const cm_recorded_tick *tick, uint32_t number)
{
    static const char *const types[] = {"", "join", "leave", "message", "end"};
    const cm_game_event *event = &tick->input.events[number];
    carom_result result = CAROM_OK;
    if (is_wanted(run, tick->tick)) {
        const slot *who = &run->slots[event->player];
        cm_sql_value client = event->type == CM_EVENT_JOIN ? CM_ID(event->client_id)
                              : who->is_there              ? CM_ID(who->client_id)
                                                           : CM_TEXT("");
        result = put(run, CM_EXPORT_EVENT,
                     CM_VALUES(CM_INT(tick->tick), CM_INT(number), CM_TEXT(types[event->type]),
                               CM_INT(event->player), client, CM_BLOB(event->bytes, event->size)));
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
    return put(run, CM_EXPORT_FIELD,
               CM_VALUES(CM_INT(tick), CM_INT(player), CM_TEXT(field), CM_REAL(value)));
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
    cm_sql_value values[8] = {CM_INT(tick), CM_INT(player)};
    if (who->is_there) {
        values[2] = CM_ID(who->client_id);
    }
    values[3] = CM_INT(changed);
    if (arrival != NULL) {
        double lead = (double)arrival->lead / 16.0, rate = (double)run->file->info.tick_rate;
        values[4] = CM_REAL((double)tick - lead);
        values[5] = CM_REAL(lead < 0.0 ? -lead * 1000.0 / rate : 0.0);
        values[6] = CM_INT(arrival->rewound);
    }
    values[7] = CM_BLOB(who->input, run->input_bytes);
    carom_result result = put(run, CM_EXPORT_INPUT, values, 8);
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
    for (uint32_t i = 0; result == CAROM_OK && i < tick->input.event_count; i++) {
        result = put_event(run, tick, i);
    }
    result = result == CAROM_OK ? put_inputs(run, tick) : result;
    if (result != CAROM_OK || !is_wanted(run, tick->tick)) {
        return result;
    }
    return put(run, CM_EXPORT_TICK,
               CM_VALUES(CM_INT(tick->tick),
                         CM_REAL((double)tick->tick / (double)run->file->info.tick_rate),
                         CM_HEX16(tick->hash)));
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
