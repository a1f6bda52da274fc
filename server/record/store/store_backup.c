// Copies of matches that are being written, between the commits of the store's thread: 64 pages of
// each, then a look at what is due. Typical: one now and then, over in a second.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/store/store_inner.h"

carom_result cm_store_backup(cm_store *store, cm_match_handle handle, const char *path)
{
    cm_match *match = cm_store_match_of(store, handle);
    size_t length = strlen(path);
    if (match == NULL || length == 0 || length > CM_STORE_BACKUP_PATH_MAX) {
        return CAROM_ERROR_ARGUMENT;
    }
    cm_job *work = cm_store_make_job(match, JOB_BACKUP, length + 1);
    if (work == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    memcpy(work->bytes, path, length + 1);
    pthread_mutex_lock(&store->lock);
    bool may = match->backup_status.state != CM_STORE_BACKUP_RUNS && match->status.durable &&
               !match->ended;
    if (may) {
        match->backup_status = (cm_store_backup_status){.state = CM_STORE_BACKUP_RUNS};
    }
    pthread_mutex_unlock(&store->lock);
    if (!may) {
        free(work);
        return CAROM_ERROR_STATE;
    }
    if (!cm_store_push(store, work)) {
        pthread_mutex_lock(&store->lock);
        match->backup_status.state = CM_STORE_BACKUP_NONE;
        pthread_mutex_unlock(&store->lock);
        return CAROM_ERROR_STATE;
    }
    return CAROM_OK;
}

void cm_store_backup_status_get(cm_store *store, cm_match_handle handle,
                                cm_store_backup_status *status)
{
    memset(status, 0, sizeof *status);
    pthread_mutex_lock(&store->lock);
    const cm_match *match = cm_store_match_of(store, handle);
    if (match != NULL) {
        *status = match->backup_status;
    }
    pthread_mutex_unlock(&store->lock);
}

// `error`: NULL where it is done.
static void settle(cm_store *store, cm_match *match, const char *error)
{
    uint64_t bytes = error == NULL ? cm_match_writer_bytes(match->writer) : 0;
    cm_match_backup_end(match->backup);
    store->backups -= match->backup != NULL;
    match->backup = NULL;
    pthread_mutex_lock(&store->lock);
    cm_store_backup_status *status = &match->backup_status;
    if (status->state == CM_STORE_BACKUP_RUNS) {
        status->state = error == NULL ? CM_STORE_BACKUP_DONE : CM_STORE_BACKUP_FAILED;
        status->tick = match->status.committed_tick;
        status->bytes = bytes;
        snprintf(status->error, sizeof status->error, "%s", error != NULL ? error : "");
    }
    pthread_mutex_unlock(&store->lock);
}

void cm_store_begin_backup(cm_store *store, const cm_job *work)
{
    cm_match *match = work->match;
    char error[sizeof match->backup_status.error] = "the match is not being recorded";
    if (match->writer != NULL && !match->failed) {
        match->backup =
            cm_match_backup_begin(match->writer, (const char *)work->bytes, error, sizeof error);
    }
    if (match->backup == NULL) {
        settle(store, match, error);
    } else {
        store->backups++;
    }
}

void cm_store_step_backups(cm_store *store)
{
    char error[sizeof((cm_match *)0)->backup_status.error];
    for (uint32_t i = 0; store->backups > 0 && i < store->match_count; i++) {
        cm_match *match = store->matches[i];
        if (match->backup == NULL) {
            continue;
        }
        cm_match_backup_state state = cm_match_backup_step(match->backup, error, sizeof error);
        if (state != CM_MATCH_BACKUP_GOES_ON) {
            settle(store, match, state == CM_MATCH_BACKUP_DONE ? NULL : error);
        }
    }
}

void cm_store_stop_backup(cm_store *store, cm_match *match, const char *why)
{
    settle(store, match, why);
}
