// The store: writes match files, and never makes a tick wait. A room passes its confirmed ticks;
// the store copies them into a queue; a thread of its own (or, in tests, cm_store_pump) writes
// batches, one transaction each, every 100 ms. One connection a file, exclusive, WAL.
//
// An I/O error never reaches the room: the match is marked not durable, counted and shown in the
// status. The catalogue is updated after the commits (notices.h): no match waits for it.
#ifndef CM_SERVER_RECORD_STORE_STORE_H
#define CM_SERVER_RECORD_STORE_STORE_H

#include "server/record/format/match_def.h"
#include "server/record/format/record.h"

typedef struct cm_store cm_store;

typedef struct cm_store_def {
    const char *directory; // of match files; made if missing
    bool threaded;
    bool durability_power; // fsync each batch (else: survives the process, not the power)
    uint32_t queue_max;    // bytes waiting above which a match is marked not durable; 64 MiB
    const uint8_t *secret; // of an Ed25519 key (sign_key.h), copied: links are signed; NULL: not
    const char *catalogue; // whose index gets each match as it begins and ends; NULL: none
} cm_store_def;

typedef struct cm_match_status {
    uint64_t bytes;          // written so far
    uint64_t committed_tick; // newest tick that a committed transaction holds
    uint64_t queued_bytes;
    uint64_t dropped;  // ticks and keyframes left out since the match is not durable
    bool durable;      // false after an I/O error or an overfull queue; see cm_store_go_on
    bool power;        // committed ticks survive a power cut too
    char error[160];   // why not durable
    uint64_t match_id; // of the file that is written now
    uint32_t gaps;     // times that it went on in another file
    uint64_t gap_from, gap_to, parent; // the last of them, as in cm_match_info
    char unstreamed[160];              // why its stream ended before it; ""
    char unindexed[160];               // why the catalogue does not have it as it is; ""
    bool proved;                       // in this process, or by it from its beginning
    bool left; // its file does not prove itself, or is another's: nothing may follow from it
} cm_match_status;

// A match in the store, by value; 0 is none.
typedef uint32_t cm_match_handle;

// The directory and those above it; false with errno where it is none and cannot be made.
bool cm_store_make_directory(const char *path);

// CAROM_ERROR_FULL with errno: its thread cannot be started.
carom_result cm_store_create(const cm_store_def *def, cm_store **store);
// Writes what is queued, stops the thread, closes every file (checkpointed to one file each).
void cm_store_destroy(cm_store *store);

// Opens the file and writes its head before returning, so that a path exists; error: I/O, with its
// reason in cm_store_begin_error until the next begin.
carom_result cm_store_begin(cm_store *store, const cm_match_def *def, cm_match_handle *match);
const char *cm_store_begin_error(const cm_store *store);
// Resumes a match that has not ended, in its own file, after its last committed tick, which the
// caller passes. The next tick is recorded as resumed. Asynchronous: new ticks wait until the whole
// file is proved (a second for an hour of match; without a thread the next pump does it), so that
// nothing is committed before. A file that fails its proof, has ended, stands at another tick or is
// signed by another key stays as it was; the match is not durable then, and its status says so.
// `known`: this server has proved it, or begun it, and its other processes still run, so that no
// other program can have changed it: only the rows after its newest link are proved, which takes no
// time.
carom_result cm_store_resume(cm_store *store, uint64_t match_id, uint64_t tick, bool known,
                             cm_match_handle *match);
