// The queue between rooms and match files, and the thread that empties it.
//
// The room's thread encodes a tick into a job of its own memory and appends it under a lock that is
// never held during I/O; that is all it ever waits for. The store's thread takes the whole queue at
// once, 100 ms after the first job came, and writes it as one transaction for each match. A kill
// loses that and one write: within 250 ms of what was confirmed. Members
// of cm_match marked "thread" belong to whoever writes (the thread, or the caller of pump), the
// others to the lock.
//
// A match whose file fails stays failed: its text is kept, the rest of it is dropped and counted.
// Typical: 60 jobs of 80 bytes a second and room, batches of 3.
#include "server/record/store.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "server/record/match_writer.h"
#include "server/record/notices.h"
#include "server/record/sign_key.h"
#include "shared/wire/crypto.h"

#define QUEUE_MAX_DEFAULT (64u << 20)
#define BATCH_NS          100000000 // from the first job of a batch to its writing

typedef enum job_kind { JOB_TICK, JOB_PERSONAL, JOB_STATISTICS, JOB_KEYFRAME, JOB_END } job_kind;

// What a job's bytes are, by its kind. A tick's lists point behind it.
typedef struct personal_job {
    uint64_t client_id;
    char kind[16];
    char text[];
} personal_job;

typedef struct cm_match {
    char *path;
    uint64_t next_tick, hash_0;
    uint32_t arrival_count; // of the next tick
    cm_arrival arrivals[CAROM_PLAYERS_MAX];
    bool ended;
    cm_match_status status;
    cm_match_writer *writer; // thread; NULL once closed
    uint64_t written_tick;   // thread; in the open transaction
    uint64_t batch_bytes;    // thread; of this batch's jobs
    uint64_t batch_dropped;  // thread
    bool touched;            // thread; by this batch
    bool failed;             // thread
    cm_match_entry *begun;   // thread; what the index is to be told; NULL: it was, or is not asked
} cm_match;

typedef struct job {
    struct job *next;
    cm_match *match;
    job_kind kind;
    cm_match_end end;
    size_t size;
    _Alignas(8) uint8_t bytes[];
} job;

struct cm_store {
    char *directory, *catalogue; // NULL: no index
    char begin_error[256];
    bool threaded, durability_power;
    bool has_secret;
    uint8_t secret[CM_KEY_BYTES];
    uint64_t queue_max;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    bool stopping, urgent, writing, flushing;
    job *first, *last;
    uint64_t queued_bytes;
    cm_match **matches; // handle - 1
    uint32_t match_count;
    cm_notices notices; // thread
};

const char *cm_match_end_name(cm_match_end end)
{
    static const char *const names[] = {"none", "drained", "ended", "failed", "cut"};
    return (size_t)end < sizeof names / sizeof names[0] ? names[end] : names[0];
}

static uint64_t cost(const job *work)
{
    return sizeof *work + work->size;
}

// What the status counts where it is left out.
static bool is_counted(const job *work)
{
    return work->kind == JOB_TICK || work->kind == JOB_KEYFRAME;
}

static cm_match *match_of(const cm_store *store, cm_match_handle handle)
{
    return handle == 0 || handle > store->match_count ? NULL : store->matches[handle - 1];
}

// Queue
// --------------------------------------------------------------------------------------------

// With the lock held.
static void mark_failed(cm_match *match, const char *text)
{
    if (match->status.durable) {
        match->status.durable = false;
        snprintf(match->status.error, sizeof match->status.error, "%s", text);
    }
}

