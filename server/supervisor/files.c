// The lock is on the directory itself, so that it leaves nothing behind, and is inherited: it goes
// with the last process of a server that was killed, not with the first.
#include "server/supervisor/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "server/auth/key_file.h"
#include "server/record/store/store.h"
#include "server/node/bootstrap.h"
#include "shared/wire/crypto.h"

#define LOCK_STEP_MS 5

carom_result cm_server_files_open(cm_server_files *files, const cm_config *config,
                                  cm_failure *failure)
{
    memset(files, 0, sizeof *files);
    files->there = cm_bootstrap_file_exists(config->matches);
    files->lock = -1;
    if (!cm_store_make_directory(config->matches) ||
        (files->lock = open(config->matches, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
        return cm_fail(
            failure, CAROM_ERROR_IO,
            "serve: matches: %s: %s, expected a directory, or a path where one can be made",
            config->matches, strerror(errno));
    }
    for (int waited = 0; flock(files->lock, LOCK_EX | LOCK_NB) != 0; waited += LOCK_STEP_MS) {
        if (errno != EWOULDBLOCK || waited >= CM_SERVE_LOCK_WAIT_MS) {
            return cm_fail(failure, CAROM_ERROR_IO, "serve: matches: %s: %s", config->matches,
                           errno == EWOULDBLOCK ? "another server has it" : strerror(errno));
        }
        nanosleep(&(struct timespec){.tv_nsec = LOCK_STEP_MS * 1000000L}, NULL);
    }
    return CAROM_OK;
}

carom_result cm_server_files_ticket(cm_server_files *files, const cm_config *config,
                                    carom_token_key *ticket, cm_failure *failure)
{
    char path[CM_CONFIG_TEXT_MAX + 16], error[512];
    carom_token_keys keys;
    snprintf(path, sizeof path, "%s/ticket.key", config->matches);
    if (access(path, F_OK) != 0) {
        carom_token_key made;
        carom_result result = carom_token_key_make(1, &made);
        if (result == CAROM_OK) {
            result = cm_key_file_make(path, &made, error, sizeof error);
        } else {
            snprintf(error, sizeof error, "%s: no random numbers from the system", path);
        }
        cm_crypto_wipe(&made, sizeof made);
        if (result != CAROM_OK) {
            return cm_fail(failure, CAROM_ERROR_IO, "serve: %s", error);
        }
        files->made_ticket_key = true;
    }
    if (cm_key_file_read(path, &keys, error, sizeof error) != CAROM_OK) {
        return cm_fail(failure, CAROM_ERROR_IO, "serve: %s", error);
    }
    *ticket = keys.keys[0];
    cm_crypto_wipe(&keys, sizeof keys);
    return CAROM_OK;
}

carom_result cm_server_files_ready(const cm_config *config, const char *lines, cm_failure *failure)
{
    const char *path = config->ready_file;
    if (path[0] == '\0') {
        return CAROM_OK;
    }
    char part[CM_CONFIG_TEXT_MAX + 8];
    snprintf(part, sizeof part, "%s.part", path);
    FILE *file = fopen(part, "w");
    bool wrote = file != NULL && fputs(lines, file) >= 0;
    wrote = (file != NULL && fclose(file) == 0) && wrote;
    if (!wrote || rename(part, path) != 0) {
        cm_fail(failure, CAROM_ERROR_IO, "serve: ready_file: %s: %s", path, strerror(errno));
        if (file != NULL) {
            unlink(part);
        }
        return CAROM_ERROR_IO;
    }
    return CAROM_OK;
}

void cm_server_files_undo(cm_server_files *files, const cm_config *config)
{
    char path[CM_CONFIG_TEXT_MAX];
    if (files->made_ticket_key) {
        snprintf(path, sizeof path, "%.*s/ticket.key", (int)sizeof path - 12, config->matches);
        unlink(path);
        files->made_ticket_key = false;
    }
    snprintf(path, sizeof path, "%s", config->matches);
    for (size_t length = strlen(path); length > files->there; length--) {
        if (path[length] == '/' || path[length] == '\0') {
            path[length] = '\0';
            (void)rmdir(path); // one that is not empty stays
        }
    }
}

void cm_server_files_close(cm_server_files *files)
{
    if (files->lock >= 0) {
        close(files->lock);
        files->lock = -1;
    }
}
