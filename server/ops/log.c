// Lines of JSON. Values come from our own counters and from names that passed the wire's checks;
// texts are escaped all the same.
#include "server/ops/log.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "shared/scene/scene_json.h"

#define TAIL 2u // what closing takes: the brace and the NUL

static const char *const LEVELS[] = {"error", "warning", "info", "debug"};

const char *cm_log_level_name(cm_log_level level)
{
    return LEVELS[level];
}

void cm_log_time(uint64_t unix_ms, char text[CM_LOG_TIME_MAX])
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm utc;
    text[0] = '\0';
    if (gmtime_r(&seconds, &utc) != NULL) {
        size_t used = strftime(text, CM_LOG_TIME_MAX, "%Y-%m-%dT%H:%M:%S", &utc);
        snprintf(text + used, CM_LOG_TIME_MAX - used, ".%03uZ", (unsigned)(unix_ms % 1000));
    }
}

bool cm_log_level_find(const char *name, cm_log_level *level)
{
    for (int i = CM_LOG_ERROR; i <= CM_LOG_DEBUG; i++) {
        if (strcmp(LEVELS[i], name) == 0) {
            *level = (cm_log_level)i;
            return true;
        }
    }
    return false;
}

void cm_line_begin(cm_line *line)
{
    line->size = 1;
    line->cut = false;
    strcpy(line->text, "{");
}

// Appends `"key":value`, or nothing at all.
static void put(cm_line *line, const char *key, const char *value)
{
    size_t left = CM_LINE_MAX - TAIL - line->size;
    int wrote = snprintf(line->text + line->size, left, "%s\"%s\":%s", line->size > 1 ? "," : "",
                         key, value);
    if (wrote < 0 || (size_t)wrote >= left) {
        line->text[line->size] = '\0';
        line->cut = true;
        return;
    }
    line->size += (size_t)wrote;
}

void cm_line_log(cm_line *line, cm_log_level level, const char *event)
{
    cm_line_begin(line);
    cm_line_text(line, "level", LEVELS[level]);
    cm_line_text(line, "event", event);
}

void cm_line_text(cm_line *line, const char *key, const char *value)
{
    char quoted[CM_LINE_MAX];
    size_t at = 0;
    quoted[at++] = '"';
    while (*value != '\0') {
        char one[CM_JSON_ESCAPE_MAX];
        uint32_t length = cm_json_escape(&value, one);
        if (at + length + 2 > sizeof quoted) {
            line->cut = true;
            break;
        }
        memcpy(quoted + at, one, length);
        at += length;
    }
    quoted[at++] = '"';
    quoted[at] = '\0';
    put(line, key, quoted);
}

void cm_line_uint(cm_line *line, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    put(line, key, text);
}

void cm_line_number(cm_line *line, const char *key, double value)
{
    char text[64];
    snprintf(text, sizeof text, "%.3f", isfinite(value) && fabs(value) < 1e15 ? value : 0.0);
    put(line, key, text);
}

void cm_line_hex(cm_line *line, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "\"%016llx\"", (unsigned long long)value);
    put(line, key, text);
}

void cm_line_bool(cm_line *line, const char *key, bool value)
{
    put(line, key, value ? "true" : "false");
}

void cm_line_counts(cm_line *line, const char *key, const char *const *names,
                    const uint64_t *numbers, uint32_t count)
{
    cm_line object;
    cm_line_begin(&object);
    for (uint32_t i = 0; i < count; i++) {
        char name[32] = "";
        for (size_t at = 0; names[i][at] != '\0' && at + 1 < sizeof name; at++) {
            name[at] = (char)(names[i][at] | ('A' <= names[i][at] && names[i][at] <= 'Z' ? 32 : 0));
        }
        if (numbers[i] > 0) {
            cm_line_uint(&object, name, numbers[i]);
        }
    }
    put(line, key, cm_line_end(&object));
}

void cm_line_fields(cm_line *line, const cm_field *fields, size_t count)
{
    char digits[24];
    for (const cm_field *f = fields; f < fields + count; f++) {
        if (f->key == NULL) {
            continue;
        }
        switch (f->kind) {
        case CM_FIELD_TEXT:
            cm_line_text(line, f->key, f->text);
            break;
        case CM_FIELD_UINT:
            cm_line_uint(line, f->key, f->number);
            break;
        case CM_FIELD_NUMBER:
            cm_line_number(line, f->key, f->real);
            break;
        case CM_FIELD_HEX:
            cm_line_hex(line, f->key, f->number);
            break;
        case CM_FIELD_ID: // a number of JSON does not hold it
            snprintf(digits, sizeof digits, "%" PRIu64, f->number);
            cm_line_text(line, f->key, digits);
            break;
        case CM_FIELD_BOOL:
            cm_line_bool(line, f->key, f->truth);
            break;
        }
    }
}

const char *cm_line_end(cm_line *line)
{
    strcpy(line->text + line->size, "}");
    return line->text;
}

void cm_log_write(const cm_log *log, cm_log_level level, cm_line *line)
{
    if (log->write != NULL) {
        if (log->room != NULL && log->room[0] != '\0') {
            cm_line_text(line, "room", log->room);
        }
        log->write(log->user, (int)level, cm_line_end(line));
    }
}

void cm_log_fields(const cm_log *log, cm_log_level level, const char *event, const cm_field *fields,
                   size_t count)
{
    cm_line line;
    cm_line_log(&line, level, event);
    cm_line_fields(&line, fields, count);
    cm_log_write(log, level, &line);
}

void cm_log_growth(const cm_log *log, const char *event, const char *key, uint64_t count,
                   uint64_t tick, uint64_t *logged)
{
    if (count == *logged) {
        return;
    }
    cm_log_say(log, CM_LOG_WARNING, event, CM_U(key, count - *logged), CM_U("in_all", count),
               CM_U("tick", tick));
    *logged = count;
}
