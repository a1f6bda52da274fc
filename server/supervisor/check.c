// `carom serve --check-config`. Every check is the real thing: the address is
// bound, a file is written, the room is made, so that a good report is worth something.
#include "server/supervisor/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/transport/enet/net.h"
#include "server/node/worker.h"
#include "server/record/format/sign_key.h"
#include "server/node/node_admin.h"
#include "server/node/bootstrap.h"
#include "server/supervisor/http_pages.h"
#include "server/node/node_rooms.h"

static carom_result report(const cm_check *check, carom_result result, const cm_failure *wrong)
{
    if (result != CAROM_OK) {
        check->wrong(check->user, wrong->text);
    }
    return result;
}

static carom_result check_environment(const cm_check *check)
{
    carom_result result = CAROM_OK;
    for (char *const *at = check->environment; *at != NULL; at++) {
        char name[CM_CONFIG_VARIABLE_MAX], nearest[CM_CONFIG_VARIABLE_MAX];
        if (cm_config_unknown(*at, name, nearest)) {
            cm_failure wrong;
            result = cm_fail(&wrong, CAROM_ERROR_ARGUMENT,
                             "serve: %s: no such setting, the nearest is %s", name, nearest);
            check->wrong(check->user, wrong.text);
        }
    }
    return result;
}

static carom_result check_key(const cm_check *check)
{
    const cm_config *config = check->config;
    cm_failure wrong;
    carom_token_keys keys;
    carom_result result = cm_bootstrap_read_keys(config, &keys, &wrong);
    cm_crypto_wipe(&keys, sizeof keys);
    return report(check, result, &wrong);
}

static carom_result check_sign_key(const cm_check *check)
{
    const cm_config *config = check->config;
    cm_failure wrong;
    uint8_t secret[CM_SIGN_KEY_BYTES];
    char error[512];
    bool bad = config->sign_key[0] != '\0' &&
               cm_sign_key_read(config->sign_key, secret, error, sizeof error) != CAROM_OK;
    cm_crypto_wipe(secret, sizeof secret);
    carom_result result =
        bad ? cm_fail(&wrong, CAROM_ERROR_ARGUMENT, "serve: sign_key: %s", error) : CAROM_OK;
    return report(check, result, &wrong);
}

static carom_result check_bans(const cm_check *check)
{
    const cm_config *config = check->config;
    cm_failure wrong;
    cm_ban_lists bans = {0};
    carom_result result = cm_ban_lists_open(&bans, config, &wrong);
    cm_ban_lists_close(&bans);
    return report(check, result, &wrong);
}

static carom_result check_catalogue(const cm_check *check)
{
    cm_failure wrong;
    return report(check, cm_bootstrap_check_catalogue(check->config, &wrong), &wrong);
}

static carom_result check_matches(const cm_check *check)
{
    const cm_config *config = check->config;
    cm_failure wrong;
    if (cm_bootstrap_is_writable(config->matches, cm_bootstrap_file_exists(config->matches))) {
        return CAROM_OK;
    }
    cm_fail(&wrong, CAROM_ERROR_IO,
            "serve: matches: %s: %s, expected a directory that can be written to, or a "
            "path where one can be made",
            config->matches, strerror(errno));
    return report(check, CAROM_ERROR_IO, &wrong);
}

static carom_result check_ready_file(const cm_check *check)
{
    const cm_config *config = check->config;
    cm_failure wrong;
    const char *ready = config->ready_file, *slash = strrchr(ready, '/');
    size_t folder = slash == NULL ? 0 : slash == ready ? 1 : (size_t)(slash - ready);
    if (ready[0] == '\0' || cm_bootstrap_is_writable(ready, folder)) {
        return CAROM_OK;
    }
    cm_fail(&wrong, CAROM_ERROR_IO,
            "serve: ready_file: %s: %s, expected a path in a directory that can be "
            "written to",
            ready, strerror(errno));
    return report(check, CAROM_ERROR_IO, &wrong);
}

// That of `listen`, and those after it for further workers.
static carom_result check_address(const cm_check *check)
{
    const cm_config *config = check->config;
    cm_failure wrong;
    cm_host_def def = {.peers = 1, .timeout_ms = 1000};
    char error[256] = "";
    cm_config_address(config->listen, &def.listen);
    uint32_t ports =
        def.listen.port == 0 || config->workers == 0 ? 1 : cm_bootstrap_worker_count(config);
    carom_result result = CAROM_OK;
    for (uint32_t i = 0; i < ports; i++, def.listen.port++) {
        cm_host *host = cm_host_create(&def, error, sizeof error);
        if (host == NULL) {
            cm_fail(&wrong, CAROM_ERROR_IO, "serve: %s", error);
            result = report(check, CAROM_ERROR_IO, &wrong);
        }
        cm_host_destroy(host);
    }
    return result;
}

