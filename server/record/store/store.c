// The queue between rooms and match files, and the thread that empties it.
//
// The room's thread encodes a tick into a job of its own memory and appends it under a lock that is
// never held during I/O; it never waits for anything else. The store's thread takes the whole queue
// at once, 100 ms after the first job came, and writes it as one transaction for each match. A kill
// loses that and one write: at most the last 250 ms of confirmed ticks. Members of cm_match marked
// "thread" belong to the writer (the thread, or the caller of pump), the others to the lock.
//
// A match whose file fails stays failed: its text is kept, the rest of it is dropped and counted.
// Typical: 60 jobs of 80 bytes a second and room, batches of 3.
#include "server/record/store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "server/record/store/store_inner.h"
#include "shared/wire/crypto.h"

#define QUEUE_MAX_DEFAULT (64u << 20)
#define BATCH_NS          100000000 // from the first job of a batch to its writing

// The contents of a job's bytes, by its kind. A tick's lists point behind it.
typedef struct personal_job {
    uint64_t client_id;
    char kind[16];
    char text[];
} personal_job;

static uint64_t cost(const cm_job *work)
{
    return sizeof *work + work->size;
}

// True for jobs that the status counts when they are dropped.
static bool is_counted(const cm_job *work)
{
    return work->kind == JOB_TICK || work->kind == JOB_KEYFRAME;
}

cm_match *cm_store_match_of(const cm_store *store, cm_match_handle handle)
{
    return handle == 0 || handle > store->match_count ? NULL : store->matches[handle - 1];
}

// Queue ---------------------------------------------------------------------------------------

// With the lock held.
void cm_store_mark_failed(cm_match *match, const char *text)
{
    if (match->status.durable || match->goes_on) {
        match->status.durable = match->goes_on = false;
        snprintf(match->status.error, sizeof match->status.error, "%s", text);
    }
}

bool cm_store_push(cm_store *store, cm_job *work)
{
    cm_match *match = work->match;
    pthread_mutex_lock(&store->lock);
    bool take = !match->ended;
    bool wake = !match->proving && (work->kind == JOB_END ||
                                    store->first == NULL); // else the thread is awake, or will be
    if (work->kind != JOB_END) {
        if (store->queued_bytes + cost(work) > store->queue_max) {
            cm_store_mark_failed(match,
                                 "the queue of the store is full: the disk does not keep up");
        }
        take = take && (match->status.durable || match->goes_on);
        match->status.dropped += !take && is_counted(work);
    }
    if (take) {
        match->ended = work->kind == JOB_END;
        cm_job **first = match->proving ? &match->held_first : &store->first;
        cm_job **last = match->proving ? &match->held_last : &store->last;
        work->next = NULL;
        *(*first == NULL ? first : &(*last)->next) = work;
        *last = work;
        store->queued_bytes += cost(work);
        match->status.queued_bytes += cost(work);
        store->urgent = store->urgent || (work->kind == JOB_END && !match->proving);
    }
    pthread_mutex_unlock(&store->lock);
    if (take && wake) {
        pthread_cond_signal(&store->wake);
    }
    if (!take) {
        free(work);
    }
    return take;
}

static void fail_match(cm_store *store, cm_match *match, const char *text)
{
    pthread_mutex_lock(&store->lock);
    cm_store_mark_failed(match, text);
    match->status.dropped++;
    pthread_mutex_unlock(&store->lock);
}

cm_job *cm_store_make_job(cm_match *match, cm_job_kind kind, size_t size)
{
    cm_job *work = malloc(sizeof *work + size);
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
    cm_match *match = cm_store_match_of(store, handle);
    if (match == NULL || !in_order(store, match, tick, hash)) {
        return;
    }
    cm_recorded_tick whole = {.tick = tick,
                              .hash = hash,
                              .arrivals = match->arrivals,
                              .arrival_count = match->arrival_count};
    whole.input = input != NULL ? *input : whole.input;
    match->arrival_count = 0;
    if (!cm_confirmed_fits(&whole)) {
        fail_match(store, match, "a tick's events or inputs are above the limits of a record");
        return;
    }
    cm_job *work = cm_store_make_job(match, JOB_TICK, cm_recorded_tick_size(&whole));
    if (work == NULL) {
        fail_match(store, match, "no memory for a tick");
        return;
    }
    cm_recorded_tick_copy(&whole, work->bytes);
    cm_store_push(store, work);
}

void cm_store_input_timing(cm_store *store, cm_match_handle handle, const cm_arrival *arrivals,
                           uint32_t count)
{
    cm_match *match = cm_store_match_of(store, handle);
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
    cm_match *match = cm_store_match_of(store, handle);
    size_t length = strlen(text);
    if (match == NULL || length > CM_RECORD_PERSONAL_MAX) {
        return;
    }
    cm_job *work = cm_store_make_job(match, JOB_PERSONAL, sizeof(personal_job) + length + 1);
    if (work == NULL) {
        fail_match(store, match, "no memory for a personal row");
        return;
    }
    personal_job *row = (personal_job *)work->bytes;
    row->client_id = client_id;
    snprintf(row->kind, sizeof row->kind, "%s", kind);
    memcpy(row->text, text, length + 1);
    cm_store_push(store, work);
}

