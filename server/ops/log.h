// One line of JSON, built field by field into a fixed buffer: log lines and status lines. A line
// that does not fit is cut at a whole field and stays valid JSON. The writer of the log adds the
// time: the makers of a line know only their own clock.
#ifndef CM_SERVER_OPS_LOG_H
#define CM_SERVER_OPS_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_LINE_MAX 2048

typedef enum cm_log_level {
    CM_LOG_ERROR,
    CM_LOG_WARNING,
    CM_LOG_INFO,
    CM_LOG_DEBUG,
} cm_log_level;

typedef struct cm_line {
    size_t size;
    bool cut; // a field was left out
    char text[CM_LINE_MAX];
} cm_line;

void cm_line_begin(cm_line *line);
// {"level":"info","event":NAME
void cm_line_log(cm_line *line, cm_log_level level, const char *event);
void cm_line_text(cm_line *line, const char *key, const char *value);
void cm_line_uint(cm_line *line, const char *key, uint64_t value);
void cm_line_number(cm_line *line, const char *key, double value); // three decimals
void cm_line_hex(cm_line *line, const char *key, uint64_t value);  // 16 digits, as a text
void cm_line_bool(cm_line *line, const char *key, bool value);
// An object with each of `count` numbers that is not 0, by its name in small letters.
void cm_line_counts(cm_line *line, const char *key, const char *const *names,
                    const uint64_t *numbers, uint32_t count);
// One of several fields: cm_line_put(&line, CM_T("room", name), CM_U("tick", tick)).
typedef struct cm_field {
    const char *key; // NULL: it is left out
    enum {
        CM_FIELD_TEXT,
        CM_FIELD_UINT,
        CM_FIELD_NUMBER,
        CM_FIELD_HEX,
        CM_FIELD_ID,
        CM_FIELD_BOOL
    } kind;
    union {
        const char *text;
        uint64_t number;
        double real;
        bool truth;
    };
} cm_field;
#define CM_T(key, value) ((cm_field){key, CM_FIELD_TEXT, {.text = value}})
#define CM_U(key, value) ((cm_field){key, CM_FIELD_UINT, {.number = value}})
#define CM_N(key, value) ((cm_field){key, CM_FIELD_NUMBER, {.real = value}})
#define CM_X(key, value) ((cm_field){key, CM_FIELD_HEX, {.number = value}})
#define CM_D(key, value) ((cm_field){key, CM_FIELD_ID, {.number = value}}) // digits, as a text
#define CM_B(key, value) ((cm_field){key, CM_FIELD_BOOL, {.truth = value}})
// Those that are left out where they are empty, or 0.
#define CM_T_IF(key, value) CM_T((value)[0] != '\0' ? key : NULL, value)
#define CM_U_IF(key, value) CM_U((value) > 0 ? key : NULL, value)
#define CM_FIELDS(...)                                                                             \
    (const cm_field[]){__VA_ARGS__}, sizeof((const cm_field[]){__VA_ARGS__}) / sizeof(cm_field)
void cm_line_fields(cm_line *line, const cm_field *fields, size_t count);
#define cm_line_put(line, ...) cm_line_fields(line, CM_FIELDS(__VA_ARGS__))
// Closes the object; no newline. Returns the text.
const char *cm_line_end(cm_line *line);

// The destination of log lines.
typedef struct cm_log {
    void (*write)(void *user, int level, const char *json_line); // NULL: nowhere
    void *user;
    const char *room; // named in each line; NULL: none
} cm_log;

void cm_log_write(const cm_log *log, cm_log_level level, cm_line *line);
// A whole line: cm_line_log, the fields, cm_log_write.
void cm_log_fields(const cm_log *log, cm_log_level level, const char *event, const cm_field *fields,
                   size_t count);
#define cm_log_say(log, level, event, ...) cm_log_fields(log, level, event, CM_FIELDS(__VA_ARGS__))
// Logs a warning when a counter has grown beyond `logged`, the count of the last warning.
void cm_log_growth(const cm_log *log, const char *event, const char *key, uint64_t count,
                   uint64_t tick, uint64_t *logged);

// "2026-11-22T07:03:12.123Z" of milliseconds since 1970, for the head of a log line.
#define CM_LOG_TIME_MAX 32
void cm_log_time(uint64_t unix_ms, char text[CM_LOG_TIME_MAX]);
const char *cm_log_level_name(cm_log_level level);
// False for a name that is none.
bool cm_log_level_find(const char *name, cm_log_level *level);

#endif
