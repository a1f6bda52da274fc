// Reads the input of a server's start, for the start and for its check.
#include "server/node/bootstrap.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/auth/key_file.h"
#include "server/record/catalogue/scene_db.h"
#include "server/node/module_loader.h"
#include "shared/game/game_host.h"
#include "shared/scene/scene_json.h"

uint32_t cm_bootstrap_worker_count(const cm_config *config)
{
    cpu_set_t cores;
    cm_address listen;
    uint32_t count = 1;
    if (config->workers > 0) {
        return (uint32_t)config->workers;
    }
    if (sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) > 2) {
        count = (uint32_t)CPU_COUNT(&cores) - 1;
    }
    cm_config_address(config->listen, &listen);
    uint32_t ports = listen.port == 0 ? CM_WORKERS_MAX : 65536u - listen.port;
    count = count < CM_WORKERS_MAX ? count : CM_WORKERS_MAX;
    return count < ports ? count : ports;
}

static void put_error(const char *file, const cm_scene_error *from, char *error, size_t error_size)
{
    char line[16] = "";
    if (from->line > 0) {
        snprintf(line, sizeof line, ":%u", (unsigned)from->line);
    }
    snprintf(error, error_size, "%s%s: %s%s%s", file, line, from->path,
             from->path[0] != '\0' ? ": " : "", from->message);
}

// A scene by its name in the database, or by its file.
carom_result cm_bootstrap_find_scene(const cm_config *config, const char *text, cm_scene_seek seek,
                                     cm_scene **scene, uint32_t *tick_rate, cm_failure *failure)
{
    char *error = failure->text;
    size_t error_size = sizeof failure->text;
    cm_scene_error wrong;
    memset(&wrong, 0, sizeof wrong);
    *scene = NULL;
    size_t length = strlen(text);
    bool is_file =
        seek != CM_SEEK_IN_DB &&
        (strchr(text, '/') != NULL || (length > 5 && strcmp(text + length - 5, ".json") == 0));
    carom_result result = is_file               ? cm_scene_from_file(text, scene, &wrong)
                          : seek == CM_SEEK_NOW ? cm_scene_db_try(config->db, text, scene, &wrong)
                                                : cm_scene_db_load(config->db, text, scene, &wrong);
    if (result != CAROM_OK) {
        put_error(is_file ? text : config->db, &wrong, error, error_size);
        // A name of no file is a wrong question; a catalogue that is locked is not.
        return is_file && result == CAROM_ERROR_IO ? CAROM_ERROR_NOT_FOUND : result;
    }
    const char *module = cm_scene_module(*scene);
    carom_world_def def;
    cm_scene_world_def(*scene, &def);
    *tick_rate = def.tick_rate;
    const carom_module *rules = cm_module_find(module);
    if (rules == NULL ||
        !cm_game_takes_config(*scene, rules, wrong.message, sizeof wrong.message)) {
        strcpy(wrong.path, rules == NULL ? "$.module" : "$.module_config");
        if (rules == NULL) {
            snprintf(wrong.message, sizeof wrong.message, CM_NO_MODULE, module);
        }
        if (is_file) {
            cm_scene_find_lines_in(text, &wrong, 1);
        }
        put_error(text, &wrong, error, error_size);
        result = CAROM_ERROR_NOT_FOUND;
    } else if (def.tick_rate < 10) {
        snprintf(error, error_size, "%s: $.tick_rate: %u, a served room expects 10 to 1000", text,
                 (unsigned)def.tick_rate);
        result = CAROM_ERROR_ARGUMENT;
    }
    if (result != CAROM_OK) {
        cm_scene_free(*scene);
        *scene = NULL;
    }
    return result;
}

size_t cm_bootstrap_file_exists(const char *path)
{
    char part[CM_CONFIG_TEXT_MAX];
    struct stat found;
    snprintf(part, sizeof part, "%s", path);
    for (size_t length = strlen(part); length > 0; length--) {
        bool whole = part[length] == '/' || part[length] == '\0';
        part[length] = '\0';
        if (whole && stat(part, &found) == 0) {
            return length;
        }
    }
    return part[0] == '/' ? 1 : 0; // the root, or the working directory
}

carom_result cm_bootstrap_read_keys(const cm_config *config, carom_token_keys *keys,
                                    cm_failure *failure)
{
    cm_config_error wrong = {0};
    char error[512];
    memset(keys, 0, sizeof *keys);
    if (!cm_config_check_gate(config, &wrong)) {
        return cm_fail(failure, CAROM_ERROR_ARGUMENT, "serve: %s", wrong.message);
    }
    if (config->key[0] != '\0' &&
        cm_key_file_read(config->key, keys, error, sizeof error) != CAROM_OK) {
        return cm_fail(failure, CAROM_ERROR_ARGUMENT, "serve: key: %s", error);
    }
    return CAROM_OK;
}

bool cm_bootstrap_is_writable(const char *path, size_t length)
{
    char probe[CM_CONFIG_TEXT_MAX + 32];
    snprintf(probe, sizeof probe, "%.*s%scarom-check-XXXXXX", (int)length, path,
             length > 0 ? "/" : "");
    int file = mkstemp(probe);
    if (file < 0) {
        return false;
    }
    close(file);
    unlink(probe);
    return true;
}

carom_result cm_bootstrap_check_catalogue(const cm_config *config, cm_failure *failure)
{
    const char *db = config->db, *slash = strrchr(db, '/');
    size_t folder = slash == NULL ? 0 : slash == db ? 1 : (size_t)(slash - db);
    cm_scene_error error;
    int64_t version, newest;
    carom_result result = cm_catalogue_version(db, &version, &newest, &error);
    bool is_there = access(db, F_OK) == 0;
    if (result != CAROM_OK && is_there) {
        result = result == CAROM_ERROR_IO ? result : CAROM_ERROR_ARGUMENT;
        cm_fail(failure, result, "serve: db: %s: %s", db, error.message);
    } else if (!cm_bootstrap_is_writable(db, folder)) {
        result = cm_fail(failure, CAROM_ERROR_IO,
                         is_there ? "serve: db: %s: its directory: %s, expected one that can be "
                                    "written to: matches get into its index"
                                  : "serve: db: %s: %s, expected a catalogue, or a directory where "
                                    "one can be made",
                         db, strerror(errno));
    } else if (is_there && access(db, W_OK) != 0) {
        result = cm_fail(failure, CAROM_ERROR_IO,
                         "serve: db: %s: %s, expected one that can be written to: matches get into "
                         "its index",
                         db, strerror(errno));
    } else {
        result = CAROM_OK;
    }
    return result;
}
