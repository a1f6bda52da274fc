// A read-only connection to an untrusted match file. Private to match_file.c.
#ifndef CM_SERVER_RECORD_FORMAT_MATCH_DB_H
#define CM_SERVER_RECORD_FORMAT_MATCH_DB_H

#include "server/record/format/match_file.h"

struct sqlite3;

typedef struct cm_match_db {
    struct sqlite3 *db;
    char *copy; // folder of a private copy, removed at close; NULL for none
} cm_match_db;

// Opens, sets limits and defences, and checks that the schema is exactly that of match_format.h.
carom_result cm_match_db_open(const char *path, cm_match_db *out, uint32_t *format,
                              cm_match_error *error);
void cm_match_db_close(cm_match_db *db);

// A message that names the place: `PLACE: what is wrong, what was expected`. Returns `result`.
carom_result cm_match_wrong(cm_match_error *error, carom_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define cm_match_corrupt(error, ...) cm_match_wrong(error, CAROM_ERROR_CORRUPT, __VA_ARGS__)
// SQLite's last error on the connection, as a result and a message.
carom_result cm_match_db_wrong(const cm_match_db *db, const char *place, cm_match_error *error);

#endif
