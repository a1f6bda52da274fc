// `carom serve --check-config`, and what it shares with a start. Every check is the real thing: the
// address is bound, a file is written, the room is made, so that a good report is worth something.
#include "server/tools/cli/serve_check.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/host/key_file.h"
#include "server/host/net.h"
#include "server/host/worker.h"
#include "server/record/scene_db.h"
#include "server/record/sign_key.h"
#include "server/tools/cli/cli.h"
#include "server/tools/cli/load.h"
#include "server/tools/cli/serve_admin.h"
#include "server/tools/cli/serve_rooms.h"
#include "shared/game/game_host.h"
#include "shared/scene/scene_json.h"

uint32_t cm_serve_worker_count(const cm_config *config)
{
    cpu_set_t cores;
    uint32_t host, count = 1;
    uint16_t port;
    if (config->workers > 0) {
        return (uint32_t)config->workers;
    }
    if (sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) > 2) {
        count = (uint32_t)CPU_COUNT(&cores) - 1;
    }
    cm_config_address(config->listen, &host, &port);
    uint32_t ports = port == 0 ? CM_WORKERS_MAX : 65536u - port;
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
carom_result cm_serve_find_scene(const cm_config *config, const char *text, bool in_db,
                                 cm_scene **scene, uint32_t *tick_rate, char *error,
                                 size_t error_size)
{
    cm_scene_error wrong;
    memset(&wrong, 0, sizeof wrong);
    *scene = NULL;
    size_t length = strlen(text);
    bool is_file = !in_db && (strchr(text, '/') != NULL ||
                              (length > 5 && strcmp(text + length - 5, ".json") == 0));
    carom_result result = is_file ? cm_scene_from_file(text, scene, &wrong)
                                  : cm_scene_db_load(config->db, text, scene, &wrong);
    if (result != CAROM_OK) {
        put_error(is_file ? text : config->db, &wrong, error, error_size);
        return result;
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
            snprintf(wrong.message, sizeof wrong.message, CM_CLI_NO_MODULE, module);
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

int cm_serve_load_scene(const cm_config *config, const char *text, bool in_db, cm_scene **scene,
                        uint32_t *tick_rate)
{
    char error[1024];
    carom_result result =
        cm_serve_find_scene(config, text, in_db, scene, tick_rate, error, sizeof error);
    if (result != CAROM_OK) {
        cm_cli_error("%s", error);
        return CM_STATUS_USAGE;
    }
    return CM_STATUS_DONE;
}

int cm_serve_status(carom_result result)
{
    bool asked_wrong = result == CAROM_ERROR_NOT_FOUND || result == CAROM_ERROR_ARGUMENT ||
                       result == CAROM_ERROR_LIMIT_SIZE || result == CAROM_ERROR_NOT_BUILT;
    return result == CAROM_OK ? CM_STATUS_DONE : asked_wrong ? CM_STATUS_USAGE : CM_STATUS_FAILED;
}

size_t cm_serve_existing(const char *path)
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

// Whether a file can be made in the directory `length` bytes of `path` name.
static bool is_writable(const char *path, size_t length)
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

uint32_t cm_serve_tell_unknown(char *const *environment, const char *prefix)
{
    uint32_t count = 0;
    for (; *environment != NULL; environment++) {
        char name[CM_CONFIG_VARIABLE_MAX], nearest[CM_CONFIG_VARIABLE_MAX];
        if (cm_config_unknown(*environment, name, nearest)) {
            cm_cli_error("serve: %s%s: no such setting, the nearest is %s", prefix, name, nearest);
            count++;
        }
    }
    return count;
}

int cm_serve_read_keys(const cm_config *config, carom_token_keys *keys)
{
    cm_config_error wrong;
    char error[512];
    memset(keys, 0, sizeof *keys);
    if (!cm_config_check_door(config, &wrong)) {
        cm_cli_error("serve: %s", wrong.message);
        return CM_STATUS_USAGE;
    }
    if (config->key[0] != '\0' &&
        cm_key_file_read(config->key, keys, error, sizeof error) != CAROM_OK) {
        cm_cli_error("serve: key: %s", error);
        return CM_STATUS_USAGE;
    }
    return CM_STATUS_DONE;
}

static int check_environment(const cm_config *config, char *const *environment)
{
    (void)config;
    return cm_serve_tell_unknown(environment, "") > 0 ? CM_STATUS_USAGE : CM_STATUS_DONE;
}

static int check_key(const cm_config *config, char *const *environment)
{
    (void)environment;
    carom_token_keys keys;
    int status = cm_serve_read_keys(config, &keys);
    cm_crypto_wipe(&keys, sizeof keys);
    return status;
}

static int check_sign_key(const cm_config *config, char *const *environment)
{
    (void)environment;
    uint8_t secret[CM_SIGN_KEY_BYTES];
    char error[512];
    bool bad = config->sign_key[0] != '\0' &&
               cm_sign_key_read(config->sign_key, secret, error, sizeof error) != CAROM_OK;
    cm_crypto_wipe(secret, sizeof secret);
    if (bad) {
        cm_cli_error("serve: sign_key: %s", error);
    }
    return bad ? CM_STATUS_USAGE : CM_STATUS_DONE;
}

static int check_matches(const cm_config *config, char *const *environment)
{
    (void)environment;
    if (is_writable(config->matches, cm_serve_existing(config->matches))) {
        return CM_STATUS_DONE;
    }
    cm_cli_error("serve: matches: %s: %s, expected a directory that can be written to, or a "
                 "path where one can be made",
                 config->matches, strerror(errno));
    return CM_STATUS_FAILED;
}

static int check_ready_file(const cm_config *config, char *const *environment)
{
    (void)environment;
    const char *ready = config->ready_file, *slash = strrchr(ready, '/');
    size_t folder = slash == NULL ? 0 : slash == ready ? 1 : (size_t)(slash - ready);
    if (ready[0] == '\0' || is_writable(ready, folder)) {
        return CM_STATUS_DONE;
    }
    cm_cli_error("serve: ready_file: %s: %s, expected a path in a directory that can be "
                 "written to",
                 ready, strerror(errno));
    return CM_STATUS_FAILED;
}

// That of `listen`, and those after it for further workers.
static int check_address(const cm_config *config, char *const *environment)
{
    (void)environment;
    cm_host_def def = {.peers = 1, .timeout_ms = 1000};
    char error[256] = "";
    cm_config_address(config->listen, &def.address, &def.port);
    uint32_t ports = def.port == 0 || config->workers == 0 ? 1 : cm_serve_worker_count(config);
    for (uint32_t i = 0; i < ports; i++, def.port++) {
        cm_host *host = cm_host_create(&def, error, sizeof error);
        if (host == NULL) {
            cm_cli_error("serve: %s", error);
            return CM_STATUS_FAILED;
        }
        cm_host_destroy(host);
    }
    return CM_STATUS_DONE;
}

static int check_admin(const cm_config *config, char *const *environment)
{
    (void)environment;
    char path[CM_SERVE_ADMIN_PATH_MAX], error[512];
    cm_serve_admin_path(config, path);
    if (!cm_serve_admin_fits(config, NULL) || cm_admin_check(path, error, sizeof error)) {
        return CM_STATUS_DONE;
    }
    cm_cli_error("serve: admin: %s", error);
    return CM_STATUS_FAILED;
}

// The rooms are made as serve makes them, but for the recording, on a free port.
static int check_rooms(const cm_config *given, char *const *environment)
{
    (void)environment;
    cm_serve_rooms rooms;
    int status = cm_serve_rooms_load(given, &rooms);
    if (status != CM_STATUS_DONE) {
        cm_serve_rooms_free(&rooms);
        cm_scene_free(rooms.on_demand);
        return status;
    }
    cm_config config = *given;
    strcpy(config.listen, "127.0.0.1:0");
    config.insecure = true; // whether it is, and what keys there are, was checked before
    config.key[0] = '\0';
    cm_worker_def def = {.config = &config, .now_us = 1, .seed = 1};
    cm_worker *worker = NULL;
    char error[512] = "";
    carom_result result = cm_worker_create(&def, &worker, error, sizeof error);
    if (result != CAROM_OK) {
        cm_cli_error("serve: %s", error);
        status = cm_serve_status(result);
    } else {
        status = cm_serve_rooms_open(&rooms, worker);
    }
    cm_worker_destroy(worker);
    cm_serve_rooms_free(&rooms);
    cm_scene_free(rooms.on_demand);
    return status;
}

const cm_serve_check_part cm_serve_checks[CM_SERVE_CHECKS + 1] = {
    {"environment", "no unknown CAROM_ variable", "unset it, or spell it as the nearest",
     check_environment},
    {"key", "who may come in is settled", "carom token keygen --out FILE; chown, chmod 600",
     check_key},
    {"sign_key", "none, or one that can be used", "carom match keygen --out FILE; chmod 600",
     check_sign_key},
    {"matches", "can be written to", "mkdir -p and chown it, or set matches", check_matches},
    {"ready_file", "none, or it can be written", "set ready_file, or make its directory",
     check_ready_file},
    {"port", "the address of listen, and those of all workers, are free",
     "end what holds it (ss -ulpn), or set listen", check_address},
    {"admin", "its socket can be made", "end the server that answers there, or set admin",
     check_admin},
    {"rooms", "every room can be opened", "carom scene validate FILE, carom scene list --db DB",
     check_rooms},
    {NULL, NULL, NULL, NULL}};

int cm_serve_check(const cm_config *config, char *const *environment)
{
    int worst = CM_STATUS_DONE; // bad input before a failed operation
    for (uint32_t i = 0; i < CM_SERVE_CHECKS; i++) {
        int status = cm_serve_checks[i].run(config, environment);
        worst = status > worst ? status : worst;
    }
    return worst;
}
