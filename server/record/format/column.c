// Values of rows and parameters, by their type and size.
#include "server/record/format/column.h"

#include <inttypes.h>
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

bool cm_text_is_hex(const char *text, size_t digits)
{
    return strlen(text) == digits && strspn(text, "0123456789abcdef") == digits;
}

static void bind(sqlite3_stmt *statement, int at, const cm_sql_value *value)
{
    char text[24];
    switch (value->kind) {
    case CM_SQL_NULL:
        break; // as they all are at first
    case CM_SQL_NUMBER:
        sqlite3_bind_int64(statement, at, (sqlite3_int64)value->number);
        break;
    case CM_SQL_DOUBLE:
        sqlite3_bind_double(statement, at, value->real);
        break;
    case CM_SQL_STRING:
        sqlite3_bind_text(statement, at, value->bytes, -1, SQLITE_STATIC);
        break;
    case CM_SQL_BYTES:
        sqlite3_bind_blob64(statement, at, value->size > 0 ? value->bytes : NULL, value->size,
                            SQLITE_STATIC);
        break;
    default:
        snprintf(text, sizeof text, value->kind == CM_SQL_HEX ? "%016" PRIx64 : "%" PRIu64,
                 value->number);
        sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
    }
}

void cm_sql_bind(sqlite3_stmt *statement, const cm_sql_value *values, size_t count)
{
    sqlite3_clear_bindings(statement);
    for (size_t i = 0; i < count; i++) {
        bind(statement, (int)i + 1, &values[i]);
    }
}
