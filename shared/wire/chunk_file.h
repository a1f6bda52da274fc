// A chunk as it is served and kept: its signature and one zstd frame (chunk.h). The hash that the
// next chunk names, and the signature, are of the bytes before zstd, so that another compressor
// changes neither.
#ifndef CM_WIRE_CHUNK_FILE_H
#define CM_WIRE_CHUNK_FILE_H

#include "shared/wire/chunk.h"

#define CM_CHUNK_FILE_HEAD 72u

void cm_chunk_hash(const uint8_t *body, size_t size, uint8_t hash[CM_CHUNK_HASH]);
// The file of a body, to be freed with free; NULL without memory. `secret`: of an Ed25519 key, or
// NULL.
uint8_t *cm_chunk_seal(const uint8_t *body, size_t size, const uint8_t *secret, size_t *file_size);

typedef struct cm_chunk_opened {
    uint8_t *body; // to be freed with free
    size_t size;
    uint8_t hash[CM_CHUNK_HASH];
    bool is_signed;
    uint8_t signature[CM_CHUNK_SIGNATURE];
} cm_chunk_opened;
// NULL, or what is wrong: then nothing is to be freed.
const char *cm_chunk_open(const uint8_t *file, size_t size, cm_chunk_opened *opened);
// True if it is signed by that key.
bool cm_chunk_is_by(const cm_chunk_opened *opened, const uint8_t public_key[32]);

#endif