// True if the store can sign further links of a match with this key (cm_match_info.sign_key).
bool cm_store_signs(const cm_store *store, const char *sign_key);
// Ends such a match as cut, at once. Errors likewise, and the file is as it was.
carom_result cm_store_cut(cm_store *store, uint64_t match_id);
// From now on the match is streamed too: its chunks are cut into the folder CM_STREAM_FOLDER of the
// store's directory (stream_dir.h), once they are `delay` ticks old; UINT64_MAX: when it has ended.
void cm_store_stream(cm_store *store, cm_match_handle match, uint64_t delay);
// A confirmed tick: ascending, none left out, starting with tick 1; `hash` is of the state after
// it. Tick 0, the scene after start, is written by `begin`, which makes the game once for its hash;
// a caller may hand it over as well, and a hash that differs makes the match not durable.
void cm_store_tick(cm_store *store, cm_match_handle match, uint64_t tick, uint64_t hash,
                   const cm_tick_input *input);
// The input timing of the next tick: ascending players.
void cm_store_input_timing(cm_store *store, cm_match_handle match, const cm_arrival *arrivals,
                           uint32_t count);
// After a failure: recording goes on in a new file (def->match_id; parent: the status's match_id),
// after the confirmed tick def->gap_to, whose state is `keyframe`; the ticks since the last
// committed one are lost. `joins`: who is there, ascending players, each with CM_RECORD_JOIN_BYTES:
// how many messages it has sent since it joined. The next tick handed over is the one after it.
// Asynchronous: the match is durable again once the file is there, and where that fails it stays as
// it is, for another try. CAROM_ERROR_STATE: it is durable, has ended, was left, or another try is
// under way; CAROM_ERROR_FULL: the queue is.
carom_result cm_store_go_on(cm_store *store, cm_match_handle match, const cm_match_def *def,
                            uint64_t hash, const void *keyframe, size_t keyframe_size,
                            const cm_game_event *joins, uint32_t join_count);
// Data that identifies a person and that the simulation never sees: kind "name" or "address". Each
// becomes a row that can be erased without breaking the proof.
void cm_store_personal(cm_store *store, cm_match_handle match, uint64_t client_id, const char *kind,
                       const char *text);
// Of players up to the tick handed over last; before its keyframe, ascending players.
void cm_store_statistics(cm_store *store, cm_match_handle match, const cm_player_statistics *rows,
                         uint32_t count);
// Encoded game at the tick handed over last; another one is ignored.
void cm_store_keyframe(cm_store *store, cm_match_handle match, uint64_t tick, const void *bytes,
                       size_t size);
// Writes how it ended and checkpoints to one file. CM_MATCH_LIVE: it has not ended, and another
// process goes on with it once nothing of it is queued any more. Asynchronous as all else.
void cm_store_end(cm_store *store, cm_match_handle match, cm_match_end end);
// A copy of the file that is written now, made by its writer between commits: the match as it was
// committed when the copy is whole (match_backup.h), with its end where it ends meanwhile.
// Asynchronous, one of a match at a time.
// CAROM_ERROR_STATE: one is under way, or the match has ended or is not durable.
#define CM_STORE_BACKUP_PATH_MAX 4095u // bytes
typedef enum cm_store_backup_state {
    CM_STORE_BACKUP_NONE,
    CM_STORE_BACKUP_RUNS,
    CM_STORE_BACKUP_DONE,
    CM_STORE_BACKUP_FAILED,
} cm_store_backup_state;
typedef struct cm_store_backup_status {
    cm_store_backup_state state;
    uint64_t tick, bytes; // of the copy, once done
    char error[256];
} cm_store_backup_status;
carom_result cm_store_backup(cm_store *store, cm_match_handle match, const char *path);
// Of the last one.
void cm_store_backup_status_get(cm_store *store, cm_match_handle match,
                                cm_store_backup_status *status);
// Of the file that is written now. Lives as long as the store.
const char *cm_store_path(cm_store *store, cm_match_handle match);
void cm_store_status(cm_store *store, cm_match_handle match, cm_match_status *status);

// Unthreaded: writes everything queued. Threaded: wakes the thread.
void cm_store_pump(cm_store *store);
// Waits until everything queued is written (threaded or not) and the catalogue is up to date, at
// most 5 s for the catalogue's lock. For the end of a server: recording waits meanwhile.
void cm_store_flush(cm_store *store);

#endif
