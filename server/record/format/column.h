// Columns of untrusted rows: SQLite's columns hold any type, so type and size are checked before a
// value is used. Each function returns false for another type or size. And the values that a
// statement gets for its parameters.
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
// Of so many hexadecimal digits, lower case.
bool cm_text_is_hex(const char *text, size_t digits);

// A parameter's value. Texts and blobs live until the statement is stepped; a text that is NULL and
// a blob of 0 bytes are NULL.
typedef struct cm_sql_value {
    enum {
        CM_SQL_NULL,
        CM_SQL_NUMBER,
        CM_SQL_DOUBLE,
        CM_SQL_STRING,
        CM_SQL_BYTES,
        CM_SQL_DECIMAL,
        CM_SQL_HEX,
    } kind;
    uint64_t number;
    double real;
    const void *bytes;
    size_t size;
} cm_sql_value;

#define CM_INT(value)  ((cm_sql_value){.kind = CM_SQL_NUMBER, .number = (uint64_t)(value)})
#define CM_REAL(value) ((cm_sql_value){.kind = CM_SQL_DOUBLE, .real = (double)(value)})
#define CM_TEXT(text)  ((cm_sql_value){.kind = CM_SQL_STRING, .bytes = (text)})
#define CM_BLOB(data, count)                                                                       \
    ((cm_sql_value){.kind = CM_SQL_BYTES, .bytes = (data), .size = (count)})
// A number as text: an id in decimal digits, or 16 hexadecimal ones.
#define CM_ID(value)    ((cm_sql_value){.kind = CM_SQL_DECIMAL, .number = (value)})
#define CM_HEX16(value) ((cm_sql_value){.kind = CM_SQL_HEX, .number = (value)})

// Values and how many there are, as two arguments of a call.
#define CM_VALUES(...)                                                                             \
    (const cm_sql_value[]){__VA_ARGS__},                                                           \
        sizeof((const cm_sql_value[]){__VA_ARGS__}) / sizeof(cm_sql_value)

// Parameters 1 to `count`; those behind them become NULL.
void cm_sql_bind(struct sqlite3_stmt *statement, const cm_sql_value *values, size_t count);

#endif
