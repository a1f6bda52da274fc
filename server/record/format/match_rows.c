// Ticks with all that belongs to them, gathered from their tables. Every value is checked as it
// is read; a row whose tick does not exist is left to the proof, which counts them.
#include "server/record/format/match_rows.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAYLOAD_MAX                                                                                \
    (CAROM_USER_DATA_MAX > CAROM_MESSAGE_MAX ? CAROM_USER_DATA_MAX : CAROM_MESSAGE_MAX)

sqlite3_stmt *cm_match_prepare(cm_match_file *file, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(file->db.db, sql, -1, &statement, NULL);
    return statement;
}

// Cursors -------------------------------------------------------------------------------------

carom_result cm_cursor_step(cm_match_file *file, cm_cursor *cursor, cm_match_error *error)
{
    int code = sqlite3_step(cursor->query);
    cursor->has_row = code == SQLITE_ROW;
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        return cm_match_db_wrong(&file->db, cursor->table, error);
    }
    if (cursor->has_row && !cm_column_u64(cursor->query, 0, &cursor->tick)) {
        return cm_match_corrupt(error, "%s: row %lld: expected a tick", cursor->table,
                                (long long)sqlite3_column_int64(cursor->query, 0));
    }
    return CAROM_OK;
}

static bool is_at_start(const cm_match_file *file)
{
    return file->next_tick <= file->info.gap_to;
}

carom_result cm_cursor_open(cm_match_file *file, cm_cursor *cursor, const char *table,
                            const char *sql, cm_match_error *error)
{
    cursor->table = table;
    cursor->query = cm_match_prepare(file, sql);
    if (cursor->query == NULL) {
        return cm_match_db_wrong(&file->db, table, error);
    }
    if (sqlite3_bind_parameter_count(cursor->query) > 0) {
        // From the start there is no bound: a row before the first tick is a fault to be seen.
        sqlite3_bind_int64(cursor->query, 1,
                           is_at_start(file) ? INT64_MIN : (sqlite3_int64)file->next_tick);
    }
    return cm_cursor_step(file, cursor, error);
}

void cm_cursor_close(cm_cursor *cursor)
{
    sqlite3_finalize(cursor->query);
    memset(cursor, 0, sizeof *cursor);
}

void cm_match_rewind(cm_match_file *file)
{
    cm_cursor_close(&file->ticks);
    cm_cursor_close(&file->events);
    cm_cursor_close(&file->inputs);
    cm_cursor_close(&file->packs);
    file->next_tick = file->info.gap_to;
    file->pack_end = 0;
    file->pack_row = 0;
    if (file->pack != NULL) {
        cm_record_pack_clear(file->pack);
    }
}

void cm_match_rest(cm_match_file *file)
{
    cm_match_rewind(file);
    cm_record_pack_free(file->pack);
    free(file->payloads);
    file->pack = NULL;
    file->payloads = NULL;
}

void cm_match_seek(cm_match_file *file, uint64_t tick)
{
    cm_match_rewind(file);
    file->next_tick = tick > file->next_tick ? tick : file->next_tick;
}

static carom_result enter_pack(cm_match_file *file, cm_match_error *error);

static carom_result open_rows(cm_match_file *file, cm_match_error *error)
{
    file->pack = file->pack != NULL ? file->pack : cm_record_pack_create();
    file->payloads = file->payloads != NULL ? file->payloads
                                            : malloc((size_t)CM_CONFIRMED_EVENTS_MAX * PAYLOAD_MAX);
    if (file->pack == NULL || file->payloads == NULL) {
        return cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory");
    }
    carom_result result =
        cm_cursor_open(file, &file->ticks, "ticks",
                       "SELECT tick, hash FROM ticks WHERE tick >= ?1 ORDER BY tick", error);
    if (result == CAROM_OK) {
        result = cm_cursor_open(file, &file->events, "events",
                                "SELECT tick, number, type, player, client_id, payload FROM events "
                                "WHERE tick >= ?1 ORDER BY tick, number",
                                error);
    }
    if (result == CAROM_OK) {
        result = cm_cursor_open(
            file, &file->inputs, "inputs",
            "SELECT tick, changed, arrived FROM inputs WHERE tick >= ?1 ORDER BY tick", error);
    }
    if (result == CAROM_OK) {
        result = cm_cursor_open(
            file, &file->packs, "packs",
            "SELECT first, tick, packed FROM packs WHERE tick >= ?1 ORDER BY tick", error);
    }
    return result == CAROM_OK ? enter_pack(file, error) : result;
}