// Takes the job. An end is always taken: the file has to be closed.
static void push(cm_store *store, job *work)
{
    cm_match *match = work->match;
    pthread_mutex_lock(&store->lock);
    bool take = !match->ended;
    bool wake =
        work->kind == JOB_END || store->first == NULL; // else the thread is awake, or will be
    if (work->kind != JOB_END) {
        if (store->queued_bytes + cost(work) > store->queue_max) {
            mark_failed(match, "the queue of the store is full: the disk does not keep up");
        }
        take = take && match->status.durable;
        match->status.dropped += !take && is_counted(work);
    }
    if (take) {
        match->ended = work->kind == JOB_END;
        work->next = NULL;
        *(store->first == NULL ? &store->first : &store->last->next) = work;
        store->last = work;
        store->queued_bytes += cost(work);
        match->status.queued_bytes += cost(work);
        store->urgent = store->urgent || work->kind == JOB_END;
    }
    pthread_mutex_unlock(&store->lock);
    if (take && wake) {
        pthread_cond_signal(&store->wake);
    }
    if (!take) {
        free(work);
    }
}

static void fail_match(cm_store *store, cm_match *match, const char *text)
{
    pthread_mutex_lock(&store->lock);
    mark_failed(match, text);
    match->status.dropped++;
    pthread_mutex_unlock(&store->lock);
}

static job *make_job(cm_match *match, job_kind kind, size_t size)
{
    job *work = malloc(sizeof *work + size);
    if (work != NULL) {
        memset(work, 0, sizeof *work);
        work->match = match;
        work->kind = kind;
        work->size = size;
    }
    return work;
}

// Only this thread changes next_tick, and only a room's one thread hands over its ticks.
static bool in_order(cm_store *store, cm_match *match, uint64_t tick, uint64_t hash)
{
    char text[128];
    if (tick == 0 && match->next_tick == 1) {
        if (hash != match->hash_0) {
            fail_match(store, match, "the hash of tick 0 is not that of the scene after start");
        }
        return false; // begin wrote it
    }
    if (tick != match->next_tick) {
        snprintf(text, sizeof text, "tick %llu was handed over, expected %llu",
                 (unsigned long long)tick, (unsigned long long)match->next_tick);
        fail_match(store, match, text);
        return false;
    }
    match->next_tick++;
    return true;
}

void cm_store_tick(cm_store *store, cm_match_handle handle, uint64_t tick, uint64_t hash,
                   const cm_tick_input *input)
{
    cm_match *match = match_of(store, handle);
    if (match == NULL || !in_order(store, match, tick, hash)) {
        return;
    }
    cm_recorded_tick whole = {.tick = tick,
                              .hash = hash,
                              .arrivals = match->arrivals,
                              .arrival_count = match->arrival_count};
    whole.input = input != NULL ? *input : whole.input;
    match->arrival_count = 0;
    if (!cm_record_fits(&whole)) {
        fail_match(store, match, "a tick's events or inputs are above the limits of a record");
        return;
    }
    job *work = make_job(match, JOB_TICK, cm_recorded_tick_size(&whole));
    if (work == NULL) {
        fail_match(store, match, "no memory for a tick");
        return;
    }
    cm_recorded_tick_copy(&whole, work->bytes);
    push(store, work);
}

void cm_store_arrivals(cm_store *store, cm_match_handle handle, const cm_arrival *arrivals,
                       uint32_t count)
{
    cm_match *match = match_of(store, handle);
    if (match != NULL && count <= CAROM_PLAYERS_MAX) {
        match->arrival_count = count;
        if (count > 0) {
            memcpy(match->arrivals, arrivals, count * sizeof *arrivals);
        }
    }
}

void cm_store_personal(cm_store *store, cm_match_handle handle, uint64_t client_id,
                       const char *kind, const char *text)
{
    cm_match *match = match_of(store, handle);
    size_t length = strlen(text);
    if (match == NULL || length > CM_RECORD_PERSONAL_MAX) {
        return;
    }
    job *work = make_job(match, JOB_PERSONAL, sizeof(personal_job) + length + 1);
    if (work == NULL) {
        fail_match(store, match, "no memory for a personal row");
        return;
    }
    personal_job *row = (personal_job *)work->bytes;
    row->client_id = client_id;
    snprintf(row->kind, sizeof row->kind, "%s", kind);
    memcpy(row->text, text, length + 1);
    push(store, work);
}

