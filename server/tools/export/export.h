// `carom replay` without --verify: a match played again from one tick to another, and every so many
// ticks its state given out: as the lines of `carom sim` (jsonl, csv), as SQLite tables
// (EXPORT_FILE.md) or as an animated glTF scene.
#ifndef CM_SERVER_TOOLS_EXPORT_EXPORT_H
#define CM_SERVER_TOOLS_EXPORT_EXPORT_H

#include <stdio.h>

#include "server/record/replay/playback.h"

typedef enum cm_export_kind {
    CM_EXPORT_JSONL,
    CM_EXPORT_CSV,
    CM_EXPORT_SQLITE,
    CM_EXPORT_GLTF,
} cm_export_kind;

typedef struct cm_export_options {
    cm_export_kind kind;
    uint64_t from, to; // ticks; `to` beyond the end is the end
    uint64_t every;    // ticks; at least 1
    bool events;       // of jsonl: contacts, breaks and sleep of the ticks between
    double speed;      // of jsonl and csv: times real time; 0: at once
    const char *path;  // of a file to be made; NULL with jsonl and csv: `out`
    FILE *out;
    bool keyframes; // set by cm_export_run: alone, since another engine recorded the match
} cm_export_options;

// Errors as cm_playback_open and cm_playback_next; CAROM_ERROR_ARGUMENT: no such tick;
// CAROM_ERROR_STATE: the path is there already; CAROM_ERROR_IO. `error` is always filled, and names
// the path where that is at fault; with CAROM_OK it is empty, or says what was left out.
carom_result cm_export_run(const char *match, const cm_export_options *options,
                           cm_match_error *error);

// Of export.c, for the other files of this folder: calls `sample` after each tick that is wanted
// and `step` (may be NULL) after every tick from the first one on.
typedef struct cm_export_calls {
    void *context;
    carom_result (*step)(void *context, const carom_game *game, cm_match_error *error);
    carom_result (*sample)(void *context, const carom_game *game, cm_match_error *error);
} cm_export_calls;
carom_result cm_export_walk(cm_playback *playback, const cm_export_options *options,
                            const cm_export_calls *calls, cm_match_error *error);

// Makes the file; CAROM_ERROR_STATE where there is one already.
carom_result cm_export_make(const char *path, FILE **out, cm_match_error *error);

carom_result cm_export_lines(cm_playback *playback, const cm_export_options *options,
                             cm_match_error *error);
carom_result cm_export_tables(cm_playback *playback, const cm_export_options *options,
                              cm_match_error *error);

carom_result cm_export_gltf(cm_playback *playback, const cm_export_options *options,
                            cm_match_error *error);

#endif
