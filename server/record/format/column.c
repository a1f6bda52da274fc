// Values of rows, by their type and size.
#include "server/record/format/column.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cm_column_u64(sqlite3_stmt *row, int at, uint64_t *value)
{
    sqlite3_int64 number = sqlite3_column_int64(row, at);
    *value = (uint64_t)number;
    return sqlite3_column_type(row, at) == SQLITE_INTEGER && number >= 0;
}

bool cm_column_id(sqlite3_stmt *row, int at, uint64_t *value)
{
    char text[24], again[24];
    *value = 0;
    if (sqlite3_column_type(row, at) == SQLITE_NULL) {
        return true;
    }
    if (!cm_column_text(row, at, text, sizeof text)) {
        return false;
    }
    *value = strtoull(text, NULL, 10);
    snprintf(again, sizeof again, "%llu", (unsigned long long)*value);
    return strcmp(text, again) == 0;
}

bool cm_column_bytes(sqlite3_stmt *row, int at, uint8_t *bytes, size_t size)
{
    if (sqlite3_column_type(row, at) != SQLITE_BLOB) {
        return false;
    }
    const void *blob = sqlite3_column_blob(row, at);
    if (blob == NULL || (size_t)sqlite3_column_bytes(row, at) != size) {
        return false;
    }
    memcpy(bytes, blob, size);
    return true;
}

bool cm_column_text(sqlite3_stmt *row, int at, char *text, size_t size)
{
    if (sqlite3_column_type(row, at) != SQLITE_TEXT) {
        return false;
    }
    const unsigned char *found = sqlite3_column_text(row, at);
    size_t length = (size_t)sqlite3_column_bytes(row, at);
    if (found == NULL || length >= size || memchr(found, 0, length) != NULL) {
        return false;
    }
    memcpy(text, found, length);
    text[length] = '\0';
    return true;
}
