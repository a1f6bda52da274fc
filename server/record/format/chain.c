// Items of the chain, byte by byte as MATCH_FILE.md tells them (a second reader is written from
// there): every item has one size, since what has a length of its own enters as its hash, and no
// two different rows have the same bytes.
#include "server/record/format/chain.h"

#include <string.h>

#include "shared/base/assert.h"
#include "shared/base/bytes.h"

#define ITEM_MAX 128u

_Static_assert(CM_CHAIN_BYTES == CM_KEY_BYTES, "the chain so far is a key");

static const char start_text[] = "carom match file, chain 2";
static const char sign_text[] = "carom match file, link 2";

static void put_hash(cm_byte_writer *item, const void *bytes, size_t size)
{
    uint8_t hash[CM_CHAIN_BYTES];
    cm_crypto_hash(hash, sizeof hash, bytes, size, NULL);
    cm_put_bytes(item, hash, sizeof hash);
}

static cm_byte_writer open_item(uint8_t buffer[ITEM_MAX], char letter)
{
    cm_byte_writer item = cm_byte_writer_make(buffer, ITEM_MAX);
    cm_put_u8(&item, (uint8_t)letter);
    return item;
}

static void add(cm_chain *chain, const cm_byte_writer *item)
{
    uint8_t next[CM_CHAIN_BYTES];
    CM_ASSERT(!item->overflow);
    cm_crypto_hash(next, sizeof next, item->bytes, item->size, chain->value);
    memcpy(chain->value, next, sizeof next);
}

void cm_chain_start(cm_chain *chain)
{
    cm_crypto_hash(chain->value, sizeof chain->value, (const uint8_t *)start_text,
                   sizeof start_text - 1, NULL);
}

void cm_chain_meta(cm_chain *chain, const char *key, const char *value)
{
    uint8_t buffer[ITEM_MAX];
    cm_byte_writer item = open_item(buffer, 'M');
    put_hash(&item, key, strlen(key));
    put_hash(&item, value, strlen(value));
    add(chain, &item);
}

void cm_chain_scene(cm_chain *chain, const uint8_t *bytes, size_t size)
{
    uint8_t buffer[ITEM_MAX];
    cm_byte_writer item = open_item(buffer, 'S');
    put_hash(&item, bytes, size);
    add(chain, &item);
}

static void add_event(cm_chain *chain, const cm_game_event *event)
{
    uint8_t buffer[ITEM_MAX];
    cm_byte_writer item = open_item(buffer, 'V');
    cm_put_u32(&item, event->type);
    cm_put_u32(&item, event->player);
    cm_put_u64(&item, event->client_id);
    put_hash(&item, event->bytes, event->size);
    add(chain, &item);
}

void cm_chain_tick(cm_chain *chain, const cm_recorded_tick *tick)
{
    uint8_t buffer[ITEM_MAX];
    const cm_tick_input *input = &tick->input;
    if (tick->resumed) {
        cm_byte_writer resumed = open_item(buffer, 'G');
        cm_put_u64(&resumed, tick->tick);
        add(chain, &resumed);
    }
    for (uint32_t i = 0; i < input->event_count; i++) {
        add_event(chain, &input->events[i]);
    }
    for (uint32_t i = 0; i < input->input_count; i++) {
        cm_byte_writer item = open_item(buffer, 'I');
        cm_put_u32(&item, input->inputs[i].player);
        cm_put_bytes(&item, input->inputs[i].bytes, CAROM_INPUT_MAX);
        add(chain, &item);
    }
    for (uint32_t i = 0; i < tick->arrival_count; i++) {
        cm_byte_writer item = open_item(buffer, 'A');
        cm_put_u32(&item, tick->arrivals[i].player);
        cm_put_u16(&item, (uint16_t)tick->arrivals[i].lead);
        cm_put_u8(&item, tick->arrivals[i].rewound);
        add(chain, &item);
    }
    cm_byte_writer item = open_item(buffer, 'T');
    cm_put_u64(&item, tick->tick);
    cm_put_u64(&item, tick->hash);
    cm_put_u32(&item, input->event_count);
    cm_put_u32(&item, input->input_count);
    cm_put_u32(&item, tick->arrival_count);
    add(chain, &item);
}