// Events --------------------------------------------------------------------------------------

static carom_result wrong_event(cm_match_error *error, uint64_t tick, uint32_t number,
                                const char *what)
{
    return cm_match_corrupt(error, "events: row %llu, %u: %s", (unsigned long long)tick, number,
                            what);
}

static uint32_t event_type(const char *name)
{
    return strcmp(name, "join") == 0      ? CM_EVENT_JOIN
           : strcmp(name, "leave") == 0   ? CM_EVENT_LEAVE
           : strcmp(name, "message") == 0 ? CM_EVENT_MESSAGE
           : strcmp(name, "end") == 0     ? CM_EVENT_END
                                          : 0;
}

// The event that records that another server resumed the match with this tick.
static carom_result take_resumed(cm_match_file *file, cm_recorded_tick *tick, cm_match_error *error)
{
    sqlite3_stmt *row = file->events.query;
    if (tick->tick == file->info.gap_to || tick->resumed || tick->input.event_count > 0 ||
        sqlite3_column_type(row, 3) != SQLITE_NULL || sqlite3_column_type(row, 4) != SQLITE_NULL ||
        sqlite3_column_type(row, 5) != SQLITE_NULL) {
        return wrong_event(error, tick->tick, 0, "resumed: expected number 0 and nothing else");
    }
    uint64_t told;
    if (!cm_column_u64(row, 1, &told) || told != 0) {
        return wrong_event(error, tick->tick, 0, "resumed: expected number 0");
    }
    tick->resumed = true;
    return CAROM_OK;
}

static bool is_resumed(cm_match_file *file)
{
    char type[16];
    return cm_column_text(file->events.query, 2, type, sizeof type) && strcmp(type, "resumed") == 0;
}

// `first`: the number of the tick's first event; that of the present one is `number` after it.
static carom_result take_event(cm_match_file *file, uint32_t number, uint32_t first,
                               cm_match_error *error)
{
    sqlite3_stmt *row = file->events.query;
    uint64_t tick = file->events.tick, told, player, client_id;
    char type[16];
    if (!cm_column_u64(row, 1, &told) || told != number + first ||
        number >= CM_CONFIRMED_EVENTS_MAX) {
        return wrong_event(error, tick, number, "number: expected 0, 1, 2, … up to 255");
    }
    if (!cm_column_text(row, 2, type, sizeof type) || event_type(type) == 0) {
        return wrong_event(error, tick, number,
                           "type: expected join, leave, message, end or resumed");
    }
    if (!cm_column_u64(row, 3, &player) || player >= CAROM_PLAYERS_MAX) {
        return wrong_event(error, tick, number, "player: out of range, expected 0 to 63");
    }
    if (!cm_column_id(row, 4, &client_id)) {
        return wrong_event(error, tick, number, "client_id: expected a decimal number as text");
    }
    int kind = sqlite3_column_type(row, 5);
    const void *bytes = sqlite3_column_blob(row, 5);
    size_t size = (size_t)sqlite3_column_bytes(row, 5);
    if (kind != SQLITE_NULL && kind != SQLITE_BLOB) {
        return wrong_event(error, tick, number, "payload: wrong type, expected a blob or NULL");
    }
    if (size > cm_confirmed_payload_max(event_type(type)) ||
        (kind == SQLITE_BLOB && bytes == NULL)) {
        return wrong_event(error, tick, number, "payload: empty, or too large for its type");
    }
    uint8_t *copy = file->payloads + (size_t)number * PAYLOAD_MAX;
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    file->event_list[number] = (cm_game_event){event_type(type), (uint32_t)player, client_id,
                                               size > 0 ? copy : NULL, (uint32_t)size};
    return CAROM_OK;
}

