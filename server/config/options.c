// Reads the long options of a command against its table. Strict: each option once, each value
// whole, nothing abbreviated. Typical: ten options, a handful given.
#include "server/config/options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"

#define MAX_OPTIONS 96u

bool cm_parse_int(const char *text, int64_t low, int64_t high, int64_t *value)
{
    const char *digits = text[0] == '-' ? text + 1 : text;
    if (digits[0] < '0' || digits[0] > '9') {
        return false;
    }
    char *end = NULL;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || parsed < low || parsed > high) {
        return false;
    }
    *value = parsed;
    return true;
}

bool cm_parse_id(const char *text, uint64_t *value)
{
    errno = 0;
    *value = strtoull(text, NULL, 10);
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0' && errno == 0;
}

bool cm_parse_number(const char *text, double low, double high, double *value)
{
    char first = text[0] == '-' ? text[1] : text[0];
    if ((first < '0' || first > '9') && first != '.') {
        return false;
    }
    char *end = NULL;
    double parsed = strtod(text, &end);
    if (*end != '\0' || !isfinite(parsed) || parsed < low || parsed > high) {
        return false;
    }
    *value = parsed;
    return true;
}

int cm_choice_find(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (int index = 0;; index++) {
        size_t part = strcspn(choices, "|");
        if (part == length && memcmp(choices, text, part) == 0) {
            return index;
        }
        if (choices[part] == '\0') {
            return -1;
        }
        choices += part + 1;
    }
}

bool cm_refuse(char message[CM_REFUSED_MAX], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, CM_REFUSED_MAX, format, arguments);
    va_end(arguments);
    return false;
}

static bool set_value(const cm_option *option, const char *text, cm_option_error *error)
{
    switch (option->kind) {
    case CM_OPTION_INT:
        if (!cm_parse_int(text, (int64_t)option->low, (int64_t)option->high, option->value)) {
            return cm_refuse(error->message,
                             "--%s: '%s', expected a whole number from %.0f to %.0f", option->name,
                             text, option->low, option->high);
        }
        return true;
    case CM_OPTION_NUMBER:
        if (!cm_parse_number(text, option->low, option->high, option->value)) {
            return cm_refuse(error->message, "--%s: '%s', expected a number from %g to %g",
                             option->name, text, option->low, option->high);
        }
        return true;
    case CM_OPTION_CHOICE:
        if (cm_choice_find(option->choices, text) < 0) {
            return cm_refuse(error->message, "--%s: '%s', expected one of %s", option->name, text,
                             option->choices);
        }
        break;
    case CM_OPTION_TEXTS: {
        cm_option_texts *list = option->value;
        if (list->count == CM_OPTION_TEXTS_MAX) {
            return cm_refuse(error->message, "--%s: given more than %u times", option->name,
                             CM_OPTION_TEXTS_MAX);
        }
        list->texts[list->count++] = text;
        return true;
    }
    case CM_OPTION_TEXT:
    case CM_OPTION_FLAG:
        break;
    }
    *(const char **)option->value = text;
    return true;
}

// The option that `argument` names, or option_count; `value` is what follows '=', or NULL.
static uint32_t find_option(const cm_option *options, uint32_t option_count, char *argument,
                            const char **value)
{
    size_t length = strcspn(argument + 2, "=");
    *value = argument[2 + length] == '=' ? argument + 3 + length : NULL;
    for (uint32_t i = 0; i < option_count; i++) {
        if (strlen(options[i].name) == length &&
            memcmp(options[i].name, argument + 2, length) == 0) {
            return i;
        }
    }
    return option_count;
}

// One argument that begins with dashes; `at` moves on over a value taken.
static bool read_option(int argc, char **argv, int *at, const cm_option *options,
                        uint32_t option_count, bool *seen, cm_option_error *error)
{
    const char *value;
    uint32_t i = find_option(options, option_count, argv[*at], &value);
    if (i == option_count) {
        return cm_refuse(error->message, "unknown option '%s', see 'carom help %.*s'", argv[*at],
                         (int)strcspn(argv[0], " "), argv[0]);
    }
    const cm_option *option = &options[i];
    if (seen[i] && option->kind != CM_OPTION_TEXTS) {
        return cm_refuse(error->message, "--%s: given twice", option->name);
    }
    seen[i] = true;
    if (option->given != NULL) {
        *option->given = true;
    }
    if (option->kind == CM_OPTION_FLAG) {
        bool no = value != NULL && strcmp(value, "false") == 0;
        if (value != NULL && !no && strcmp(value, "true") != 0) {
            return cm_refuse(error->message, "--%s: '%s', expected true, false or no value",
                             option->name, value);
        }
        *(bool *)option->value = !no;
        return true;
    }
    if (value == NULL) {
        if (*at + 1 >= argc) {
            return cm_refuse(error->message, "--%s: expected a value", option->name);
        }
        value = argv[++*at];
    }
    return set_value(option, value, error);
}

bool cm_options_read(int argc, char **argv, const cm_option *options, uint32_t option_count,
                     const char **positional, uint32_t positional_capacity,
                     uint32_t *positional_count, cm_option_error *error)
{
    bool seen[MAX_OPTIONS] = {false};
    uint32_t count = 0;
    bool options_ended = false;
    CM_ASSERT(option_count <= MAX_OPTIONS);
    for (int i = 1; i < argc; i++) {
        if (!options_ended && strcmp(argv[i], "--") == 0) {
            options_ended = true;
            continue;
        }
        if (!options_ended && argv[i][0] == '-' && argv[i][1] != '\0') {
            if (argv[i][1] != '-') {
                return cm_refuse(error->message,
                                 "unknown option '%s', options begin with two dashes", argv[i]);
            }
            if (!read_option(argc, argv, &i, options, option_count, seen, error)) {
                return false;
            }
            continue;
        }
        if (count == positional_capacity) {
            return cm_refuse(error->message, "unexpected argument '%s', see 'carom help %.*s'",
                             argv[i], (int)strcspn(argv[0], " "), argv[0]);
        }
        positional[count++] = argv[i];
    }
    if (positional_count != NULL) {
        *positional_count = count;
    }
    return true;
}
