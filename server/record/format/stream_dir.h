// The folder that a match's stream is served from, beside those of other matches:
//
//   ROOT/MATCH_ID/index.json       which chunks there are, and of which epoch
//   ROOT/MATCH_ID/EPOCH/N.chunk    one each (shared/wire/chunk_file.h)
//
// It is a cache: the match file gives every byte before zstd again. An epoch ends where a server
// died and another one went on, so that under one name there was never another chunk, also where a
// power cut took back ticks that only `durability process` had made durable.
#ifndef CM_SERVER_RECORD_FORMAT_STREAM_DIR_H
#define CM_SERVER_RECORD_FORMAT_STREAM_DIR_H

#include "server/record/format/match_chunks.h"

#define CM_STREAM_FOLDER "stream" // of a server, in its directory of matches
#define CM_STREAM_KEEP_S 86400    // after its newest chunk, that a match's folder stays

typedef struct cm_stream_dir cm_stream_dir;

// Removes the folders that were not written to for so long.
void cm_stream_dir_prune(const char *root);

// Makes the folders; those of another epoch are removed. `file` as in match_chunks.h; `secret`: of
// an Ed25519 key that is the match's, or NULL.
carom_result cm_stream_dir_create(const char *root, cm_match_file *file, const uint8_t *secret,
                                  cm_stream_dir **dir, cm_match_error *error);
void cm_stream_dir_destroy(cm_stream_dir *dir);

// Writes at most `most` of the next chunks (cm_match_chunks_next), and the index where one came.
// `made`: how many.
carom_result cm_stream_dir_step(cm_stream_dir *dir, uint64_t delay, uint32_t most, uint32_t *made,
                                cm_match_error *error);
bool cm_stream_dir_is_over(const cm_stream_dir *dir); // it has the last chunk
// Of its match: ROOT/MATCH_ID.
const char *cm_stream_dir_path(const cm_stream_dir *dir);
uint32_t cm_stream_dir_chunks(const cm_stream_dir *dir);
uint64_t cm_stream_dir_epoch(const cm_stream_dir *dir);

#endif
