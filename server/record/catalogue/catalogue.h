// The catalogue: the one SQLite database of a server, with its scenes, the rooms to start and the
// index of its matches. Its schema is what the numbered files of catalogue/ make, one after
// another; user_version says how many of them a file has had. An older file is brought up to date
// when it is opened, a newer one is refused.
//
// A file is untrusted: it is opened in SQLite's defensive mode with limits, its schema must equal
// ours, text for text, its pages are checked, and an authorizer bounds the statements that run.
// Each call of scene_db.h, room_db.h and match_index.h opens it, does one thing and closes it.
#ifndef CM_SERVER_RECORD_CATALOGUE_CATALOGUE_H
#define CM_SERVER_RECORD_CATALOGUE_CATALOGUE_H

#include "server/record/format/column.h"
#include "shared/scene/scene.h"

#define CM_CATALOGUE_DEFAULT "carom.db"

struct sqlite3;

typedef enum cm_catalogue_use {
    CM_CATALOGUE_READ,
    CM_CATALOGUE_GLANCE, // likewise; fails if another process holds its lock
    CM_CATALOGUE_CHANGE, // of a file that is there
    CM_CATALOGUE_MAKE,   // it is made if missing
    CM_CATALOGUE_TRY,    // likewise; fails if another process holds its lock
} cm_catalogue_use;

// CAROM_ERROR_NOT_FOUND (no such file), _IO, _CORRUPT, _VERSION (a newer schema).
carom_result cm_catalogue_open(const char *path, cm_catalogue_use use, struct sqlite3 **db,
                               cm_scene_error *error);

// The schema of a file, and the one that this build makes; changes nothing, however old the file
// is. Errors as above.
carom_result cm_catalogue_version(const char *path, int64_t *version, int64_t *newest,
                                  cm_scene_error *error);

// Fills the error: `what`, and after a colon `detail` unless that is "". Returns `result`.
carom_result cm_catalogue_refuse(cm_scene_error *error, carom_result result, const char *what,
                                 const char *detail);
// SQLite's last error as a result: the file's fault (CORRUPT), or the machine's (IO).
carom_result cm_catalogue_wrong(cm_scene_error *error, struct sqlite3 *db, const char *what);

// Opens a catalogue, runs one statement that changes rows, closes it. `changes`: how many; may be
// NULL.
carom_result cm_catalogue_change(const char *path, cm_catalogue_use use, const char *sql,
                                 const cm_sql_value *values, size_t count, int *changes,
                                 cm_scene_error *error);

typedef enum cm_catalogue_row {
    CM_CATALOGUE_NEXT,
    CM_CATALOGUE_ENOUGH,
    CM_CATALOGUE_BAD, // its values are not as expected
} cm_catalogue_row;
// Opens a catalogue and gives the rows of a query one after another, then closes it. A bad one is
// CORRUPT, in the name of `table`.
carom_result cm_catalogue_rows(const char *path, cm_catalogue_use use, const char *sql,
                               const cm_sql_value *values, size_t count, const char *table,
                               cm_catalogue_row (*take)(void *context, struct sqlite3_stmt *row),
                               void *context, cm_scene_error *error);

#endif
