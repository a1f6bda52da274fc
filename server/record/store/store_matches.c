// Matches that come into a store: new ones, those of a server that was killed, and those that go on
// in a new file after theirs failed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/record/format/sign_key.h"
#include "server/record/store/store_inner.h"

static bool hash_of_start(const cm_match_def *def, uint64_t *hash)
{
    const carom_module *module = def->rules != NULL ? def->rules : cm_module_find(def->module);
    carom_game *game;
    if (module == NULL || cm_game_create(def->scene, module, def->seed, NULL, &game) != CAROM_OK) {
        return false;
    }
    *hash = cm_game_hash(game);
    cm_game_destroy(game);
    return true;
}

static char *path_of(const cm_store *store, uint64_t match_id)
{
    size_t length = strlen(store->directory) + 32;
    char *path = malloc(length);
    if (path != NULL) {
        snprintf(path, length, "%s/%016llx.match", store->directory, (unsigned long long)match_id);
    }
    return path;
}

static cm_match *make_match(const cm_store *store, uint64_t match_id)
{
    cm_match *match = calloc(1, sizeof *match);
    if (match == NULL || (match->path = path_of(store, match_id)) == NULL) {
        free(match);
        return NULL;
    }
    match->next_tick = 1;
    match->status.durable = match->status.proved = true;
    match->status.power = store->durability_power;
    match->status.match_id = match_id;
    return match;
}

// Among the store's; 0 where there is no memory.
static cm_match_handle keep_match(cm_store *store, cm_match *match)
{
    cm_match_handle handle = 0;
    pthread_mutex_lock(&store->lock);
    cm_match **grown = realloc(store->matches, (store->match_count + 1) * sizeof(cm_match *));
    if (grown != NULL) {
        store->matches = grown;
        grown[store->match_count++] = match;
        store->proving += match->proving;
        handle = store->match_count;
    }
    pthread_mutex_unlock(&store->lock);
    return handle;
}

cm_match_writer_def cm_store_writer_def(const cm_store *store)
{
    return (cm_match_writer_def){.durability_power = store->durability_power,
                                 .secret = store->has_secret ? store->secret : NULL};
}

static void take_meta(const cm_store *store, const cm_match_def *def, cm_match_start *start)
{
    char key[CM_SIGN_KEY_TEXT];
    cm_sign_key_text(store->has_secret ? store->secret : NULL, key);
    cm_meta_begin(def, key, &start->meta);
}