void cm_store_statistics(cm_store *store, cm_match_handle handle, const cm_player_statistics *rows,
                         uint32_t count)
{
    cm_match *match = match_of(store, handle);
    if (match == NULL || count == 0 || count > CAROM_PLAYERS_MAX) {
        return;
    }
    job *work = make_job(match, JOB_STATISTICS, count * sizeof *rows);
    if (work == NULL) {
        fail_match(store, match, "no memory for statistics");
        return;
    }
    memcpy(work->bytes, rows, work->size);
    push(store, work);
}

void cm_store_keyframe(cm_store *store, cm_match_handle handle, uint64_t tick, const void *bytes,
                       size_t size)
{
    cm_match *match = match_of(store, handle);
    if (match == NULL || size == 0 || size > CM_RECORD_KEYFRAME_MAX || tick == 0 ||
        tick + 1 != match->next_tick) {
        return;
    }
    job *work = make_job(match, JOB_KEYFRAME, size);
    if (work != NULL) { // without memory it is left out: the ticks are the record
        memcpy(work->bytes, bytes, size);
        push(store, work);
    }
}

void cm_store_end(cm_store *store, cm_match_handle handle, cm_match_end end)
{
    cm_match *match = match_of(store, handle);
    if (match == NULL) {
        return;
    }
    job *work = make_job(match, JOB_END, 0);
    if (work == NULL) {
        fail_match(store, match, "no memory for the end"); // destroy closes the file
        return;
    }
    work->end = end;
    push(store, work);
}

// Writing
// ------------------------------------------------------------------------------------------

static void writer_failed(cm_store *store, cm_match *match)
{
    match->failed = true;
    pthread_mutex_lock(&store->lock);
    mark_failed(match, cm_match_writer_error(match->writer));
    pthread_mutex_unlock(&store->lock);
}

// The catalogue is of use to people, and a match goes on without it.
static void is_told(void *context, void *user, const char *wrong)
{
    cm_store *store = context;
    cm_match *match = user;
    pthread_mutex_lock(&store->lock);
    snprintf(match->status.unindexed, sizeof match->status.unindexed, "%s", wrong);
    pthread_mutex_unlock(&store->lock);
}

static void close_match(cm_store *store, cm_match *match, cm_match_end end)
{
    if (match->writer == NULL) {
        return;
    }
    uint64_t bytes = cm_match_writer_bytes(match->writer);
    if (!match->failed) {
        pthread_mutex_lock(&store->lock);
        bool whole = match->status.durable;
        pthread_mutex_unlock(&store->lock);
        if (!cm_match_writer_finish(match->writer,
                                    whole || end == CM_MATCH_LIVE ? end : CM_MATCH_FAILED)) {
            writer_failed(store, match);
        } else {
            pthread_mutex_lock(&store->lock);
            match->status.committed_tick = match->written_tick;
            match->status.bytes = bytes;
            pthread_mutex_unlock(&store->lock);
        }
    }
    cm_match_writer_close(match->writer);
    match->writer = NULL;
    if (!match->failed && end != CM_MATCH_LIVE) {
        cm_notices_ended(&store->notices, match, match->path);
    }
}

static bool write_rows(cm_match_writer *writer, const job *work)
{
    bool done = true;
    const personal_job *personal = (const personal_job *)work->bytes;
    const cm_player_statistics *rows = (const cm_player_statistics *)work->bytes;
    switch (work->kind) {
    case JOB_TICK:
        return cm_match_writer_tick(writer, (const cm_recorded_tick *)work->bytes);
    case JOB_PERSONAL:
        return cm_match_writer_personal(writer, personal->client_id, personal->kind,
                                        personal->text);
    case JOB_STATISTICS:
        for (size_t i = 0; done && i < work->size / sizeof *rows; i++) {
            done = cm_match_writer_statistics(writer, &rows[i]);
        }
        return done;
    case JOB_KEYFRAME:
        return cm_match_writer_keyframe(writer, work->bytes, work->size);
    default:
        return true;
    }
}

