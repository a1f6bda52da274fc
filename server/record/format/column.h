// Columns of untrusted rows: SQLite's columns hold any type, so type and size are checked before a
// value is used. Each function returns false for another type or size.
#ifndef CM_SERVER_RECORD_FORMAT_COLUMN_H
#define CM_SERVER_RECORD_FORMAT_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite3_stmt;

// An integer that may not be negative.
bool cm_column_u64(struct sqlite3_stmt *row, int at, uint64_t *value);
// A decimal text as the writer makes it; NULL gives 0.
bool cm_column_id(struct sqlite3_stmt *row, int at, uint64_t *value);
// A blob of exactly this size.
bool cm_column_bytes(struct sqlite3_stmt *row, int at, uint8_t *bytes, size_t size);
// A text of fewer than `size` bytes, without zeros in it.
bool cm_column_text(struct sqlite3_stmt *row, int at, char *text, size_t size);

#endif
