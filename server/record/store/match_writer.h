// Writes one match file: one exclusive connection, rows in transactions. One thread at a time. The
// first error is the last word: nothing is retried, every later call fails, and closing leaves on
// disk what was committed.
#ifndef CM_SERVER_RECORD_STORE_MATCH_WRITER_H
#define CM_SERVER_RECORD_STORE_MATCH_WRITER_H

#include "server/record/format/match_meta.h"

typedef struct cm_match_writer cm_match_writer;

// With what a file begins. For the call.
typedef struct cm_match_start {
    cm_match_info meta;   // what of it `meta` has
    const uint8_t *scene; // packed
    size_t scene_size;
    uint64_t tick, hash; // the first, 0 where it goes on from no other; after it
    // Of another first tick: who is there, ascending players, and its state.
    const cm_game_event *joins;
    uint32_t join_count;
    const uint8_t *keyframe;
    size_t keyframe_size;
} cm_match_start;

typedef struct cm_match_writer_def {
    const cm_match_start *start;
    bool durability_power; // fsync each commit
    const uint8_t *secret; // of CM_KEY_BYTES, to sign with; NULL: unsigned
} cm_match_writer_def;

// Makes the file (an existing one is refused) and commits its head and first tick. The error is put
// into `error` as text for people.
carom_result cm_match_writer_open(const char *path, const cm_match_writer_def *def,
                                  cm_match_writer **writer, char *error, size_t error_size);

// Opens a file that was never ended, to go on after its last committed tick; what was not committed
// is gone. The chain goes on from its value there, and the next tick is written as resumed. The
// def's start is not used. CAROM_ERROR_STATE: the match has ended, or is signed by
// another key than `secret`; a file without a signature stays so.
carom_result cm_match_writer_resume(const char *path, const cm_match_writer_def *def,
                                    cm_match_writer **writer, char *error, size_t error_size);
// The tick written last.
uint64_t cm_match_writer_last(const cm_match_writer *writer);

// Rows go into the open transaction, or begin one, and into the chain in the order of these calls:
// what belongs to a tick before it, its statistics and keyframe after it. False: failed, see
// cm_match_writer_error.
bool cm_match_writer_personal(cm_match_writer *writer, uint64_t client_id, const char *kind,
                              const char *text);
bool cm_match_writer_tick(cm_match_writer *writer, const cm_recorded_tick *tick);
bool cm_match_writer_statistics(cm_match_writer *writer, const cm_player_statistics *row);
// Of the tick written last; also packs the inputs up to it and writes a link of the chain.
bool cm_match_writer_keyframe(cm_match_writer *writer, const uint8_t *bytes, size_t size);
bool cm_match_writer_commit(cm_match_writer *writer);
// Bytes of the file's contents, as it will be once it is one file.
uint64_t cm_match_writer_bytes(cm_match_writer *writer);
const char *cm_match_writer_error(const cm_match_writer *writer);

// Writes how the match ended, and commits it: nothing may follow but finish.
bool cm_match_writer_end(cm_match_writer *writer, cm_match_end end);
// Commits, checkpoints into one file.
bool cm_match_writer_finish(cm_match_writer *writer);
// Without finish, or after an error: closes and leaves the log beside the file.
void cm_match_writer_close(cm_match_writer *writer);

#endif
