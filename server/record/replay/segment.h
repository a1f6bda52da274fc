// A segment of a match: from one keyframe, or the start, to the next. It begins with the state that
// the keyframe holds, and must end with the state of the next one, bit for bit; so segments are
// run in any order, by any thread, and a match whose segments all agree agrees as a whole.
//
// A runner belongs to one thread at a time. The bytes are untrusted.
#ifndef CM_SERVER_RECORD_REPLAY_SEGMENT_H
#define CM_SERVER_RECORD_REPLAY_SEGMENT_H

#include "server/record/replay/replay.h"

typedef struct cm_segment cm_segment; // a runner: one segment after another

typedef struct cm_segment_def {
    const cm_scene *scene;
    const carom_module *module;
    uint64_t seed;
    bool keep_states; // of a difference
} cm_segment_def;

// A keyframe as the file has it, unpacked.
typedef struct cm_segment_keyframe {
    uint64_t tick;
    const uint8_t *bytes;
    size_t size;
} cm_segment_keyframe;

// The outcome of a segment: CAROM_OK, _DIVERGED, _CORRUPT (an input that its module refuses, no
// state), _MEMORY. The report has ticks, hashes, keyframes and the difference, as if the segments
// before it agreed; of its keyframes only the segment's own.
typedef struct cm_segment_outcome {
    carom_result result;
    cm_replay_report report;
    uint8_t *recorded, *replayed; // encoded states of a difference, or NULL; free with free
    size_t recorded_size, replayed_size;
} cm_segment_outcome;

carom_result cm_segment_create(const cm_segment_def *def, cm_segment **segment);
void cm_segment_destroy(cm_segment *segment);

// `start` NULL: the scene after start, and tick 0 is the first to come. Of a match that begins
// after a gap the tick of its first keyframe comes too; it is compared.
void cm_segment_begin(cm_segment *segment, const cm_segment_keyframe *start);
// The next tick. False: nothing more has to come. A difference is remembered and the ticks go on,
// so that the keyframe at the end can name it.
bool cm_segment_tick(cm_segment *segment, const cm_recorded_tick *tick);
// `end` is the keyframe of the tick that came last; NULL where the match ends without one. The
// states go to the caller.
void cm_segment_end(cm_segment *segment, const cm_segment_keyframe *end,
                    cm_segment_outcome *outcome);

#endif