void cm_chain_add_personal(cm_chain *chain, const cm_chain_personal *row)
{
    uint8_t buffer[ITEM_MAX];
    cm_byte_writer item = open_item(buffer, 'P');
    cm_put_u64(&item, row->tick);
    cm_put_u64(&item, row->client_id);
    put_hash(&item, row->kind, strlen(row->kind));
    cm_put_bytes(&item, row->commitment, sizeof row->commitment);
    add(chain, &item);
}

void cm_chain_statistics(cm_chain *chain, uint64_t tick, const cm_player_statistics *row)
{
    uint8_t buffer[ITEM_MAX];
    cm_byte_writer item = open_item(buffer, 'R');
    cm_put_u64(&item, tick);
    cm_put_u32(&item, row->player);
    cm_put_u64(&item, row->inputs);
    cm_put_u64(&item, row->late);
    cm_put_u64(&item, row->rewound_ticks);
    cm_put_u64(&item, row->refused);
    add(chain, &item);
}

void cm_chain_keyframe(cm_chain *chain, uint64_t tick, const uint8_t *bytes, size_t size)
{
    uint8_t buffer[ITEM_MAX];
    cm_byte_writer item = open_item(buffer, 'K');
    cm_put_u64(&item, tick);
    put_hash(&item, bytes, size);
    add(chain, &item);
}

void cm_chain_end(cm_chain *chain, uint64_t tick, const char *how)
{
    uint8_t buffer[ITEM_MAX];
    cm_byte_writer item = open_item(buffer, 'E');
    cm_put_u64(&item, tick);
    put_hash(&item, how, strlen(how));
    add(chain, &item);
}

// The salt is the key, padded; the kind enters by its hash, so that no text can pose as another.
void cm_commitment(const uint8_t salt[CM_SALT_BYTES], const char *kind, const char *text,
                   size_t size, uint8_t commitment[CM_CHAIN_BYTES])
{
    uint8_t key[CM_KEY_BYTES] = {0}, buffer[ITEM_MAX];
    memcpy(key, salt, CM_SALT_BYTES);
    cm_byte_writer item = open_item(buffer, 'C');
    put_hash(&item, kind, strlen(kind));
    uint8_t hash[CM_CHAIN_BYTES];
    cm_crypto_hash(hash, sizeof hash, (const uint8_t *)text, size, key);
    cm_put_bytes(&item, hash, sizeof hash);
    cm_crypto_hash(commitment, CM_CHAIN_BYTES, item.bytes, item.size, key);
}

static size_t signed_bytes(const cm_chain *chain, uint64_t tick, uint8_t buffer[ITEM_MAX])
{
    cm_byte_writer item = cm_byte_writer_make(buffer, ITEM_MAX);
    cm_put_bytes(&item, sign_text, sizeof sign_text - 1);
    cm_put_u64(&item, tick);
    cm_put_bytes(&item, chain->value, sizeof chain->value);
    return item.size;
}

void cm_chain_sign(const cm_chain *chain, uint64_t tick, const uint8_t secret[CM_KEY_BYTES],
                   uint8_t signature[CM_SIGNATURE_BYTES])
{
    uint8_t buffer[ITEM_MAX];
    size_t size = signed_bytes(chain, tick, buffer);
    cm_crypto_sign(signature, buffer, size, secret);
}

bool cm_chain_verify(const cm_chain *chain, uint64_t tick, const uint8_t public_key[CM_KEY_BYTES],
                     const uint8_t signature[CM_SIGNATURE_BYTES])
{
    uint8_t buffer[ITEM_MAX];
    size_t size = signed_bytes(chain, tick, buffer);
    return cm_crypto_sign_verify(signature, buffer, size, public_key);
}
