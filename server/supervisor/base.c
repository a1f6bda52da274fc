// Everything here is done once, at the start or at the end, by the one process that has signals.
#include "server/supervisor/base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/auth/key_file.h"
#include "server/node/bootstrap.h"
#include "server/ops/version.h"
#include "server/supervisor/handover.h"
#include "server/supervisor/signals.h"

#define ADDRESS_MAX (CM_CONFIG_TEXT_MAX + 8)

static void log_unknown(const cm_server_base *base, char *const *environment)
{
    for (; *environment != NULL; environment++) {
        char name[CM_CONFIG_VARIABLE_MAX], nearest[CM_CONFIG_VARIABLE_MAX];
        if (cm_config_unknown(*environment, name, nearest)) {
            cm_log_say(&base->log, CM_LOG_WARNING, "unknown variable of the environment",
                       CM_T("variable", name), CM_T("nearest", nearest));
        }
    }
}

carom_result cm_server_base_read_api_keys(const cm_config *config, cm_api_keys *keys,
                                          cm_failure *failure)
{
    char error[512];
    if (config->api_keys[0] == '\0') {
        return CAROM_OK;
    }
    if (!cm_crypto_init() || config->http[0] == '\0') {
        return cm_fail(failure, CAROM_ERROR_ARGUMENT,
                       "serve: api_keys: expected http too, at which the API is");
    }
    carom_result result = cm_api_keys_read(config->api_keys, keys, error, sizeof error);
    return result == CAROM_OK ? CAROM_OK : cm_fail(failure, result, "serve: api_keys: %s", error);
}

carom_result cm_server_base_open(cm_server_base *base, const cm_config *config,
                                 char *const *environment, cm_failure *failure)
{
    memset(base, 0, sizeof *base);
    base->config = *config;
    base->signals = base->files.lock = -1;
    cm_status_screen_open(&base->screen, config->log);
    base->log = (cm_log){.write = cm_status_screen_log, .user = &base->screen};
    log_unknown(base, environment);
    if (!cm_notify_open(&base->notify, getenv("NOTIFY_SOCKET"), getenv("WATCHDOG_USEC"),
                        getenv("WATCHDOG_PID"))) {
        cm_status_screen_error(
            "serve: NOTIFY_SOCKET: expected a path, or @ and a name; nothing is told");
    }
    carom_result result = cm_bootstrap_read_keys(config, &base->keys, failure);
    if (result == CAROM_OK) {
        result = cm_server_base_read_api_keys(config, &base->api_keys, failure);
    }
    if (result == CAROM_OK) {
        result = cm_ban_lists_open(&base->bans, config, failure);
    }
    if (result == CAROM_OK) {
        base->config.resume = config->resume || cm_handover_is_there(config);
        result = cm_node_rooms_load(&base->config, &base->rooms, NULL, failure);
    }
    if (result == CAROM_OK && (base->signals = cm_signals_open()) < 0) {
        result = cm_fail(failure, CAROM_ERROR_IO, "serve: signals: %s", strerror(errno));
    }
    if (result == CAROM_OK) {
        result = cm_server_files_open(&base->files, config, failure);
    }
    if (result == CAROM_OK) {
        result = cm_server_files_ticket(&base->files, config, &base->ticket, failure);
    }
    if (result == CAROM_OK && base->config.resume) {
        cm_unfinished_matches_find(config, &base->log, &base->matches);
        if (!config->resume) {
            cm_handover_select(config, &base->matches);
        }
    }
    return result;
}

void cm_server_base_undo(cm_server_base *base)
{
    cm_gate_db_close(base->gate_db);
    base->gate_db = NULL;
    if (base->files.lock >= 0) {
        cm_server_files_undo(&base->files, &base->config);
    }
}

void cm_server_base_close(cm_server_base *base)
{
    cm_gate_db_close(base->gate_db);
    base->gate_db = NULL;
    cm_ban_lists_close(&base->bans);
    cm_unfinished_matches_free(&base->matches);
    cm_node_rooms_free(&base->rooms);
    cm_scene_free(base->rooms.on_demand);
    cm_notify_close(&base->notify);
    cm_server_files_close(&base->files);
    if (base->signals >= 0) {
        close(base->signals);
        base->signals = -1;
    }
    cm_crypto_wipe(&base->keys, sizeof base->keys);
    cm_crypto_wipe(&base->ticket, sizeof base->ticket);
}

