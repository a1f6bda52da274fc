// A viewer without a picture: takes the chunks of a stream in order, checks chain and signatures,
// and runs the match again tick by tick (shared/room/stream.h). What it says of a stream is what
// replay.h says of a match file. Where chunks come from is its caller's; a folder of them is here.
#ifndef CM_SERVER_RECORD_REPLAY_STREAM_CHECK_H
#define CM_SERVER_RECORD_REPLAY_STREAM_CHECK_H

#include "server/record/format/match_file.h"

typedef struct cm_stream_report {
    uint64_t match_id;
    uint32_t first, chunks, keyframes; // the number of the first; how many were run
    uint64_t ticks, hash;              // the last tick, and the state after it
    cm_match_end end;                  // CM_MATCH_LIVE: no chunk tells one
    bool is_signed;                    // all chunks, by the key that the first one names
    char sign_key[65];                 // that key; "" for none
    uint8_t chain[32];                 // hash of the last chunk
} cm_stream_report;

// The file of a chunk, to be freed with free.
typedef struct cm_stream_source {
    void *user;
    carom_result (*fetch)(void *user, uint32_t number, uint8_t **bytes, size_t *size,
                          cm_match_error *error);
} cm_stream_source;

typedef struct cm_stream_watch cm_stream_watch;

// Loads chunk `first`, the match's first one, of which no tick is run yet. Errors, here and below,
// name the chunk: what the source says; CAROM_ERROR_CORRUPT: one was changed; _DIVERGED; _VERSION:
// another engine or module recorded it. `module`: NULL, or one that is not built in.
carom_result cm_stream_watch_open(const cm_stream_source *source, const carom_module *module,
                                  uint32_t first, cm_stream_watch **watch, cm_match_error *error);
void cm_stream_watch_close(cm_stream_watch *watch);
// Goes to a chunk with a keyframe, without those before it: for one who joins late.
carom_result cm_stream_watch_join(cm_stream_watch *watch, uint32_t number, cm_match_error *error);
// Runs what is loaded, or else the next chunk.
carom_result cm_stream_watch_take(cm_stream_watch *watch, cm_match_error *error);
uint32_t cm_stream_watch_next(const cm_stream_watch *watch); // the number of the next chunk to take
void cm_stream_watch_report(const cm_stream_watch *watch, cm_stream_report *report);

// N.chunk of the folder, from the lowest N to the highest. CAROM_ERROR_IO: a chunk is missing or
// cannot be read.
carom_result cm_stream_check(const char *folder, const carom_module *module,
                             cm_stream_report *report, cm_match_error *error);

#endif
