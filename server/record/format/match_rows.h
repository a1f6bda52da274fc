// The inside of an open match file: its rows in the order in which they were recorded. For
// match_file.c, match_rows.c and proof.c alone.
#ifndef CM_SERVER_RECORD_FORMAT_MATCH_ROWS_H
#define CM_SERVER_RECORD_FORMAT_MATCH_ROWS_H

#include "server/record/format/chain.h"
#include "server/record/format/column.h"
#include "server/record/format/match_db.h"

struct sqlite3_stmt;

// A query whose first column is a tick, in ascending order, seen one row ahead.
typedef struct cm_cursor {
    const char *table;
    struct sqlite3_stmt *query;
    bool has_row;
    uint64_t tick; // of the row
} cm_cursor;

struct cm_match_file {
    cm_match_db db;
    bool is_attached; // the connection is its writer's
    cm_match_info info;
    cm_scene *scene;
    cm_chain head; // after meta and scene
    uint8_t scene_hash[CM_CHAIN_BYTES];

    uint64_t next_tick;
    cm_cursor ticks, events, inputs, packs;
    cm_record_pack *pack; // the newest of `packs` that was read
    uint32_t pack_row;    // of it, the next one
    uint64_t pack_end;    // its last tick
    cm_record_inputs row; // of the tick in hand
    cm_game_event event_list[CM_CONFIRMED_EVENTS_MAX];
    uint8_t *payloads; // CM_CONFIRMED_EVENTS_MAX of the largest

    struct sqlite3_stmt *keyframe_query;
    uint8_t *keyframe; // unpacked
    size_t keyframe_size;
    uint64_t keyframe_tick;
};

struct sqlite3_stmt *cm_match_prepare(cm_match_file *file, const char *sql);
// ?1 of the query, where it has one, is the next tick.
carom_result cm_cursor_open(cm_match_file *file, cm_cursor *cursor, const char *table,
                            const char *sql, cm_match_error *error);
carom_result cm_cursor_step(cm_match_file *file, cm_cursor *cursor, cm_match_error *error);
void cm_cursor_close(cm_cursor *cursor);

// Back to the first tick, everything closed.
void cm_match_rewind(cm_match_file *file);
// The same, and without the memory of reading ticks (5 MB), which the next one takes again.
void cm_match_rest(cm_match_file *file);

#endif
