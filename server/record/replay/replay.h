// Replaying a match file: re-simulates from the scene with the recorded inputs and compares the
// hash of every tick, and the state at every keyframe: who goes on from one must be where the match
// was. From keyframe to keyframe, so by several threads where it is allowed; how many there are
// changes nothing in the report.
#ifndef CM_SERVER_RECORD_REPLAY_REPLAY_H
#define CM_SERVER_RECORD_REPLAY_REPLAY_H

#include "server/record/format/proof.h"

typedef struct cm_replay_report {
    uint64_t verified_ticks; // every tick up to this one has the recorded hash
    uint64_t final_hash;
    uint32_t keyframes;     // equal to the state of their ticks, up to verified_ticks
    cm_proof proof;         // of the whole file, also if the simulation diverges
    bool complete;          // the file holds how the match ended, and the proof bears it out
    bool stopped;           // by the progress function
    bool other_module_file; // of the same source: reported only
    uint64_t parent, gap_from, gap_to; // as in cm_match_info: earlier ticks are not verified
    bool diverged;
    uint64_t diverged_tick, recorded_hash, replayed_hash; // of a keyframe: its state's
    // The first difference in the state at the next keyframe: tick, body, field, both values. Empty
    // where the file has no such keyframe.
    char difference[256];
    bool states_written;
    cm_match_error error; // for CAROM_ERROR_CORRUPT and CAROM_ERROR_VERSION
} cm_replay_report;

// Called before each tick, by the caller's thread, with the last one of the match; false stops (the
// report has the last tick). With several jobs: now and then, with how many ticks are done.
typedef bool cm_replay_progress(void *context, uint64_t tick, uint64_t last);

typedef struct cm_replay_options {
    const uint8_t *public_key; // of CM_PUBLIC_KEY_BYTES; NULL: authenticity is not asked
    cm_replay_progress *progress;
    void *context;
    // The two states of a difference are written, encoded, to PREFIX.recorded and PREFIX.replayed;
    // NULL: not written.
    const char *states;
    const carom_module *module; // to run a file recorded with one that is not built in; else NULL
    uint32_t jobs;              // threads, at most 64; 0: one
} cm_replay_options;

// CAROM_OK: simulation and record agree; report->proof tells whether the file was changed.
// CAROM_ERROR_DIVERGED, CAROM_ERROR_VERSION (another engine or module: divergence is not checked),
// CAROM_ERROR_CORRUPT, CAROM_ERROR_IO.
carom_result cm_replay_verify(const char *path, const cm_replay_options *options,
                              cm_replay_report *report);

#endif
