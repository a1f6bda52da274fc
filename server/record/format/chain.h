// The hash chain over a match, and what a signature of it covers. Each thing that is recorded is
// one item; an item's bytes are hashed with the chain so far as the key (BLAKE2b, 32 bytes), so
// the last value stands for all of them and for their order. Writer and reader both call these
// functions, in the order that MATCH_FILE.md gives; nothing else makes a chain.
//
// Costs 0.3 us an item on the store's thread; the tick's thread has no part in it.
#ifndef CM_SERVER_RECORD_FORMAT_CHAIN_H
#define CM_SERVER_RECORD_FORMAT_CHAIN_H

#include "server/record/format/record.h"
#include "shared/wire/crypto.h"

#define CM_CHAIN_BYTES 32u
#define CM_SALT_BYTES  16u

typedef struct cm_chain {
    uint8_t value[CM_CHAIN_BYTES];
} cm_chain;

typedef struct cm_chain_personal {
    uint64_t tick, client_id;
    const char *kind;
    uint8_t commitment[CM_CHAIN_BYTES];
} cm_chain_personal;

void cm_chain_start(cm_chain *chain);
void cm_chain_meta(cm_chain *chain, const char *key, const char *value);
void cm_chain_scene(cm_chain *chain, const uint8_t *bytes, size_t size);
// Events, inputs and input timing of the tick, then its hash.
void cm_chain_tick(cm_chain *chain, const cm_recorded_tick *tick);
void cm_chain_add_personal(cm_chain *chain, const cm_chain_personal *row);
void cm_chain_statistics(cm_chain *chain, uint64_t tick, const cm_player_statistics *row);
void cm_chain_keyframe(cm_chain *chain, uint64_t tick, const uint8_t *bytes, size_t size);
void cm_chain_end(cm_chain *chain, uint64_t tick, const char *how);

// The commitment to an erasable text: without the salt the text cannot be found by guessing.
void cm_commitment(const uint8_t salt[CM_SALT_BYTES], const char *kind, const char *text,
                   size_t size, uint8_t commitment[CM_CHAIN_BYTES]);

// Signs, or verifies, that the chain had this value after this tick.
void cm_chain_sign(const cm_chain *chain, uint64_t tick, const uint8_t secret[CM_KEY_BYTES],
                   uint8_t signature[CM_SIGNATURE_BYTES]);
bool cm_chain_verify(const cm_chain *chain, uint64_t tick, const uint8_t public_key[CM_KEY_BYTES],
                     const uint8_t signature[CM_SIGNATURE_BYTES]);

#endif