static void write_job(cm_store *store, const job *work)
{
    cm_match *match = work->match;
    match->touched = true;
    match->batch_bytes += cost(work);
    if (work->kind == JOB_END) {
        close_match(store, match, work->end);
        return;
    }
    if (match->failed || match->writer == NULL) {
        match->batch_dropped += is_counted(work);
        return;
    }
    if (!write_rows(match->writer, work)) {
        match->batch_dropped += is_counted(work);
        writer_failed(store, match);
    } else if (work->kind == JOB_TICK) {
        if (match->begun != NULL) { // with the first tick: one that never ran is not told of
            cm_notices_begun(&store->notices, match, match->begun);
            free(match->begun);
            match->begun = NULL;
        }
        match->written_tick = ((const cm_recorded_tick *)work->bytes)->tick;
    }
}

// Commits what the batch wrote of a match, and says so.
static void settle(cm_store *store, cm_match *match)
{
    if (!match->touched) {
        return;
    }
    uint64_t bytes = 0;
    bool committed = false;
    if (match->writer != NULL && !match->failed) {
        committed = cm_match_writer_commit(match->writer);
        if (committed) {
            bytes = cm_match_writer_bytes(match->writer);
        } else {
            writer_failed(store, match);
        }
    }
    pthread_mutex_lock(&store->lock);
    store->queued_bytes -= match->batch_bytes;
    match->status.queued_bytes -= match->batch_bytes;
    match->status.dropped += match->batch_dropped;
    if (committed) {
        match->status.committed_tick = match->written_tick;
        match->status.bytes = bytes;
    }
    pthread_mutex_unlock(&store->lock);
    match->batch_bytes = match->batch_dropped = 0;
    match->touched = false;
}

// `whole`: nothing is recorded any more, so the catalogue is waited for.
static void write_batch(cm_store *store, job *batch, bool whole)
{
    for (job *work = batch; work != NULL; work = work->next) {
        write_job(store, work);
    }
    while (batch != NULL) {
        job *next = batch->next;
        settle(store, batch->match);
        free(batch);
        batch = next;
    }
    cm_notices_tell(&store->notices, whole, is_told, store);
}

static job *take_queue(cm_store *store)
{
    job *batch = store->first;
    store->first = store->last = NULL;
    return batch;
}

// With the lock held, at least one job waiting.
static void wait_for_batch(cm_store *store)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += BATCH_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!store->urgent && !store->stopping) {
        if (pthread_cond_timedwait(&store->wake, &store->lock, &until) == ETIMEDOUT) {
            break;
        }
    }
}

static void *thread_main(void *user)
{
    cm_store *store = user;
    pthread_mutex_lock(&store->lock);
    while (true) {
        while (store->first == NULL && !store->stopping && !store->flushing) {
            pthread_cond_wait(&store->wake, &store->lock);
        }
        if (store->first == NULL && !store->flushing) {
            break;
        }
        bool whole = store->flushing;
        if (!whole) {
            wait_for_batch(store);
        }
        job *batch = take_queue(store);
        store->urgent = false;
        store->writing = true;
        pthread_mutex_unlock(&store->lock);
        write_batch(store, batch, whole);
        pthread_mutex_lock(&store->lock);
        store->writing = false;
        store->flushing = store->flushing && (!whole || store->first != NULL);
        pthread_cond_broadcast(&store->idle);
    }
    pthread_mutex_unlock(&store->lock);
    return NULL;
}

void cm_store_pump(cm_store *store)
{
    pthread_mutex_lock(&store->lock);
    if (store->threaded) {
        store->urgent = store->first != NULL;
        pthread_cond_signal(&store->wake);
        pthread_mutex_unlock(&store->lock);
        return;
    }
    job *batch = take_queue(store);
    pthread_mutex_unlock(&store->lock);
    write_batch(store, batch, false);
}

