// A 64-bit hash over values, equal on every architecture because words go in, never memory.
//
// Each word is multiplied by an odd constant, folded (its high half decides its low half), mixed
// into a running state that is multiplied and rotated; the finaliser folds three times, so that
// each bit of each word turns each bit of the hash with probability near one half (measured by the
// unit test). Not for adversaries: it finds divergence and indexes tables. Typical: 30 words a
// body, 400 bodies.
#ifndef CM_BASE_HASH_H
#define CM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct cm_hash {
    uint64_t state;
    uint64_t count; // words so far: a trailing zero word changes the hash
} cm_hash;

static inline cm_hash cm_hash_begin(uint64_t seed)
{
    cm_hash hash = {seed ^ UINT64_C(0x6a09e667f3bcc909), 0};
    return hash;
}

static inline void cm_hash_u64(cm_hash *hash, uint64_t word)
{
    uint64_t w = word * UINT64_C(0x9e3779b97f4a7c15);
    w ^= w >> 29;
    uint64_t s = (hash->state ^ w) * UINT64_C(0xd6e8feb86659fd93);
    hash->state = (s << 27) | (s >> 37);
    hash->count++;
}

static inline void cm_hash_u32(cm_hash *hash, uint32_t word)
{
    cm_hash_u64(hash, word);
}

// By bits: -0 differs from 0, as it may in the future of a simulation.
static inline void cm_hash_f32(cm_hash *hash, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    cm_hash_u64(hash, bits);
}

// Bytes as little-endian words, then their number.
static inline void cm_hash_bytes(cm_hash *hash, const void *bytes, size_t size)
{
    const uint8_t *b = (const uint8_t *)bytes;
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        for (size_t i = 0; i < 8 && at + i < size; i++) {
            word |= (uint64_t)b[at + i] << (8 * i);
        }
        cm_hash_u64(hash, word);
    }
    cm_hash_u64(hash, size);
}

static inline uint64_t cm_hash_end(const cm_hash *hash)
{
    uint64_t h = hash->state ^ (hash->count * UINT64_C(0xa0761d6478bd642f));
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    h ^= h >> 32;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 32;
    return h;
}

#endif
