// A stretch of a match: from one keyframe, or the start, to the next. It begins with the state that
// the keyframe holds, and must end with the state of the next one, bit for bit; so stretches are
// run in any order, by any thread, and a match whose stretches all agree agrees as a whole.
//
// A runner belongs to one thread at a time. Bytes may come from a stranger.
#ifndef CM_SERVER_RECORD_REPLAY_SEGMENT_H
#define CM_SERVER_RECORD_REPLAY_SEGMENT_H

#include "server/record/replay/replay.h"

typedef struct cm_stretch cm_stretch; // a runner: one stretch after another

typedef struct cm_stretch_def {
    const cm_scene *scene;
    const carom_module *module;
    uint64_t seed;
    bool keep_states; // of a difference
} cm_stretch_def;

// A keyframe as the file has it, unpacked.
typedef struct cm_stretch_keyframe {
    uint64_t tick;
    const uint8_t *bytes;
    size_t size;
} cm_stretch_keyframe;

// What became of a stretch: CAROM_OK, _DIVERGED, _CORRUPT (an input that its module refuses, no
// state), _MEMORY. The report has ticks, hashes, keyframes and the difference, as if the stretches
// before it agreed; of its keyframes only the stretch's own.
typedef struct cm_stretch_outcome {
    carom_result result;
    cm_replay_report report;
    uint8_t *recorded, *replayed; // encoded states of a difference, or NULL; free with free
    size_t recorded_size, replayed_size;
} cm_stretch_outcome;

carom_result cm_stretch_create(const cm_stretch_def *def, cm_stretch **stretch);
void cm_stretch_destroy(cm_stretch *stretch);

// `start` NULL: the scene after start, and tick 0 is the first to come. Of a match that begins
// after a gap the tick of its first keyframe comes too; it is compared.
void cm_stretch_begin(cm_stretch *stretch, const cm_stretch_keyframe *start);
// The next tick. False: nothing more has to come. A difference is remembered and the ticks go on,
// so that the keyframe at the end can name it.
bool cm_stretch_tick(cm_stretch *stretch, const cm_recorded_tick *tick);
// `end` is the keyframe of the tick that came last; NULL where the match ends without one. The
// states go to the caller.
void cm_stretch_end(cm_stretch *stretch, const cm_stretch_keyframe *end,
                    cm_stretch_outcome *outcome);

#endif
