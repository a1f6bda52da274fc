// The checks of every untrusted SQLite file, made before any of its rows is used.
#ifndef CM_SERVER_RECORD_FORMAT_UNTRUSTED_DB_H
#define CM_SERVER_RECORD_FORMAT_UNTRUSTED_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite3;

// Defensive mode, no trust in its schema, no triggers or views, limits on what a statement may be
// and take (`length_max`: bytes of a value), cells checked as pages come.
void cm_untrusted_db_defend(struct sqlite3 *db, int length_max);
// One integer of a query or a pragma; -1 where it cannot be read.
int64_t cm_untrusted_number(struct sqlite3 *db, const char *sql);
// Trees, cells and the free list. False where SQLite fails, or with what is wrong in `found`.
bool cm_untrusted_db_check_pages(struct sqlite3 *db, char *found, size_t size);

#endif
