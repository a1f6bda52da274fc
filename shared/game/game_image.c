// A game's state as one: save and restore (local, fast), hash, encode and decode (portable).
//
// Saved form:    present, refused, kicked, reasons, held inputs of present players, module state,
//                past, the world's save.
// Encoded form, little-endian:
//   OFFSET  SIZE          CONTENT
//   0       4             magic "CRMG"; "CRMK" if a player is refused or kicked
//   4       4             module state words n
//   8       8             present
//   16      16 + k        with "CRMK": refused, kicked, reason of each kicked player, ascending
//   slots …       64 x players  held input of each present player, ascending slots …       4 x n
//   module state, words …       past          where bodies with a history were (past.h); nothing
//   without …       rest          the world (carom_world_encode)
//
// The module's state is words, so that it has one value on every architecture. Only the module
// knows its meaning: a decoded state from an untrusted sender may hold anything, and a module must
// bear that (the world API checks ids at every use).
#include "shared/game/game_state.h"

#include <string.h>

#include "shared/base/bytes.h"
#include "shared/base/hash.h"

#define GAME_MAGIC  0x474d5243u // "CRMG"
#define MARKS_MAGIC 0x4b4d5243u // "CRMK"
#define HEAD_SIZE   16u

// The saved form of refused and kicked players.
typedef struct marks {
    uint64_t refused, kicked;
    uint8_t reasons[CAROM_PLAYERS_MAX];
} marks;

static uint32_t present_count(uint64_t present)
{
    uint32_t count = 0;
    for (; present != 0; present &= present - 1) {
        count++;
    }
    return count;
}

static bool has_marks(const carom_game *game)
{
    return (game->refused | game->kicked) != 0;
}

static size_t marks_size(const carom_game *game)
{
    return has_marks(game) ? 16u + present_count(game->kicked) : 0;
}

// Hashed only while set, so that matches without it keep their hashes.
static void hash_marks(const carom_game *game, cm_hash *hash)
{
    if (has_marks(game)) {
        cm_hash_u32(hash, MARKS_MAGIC);
        cm_hash_u64(hash, game->refused);
        cm_hash_u64(hash, game->kicked);
        for (uint64_t left = game->kicked; left != 0; left &= left - 1) {
            cm_hash_u32(hash, game->kick_reasons[__builtin_ctzll(left)]);
        }
    }
}

static void put_marks(const carom_game *game, cm_byte_writer *writer)
{
    if (has_marks(game)) {
        cm_put_u64(writer, game->refused);
        cm_put_u64(writer, game->kicked);
        for (uint64_t left = game->kicked; left != 0; left &= left - 1) {
            cm_put_u8(writer, game->kick_reasons[__builtin_ctzll(left)]);
        }
    }
}

// False: not what put_marks writes of those present.
static bool get_marks(cm_byte_reader *reader, uint64_t present, marks *out)
{
    out->refused = cm_get_u64(reader);
    out->kicked = cm_get_u64(reader);
    bool good = (out->refused | out->kicked) != 0 && (out->refused & out->kicked) == 0 &&
                ((out->refused | out->kicked) & ~present) == 0;
    for (uint64_t left = out->kicked; left != 0 && !reader->overflow; left &= left - 1) {
        uint8_t reason = cm_get_u8(reader);
        good = good && reason > CAROM_REASON_NONE && reason < CAROM_REASON_COUNT;
        out->reasons[__builtin_ctzll(left)] = reason;
    }
    return good && !reader->overflow;
}

static void take_marks(carom_game *game, const marks *from)
{
    game->refused = from->refused;
    game->kicked = from->kicked;
    memcpy(game->kick_reasons, from->reasons, sizeof game->kick_reasons);
}

uint64_t cm_game_hash(const carom_game *game)
{
    cm_hash hash = cm_hash_begin(GAME_MAGIC);
    cm_hash_u64(&hash, carom_world_hash(game->world));
    cm_hash_u64(&hash, game->present);
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (cm_game_has_bit(game->present, player)) {
            cm_hash_bytes(&hash, game->held[player], CAROM_INPUT_MAX);
        }
    }
    for (uint32_t i = 0; i < cm_game_state_words(game); i++) {
        cm_hash_u32(&hash, game->module_state[i]);
    }
    cm_past_hash(&game->past, &hash);
    hash_marks(game, &hash);
    return cm_hash_end(&hash);
}