void cm_store_statistics(cm_store *store, cm_match_handle handle, const cm_player_statistics *rows,
                         uint32_t count)
{
    cm_match *match = cm_store_match_of(store, handle);
    if (match == NULL || count == 0 || count > CAROM_PLAYERS_MAX) {
        return;
    }
    cm_job *work = cm_store_make_job(match, JOB_STATISTICS, count * sizeof *rows);
    if (work == NULL) {
        fail_match(store, match, "no memory for statistics");
        return;
    }
    memcpy(work->bytes, rows, work->size);
    cm_store_push(store, work);
}

void cm_store_keyframe(cm_store *store, cm_match_handle handle, uint64_t tick, const void *bytes,
                       size_t size)
{
    cm_match *match = cm_store_match_of(store, handle);
    if (match == NULL || size == 0 || size > CM_RECORD_KEYFRAME_MAX || tick == 0 ||
        tick + 1 != match->next_tick) {
        return;
    }
    cm_job *work = cm_store_make_job(match, JOB_KEYFRAME, size);
    if (work != NULL) { // without memory it is left out: the ticks are the record
        memcpy(work->bytes, bytes, size);
        cm_store_push(store, work);
    }
}

void cm_store_end(cm_store *store, cm_match_handle handle, cm_match_end end)
{
    cm_match *match = cm_store_match_of(store, handle);
    if (match == NULL) {
        return;
    }
    cm_job *work = cm_store_make_job(match, JOB_END, 0);
    if (work == NULL) {
        fail_match(store, match, "no memory for the end"); // destroy closes the file
        return;
    }
    work->end = end;
    cm_store_push(store, work);
}

// Writing -------------------------------------------------------------------------------------

void cm_store_writer_failed(cm_store *store, cm_match *match)
{
    match->failed = true;
    cm_store_stop_backup(store, match, "the recording failed");
    pthread_mutex_lock(&store->lock);
    cm_store_mark_failed(match, cm_match_writer_error(match->writer));
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

static void close_file(cm_store *store, cm_match *match)
{
    uint64_t bytes = cm_match_writer_bytes(match->writer);
    cm_store_close_stream(store, match);
    if (!match->failed && !cm_match_writer_finish(match->writer)) {
        cm_store_writer_failed(store, match);
    } else if (!match->failed) {
        pthread_mutex_lock(&store->lock);
        match->status.committed_tick = match->written_tick;
        match->status.bytes = bytes;
        pthread_mutex_unlock(&store->lock);
    }
    cm_match_writer_close(match->writer);
    match->writer = NULL;
    if (!match->failed && match->has_end && !match->goes_elsewhere) {
        cm_notices_ended(&store->notices, match, match->path);
    }
}

// The match's last row. A copy that is being made has it then, too, and is made to its end before
// the file is closed.
static void end_match(cm_store *store, cm_match *match, cm_match_end end)
{
    if (match->writer == NULL) {
        return;
    }
    match->has_end = true;
    match->goes_elsewhere = end == CM_MATCH_LIVE;
    if (!match->failed && end != CM_MATCH_LIVE) {
        pthread_mutex_lock(&store->lock);
        bool whole = match->status.durable;
        pthread_mutex_unlock(&store->lock);
        if (!cm_match_writer_end(match->writer, whole ? end : CM_MATCH_FAILED)) {
            cm_store_writer_failed(store, match);
        }
    }
    if (match->backup == NULL) {
        close_file(store, match);
    }
}

static bool write_rows(cm_match_writer *writer, const cm_job *work)
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

static void write_job(cm_store *store, cm_job *work)
{
    cm_match *match = work->match;
    match->touched = true;
    match->batch_bytes += cost(work);
    if (work->kind == JOB_GO_ON) {
        cm_store_write_go_on(store, work);
        return;
    }
    if (work->kind == JOB_BACKUP) {
        cm_store_begin_backup(store, work);
        return;
    }
    if (work->kind == JOB_END) {
        end_match(store, match, work->end);
        return;
    }
    if (match->failed || match->writer == NULL || match->has_end) {
        match->batch_dropped += is_counted(work);
        return;
    }
    if (!write_rows(match->writer, work)) {
        match->batch_dropped += is_counted(work);
        cm_store_writer_failed(store, match);
    } else if (work->kind == JOB_TICK) {
        if (match->begun != NULL) { // with the first tick: a match that never ran gets no notice
            cm_notices_begun(&store->notices, match, match->begun);
            free(match->begun);
            match->begun = NULL;
        }
        match->written_tick = ((const cm_recorded_tick *)work->bytes)->tick;
    }
}

// Commits the batch's rows of a match, and updates its status.
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
            cm_store_writer_failed(store, match);
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
    if (committed) {
        cm_store_step_stream(store, match);
    }
}