void cm_store_flush(cm_store *store)
{
    if (!store->threaded) {
        cm_store_pump(store);
        cm_notices_tell(&store->notices, true, is_told, store);
        return;
    }
    pthread_mutex_lock(&store->lock);
    store->flushing = true;
    while (store->first != NULL || store->writing || store->flushing) {
        pthread_cond_signal(&store->wake);
        pthread_cond_wait(&store->idle, &store->lock);
    }
    pthread_mutex_unlock(&store->lock);
}

// Making and ending
// --------------------------------------------------------------------------------

bool cm_store_make_directory(const char *path)
{
    char *part = strdup(path);
    if (part == NULL) {
        return false;
    }
    for (char *at = part + 1; *at != '\0'; at++) {
        if (*at == '/') {
            *at = '\0';
            mkdir(part, 0755); // one that cannot be made shows in the last
            *at = '/';
        }
    }
    bool exists = mkdir(part, 0755) == 0 || errno == EEXIST;
    struct stat found;
    if (exists && (stat(part, &found) != 0 || !S_ISDIR(found.st_mode))) {
        exists = false;
        errno = ENOTDIR;
    }
    int cause = errno;
    free(part);
    errno = cause;
    return exists;
}

carom_result cm_store_create(const cm_store_def *def, cm_store **out)
{
    *out = NULL;
    if (!cm_store_make_directory(def->directory)) {
        return CAROM_ERROR_IO;
    }
    cm_store *store = calloc(1, sizeof *store);
    if (store == NULL || (store->directory = strdup(def->directory)) == NULL ||
        (def->catalogue != NULL && (store->catalogue = strdup(def->catalogue)) == NULL)) {
        free(store != NULL ? store->directory : NULL);
        free(store);
        return CAROM_ERROR_MEMORY;
    }
    store->notices.catalogue = store->catalogue;
    store->threaded = def->threaded;
    store->durability_power = def->durability_power;
    if (def->secret != NULL) {
        store->has_secret = true;
        memcpy(store->secret, def->secret, sizeof store->secret);
    }
    store->queue_max = def->queue_max > 0 ? def->queue_max : QUEUE_MAX_DEFAULT;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&store->lock, NULL);
    pthread_cond_init(&store->wake, &clock);
    pthread_cond_init(&store->idle, &clock);
    pthread_condattr_destroy(&clock);
    if (store->threaded && pthread_create(&store->thread, NULL, thread_main, store) != 0) {
        store->threaded = false;
        cm_store_destroy(store);
        return CAROM_ERROR_MEMORY;
    }
    *out = store;
    return CAROM_OK;
}

static void free_match(cm_match *match)
{
    cm_match_writer_close(match->writer);
    free(match->begun);
    free(match->path);
    free(match);
}

void cm_store_destroy(cm_store *store)
{
    if (store == NULL) {
        return;
    }
    if (store->threaded) {
        pthread_mutex_lock(&store->lock);
        store->stopping = true;
        pthread_cond_signal(&store->wake);
        pthread_mutex_unlock(&store->lock);
        pthread_join(store->thread, NULL);
    } else {
        cm_store_pump(store);
    }
    for (uint32_t i = 0; i < store->match_count; i++) {
        close_match(store, store->matches[i], CM_MATCH_LIVE);
    }
    cm_notices_tell(&store->notices, true, is_told, store);
    cm_notices_free(&store->notices);
    for (uint32_t i = 0; i < store->match_count; i++) {
        free_match(store->matches[i]);
    }
    pthread_cond_destroy(&store->idle);
    pthread_cond_destroy(&store->wake);
    pthread_mutex_destroy(&store->lock);
    cm_crypto_wipe(store->secret, sizeof store->secret);
    free(store->matches);
    free(store->directory);
    free(store->catalogue);
    free(store);
}

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

