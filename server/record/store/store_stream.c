// The streams of matches (record/format/stream_dir.h), cut by the store's thread after its commits
// from the rows that it committed, on its own connection. Typical: a chunk each 2 s, 1 ms.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/record/format/stream_dir.h"
#include "server/record/store/match_writer_inner.h"
#include "server/record/store/store_inner.h"

#define CHUNKS_A_COMMIT 16u // where it has many to make: after a comeback

void cm_store_stream(cm_store *store, cm_match_handle handle, uint64_t delay)
{
    pthread_mutex_lock(&store->lock);
    cm_match *match = cm_store_match_of(store, handle);
    if (match != NULL) {
        match->is_streamed = true;
        match->stream_delay = delay;
    }
    pthread_mutex_unlock(&store->lock);
}

bool cm_store_was_streamed(const cm_store *store, uint64_t match_id)
{
    char path[CM_STORE_BACKUP_PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/" CM_STREAM_FOLDER "/%016llx/index.json", store->directory,
             (unsigned long long)match_id);
    return access(path, F_OK) == 0;
}

static void drop(cm_match *match)
{
    cm_stream_dir_destroy(match->stream);
    cm_match_close(match->stream_file);
    match->stream = NULL;
    match->stream_file = NULL;
}

// A stream that fails is no reason for the match to fail: it can be made from the file.
static void give_up(cm_store *store, cm_match *match, const cm_match_error *error)
{
    drop(match);
    pthread_mutex_lock(&store->lock);
    match->is_streamed = false;
    snprintf(match->status.unstreamed, sizeof match->status.unstreamed, "%.150s", error->message);
    pthread_mutex_unlock(&store->lock);
}

static bool open_stream(const cm_store *store, cm_match *match, cm_match_error *error)
{
    char root[CM_STORE_BACKUP_PATH_MAX + 16];
    cm_match_info info;
    snprintf(root, sizeof root, "%s/" CM_STREAM_FOLDER, store->directory);
    if (cm_match_attach(match->writer->db, &match->stream_file, error) != CAROM_OK) {
        return false;
    }
    cm_match_info_get(match->stream_file, &info);
    const uint8_t *secret =
        match->writer->has_secret && info.sign_key[0] != '\0' ? match->writer->secret : NULL;
    cm_stream_dir_prune(root);
    return cm_stream_dir_create(root, match->stream_file, secret, &match->stream, error) ==
           CAROM_OK;
}

static void step(cm_store *store, cm_match *match, uint32_t most)
{
    cm_match_error error;
    uint32_t made;
    pthread_mutex_lock(&store->lock);
    bool wanted = match->is_streamed;
    uint64_t delay = match->stream_delay;
    pthread_mutex_unlock(&store->lock);
    if (!wanted || match->writer == NULL || match->failed) {
        return;
    }
    bool begun = match->stream != NULL;
    if ((begun || open_stream(store, match, &error)) &&
        cm_stream_dir_step(match->stream, delay, most, &made, &error) == CAROM_OK) {
        return;
    }
    // If somebody has removed the folder, it is made anew, from chunk 0 on.
    drop(match);
    if (begun && open_stream(store, match, &error) &&
        cm_stream_dir_step(match->stream, delay, most, &made, &error) == CAROM_OK) {
        return;
    }
    give_up(store, match, &error);
}

void cm_store_step_stream(cm_store *store, cm_match *match)
{
    step(store, match, CHUNKS_A_COMMIT);
}

void cm_store_close_stream(cm_store *store, cm_match *match)
{
    step(store, match, UINT32_MAX);
    drop(match);
}