// The first tick is a state: after the start of the scene, without players, or after a gap, with
// the players of its joins.
static carom_result check_first(const cm_match_file *file, uint32_t count, cm_match_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        const cm_game_event *event = &file->event_list[i];
        if (file->info.gap_to == 0) {
            return wrong_event(error, 0, 0, "tick 0 is the scene after start, expected no event");
        }
        if (event->type != CM_EVENT_JOIN || event->size != CM_RECORD_JOIN_BYTES ||
            (i > 0 && event->player <= file->event_list[i - 1].player)) {
            return wrong_event(
                error, file->info.gap_to, i,
                "expected joins of those who are there, by player, each with how many "
                "messages it has sent");
        }
    }
    return CAROM_OK;
}

static carom_result take_events(cm_match_file *file, cm_recorded_tick *tick, cm_match_error *error)
{
    carom_result result = CAROM_OK;
    cm_tick_input *input = &tick->input;
    while (result == CAROM_OK && file->events.has_row && file->events.tick == tick->tick) {
        if (is_resumed(file)) {
            result = take_resumed(file, tick, error);
        } else {
            result = take_event(file, input->event_count, tick->resumed, error);
            input->event_count += result == CAROM_OK;
        }
        if (result == CAROM_OK) {
            result = cm_cursor_step(file, &file->events, error);
        }
    }
    if (result == CAROM_OK && tick->tick == file->info.gap_to) {
        result = check_first(file, input->event_count, error);
    }
    input->events = file->event_list;
    return result;
}

// Inputs --------------------------------------------------------------------------------------

static carom_result wrong_pack(cm_match_file *file, const char *what, cm_match_error *error)
{
    return cm_match_corrupt(error, "packs: row %lld: %s",
                            (long long)sqlite3_column_int64(file->packs.query, 1), what);
}

static carom_result take_pack(cm_match_file *file, cm_match_error *error)
{
    sqlite3_stmt *row = file->packs.query;
    uint64_t first = file->packs.tick, last;
    if (!cm_column_u64(row, 1, &last) || sqlite3_column_type(row, 2) != SQLITE_BLOB) {
        return wrong_pack(file, "wrong type, expected two ticks and a blob", error);
    }
    const void *bytes = sqlite3_column_blob(row, 2);
    if (bytes == NULL) {
        return wrong_pack(file, "packed: empty", error);
    }
    const char *wrong =
        cm_record_pack_decode(file->pack, bytes, (size_t)sqlite3_column_bytes(row, 2));
    if (wrong != NULL) {
        return wrong_pack(file, wrong, error);
    }
    uint32_t count = cm_record_pack_count(file->pack);
    if (cm_record_pack_row(file->pack, 0)->tick != first ||
        cm_record_pack_row(file->pack, count - 1)->tick != last ||
        (file->pack_end > 0 && first <= file->pack_end)) {
        return wrong_pack(file, "first and tick are not those of its rows, or not after the last",
                          error);
    }
    file->pack_end = last;
    file->pack_row = 0;
    return cm_cursor_step(file, &file->packs, error);
}

// After a seek: the pack that began before the next tick.
static carom_result enter_pack(cm_match_file *file, cm_match_error *error)
{
    if (is_at_start(file) || !file->packs.has_row || file->packs.tick >= file->next_tick) {
        return CAROM_OK;
    }
    carom_result result = take_pack(file, error);
    while (result == CAROM_OK && file->pack_row < cm_record_pack_count(file->pack) &&
           cm_record_pack_row(file->pack, file->pack_row)->tick < file->next_tick) {
        file->pack_row++;
    }
    return result;
}