static cm_match *make_match(const cm_store *store, uint64_t match_id)
{
    cm_match *match = calloc(1, sizeof *match);
    size_t length = strlen(store->directory) + 32;
    if (match == NULL || (match->path = malloc(length)) == NULL) {
        free(match);
        return NULL;
    }
    snprintf(match->path, length, "%s/%016llx.match", store->directory,
             (unsigned long long)match_id);
    match->next_tick = 1;
    match->status.durable = true;
    match->status.power = store->durability_power;
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
        handle = store->match_count;
    }
    pthread_mutex_unlock(&store->lock);
    return handle;
}

static cm_match_writer_def writer_def(const cm_store *store)
{
    return (cm_match_writer_def){.durability_power = store->durability_power,
                                 .secret = store->has_secret ? store->secret : NULL};
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
        cm_match_writer_def writer = writer_def(store);
        writer.match = def;
        writer.hash_0 = match->hash_0;
        result = cm_match_writer_open(match->path, &writer, &match->writer, reason, sizeof reason);
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
        free_match(match);
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
    cm_match_writer_def writer = writer_def(store);
    carom_result result =
        cm_match_writer_resume(match->path, &writer, &match->writer, reason, sizeof reason);
    if (result != CAROM_OK) {
        snprintf(store->begin_error, sizeof store->begin_error, "%s: %s", match->path, reason);
        free_match(match);
        *out = NULL;
        return result;
    }
    match->written_tick = match->status.committed_tick = cm_match_writer_last(match->writer);
    match->next_tick = match->written_tick + 1;
    match->status.bytes = cm_match_writer_bytes(match->writer);
    return CAROM_OK;
}

carom_result cm_store_resume(cm_store *store, uint64_t match_id, uint64_t tick,
                             cm_match_handle *handle)
{
    cm_match *match;
    *handle = 0;
    carom_result result = reopen(store, match_id, &match);
    if (result == CAROM_OK && match->written_tick != tick) {
        snprintf(store->begin_error, sizeof store->begin_error, "%s: it stands at tick %llu",
                 match->path, (unsigned long long)match->written_tick);
        result = CAROM_ERROR_STATE;
        free_match(match);
    } else if (result == CAROM_OK) {
        *handle = keep_match(store, match);
        result = *handle != 0 ? CAROM_OK : CAROM_ERROR_MEMORY;
        if (result != CAROM_OK) {
            free_match(match);
        }
    }
    return result;
}

bool cm_store_signs(const cm_store *store, const char *sign_key)
{
    char text[CM_SIGN_KEY_TEXT];
    cm_sign_key_text(store->has_secret ? store->secret : NULL, text);
    return sign_key[0] == '\0' || strcmp(sign_key, text) == 0;
}

carom_result cm_store_cut(cm_store *store, uint64_t match_id)
{
    cm_match *match;
    carom_result result = reopen(store, match_id, &match);
    if (result == CAROM_OK) {
        close_match(store, match, CM_MATCH_CUT);
        result = match->failed ? CAROM_ERROR_IO : CAROM_OK;
        snprintf(store->begin_error, sizeof store->begin_error, "%s: %.80s", match->path,
                 match->status.error);
        free_match(match);
    }
    return result;
}

const char *cm_store_begin_error(const cm_store *store)
{
    return store->begin_error;
}

const char *cm_store_path(const cm_store *store, cm_match_handle handle)
{
    const cm_match *match = match_of(store, handle);
    return match != NULL ? match->path : "";
}

void cm_store_status(cm_store *store, cm_match_handle handle, cm_match_status *status)
{
    memset(status, 0, sizeof *status);
    pthread_mutex_lock(&store->lock);
    const cm_match *match = match_of(store, handle);
    if (match != NULL) {
        *status = match->status;
    }
    pthread_mutex_unlock(&store->lock);
}
