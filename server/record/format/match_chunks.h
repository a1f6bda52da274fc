// The chunks of a match's stream (shared/wire/chunk.h), made from its rows: a function of the match
// file alone, so that a server that streams a running match, and whoever makes the chunks again
// years later, give the same bytes. Erasing a name changes none: they hold commitments.
//
// Only ticks of committed transactions are in chunks, and no other server goes on from before the
// last of them, so what a chunk said is never taken back.
#ifndef CM_SERVER_RECORD_FORMAT_MATCH_CHUNKS_H
#define CM_SERVER_RECORD_FORMAT_MATCH_CHUNKS_H

#include "server/record/format/match_file.h"
#include "shared/wire/chunk.h"

typedef struct cm_match_chunks cm_match_chunks;

// `file` is the caller's and outlives them; between two calls it may be read for something else.
carom_result cm_match_chunks_create(cm_match_file *file, cm_match_chunks **chunks,
                                    cm_match_error *error);
void cm_match_chunks_destroy(cm_match_chunks *chunks);

// One chunk, valid until the next call.
typedef struct cm_match_chunk {
    uint32_t number;
    uint64_t first_tick;
    uint32_t tick_count;
    bool has_keyframe;
    bool is_last;
    const uint8_t *body;
    size_t size;
    uint8_t hash[CM_CHUNK_HASH];
} cm_match_chunk;

// The next chunk, in order; of a match that has not ended, once its ticks are `delay` ticks older
// than the newest. CAROM_ERROR_NOT_FOUND: there is none yet, or the last was given.
carom_result cm_match_chunks_next(cm_match_chunks *chunks, uint64_t delay, cm_match_chunk *chunk,
                                  cm_match_error *error);

#endif
