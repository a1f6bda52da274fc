// Runs the stretches of a match by several threads, and says of them what a single one would have:
// what counts is the earliest stretch that differs. Whoever reads the match hands it over tick by
// tick; a stretch goes to the first thread that is free, in pieces, so that what waits is bounded
// however long it is. One job: no thread, everything is done in the call.
#ifndef CM_SERVER_RECORD_REPLAY_VERIFIER_POOL_H
#define CM_SERVER_RECORD_REPLAY_VERIFIER_POOL_H

#include "server/record/replay/segment.h"

#define CM_CREW_JOBS_MAX 64u

typedef struct cm_crew cm_crew;

typedef struct cm_crew_def {
    cm_stretch_def stretch;
    uint32_t jobs;      // 1 to CM_CREW_JOBS_MAX
    uint64_t last_tick; // of the match, for the progress
    cm_replay_progress *progress;
    void *context;
} cm_crew_def;

carom_result cm_crew_create(const cm_crew_def *def, cm_crew **crew);
// In order: begin, ticks, end of each stretch; as with a runner. False: nothing more is needed.
bool cm_crew_begin(cm_crew *crew, const cm_stretch_keyframe *start);
bool cm_crew_tick(cm_crew *crew, const cm_recorded_tick *tick);
bool cm_crew_end(cm_crew *crew, const cm_stretch_keyframe *end);
// The match could not be read on: as if the stretch in hand had ended so.
void cm_crew_failed(cm_crew *crew, carom_result result, const cm_match_error *error);
// Waits for all and gives the outcome of the whole; its report counts from the match's start.
void cm_crew_finish(cm_crew *crew, cm_stretch_outcome *outcome);
void cm_crew_destroy(cm_crew *crew);

#endif
