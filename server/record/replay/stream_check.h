// A viewer without a picture: takes the chunks of a folder in order, checks chain and signatures,
// and runs the match again tick by tick (shared/room/stream.h). What it says of a stream is what
// replay.h says of a match file.
#ifndef CM_SERVER_RECORD_REPLAY_STREAM_CHECK_H
#define CM_SERVER_RECORD_REPLAY_STREAM_CHECK_H

#include "server/record/format/match_file.h"

typedef struct cm_stream_report {
    uint64_t match_id;
    uint32_t first, chunks, keyframes; // the number of the first, and how many
    uint64_t ticks, hash;              // the last tick, and the state after it
    cm_match_end end;                  // CM_MATCH_LIVE: no chunk tells one
    bool is_signed;                    // all chunks, by the key that the first one names
    char sign_key[65];                 // that key; "" for none
    uint8_t chain[32];                 // hash of the last chunk
} cm_stream_report;

// N.chunk of the folder, from the lowest N on. Errors name the chunk. CAROM_ERROR_IO: a chunk is
// missing or cannot be read; _CORRUPT: one was changed; _DIVERGED; _VERSION: another engine or
// module recorded it.
carom_result cm_stream_check(const char *folder, const carom_module *module,
                             cm_stream_report *report, cm_match_error *error);

#endif