static carom_result check_admin(const cm_check *check)
{
    const cm_config *config = check->config;
    cm_failure wrong;
    char path[CM_NODE_ADMIN_PATH_MAX], error[512];
    cm_node_admin_path(config, path);
    if (!cm_node_admin_fits(config, NULL) || cm_admin_check(path, error, sizeof error)) {
        return CAROM_OK;
    }
    cm_fail(&wrong, CAROM_ERROR_IO, "serve: admin: %s", error);
    return report(check, CAROM_ERROR_IO, &wrong);
}

static carom_result check_http(const cm_check *check)
{
    const cm_config *config = check->config;
    cm_failure wrong;
    cm_api_keys keys;
    carom_result result = cm_server_base_read_api_keys(config, &keys, &wrong);
    result = result == CAROM_OK ? cm_http_pages_check(config, &wrong) : result;
    return report(check, result, &wrong);
}

// The rooms are made as serve makes them, but for the recording, on a free port. One that cannot be
// made does not keep the others from being tried.
static carom_result check_rooms(const cm_check *check)
{
    const cm_config *given = check->config;
    cm_failure wrong;
    cm_node_rooms rooms;
    const cm_node_rooms_wrong all = {check->wrong, check->user};
    carom_result loaded = cm_node_rooms_load(given, &rooms, &all, &wrong);
    cm_config config = *given;
    strcpy(config.listen, "127.0.0.1:0");
    config.insecure = true; // whether it is, and what keys there are, was checked before
    config.key[0] = '\0';
    cm_worker_def def = {.config = &config, .now_us = 1, .seed = 1};
    cm_worker *worker = NULL;
    char error[512] = "";
    carom_result result = cm_worker_create(&def, &worker, error, sizeof error);
    if (result != CAROM_OK) {
        cm_fail(&wrong, result, "serve: %s", error);
        (void)report(check, result, &wrong);
    } else {
        result = cm_node_rooms_open(&rooms, worker, &all, &wrong);
    }
    cm_worker_destroy(worker);
    cm_node_rooms_free(&rooms);
    cm_scene_free(rooms.on_demand);
    return loaded != CAROM_OK ? loaded : result;
}

const cm_server_check_part cm_server_checks[CM_SERVE_CHECKS + 1] = {
    {"environment",
     "no unknown CAROM_ variable",
     "unset it, or spell it as the nearest",
     check_environment,
     {NULL}},
    {"key",
     "who may come in is settled",
     "carom token keygen --out FILE; chown, chmod 600",
     check_key,
     {"key", "insecure", "listen", "public", NULL}},
    {"sign_key",
     "none, or one that can be used",
     "carom match keygen --out FILE; chmod 600",
     check_sign_key,
     {"sign_key", NULL}},
    {"bans",
     "none, or a file that can be read",
     "a client id or an address a line",
     check_bans,
     {"bans", NULL}},
    {"catalogue",
     "it can be read and written to, or be made",
     "chown it and its directory to who runs the server, or set db",
     check_catalogue,
     {"db", NULL}},
    {"matches",
     "can be written to",
     "mkdir -p and chown it, or set matches",
     check_matches,
     {"matches", NULL}},
    {"ready_file",
     "none, or it can be written",
     "set ready_file, or make its directory",
     check_ready_file,
     {"ready_file", NULL}},
    {"port",
     "the address of listen, and those of all workers, are free",
     "end what holds it (ss -ulpn), or set listen",
     check_address,
     {"listen", "workers", NULL}},
    {"admin",
     "its socket can be made",
     "end the server that answers there, or set admin",
     check_admin,
     {"admin", "matches", NULL}},
    {"http",
     "none, or its address is free, and its keys can be read",
     "end what holds it (ss -tlpn), or set http; carom token api-key makes keys",
     check_http,
     {"http", "api_keys", NULL}},
    {"rooms",
     "every room can be opened",
     "carom scene validate FILE, carom scene list --db DB",
     check_rooms,
     {"scene", "rooms", "on_demand", "db", "module", NULL}},
    {NULL, NULL, NULL, NULL, {NULL}}};

static bool is_refused(const cm_check *check, const cm_server_check_part *part)
{
    bool refused = false;
    for (const char *const *key = part->keys; check->refused != NULL && *key != NULL; key++) {
        refused = refused || cm_config_was_refused(check->refused, *key);
    }
    return refused;
}

carom_result cm_server_check(const cm_check *check)
{
    carom_result worst = CAROM_OK; // bad input before a failed operation
    for (uint32_t i = 0; i < CM_SERVE_CHECKS; i++) {
        carom_result result =
            is_refused(check, &cm_server_checks[i]) ? CAROM_OK : cm_server_checks[i].run(check);
        worst = cm_failure_is_usage(worst) || result == CAROM_OK ? worst : result;
    }
    return worst;
}