carom_result cm_server_base_open_gate(cm_server_base *base, cm_failure *failure)
{
    char error[1280];
    if (base->keys.count == 0) {
        return CAROM_OK;
    }
    carom_result result = cm_gate_db_open(base->config.matches, (uint64_t)time(NULL),
                                          &base->gate_db, error, sizeof error);
    if (result != CAROM_OK) {
        return cm_fail(failure, CAROM_ERROR_IO, "serve: matches: %s", error);
    }
    return CAROM_OK;
}

void cm_server_base_watch_gate(cm_server_base *base)
{
    char error[256];
    if (base->gate_db == NULL || cm_gate_db_is_valid(base->gate_db, error, sizeof error)) {
        return;
    }
    cm_log_say(&base->log, CM_LOG_ERROR, "used tokens and bans are not kept",
               CM_T("reason", error));
    cm_gate_db_close(base->gate_db);
    base->gate_db = NULL;
}

static void reload_level(cm_server_base *base)
{
    cm_config config;
    cm_failure error;
    bool good = base->reread != NULL && base->reread(&config, &error);
    cm_log_level level = good ? CM_LOG_INFO : CM_LOG_ERROR;
    if (base->reread == NULL) {
        return;
    }
    if (good) {
        (void)cm_log_level_find(config.log, &base->screen.level); // it knows the choices
    }
    cm_log_say(&base->log, level,
               good ? "configuration read again" : "configuration not read again",
               CM_T(good ? "log" : "error", good ? config.log : error.text));
}

static void reload_api_keys(cm_server_base *base)
{
    cm_failure error;
    if (base->config.api_keys[0] != '\0') {
        bool good =
            cm_server_base_read_api_keys(&base->config, &base->api_keys, &error) == CAROM_OK;
        cm_log_say(&base->log, good ? CM_LOG_INFO : CM_LOG_ERROR,
                   good ? "api keys read again" : "api keys not read again",
                   good ? CM_U("keys", base->api_keys.count) : CM_T("error", error.text));
    }
}

bool cm_server_base_reload(cm_server_base *base)
{
    reload_level(base);
    reload_api_keys(base);
    if (base->config.key[0] == '\0') {
        return false; // everybody is let in: there is nothing to read
    }
    carom_token_keys keys;
    char error[512];
    bool good = cm_key_file_read(base->config.key, &keys, error, sizeof error) == CAROM_OK;
    if (good) {
        base->keys = keys;
    }
    cm_log_say(&base->log, good ? CM_LOG_INFO : CM_LOG_ERROR,
               good ? "keys read again" : "keys not read again",
               good ? CM_U("keys", keys.count) : CM_T("error", error));
    return good;
}

static void put_address(const cm_server_base *base, uint16_t port, char address[ADDRESS_MAX])
{
    const char *listen = base->config.listen, *colon = strrchr(listen, ':');
    snprintf(address, ADDRESS_MAX, "%.*s:%u", (int)(colon - listen), listen, (unsigned)port);
}

carom_result cm_server_base_ready(cm_server_base *base, uint32_t rooms, const uint16_t *ports,
                                  uint32_t count, cm_failure *failure)
{
    char address[ADDRESS_MAX];
    size_t size = 0, capacity = count * (ADDRESS_MAX + 1) + 1;
    char *lines = calloc(1, capacity);
    for (uint32_t i = 0; lines != NULL && i < count; i++) {
        put_address(base, ports[i], address);
        size += (size_t)snprintf(lines + size, capacity - size, "%s\n", address);
    }
    carom_result result = lines != NULL ? cm_server_files_ready(&base->config, lines, failure)
                                        : cm_fail(failure, CAROM_ERROR_MEMORY, "out of memory");
    free(lines);
    if (result != CAROM_OK) {
        return result;
    }
    char shown[ADDRESS_MAX + 16];
    for (uint32_t i = 0; i < count; i++) {
        put_address(base, ports[i], address);
        snprintf(shown, sizeof shown, "listening on %s", address);
        cm_status_screen_print(&base->screen, shown);
    }
    cm_status_screen_flush();
    cm_log_say(&base->log, CM_LOG_INFO, "start", CM_T("version", cm_version_text),
               CM_U("engine", CAROM_ENGINE_VERSION), CM_U("rooms", rooms));
    for (uint32_t i = 0; i < count; i++) {
        put_address(base, ports[i], address);
        cm_log_say(&base->log, CM_LOG_INFO, "listen", CM_T("address", address));
    }
    cm_notify_send(&base->notify, "READY=1");
    return CAROM_OK;
}

void cm_server_base_log_stop(cm_server_base *base, const char *signal)
{
    cm_log_say(&base->log, CM_LOG_WARNING, "second signal, stopping at once",
               CM_T("signal", signal));
}
