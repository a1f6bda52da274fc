// See the header.
#include "shared/wire/chunk_file.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "shared/wire/crypto.h"

#define MAGIC "CAROMCH1"
#define LEVEL 6

_Static_assert(CM_CHUNK_SIGNATURE == CM_SIGNATURE_BYTES, "of the one kind");

static const char sign_text[] = "carom match stream, chunk 1";

void cm_chunk_hash(const uint8_t *body, size_t size, uint8_t hash[CM_CHUNK_HASH])
{
    cm_crypto_hash(hash, CM_CHUNK_HASH, body, size, NULL);
}

static void put_signed(const uint8_t hash[CM_CHUNK_HASH],
                       uint8_t bytes[sizeof sign_text - 1 + CM_CHUNK_HASH])
{
    memcpy(bytes, sign_text, sizeof sign_text - 1);
    memcpy(bytes + sizeof sign_text - 1, hash, CM_CHUNK_HASH);
}

uint8_t *cm_chunk_seal(const uint8_t *body, size_t size, const uint8_t *secret, size_t *file_size)
{
    size_t bound = CM_CHUNK_FILE_HEAD + ZSTD_compressBound(size);
    uint8_t *file = malloc(bound), hash[CM_CHUNK_HASH], text[sizeof sign_text - 1 + CM_CHUNK_HASH];
    if (file == NULL) {
        return NULL;
    }
    memset(file, 0, CM_CHUNK_FILE_HEAD);
    memcpy(file, MAGIC, 8);
    if (secret != NULL) {
        cm_chunk_hash(body, size, hash);
        put_signed(hash, text);
        cm_crypto_sign(file + 8, text, sizeof text, secret);
    }
    size_t packed =
        ZSTD_compress(file + CM_CHUNK_FILE_HEAD, bound - CM_CHUNK_FILE_HEAD, body, size, LEVEL);
    if (ZSTD_isError(packed)) {
        free(file);
        return NULL;
    }
    *file_size = CM_CHUNK_FILE_HEAD + packed;
    return file;
}

const char *cm_chunk_open(const uint8_t *file, size_t size, cm_chunk_opened *opened)
{
    static const uint8_t none[CM_CHUNK_SIGNATURE];
    memset(opened, 0, sizeof *opened);
    if (size < CM_CHUNK_FILE_HEAD || memcmp(file, MAGIC, 8) != 0) {
        return "not a chunk of a match";
    }
    if (size > CM_CHUNK_FILE_MAX) {
        return "too large, expected at most 32 MiB";
    }
    memcpy(opened->signature, file + 8, CM_CHUNK_SIGNATURE);
    opened->is_signed = memcmp(opened->signature, none, sizeof none) != 0;
    file += CM_CHUNK_FILE_HEAD;
    size -= CM_CHUNK_FILE_HEAD;
    // One frame that tells its size, and nothing behind it.
    unsigned long long told = ZSTD_getFrameContentSize(file, size);
    if (told == ZSTD_CONTENTSIZE_ERROR || told == ZSTD_CONTENTSIZE_UNKNOWN ||
        told > CM_CHUNK_BODY_MAX || ZSTD_findFrameCompressedSize(file, size) != size) {
        return "no whole zstd frame of at most 64 MiB";
    }
    uint8_t *body = malloc(told > 0 ? (size_t)told : 1);
    if (body == NULL) {
        return "no memory";
    }
    if (ZSTD_decompress(body, (size_t)told, file, size) != (size_t)told) {
        free(body);
        return "its zstd frame is damaged";
    }
    opened->body = body;
    opened->size = (size_t)told;
    cm_chunk_hash(body, opened->size, opened->hash);
    return NULL;
}

bool cm_chunk_is_by(const cm_chunk_opened *opened, const uint8_t public_key[32])
{
    uint8_t text[sizeof sign_text - 1 + CM_CHUNK_HASH];
    put_signed(opened->hash, text);
    return opened->is_signed &&
           cm_crypto_sign_verify(opened->signature, text, sizeof text, public_key);
}
