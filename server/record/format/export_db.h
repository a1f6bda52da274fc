// A match as plain SQLite tables (EXPORT_FILE.md), for those who ask questions of it. Rows are
// written as they come, in one transaction of a file under another name, which gets its own at the
// end: a half-written export is never seen, and what is there already is never overwritten.
//
// Memory: SQLite's cache of 8 MiB, and a row a slot of bodies.
#ifndef CM_SERVER_RECORD_FORMAT_EXPORT_DB_H
#define CM_SERVER_RECORD_FORMAT_EXPORT_DB_H

#include "carom/game.h"
#include "server/record/format/match_file.h"

typedef struct cm_export_db cm_export_db;

typedef struct cm_export_def {
    const char *path;
    uint64_t from, to, every; // ticks
    bool is_sandbox;          // the match's module
} cm_export_def;

// CAROM_ERROR_STATE: the path is there already. CAROM_ERROR_IO.
carom_result cm_export_db_create(const cm_export_def *def, cm_export_db **db,
                                 cm_match_error *error);
// Makes the file appear, and closes it.
carom_result cm_export_db_finish(cm_export_db *db, cm_match_error *error);
// Closes and removes what was not finished. NULL is allowed.
void cm_export_db_abandon(cm_export_db *db);

// All that needs no simulation: `about`, `ticks`, `players`, `events`, `inputs`, `statistics`.
// Reads the whole file once and leaves it at tick 0.
carom_result cm_export_db_records(cm_export_db *db, cm_match_file *file, cm_match_error *error);

// A living body after a tick. One that is not tracked in this tick only updates `bodies`.
typedef struct cm_export_body {
    carom_body_id id;
    const char *name;
    const carom_body_state *state;
    bool is_tracked;
} cm_export_body;
carom_result cm_export_db_body(cm_export_db *db, uint64_t tick, const cm_export_body *body,
                               cm_match_error *error);

// An event of a step: "begin", "end", "sleep", "wake", "break". A body that was made and destroyed
// in the same tick has no row in `bodies`, and is NULL here.
typedef struct cm_export_happening {
    const char *type;
    carom_body_id body, other;
    const char *joint;                  // of a break, else NULL
    const carom_contact_event *contact; // or NULL
    const carom_joint_event *broken;    // or NULL
} cm_export_happening;
carom_result cm_export_db_happening(cm_export_db *db, uint64_t tick,
                                    const cm_export_happening *happening, cm_match_error *error);

// An event that the game's module emitted, with its number in the tick. `name` "": it has none.
carom_result cm_export_db_game_event(cm_export_db *db, const carom_event *event, uint32_t number,
                                     const char *name, cm_match_error *error);

#endif