size_t cm_game_save_bound(const carom_game *game)
{
    return sizeof game->present + sizeof(marks) + sizeof game->held + game->module->state_size +
           cm_past_save_bound(&game->past) + carom_world_save_bound(game->world);
}

size_t cm_game_save(const carom_game *game, void *image, size_t size)
{
    char *at = image;
    marks set = {game->refused, game->kicked, {0}};
    memcpy(set.reasons, game->kick_reasons, sizeof set.reasons);
    size_t head = sizeof game->present + sizeof set +
                  (size_t)present_count(game->present) * CAROM_INPUT_MAX +
                  game->module->state_size + cm_past_save_size(&game->past);
    if (size < head) {
        return 0;
    }
    memcpy(at, &game->present, sizeof game->present);
    at += sizeof game->present;
    memcpy(at, &set, sizeof set);
    at += sizeof set;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (cm_game_has_bit(game->present, player)) {
            memcpy(at, game->held[player], CAROM_INPUT_MAX);
            at += CAROM_INPUT_MAX;
        }
    }
    memcpy(at, game->module_state, game->module->state_size);
    at += game->module->state_size;
    cm_past_save(&game->past, at);
    at += cm_past_save_size(&game->past);
    size_t world = carom_world_save(game->world, at, size - head);
    return world == 0 ? 0 : head + world;
}

// Everything before the world. Its length is checked first; it is stored once the world is
// accepted.
carom_result cm_game_restore(carom_game *game, const void *image, size_t size)
{
    const char *at = image;
    uint64_t present;
    marks set;
    if (size < sizeof present + sizeof set) {
        return CAROM_ERROR_CORRUPT;
    }
    memcpy(&present, at, sizeof present);
    memcpy(&set, at + sizeof present, sizeof set);
    size_t held_size = (size_t)present_count(present) * CAROM_INPUT_MAX;
    size_t head = sizeof present + sizeof set + held_size + game->module->state_size;
    if (size < head) {
        return CAROM_ERROR_CORRUPT;
    }
    size_t past_size = cm_past_saved_size(&game->past, at + head, size - head);
    if (past_size == 0 && game->past.ticks > 0) {
        return CAROM_ERROR_CORRUPT;
    }
    const char *past = at + head;
    head += past_size;
    carom_result result = carom_world_restore(game->world, at + head, size - head);
    if (result != CAROM_OK) {
        return result;
    }
    game->present = present;
    take_marks(game, &set);
    at += sizeof present + sizeof set;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (cm_game_has_bit(present, player)) {
            memcpy(game->held[player], at, CAROM_INPUT_MAX);
            at += CAROM_INPUT_MAX;
        } else {
            memset(game->held[player], 0, CAROM_INPUT_MAX);
        }
    }
    memcpy(game->module_state, at, game->module->state_size);
    cm_past_restore(&game->past, past);
    game->message_count = game->event_count = 0;
    game->closes = false;
    cm_game_refresh_public(game);
    return CAROM_OK;
}

size_t cm_game_encode_size(const carom_game *game)
{
    return HEAD_SIZE + marks_size(game) + (size_t)present_count(game->present) * CAROM_INPUT_MAX +
           game->module->state_size + cm_past_encode_size(&game->past) +
           carom_world_encode_size(game->world);
}

size_t cm_game_encode(const carom_game *game, void *bytes, size_t size)
{
    size_t head = cm_game_encode_size(game) - carom_world_encode_size(game->world);
    cm_byte_writer writer = cm_byte_writer_make(bytes, size);
    cm_put_u32(&writer, has_marks(game) ? MARKS_MAGIC : GAME_MAGIC);
    cm_put_u32(&writer, cm_game_state_words(game));
    cm_put_u64(&writer, game->present);
    put_marks(game, &writer);
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (cm_game_has_bit(game->present, player)) {
            cm_put_bytes(&writer, game->held[player], CAROM_INPUT_MAX);
        }
    }
    for (uint32_t i = 0; i < cm_game_state_words(game); i++) {
        cm_put_u32(&writer, game->module_state[i]);
    }
    cm_past_encode(&game->past, &writer);
    if (size < head) {
        return 0;
    }
    size_t world = carom_world_encode(game->world, (char *)bytes + head, size - head);
    return world == 0 ? 0 : head + world;
}

