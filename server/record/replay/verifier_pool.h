// Runs the segments of a match on several threads, with the result of a single thread: that of the
// earliest segment that differs. The reader passes the match tick by tick; a segment goes to the
// first free thread, in pieces, so that the queue is bounded for segments of any length. One job:
// no thread, everything is done in the call.
#ifndef CM_SERVER_RECORD_REPLAY_VERIFIER_POOL_H
#define CM_SERVER_RECORD_REPLAY_VERIFIER_POOL_H

#include "server/record/replay/segment.h"

#define CM_VERIFIER_POOL_JOBS_MAX 64u

typedef struct cm_verifier_pool cm_verifier_pool;

typedef struct cm_verifier_pool_def {
    cm_segment_def segment;
    uint32_t jobs;      // 1 to CM_VERIFIER_POOL_JOBS_MAX
    uint64_t last_tick; // of the match, for the progress
    cm_replay_progress *progress;
    void *context;
} cm_verifier_pool_def;

carom_result cm_verifier_pool_create(const cm_verifier_pool_def *def, cm_verifier_pool **pool);
// In order: begin, ticks, end of each segment; as with a runner. False: nothing more is needed.
bool cm_verifier_pool_begin(cm_verifier_pool *pool, const cm_segment_keyframe *start);
bool cm_verifier_pool_tick(cm_verifier_pool *pool, const cm_recorded_tick *tick);
bool cm_verifier_pool_end(cm_verifier_pool *pool, const cm_segment_keyframe *end);
// The match could not be read on: as if the segment in hand had ended so.
void cm_verifier_pool_failed(cm_verifier_pool *pool, carom_result result,
                             const cm_match_error *error);
// Waits for all and gives the outcome of the whole; its report counts from the match's start.
void cm_verifier_pool_finish(cm_verifier_pool *pool, cm_segment_outcome *outcome);
void cm_verifier_pool_destroy(cm_verifier_pool *pool);

#endif