static carom_result open_file(const cm_store *store, const cm_match_def *def, cm_match *match,
                              char *reason, size_t reason_size)
{
    cm_match_start start = {.hash = match->hash_0, .scene_size = cm_scene_packed_size(def->scene)};
    uint8_t *scene = malloc(start.scene_size + 1);
    if (scene == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    cm_scene_pack(def->scene, scene);
    start.scene = scene;
    take_meta(store, def, &start);
    cm_match_writer_def writer = cm_store_writer_def(store);
    writer.start = &start;
    carom_result result =
        cm_match_writer_open(match->path, &writer, &match->writer, reason, reason_size);
    free(scene);
    return result;
}

carom_result cm_store_begin(cm_store *store, const cm_match_def *def, cm_match_handle *handle)
{
    *handle = 0;
    store->begin_error[0] = '\0';
    cm_match *match = make_match(store, def->match_id);
    if (match == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    carom_result result = CAROM_ERROR_ARGUMENT;
    char reason[160] = "the scene does not start with this module";
    if (hash_of_start(def, &match->hash_0)) {
        result = open_file(store, def, match, reason, sizeof reason);
    }
    if (result == CAROM_OK) {
        match->status.bytes = cm_match_writer_bytes(match->writer);
        match->begun = store->catalogue != NULL ? malloc(sizeof *match->begun) : NULL;
        if (match->begun != NULL) {
            cm_match_entry_begin(match->begun, def, match->path);
        }
        *handle = keep_match(store, match);
        result = *handle != 0 ? CAROM_OK : CAROM_ERROR_MEMORY;
    }
    if (result != CAROM_OK) {
        snprintf(store->begin_error, sizeof store->begin_error, "%s: %s", match->path, reason);
        cm_store_free_match(match);
    }
    return result;
}

// A match whose file is there, opened to write on after its last tick.
static carom_result reopen(cm_store *store, uint64_t match_id, cm_match **out)
{
    store->begin_error[0] = '\0';
    cm_match *match = *out = make_match(store, match_id);
    if (match == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    char reason[160] = "";
    cm_match_writer_def writer = cm_store_writer_def(store);
    carom_result result =
        cm_match_writer_resume(match->path, &writer, &match->writer, reason, sizeof reason);
    if (result != CAROM_OK) {
        snprintf(store->begin_error, sizeof store->begin_error, "%s: %s", match->path, reason);
        cm_store_free_match(match);
        *out = NULL;
        return result;
    }
    match->written_tick = match->status.committed_tick = cm_match_writer_last(match->writer);
    match->next_tick = match->written_tick + 1;
    match->status.bytes = cm_match_writer_bytes(match->writer);
    return CAROM_OK;
}

carom_result cm_store_resume(cm_store *store, uint64_t match_id, uint64_t tick, bool known,
                             cm_match_handle *handle)
{
    *handle = 0;
    store->begin_error[0] = '\0';
    cm_match *match = make_match(store, match_id);
    if (match == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    match->written_tick = match->status.committed_tick = tick;
    match->next_tick = tick + 1;
    match->proving = true;
    match->known = known;
    match->status.proved = false;
    *handle = keep_match(store, match);
    if (*handle == 0) {
        cm_store_free_match(match);
        return CAROM_ERROR_MEMORY;
    }
    cm_store_prove(store);
    return CAROM_OK;
}

bool cm_store_signs(const cm_store *store, const char *sign_key)
{
    char text[CM_SIGN_KEY_TEXT];
    cm_sign_key_text(store->has_secret ? store->secret : NULL, text);
    return sign_key[0] == '\0' || strcmp(sign_key, text) == 0;
}

// Queued to the writing thread: the catalogue gets the end later, when the match must still exist.
carom_result cm_store_cut(cm_store *store, uint64_t match_id)
{
    cm_match *match;
    carom_result result = reopen(store, match_id, &match);
    if (result != CAROM_OK) {
        return result;
    }
    cm_match_handle handle = keep_match(store, match);
    if (handle == 0) {
        cm_store_free_match(match);
        return CAROM_ERROR_MEMORY;
    }
    if (cm_store_was_streamed(store, match_id)) {
        cm_store_stream(store, handle, 0);
    }
    cm_store_end(store, handle, CM_MATCH_CUT);
    cm_store_flush(store);
    cm_match_status status;
    cm_store_status(store, handle, &status);
    snprintf(store->begin_error, sizeof store->begin_error, "%.160s: %.80s",
             cm_store_path(store, handle), status.error);
    return status.durable ? CAROM_OK : CAROM_ERROR_IO;
}

const char *cm_store_begin_error(const cm_store *store)
{
    return store->begin_error;
}

void cm_store_free_match(cm_match *match)
{
    cm_match_writer_close(match->writer);
    for (uint32_t i = 0; i < match->status.gaps; i++) {
        free(match->old_paths[i]);
    }
    free(match->begun);
    free(match->path);
    free(match);
}

// Going on after a failure --------------------------------------------------------------------

// The thread's job to begin the new file; joins, scene and keyframe stand behind it.
typedef struct go_on {
    cm_match_start start;
    uint64_t match_id, parent;
    cm_match_entry entry;
} go_on;

static cm_job *make_go_on(cm_store *store, cm_match *match, const cm_match_def *def,
                          const cm_match_start *from)
{
    size_t joins = from->join_count * sizeof *from->joins, payloads = 0;
    for (uint32_t i = 0; i < from->join_count; i++) {
        payloads += from->joins[i].size;
    }
    char *path = path_of(store, def->match_id);
    cm_job *work = cm_store_make_job(match, JOB_GO_ON,
                                     sizeof(go_on) + joins + payloads + from->scene_size +
                                         from->keyframe_size);
    if (work == NULL || path == NULL) {
        free(path);
        free(work);
        return NULL;
    }
    go_on *asked = (go_on *)work->bytes;
    uint8_t *at = work->bytes + sizeof *asked;
    memset(asked, 0, sizeof *asked);
    asked->start = *from;
    asked->match_id = def->match_id;
    asked->parent = def->parent;
    take_meta(store, def, &asked->start);
    cm_match_entry_begin(&asked->entry, def, path);
    free(path);
    cm_game_event *events = (cm_game_event *)at;
    asked->start.joins = events;
    at += joins;
    for (uint32_t i = 0; i < from->join_count; i++) {
        events[i] = from->joins[i];
        events[i].bytes = at;
        memcpy(at, from->joins[i].bytes, events[i].size);
        at += events[i].size;
    }
    cm_scene_pack(def->scene, at);
    asked->start.scene = at;
    at += from->scene_size;
    memcpy(at, from->keyframe, from->keyframe_size);
    asked->start.keyframe = at;
    return work;
}

carom_result cm_store_go_on(cm_store *store, cm_match_handle handle, const cm_match_def *def,
                            uint64_t hash, const void *keyframe, size_t keyframe_size,
                            const cm_game_event *joins, uint32_t join_count)
{
    cm_match *match = cm_store_match_of(store, handle);
    if (match == NULL || def->gap_to == 0 || def->parent == 0 || keyframe_size == 0 ||
        keyframe_size > CM_RECORD_KEYFRAME_MAX) {
        return CAROM_ERROR_ARGUMENT;
    }
    cm_match_start start = {.scene_size = cm_scene_packed_size(def->scene),
                            .tick = def->gap_to,
                            .hash = hash,
                            .joins = joins,
                            .join_count = join_count,
                            .keyframe = keyframe,
                            .keyframe_size = keyframe_size};
    cm_job *work = make_go_on(store, match, def, &start);
    if (work == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    pthread_mutex_lock(&store->lock);
    bool may = !match->status.durable && !match->status.left && !match->goes_on && !match->ended &&
               match->status.gaps < CM_STORE_GAPS_MAX;
    match->goes_on = match->goes_on || may;
    pthread_mutex_unlock(&store->lock);
    if (!may) {
        free(work);
        return CAROM_ERROR_STATE;
    }
    if (!cm_store_push(store, work)) {
        return CAROM_ERROR_FULL;
    }
    match->next_tick = def->gap_to + 1;
    match->arrival_count = 0;
    return CAROM_OK;
}

// The file before it: nothing more is written into one that failed; another one, whose queue was
// full, ends here.
static void leave_file(cm_store *store, cm_match *match)
{
    cm_store_stop_backup(store, match, "the recording failed, and goes on in another file");
    bool ended = match->writer != NULL && !match->failed &&
                 cm_match_writer_end(match->writer, CM_MATCH_FAILED);
    cm_store_close_stream(store, match);
    if (ended && cm_match_writer_finish(match->writer)) {
        pthread_mutex_lock(&store->lock);
        match->status.committed_tick = match->written_tick;
        pthread_mutex_unlock(&store->lock);
    }
    cm_match_writer_close(match->writer);
    match->writer = NULL;
    match->failed = true;
}

static void take_file(const cm_store *store, cm_match *match, const go_on *asked, char *path,
                      uint64_t gap_from)
{
    cm_match_status *status = &match->status;
    match->failed = match->goes_on = false;
    match->written_tick = status->committed_tick = asked->start.tick;
    match->old_paths[status->gaps++] = match->path;
    match->path = path;
    status->durable = true;
    status->error[0] = '\0';
    status->bytes = cm_match_writer_bytes(match->writer);
    status->match_id = asked->match_id;
    status->parent = asked->parent;
    status->gap_from = gap_from;
    status->gap_to = asked->start.tick;
    free(match->begun);
    match->begun = store->catalogue != NULL ? malloc(sizeof *match->begun) : NULL;
    if (match->begun != NULL) {
        *match->begun = asked->entry;
    }
}

void cm_store_write_go_on(cm_store *store, cm_job *work)
{
    cm_match *match = work->match;
    go_on *asked = (go_on *)work->bytes;
    char reason[160] = "no memory";
    char *path = path_of(store, asked->match_id);
    leave_file(store, match);
    uint64_t gap_from = match->status.committed_tick + 1;
    asked->start.meta.gap_from = gap_from;
    cm_match_writer_def def = cm_store_writer_def(store);
    def.start = &asked->start;
    carom_result result =
        path == NULL ? CAROM_ERROR_MEMORY
                     : cm_match_writer_open(path, &def, &match->writer, reason, sizeof reason);
    pthread_mutex_lock(&store->lock);
    bool wanted = result == CAROM_OK && match->goes_on;
    if (wanted) {
        take_file(store, match, asked, path, gap_from);
    } else {
        cm_store_mark_failed(match, reason);
    }
    pthread_mutex_unlock(&store->lock);
    if (!wanted) {
        cm_match_writer_close(match->writer);
        match->writer = NULL;
        if (result == CAROM_OK) {
            unlink(path); // what came after it was left out meanwhile
        }
        free(path);
    }
}