carom_result cm_game_decode(carom_game *game, const void *bytes, size_t size)
{
    cm_byte_reader reader = cm_byte_reader_make(bytes, size);
    uint32_t magic = cm_get_u32(&reader);
    uint32_t words = cm_get_u32(&reader);
    uint64_t present = cm_get_u64(&reader);
    if (reader.overflow) {
        return CAROM_ERROR_CORRUPT;
    }
    if (magic != GAME_MAGIC && magic != MARKS_MAGIC) {
        return CAROM_ERROR_MAGIC;
    }
    if (words != cm_game_state_words(game)) {
        return CAROM_ERROR_VERSION;
    }
    marks set = {0};
    if (magic == MARKS_MAGIC && !get_marks(&reader, present, &set)) {
        return CAROM_ERROR_CORRUPT;
    }
    size_t held_size = (size_t)present_count(present) * CAROM_INPUT_MAX;
    const uint8_t *held = cm_get_bytes(&reader, held_size);
    const uint8_t *state = cm_get_bytes(&reader, (size_t)words * 4u);
    cm_byte_reader past = reader;
    if (reader.overflow || !cm_past_check(&game->past, &reader)) {
        return CAROM_ERROR_CORRUPT;
    }
    size_t left = cm_bytes_left(&reader);
    const uint8_t *world = cm_get_bytes(&reader, left);
    carom_result result = carom_world_decode(game->world, world, left);
    if (result != CAROM_OK) {
        return result;
    }
    game->present = present;
    take_marks(game, &set);
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        memset(game->held[player], 0, CAROM_INPUT_MAX);
        if (cm_game_has_bit(present, player)) {
            memcpy(game->held[player], held, cm_game_input_size(game));
            held += CAROM_INPUT_MAX;
        }
    }
    cm_byte_reader state_reader = cm_byte_reader_make(state, (size_t)words * 4u);
    for (uint32_t i = 0; i < words; i++) {
        game->module_state[i] = cm_get_u32(&state_reader);
    }
    cm_past_read(&game->past, &past);
    game->message_count = game->event_count = 0;
    game->closes = false;
    cm_game_refresh_public(game);
    return CAROM_OK;
}

// The public words as little-endian bytes, made anew whenever the state may have changed.
void cm_game_refresh_public(carom_game *game)
{
    cm_byte_writer writer = cm_byte_writer_make(game->public_bytes, sizeof game->public_bytes);
    for (uint32_t i = 0; i < game->module->public_size / 4u; i++) {
        cm_put_u32(&writer, game->module_state[i]);
    }
}

const uint8_t *cm_game_public(const carom_game *game, uint32_t *size)
{
    *size = game->module->public_size;
    return game->public_bytes;
}

void cm_game_set_public(carom_game *game, const uint8_t *bytes, uint32_t size, uint64_t present)
{
    uint32_t limit = game->module->public_size;
    cm_byte_reader reader = cm_byte_reader_make(bytes, size < limit ? size : limit);
    for (uint32_t i = 0; cm_bytes_left(&reader) >= 4; i++) {
        game->module_state[i] = cm_get_u32(&reader);
    }
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (!cm_game_has_bit(present, player)) {
            memset(game->held[player], 0, CAROM_INPUT_MAX);
        }
    }
    game->present = present;
    take_marks(game, &(marks){0});
    cm_game_refresh_public(game);
}

void cm_game_take_hidden(carom_game *game, const carom_game *from)
{
    for (uint32_t i = game->module->public_size / 4u; i < cm_game_state_words(game); i++) {
        game->module_state[i] = from->module_state[i];
    }
}

void cm_game_set_tick(carom_game *game, uint64_t tick)
{
    carom_world_set_tick(game->world, tick);
}