// `whole`: nothing is recorded any more, so the catalogue is waited for.
static void write_batch(cm_store *store, cm_job *batch, bool whole)
{
    for (cm_job *work = batch; work != NULL; work = work->next) {
        write_job(store, work);
    }
    while (batch != NULL) {
        cm_job *next = batch->next;
        settle(store, batch->match);
        free(batch);
        batch = next;
    }
    cm_notices_deliver(&store->notices, whole, is_told, store);
}

static cm_job *take_queue(cm_store *store)
{
    cm_job *batch = store->first;
    store->first = store->last = NULL;
    return batch;
}

// A step of each copy; the file of a match that has ended is closed when its copy is made.
static void step_copies(cm_store *store)
{
    bool closed = false;
    cm_store_step_backups(store);
    for (uint32_t i = 0; i < store->match_count; i++) {
        cm_match *match = store->matches[i];
        if (match->has_end && match->writer != NULL && match->backup == NULL) {
            close_file(store, match);
            closed = true;
        }
    }
    if (closed) {
        cm_notices_deliver(&store->notices, false, is_told, store);
    }
}

// With the lock held, which it lets go. True once it is late.
static bool step_backups(cm_store *store, const struct timespec *until)
{
    struct timespec now;
    pthread_mutex_unlock(&store->lock);
    step_copies(store);
    pthread_mutex_lock(&store->lock);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > until->tv_sec ||
           (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
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
        if (store->backups > 0 && !step_backups(store, &until)) {
            continue;
        }
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
            const struct timespec never = {0};
            if (store->backups > 0) {
                step_backups(store, &never);
            } else {
                pthread_cond_wait(&store->wake, &store->lock);
            }
        }
        if (store->first == NULL && !store->flushing) {
            break;
        }
        bool whole = store->flushing;
        if (!whole) {
            wait_for_batch(store);
        }
        cm_job *batch = take_queue(store);
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
    if (!store->threaded) {
        cm_store_prove_all(store);
    }
    pthread_mutex_lock(&store->lock);
    if (store->threaded) {
        store->urgent = store->first != NULL;
        pthread_cond_signal(&store->wake);
        pthread_mutex_unlock(&store->lock);
        return;
    }
    cm_job *batch = take_queue(store);
    pthread_mutex_unlock(&store->lock);
    write_batch(store, batch, false);
    step_copies(store);
}

void cm_store_flush(cm_store *store)
{
    if (!store->threaded) {
        cm_store_pump(store);
        cm_notices_deliver(&store->notices, true, is_told, store);
        return;
    }
    pthread_mutex_lock(&store->lock);
    while (store->proving > 0) {
        pthread_cond_wait(&store->idle, &store->lock);
    }
    store->flushing = true;
    while (store->first != NULL || store->writing || store->flushing) {
        pthread_cond_signal(&store->wake);
        pthread_cond_wait(&store->idle, &store->lock);
    }
    pthread_mutex_unlock(&store->lock);
}

// Making and ending ---------------------------------------------------------------------------

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
    int wrong = store->threaded ? pthread_create(&store->thread, NULL, thread_main, store) : 0;
    if (wrong != 0) {
        store->threaded = false;
        cm_store_destroy(store);
        errno = wrong;
        return CAROM_ERROR_FULL;
    }
    *out = store;
    return CAROM_OK;
}

void cm_store_destroy(cm_store *store)
{
    if (store == NULL) {
        return;
    }
    cm_store_join_prover(store);
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
        cm_match *match = store->matches[i];
        while (match->has_end && match->backup != NULL) {
            cm_store_step_backups(store);
        }
        if (match->writer != NULL) {
            cm_store_stop_backup(store, match, "the server has ended, and the match has not");
            close_file(store, match);
        }
    }
    cm_notices_deliver(&store->notices, true, is_told, store);
    cm_notices_free(&store->notices);
    for (uint32_t i = 0; i < store->match_count; i++) {
        cm_store_free_match(store->matches[i]);
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

const char *cm_store_path(cm_store *store, cm_match_handle handle)
{
    const cm_match *match = cm_store_match_of(store, handle);
    pthread_mutex_lock(&store->lock);
    const char *path = match != NULL ? match->path : "";
    pthread_mutex_unlock(&store->lock);
    return path;
}

void cm_store_status(cm_store *store, cm_match_handle handle, cm_match_status *status)
{
    memset(status, 0, sizeof *status);
    pthread_mutex_lock(&store->lock);
    const cm_match *match = cm_store_match_of(store, handle);
    if (match != NULL) {
        *status = match->status;
    }
    pthread_mutex_unlock(&store->lock);
}
