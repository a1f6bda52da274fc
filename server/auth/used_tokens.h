// Tokens that let someone in, until they expire by themselves: each lets in once. A hash table that
// grows with what it holds; what is to be kept on disk is handed out, and that only once its holder
// does not need it any more: who was not in yet when the server died has nothing else.
#ifndef CM_SERVER_AUTH_USED_TOKENS_H
#define CM_SERVER_AUTH_USED_TOKENS_H

#include "shared/wire/token.h"

#define CM_USED_TOKENS_MAX 65536u // unexpired at once; above it new clients are refused

typedef struct cm_used_token {
    uint8_t id[CM_TOKEN_NONCE_BYTES];
    uint64_t expires_unix_s; // 0: a free place of the table
} cm_used_token;

typedef struct cm_used_tokens {
    cm_used_token *table;
    uint32_t capacity;         // a power of two, at least twice the count; 0: none yet
    uint32_t count;            // expired ones among them, until the table is made anew
    uint8_t key[CM_KEY_BYTES]; // of the hash: clients cannot choose collisions
    cm_used_token *news;       // announced and not yet fetched
    uint32_t news_count, news_capacity;
    uint32_t owed; // added and not yet announced; there is space for them
} cm_used_tokens;

void cm_used_tokens_init(cm_used_tokens *used, const uint8_t key[CM_KEY_BYTES]);
void cm_used_tokens_free(cm_used_tokens *used);

bool cm_used_tokens_have(const cm_used_tokens *used, const uint8_t id[CM_TOKEN_NONCE_BYTES]);
// False: full of unexpired ones, or memory is short. `now_unix_s`: to find expired ones; `is_news`:
// false for tokens from disk, which are not announced; others are, later and once.
bool cm_used_tokens_add(cm_used_tokens *used, const cm_used_token *token, uint64_t now_unix_s,
                        bool is_news);
void cm_used_tokens_announce(cm_used_tokens *used, const cm_used_token *token);
// Moves up to `capacity` announced tokens to `out`.
uint32_t cm_used_tokens_pop_new(cm_used_tokens *used, cm_used_token *out, uint32_t capacity);

#endif
