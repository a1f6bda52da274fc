// Open addressing by a keyed hash. Nothing is deleted: the table is made anew, without what has
// expired, when it is half full. Typical: a few hundred, one added a minute.
#include "server/auth/used_tokens.h"

#include "shared/base/array.h"
#include "shared/base/assert.h"

#define CAPACITY_LEAST 64u

void cm_used_tokens_init(cm_used_tokens *used, const uint8_t key[CM_KEY_BYTES])
{
    memset(used, 0, sizeof *used);
    memcpy(used->key, key, sizeof used->key);
}

void cm_used_tokens_free(cm_used_tokens *used)
{
    free(used->table);
    free(used->news);
    memset(used, 0, sizeof *used);
}

// The token's place, or the free one where it would be.
static cm_used_token *place_of(const cm_used_tokens *used, const uint8_t id[CM_TOKEN_NONCE_BYTES])
{
    uint8_t hash[16];
    cm_crypto_hash(hash, sizeof hash, id, CM_TOKEN_NONCE_BYTES, used->key);
    uint32_t at;
    memcpy(&at, hash, sizeof at);
    for (;; at++) {
        cm_used_token *place = &used->table[at & (used->capacity - 1)];
        if (place->expires_unix_s == 0 || memcmp(place->id, id, CM_TOKEN_NONCE_BYTES) == 0) {
            return place;
        }
    }
}

bool cm_used_tokens_have(const cm_used_tokens *used, const uint8_t id[CM_TOKEN_NONCE_BYTES])
{
    return used->capacity > 0 && place_of(used, id)->expires_unix_s != 0;
}

// Makes the table anew without what has expired, for at least one more. False: full.
static bool make_room(cm_used_tokens *used, uint64_t now_unix_s)
{
    uint32_t alive = 0;
    for (uint32_t i = 0; i < used->capacity; i++) {
        alive += used->table[i].expires_unix_s > now_unix_s;
    }
    uint32_t capacity = CAPACITY_LEAST;
    while (capacity < 4 * (alive + 1)) {
        capacity *= 2;
    }
    cm_used_token *table = alive < CM_USED_TOKENS_MAX ? calloc(capacity, sizeof *table) : NULL;
    if (table == NULL) {
        return false;
    }
    cm_used_token *old = used->table;
    uint32_t old_capacity = used->capacity;
    used->table = table;
    used->capacity = capacity;
    used->count = alive;
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (old[i].expires_unix_s > now_unix_s) {
            *place_of(used, old[i].id) = old[i];
        }
    }
    free(old);
    return true;
}

static bool owe_news(cm_used_tokens *used)
{
    bool room = cm_array_reserve(&used->news, &used->news_capacity,
                                 used->news_count + used->owed + 1, sizeof *used->news);
    used->owed += room;
    return room;
}

bool cm_used_tokens_add(cm_used_tokens *used, const cm_used_token *token, uint64_t now_unix_s,
                        bool is_news)
{
    CM_ASSERT(token->expires_unix_s != 0);
    bool full = used->count >= CM_USED_TOKENS_MAX || 2 * (used->count + 1) > used->capacity;
    if (full && !make_room(used, now_unix_s)) {
        return false;
    }
    if (is_news && !owe_news(used)) {
        return false;
    }
    cm_used_token *place = place_of(used, token->id);
    used->count += place->expires_unix_s == 0;
    *place = *token;
    return true;
}

void cm_used_tokens_announce(cm_used_tokens *used, const cm_used_token *token)
{
    CM_ASSERT(used->owed > 0);
    used->owed--;
    used->news[used->news_count++] = *token;
}

uint32_t cm_used_tokens_pop_new(cm_used_tokens *used, cm_used_token *out, uint32_t capacity)
{
    uint32_t count = used->news_count < capacity ? used->news_count : capacity;
    if (count > 0) {
        memcpy(out, used->news, count * sizeof *out);
        used->news_count -= count;
        memmove(used->news, used->news + count, used->news_count * sizeof *out);
    }
    return count;
}
