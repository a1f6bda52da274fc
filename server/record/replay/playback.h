// A match played again: its game, from the start or from the keyframe before a tick, stepped with
// what was recorded. The hash of every tick is compared with the recorded one, so that what a
// caller sees is what happened. replay.h proves a whole file; this is for looking into it.
#ifndef CM_SERVER_RECORD_REPLAY_PLAYBACK_H
#define CM_SERVER_RECORD_REPLAY_PLAYBACK_H

#include "server/record/format/match_file.h"

typedef struct cm_playback cm_playback;

// Errors as cm_match_open, and CAROM_ERROR_VERSION:
// another engine or module recorded it. The game stands at tick 0.
carom_result cm_playback_open(const char *path, cm_playback **playback, cm_match_error *error);
// The same, and where another engine version of the same layout recorded it: `*keyframes` is true
// then, and the game goes to keyframes alone.
carom_result cm_playback_open_any(const char *path, cm_playback **playback, bool *keyframes,
                                  cm_match_error *error);
// The first keyframe at `from` or later, CAROM_ERROR_NOT_FOUND where there is none.
carom_result cm_playback_keyframe(cm_playback *playback, uint64_t from, cm_match_error *error);
// The same as cm_playback_open with a file that is open, which is the playback's from here on, also
// where it fails. `module`: NULL, or one that is not built in.
carom_result cm_playback_apply(cm_match_file *file, const carom_module *module,
                               cm_playback **playback, cm_match_error *error);
void cm_playback_close(cm_playback *playback);

// The file is the playback's to move in; its info and scene are there for all.
cm_match_file *cm_playback_file(cm_playback *playback);
carom_game *cm_playback_game(cm_playback *playback);

// Back to tick 0: after something else read the file. A seek and this may make the game anew.
carom_result cm_playback_restart(cm_playback *playback, cm_match_error *error);
// The state after `tick`, from the nearest keyframe or from where it stands, whichever is nearer.
// CAROM_ERROR_ARGUMENT: the match has no such tick. CAROM_ERROR_DIVERGED as below.
carom_result cm_playback_seek(cm_playback *playback, uint64_t tick, cm_match_error *error);
// The next tick. CAROM_ERROR_NOT_FOUND at the end, CAROM_ERROR_DIVERGED where its hash is not the
// recorded one, CAROM_ERROR_CORRUPT; after an error the playback is of no more use.
carom_result cm_playback_next(cm_playback *playback, cm_match_error *error);

// Checks that this build can run a file, and finds its module: the given one if it has the right
// name, else (or with NULL) a built-in one.
carom_result cm_playback_check(const cm_match_info *info, const carom_module **module,
                               cm_match_error *error);
// Checks that the game accepts the recorded inputs of a tick.
carom_result cm_playback_check_inputs(const carom_game *game, const cm_recorded_tick *tick,
                                      cm_match_error *error);

#endif
