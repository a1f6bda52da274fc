// Flags of `carom serve`: every key of the configuration, with dashes or underscores, and three of
// its own. Later wins: file, environment, flags. Typical: five flags.
#include "server/config/flags.h"

#include <stdio.h>
#include <string.h>

#include "shared/base/assert.h"

#define KEYS_MAX 48u // each may need two options, beside those of the command
#define OWN_MAX  12u
#define NAME_MAX 32u

// The values of the flags before they are put into the configuration.
typedef struct flags {
    uint32_t count;
    cm_option options[2 * KEYS_MAX + OWN_MAX];
    cm_option_texts rooms;
    char dashed[KEYS_MAX][NAME_MAX];
    const char *text[KEYS_MAX];
    cm_option_texts modules; // of the one key that may be repeated
    char module_list[CM_CONFIG_TEXT_MAX + 1];
    bool flag[KEYS_MAX], given[KEYS_MAX]; // of the keys that are true or false
} flags;

static void add_option(flags *f, const char *name, const cm_config_key *key, uint32_t at)
{
    cm_option *option = &f->options[f->count++];
    memset(option, 0, sizeof *option);
    option->name = name;
    option->kind = key->kind == CM_CONFIG_BOOL ? CM_OPTION_FLAG : CM_OPTION_TEXT;
    option->value = key->kind == CM_CONFIG_BOOL ? (void *)&f->flag[at] : (void *)&f->text[at];
    option->given = key->kind == CM_CONFIG_BOOL ? &f->given[at] : NULL;
    if (strcmp(name, "module") == 0) {
        option->kind = CM_OPTION_TEXTS;
        option->value = &f->modules;
    }
}

// The files of --module, with commas between them; longer than a value may be where they are.
static const char *join_modules(flags *f)
{
    size_t length = 0;
    for (uint32_t i = 0; i < f->modules.count; i++) {
        length += (size_t)snprintf(f->module_list + length, sizeof f->module_list - length, "%s%s",
                                   i > 0 ? "," : "", f->modules.texts[i]);
        length = length < sizeof f->module_list ? length : sizeof f->module_list - 1;
    }
    return f->modules.count > 0 ? f->module_list : NULL;
}

static void add_own(flags *f, const char *name, cm_option_kind kind, void *value)
{
    cm_option *option = &f->options[f->count++];
    memset(option, 0, sizeof *option);
    option->name = name;
    option->kind = kind;
    option->value = value;
}

static void add_keys(flags *f, const cm_config_key *keys, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        strncpy(f->dashed[i], keys[i].name, NAME_MAX - 1);
        for (char *c = f->dashed[i]; *c != '\0'; c++) {
            *c = *c == '_' ? '-' : *c;
        }
        add_option(f, f->dashed[i], &keys[i], i);
        if (strcmp(f->dashed[i], keys[i].name) != 0) {
            add_option(f, keys[i].name, &keys[i], i);
        }
    }
}

// Refused flags go to error->all; without one the first ends it.
static bool apply(flags *f, cm_config *config, const cm_config_key *keys, uint32_t count,
                  cm_config_error *error)
{
    bool good = true;
    for (uint32_t i = 0; i < count; i++) {
        const char *truth = f->flag[i] ? "true" : "false";
        const char *text = keys[i].kind == CM_CONFIG_BOOL        ? (f->given[i] ? truth : NULL)
                           : strcmp(keys[i].name, "module") == 0 ? join_modules(f)
                                                                 : f->text[i];
        char place[NAME_MAX + 8] = "--";
        strncat(place, f->dashed[i], NAME_MAX);
        if (text != NULL && !cm_config_set(config, &keys[i], text, place, error)) {
            good = false;
            if (!cm_config_goes_on(error, &keys[i])) {
                return false;
            }
        }
    }
    for (uint32_t i = 0; i < f->rooms.count; i++) {
        char wrong[440];
        if (!cm_room_list_add(&config->rooms, f->rooms.texts[i], wrong, sizeof wrong)) {
            snprintf(error->message, sizeof error->message, "--room: %s", wrong);
            good = false;
            if (!cm_config_goes_on(error, cm_config_find("rooms"))) {
                return false;
            }
        }
    }
    return good;
}

// From the three places, one after another.
static bool read_places(flags *f, const char *file, char *const *environment, cm_config *config,
                        cm_config_error *error)
{
    uint32_t count;
    const cm_config_key *keys = cm_config_keys(&count);
    bool good = file == NULL || cm_config_load(config, file, error);
    if (good || error->all != NULL) {
        good = cm_config_environment(config, environment, error) && good;
    }
    if (good || error->all != NULL) {
        good = apply(f, config, keys, count, error) && good;
    }
    if (good || error->all != NULL) {
        good = cm_config_check(config, error) && good;
    }
    return good;
}

carom_result cm_flags_read_config(int argc, char **argv, char *const *environment,
                                  const cm_option *more, uint32_t more_count, cm_config *config,
                                  cm_config_wrong *all, cm_failure *failure)
{
    uint32_t count = 0;
    const cm_config_key *keys = cm_config_keys(&count);
    CM_ASSERT(count <= KEYS_MAX && more_count <= OWN_MAX - 2);
    flags f;
    memset(&f, 0, sizeof f);
    const char *file = NULL;
    add_own(&f, "config", CM_OPTION_TEXT, &file);
    add_own(&f, "room", CM_OPTION_TEXTS, &f.rooms);
    for (uint32_t i = 0; i < more_count; i++) {
        f.options[f.count++] = more[i];
    }
    add_keys(&f, keys, count);
    cm_option_error wrong;
    if (!cm_options_read(argc, argv, f.options, f.count, NULL, 0, NULL, &wrong)) {
        return cm_fail(failure, CAROM_ERROR_ARGUMENT, "%s: %s", argv[0], wrong.message);
    }
    cm_config_error error = {.all = all};
    cm_config_default(config);
    bool good = read_places(&f, file, environment, config, &error);
    return good ? CAROM_OK
                : cm_fail(failure, CAROM_ERROR_ARGUMENT, "%s", all == NULL ? error.message : "");
}

carom_result cm_flags_read(int argc, char **argv, char *const *environment, cm_flags *options,
                           cm_config_wrong *all, cm_failure *failure)
{
    memset(options, 0, sizeof *options);
    const cm_option own[] = {
        {.name = "print-config", .kind = CM_OPTION_FLAG, .value = &options->print_config},
        {.name = "check-config", .kind = CM_OPTION_FLAG, .value = &options->check_config}};
    return cm_flags_read_config(argc, argv, environment, own, sizeof own / sizeof own[0],
                                &options->config, all, failure);
}
