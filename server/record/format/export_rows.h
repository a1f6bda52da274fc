// The inside of an export that is being written. For export_db.c and export_rows.c alone.
#ifndef CM_SERVER_RECORD_FORMAT_EXPORT_ROWS_H
#define CM_SERVER_RECORD_FORMAT_EXPORT_ROWS_H

#include "server/record/format/column.h"
#include "server/record/format/export_db.h"

struct sqlite3;
struct sqlite3_stmt;

// Each row that is written: its statement, once prepared.
typedef enum cm_export_row {
    CM_EXPORT_ABOUT,
    CM_EXPORT_TICK,
    CM_EXPORT_NAME,
    CM_EXPORT_JOIN,
    CM_EXPORT_LEAVE,
    CM_EXPORT_EVENT,
    CM_EXPORT_INPUT,
    CM_EXPORT_FIELD,
    CM_EXPORT_STATISTICS,
    CM_EXPORT_BODY,
    CM_EXPORT_LAST,
    CM_EXPORT_TRACK,
    CM_EXPORT_HAPPENING,
    CM_EXPORT_GAME_EVENT,
    CM_EXPORT_ROWS,
} cm_export_row;

// The row of `bodies` that a slot's body has.
typedef struct cm_export_slot {
    uint32_t generation; // 0: never used
    int64_t body;        // its number in `bodies`
    uint64_t last_tick;
} cm_export_slot;

struct cm_export_db {
    struct sqlite3 *db;
    char *path, *part; // where it is to be, and where it is written
    uint64_t from, to, every;
    struct sqlite3_stmt *rows[CM_EXPORT_ROWS];
    cm_export_slot *slots;
    uint32_t slot_count;
    int64_t body_count;
    uint64_t happening_tick, happening_number;
};

carom_result cm_export_put(cm_export_db *db, cm_export_row row, const cm_sql_value *values,
                           size_t count, cm_match_error *error);

#endif