static carom_result take_raw(cm_match_file *file, cm_match_error *error)
{
    sqlite3_stmt *row = file->inputs.query;
    for (int at = 1; at <= 2; at++) {
        int type = sqlite3_column_type(row, at);
        if (type != SQLITE_NULL && type != SQLITE_BLOB) {
            return cm_match_corrupt(
                error, "inputs: row %llu: %s: wrong type, expected a blob or NULL",
                (unsigned long long)file->inputs.tick, at == 1 ? "changed" : "arrived");
        }
    }
    const void *changed = sqlite3_column_blob(row, 1), *arrived = sqlite3_column_blob(row, 2);
    const char *wrong =
        cm_confirmed_row_read(changed, (size_t)sqlite3_column_bytes(row, 1), arrived,
                              (size_t)sqlite3_column_bytes(row, 2), &file->row);
    if (wrong != NULL) {
        return cm_match_corrupt(error, "inputs: row %llu: %s",
                                (unsigned long long)file->inputs.tick, wrong);
    }
    return cm_cursor_step(file, &file->inputs, error);
}

static carom_result take_inputs(cm_match_file *file, cm_recorded_tick *tick, cm_match_error *error)
{
    const cm_record_inputs *found = NULL;
    carom_result result = CAROM_OK;
    if (file->packs.has_row && file->packs.tick == tick->tick) {
        result = take_pack(file, error);
    }
    if (result == CAROM_OK && file->pack_row < cm_record_pack_count(file->pack) &&
        cm_record_pack_row(file->pack, file->pack_row)->tick == tick->tick) {
        found = cm_record_pack_row(file->pack, file->pack_row++);
    }
    if (result == CAROM_OK && file->inputs.has_row && file->inputs.tick == tick->tick) {
        if (file->pack_end > 0 && tick->tick <= file->pack_end) {
            return cm_match_corrupt(
                error, "inputs: row %llu: this tick is in a pack, expected one of both",
                (unsigned long long)tick->tick);
        }
        result = take_raw(file, error);
        found = &file->row;
    }
    if (result == CAROM_OK && found != NULL) {
        tick->input.inputs = found->inputs;
        tick->input.input_count = found->input_count;
        tick->arrivals = found->arrivals;
        tick->arrival_count = found->arrival_count;
        if (tick->tick == file->info.gap_to) {
            return cm_match_corrupt(error,
                                    "inputs: row %llu: the first tick is a state, expected none",
                                    (unsigned long long)tick->tick);
        }
    }
    return result;
}

carom_result cm_match_next(cm_match_file *file, cm_recorded_tick *tick, cm_match_error *error)
{
    memset(tick, 0, sizeof *tick);
    carom_result result = file->ticks.query == NULL ? open_rows(file, error) : CAROM_OK;
    if (result != CAROM_OK) {
        return result;
    }
    if (!file->ticks.has_row) {
        return CAROM_ERROR_NOT_FOUND;
    }
    if (file->ticks.tick != file->next_tick) {
        return cm_match_corrupt(error, "ticks: row %llu: expected tick %llu, none may be left out",
                                (unsigned long long)file->ticks.tick,
                                (unsigned long long)file->next_tick);
    }
    if (sqlite3_column_type(file->ticks.query, 1) != SQLITE_INTEGER) {
        return cm_match_corrupt(error, "ticks: row %llu: hash: wrong type, expected an integer",
                                (unsigned long long)file->ticks.tick);
    }
    tick->tick = file->next_tick++;
    tick->hash = (uint64_t)sqlite3_column_int64(file->ticks.query, 1);
    result = take_events(file, tick, error);
    if (result == CAROM_OK) {
        result = take_inputs(file, tick, error);
    }
    if (result == CAROM_OK) {
        result = cm_cursor_step(file, &file->ticks, error);
    }
    return result;
}
