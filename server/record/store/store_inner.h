// The inside of a store, for its five files: store.c, store_matches.c, store_proof.c,
// store_backup.c and store_stream.c. Members of cm_match marked "thread" belong to the writer (the
// thread, or the caller of pump), "lock" to the lock; the others to the room's thread.
#ifndef CM_SERVER_RECORD_STORE_STORE_INNER_H
#define CM_SERVER_RECORD_STORE_STORE_INNER_H

#include <pthread.h>

#include "server/record/store/match_backup.h"
#include "server/record/store/notices.h"
#include "server/record/store/store.h"
#include "shared/wire/crypto.h"

#define CM_STORE_GAPS_MAX 64u // of one match; then it stays as it is

typedef enum cm_job_kind {
    JOB_TICK,
    JOB_PERSONAL,
    JOB_STATISTICS,
    JOB_KEYFRAME,
    JOB_BACKUP,
    JOB_GO_ON,
    JOB_END,
} cm_job_kind;

typedef struct cm_match {
    char *path;                         // lock; changed by the thread alone
    char *old_paths[CM_STORE_GAPS_MAX]; // of the files before it, which callers may still read
    uint64_t next_tick, hash_0;
    uint32_t arrival_count; // of the next tick
    cm_arrival arrivals[CAROM_PLAYERS_MAX];
    bool ended;
    bool goes_on; // lock; a job is on its way that makes it durable again
    cm_match_status status;
    cm_match_writer *writer; // thread; NULL once closed
    uint64_t written_tick;   // thread; in the open transaction
    uint64_t batch_bytes;    // thread; of this batch's jobs
    uint64_t batch_dropped;  // thread
    bool touched;            // thread; by this batch
    bool failed;             // thread
    bool has_end;            // thread; nothing more is written
    bool goes_elsewhere;     // thread; likewise, but the match goes on
    cm_match_entry *begun;   // thread; the entry for the index; NULL: already written, or no index
    cm_match_backup *backup; // thread; NULL: none is under way
    cm_store_backup_status backup_status; // lock
    bool is_streamed;                     // lock
    uint64_t stream_delay;                // lock
    struct cm_match_file *stream_file;    // thread; on the writer's connection
    struct cm_stream_dir *stream;         // thread; NULL: it is not begun
    // Lock. While its file is proved its jobs wait, and what belongs to the thread is the prover's.
    bool proving, known;
    struct cm_job *held_first, *held_last;
} cm_match;

typedef struct cm_job {
    struct cm_job *next;
    cm_match *match;
    cm_job_kind kind;
    cm_match_end end;
    size_t size;
    _Alignas(8) uint8_t bytes[];
} cm_job;

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
    cm_job *first, *last;
    uint64_t queued_bytes;
    cm_match **matches; // handle - 1
    uint32_t match_count;
    cm_notices notices; // thread
    uint32_t backups;   // thread; under way
    uint32_t proving;   // matches
    bool prover_runs;   // lock
    pthread_t prover;
    bool prover_made; // and not joined
};

// With the lock held.
void cm_store_mark_failed(cm_match *match, const char *text);
void cm_store_writer_failed(cm_store *store, cm_match *match);
// Takes the job, or frees it. An end is always taken: the file has to be closed.
bool cm_store_push(cm_store *store, cm_job *work);
cm_job *cm_store_make_job(cm_match *match, cm_job_kind kind, size_t size); // NULL: no memory
cm_match *cm_store_match_of(const cm_store *store, cm_match_handle handle);
void cm_store_free_match(cm_match *match);
cm_match_writer_def cm_store_writer_def(const cm_store *store);
// Matches that are to be proved: by a thread from now on, where the store has threads.
void cm_store_prove(cm_store *store);
// Now, by the caller.
void cm_store_prove_all(cm_store *store);
void cm_store_join_prover(cm_store *store);
// On the thread: the copy that a job asks for; a step of each; the end of one that cannot go on.
void cm_store_begin_backup(cm_store *store, const cm_job *work);
void cm_store_step_backups(cm_store *store);
void cm_store_stop_backup(cm_store *store, cm_match *match, const char *why);
// True if a match was streamed by an earlier process: then its end belongs into that folder.
bool cm_store_was_streamed(const cm_store *store, uint64_t match_id);
// On the thread: what is due of a match's stream; all that is left of it, before its file is
// closed.
void cm_store_step_stream(cm_store *store, cm_match *match);
void cm_store_close_stream(cm_store *store, cm_match *match);
// On the thread: the file that a job of cm_store_go_on asks for.
void cm_store_write_go_on(cm_store *store, cm_job *work);

#endif
