// Parses the long options of a command against its table. Strict: each option once, each value
// whole, nothing abbreviated. Typical: ten options, a handful given.
#include "server/tools/cli/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/tools/cli/cli.h"

#define MAX_OPTIONS 64u

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

static bool is_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (const char *at = choices; length != 0;) {
        size_t part = strcspn(at, "|");
        if (part == length && memcmp(at, text, part) == 0) {
            return true;
        }
        if (at[part] == '\0') {
            return false;
        }
        at += part + 1;
    }
    return false;
}

static int set_value(const char *command, const cm_option *option, const char *text)
{
    switch (option->kind) {
    case CM_OPTION_INT:
        if (!cm_parse_int(text, (int64_t)option->low, (int64_t)option->high, option->value)) {
            cm_cli_error("%s: --%s: '%s', expected a whole number from %.0f to %.0f", command,
                         option->name, text, option->low, option->high);
            return CM_STATUS_USAGE;
        }
        return CM_STATUS_DONE;
    case CM_OPTION_NUMBER:
        if (!cm_parse_number(text, option->low, option->high, option->value)) {
            cm_cli_error("%s: --%s: '%s', expected a number from %g to %g", command, option->name,
                         text, option->low, option->high);
            return CM_STATUS_USAGE;
        }
        return CM_STATUS_DONE;
    case CM_OPTION_CHOICE:
        if (!is_choice(option->choices, text)) {
            cm_cli_error("%s: --%s: '%s', expected one of %s", command, option->name, text,
                         option->choices);
            return CM_STATUS_USAGE;
        }
        break;
    case CM_OPTION_TEXT:
    case CM_OPTION_FLAG:
        break;
    }
    *(const char **)option->value = text;
    return CM_STATUS_DONE;
}

// The option that `argument` names, or option_count; `value` is what follows '=', or NULL.
static uint32_t find_option(const cm_option *options, uint32_t option_count, char *argument,
                            const char **value)
{
    size_t length = strcspn(argument + 2, "=");
    *value = argument[2 + length] == '=' ? argument + 3 + length : NULL;
    for (uint32_t i = 0; i < option_count; ++i) {
        if (strlen(options[i].name) == length &&
            memcmp(options[i].name, argument + 2, length) == 0) {
            return i;
        }
    }
    return option_count;
}

// One argument that begins with dashes; `at` moves on over a value taken.
static int parse_option(int argc, char **argv, int *at, const cm_option *options,
                        uint32_t option_count, bool *seen)
{
    const char *value;
    uint32_t i = find_option(options, option_count, argv[*at], &value);
    if (i == option_count) {
        cm_cli_error("%s: unknown option '%s', see 'carom help %s'", argv[0], argv[*at], argv[0]);
        return CM_STATUS_USAGE;
    }
    const cm_option *option = &options[i];
    if (seen[i]) {
        cm_cli_error("%s: --%s: given twice", argv[0], option->name);
        return CM_STATUS_USAGE;
    }
    seen[i] = true;
    if (option->given != NULL) {
        *option->given = true;
    }
    if (option->kind == CM_OPTION_FLAG) {
        bool no = value != NULL && strcmp(value, "false") == 0;
        if (value != NULL && !no && strcmp(value, "true") != 0) {
            cm_cli_error("%s: --%s: '%s', expected true, false or no value", argv[0], option->name,
                         value);
            return CM_STATUS_USAGE;
        }
        *(bool *)option->value = !no;
        return CM_STATUS_DONE;
    }
    if (value == NULL) {
        if (*at + 1 >= argc) {
            cm_cli_error("%s: --%s: expected a value", argv[0], option->name);
            return CM_STATUS_USAGE;
        }
        value = argv[++*at];
    }
    return set_value(argv[0], option, value);
}

int cm_options_parse(int argc, char **argv, const cm_option *options, uint32_t option_count,
                     const char **positional, uint32_t positional_capacity,
                     uint32_t *positional_count)
{
    bool seen[MAX_OPTIONS] = {false};
    uint32_t count = 0;
    bool options_ended = option_count > MAX_OPTIONS;
    for (int i = 1; i < argc; ++i) {
        if (!options_ended && strcmp(argv[i], "--") == 0) {
            options_ended = true;
            continue;
        }
        if (!options_ended && argv[i][0] == '-' && argv[i][1] != '\0') {
            if (argv[i][1] != '-') {
                cm_cli_error("%s: unknown option '%s', options begin with two dashes", argv[0],
                             argv[i]);
                return CM_STATUS_USAGE;
            }
            int status = parse_option(argc, argv, &i, options, option_count, seen);
            if (status != CM_STATUS_DONE) {
                return status;
            }
            continue;
        }
        if (count == positional_capacity) {
            cm_cli_error("%s: unexpected argument '%s', see 'carom help %s'", argv[0], argv[i],
                         argv[0]);
            return CM_STATUS_USAGE;
        }
        positional[count++] = argv[i];
    }
    if (positional_count != NULL) {
        *positional_count = count;
    }
    return CM_STATUS_DONE;
}
