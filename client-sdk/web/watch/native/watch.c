// Watches a match's stream (room/stream.h) for JavaScript: files in, ticks run, and the world to
// read through the functions of carom-sim. Files come from anywhere; each is opened, its
// signature compared with the key of the first one, and its ticks run and compared.
#include <stdlib.h>
#include <string.h>

#include "carom/joint.h"
#include "carom/world.h"

#include "shared/room/stream.h"
#include "shared/wire/chunk_file.h"
#include "shared/wire/crypto.h"

extern const carom_module carom_module_ball, carom_module_billiards, carom_module_race;

typedef struct cw_watch {
    cm_stream *stream; // NULL before the first file
    cm_chunk_opened chunk;
    bool is_signed; // every file so far
    cm_stream_error error;
} cw_watch;

// NULL: no memory.
CAROM_API cw_watch *cw_watch_create(void)
{
    static const carom_module *const games[] = {&carom_module_ball, &carom_module_billiards,
                                                &carom_module_race};
    static const char from_no_file[CM_MODULE_HASH_TEXT] = "";
    for (size_t i = 0; i < sizeof games / sizeof games[0]; i++) {
        (void)cm_module_add(games[i], from_no_file); // again: the name is taken
    }
    cw_watch *watch = calloc(1, sizeof *watch);
    if (watch != NULL) {
        watch->is_signed = true;
    }
    return watch;
}

CAROM_API void cw_watch_destroy(cw_watch *watch)
{
    cm_stream_close(watch->stream);
    free(watch->chunk.body);
    free(watch);
}

static carom_result refuse(cw_watch *watch, const char *wrong)
{
    size_t size = strlen(wrong) < sizeof watch->error.message - 1 ? strlen(wrong)
                                                                  : sizeof watch->error.message - 1;
    memcpy(watch->error.message, wrong, size);
    watch->error.message[size] = '\0';
    return CAROM_ERROR_CORRUPT;
}

static bool is_by_its_key(const cw_watch *watch, const cm_chunk_opened *chunk)
{
    uint8_t key[CM_KEY_BYTES];
    const char *text = cm_stream_key(watch->stream);
    return !chunk->is_signed ||
           (cm_crypto_unhex(text, strlen(text), key, sizeof key) && cm_chunk_is_by(chunk, key));
}

static carom_result check_key(cw_watch *watch, const cm_chunk_opened *chunk)
{
    return is_by_its_key(watch, chunk)
               ? CAROM_OK
               : refuse(watch, "not signed by the key that the first chunk names");
}

// A file as it is served: the first one, the next, or any with a keyframe. A carom_result;
// cw_watch_error says more.
CAROM_API carom_result cw_watch_take(cw_watch *watch, const uint8_t *file, size_t size)
{
    cm_chunk_opened chunk;
    const char *wrong = cm_chunk_open(file, size, &chunk);
    if (wrong != NULL) {
        return refuse(watch, wrong);
    }
    bool first = watch->stream == NULL;
    carom_result result = CAROM_OK;
    if (first) {
        result =
            cm_stream_open(chunk.body, chunk.size, chunk.hash, NULL, &watch->stream, &watch->error);
        result = result == CAROM_OK ? check_key(watch, &chunk) : result;
    } else {
        result = check_key(watch, &chunk);
        result = result == CAROM_OK ? cm_stream_load(watch->stream, chunk.body, chunk.size,
                                                     chunk.hash, &watch->error)
                                    : result;
    }
    if (result != CAROM_OK && first) {
        cm_stream_close(watch->stream);
        watch->stream = NULL;
    }
    free(result == CAROM_OK ? watch->chunk.body : chunk.body);
    if (result == CAROM_OK) {
        watch->chunk = chunk;
        watch->is_signed = watch->is_signed && chunk.is_signed;
    }
    return result;
}

// A tick: 1; 0: the chunk has no more; else a carom_result below zero, and cw_watch_error.
CAROM_API int32_t cw_watch_step(cw_watch *watch)
{
    carom_result result = cm_stream_step(watch->stream, &watch->error);
    return result == CAROM_OK ? 1 : result == CAROM_ERROR_NOT_FOUND ? 0 : -(int32_t)result;
}

CAROM_API const char *cw_watch_error(const cw_watch *watch)
{
    return watch->error.message;
}

CAROM_API const char *cw_watch_key(const cw_watch *watch)
{
    return cm_stream_key(watch->stream);
}

CAROM_API uint32_t cw_watch_is_signed(const cw_watch *watch)
{
    return watch->is_signed;
}

CAROM_API carom_world *cw_watch_world(const cw_watch *watch)
{
    return carom_game_world(cm_stream_game(watch->stream));
}

CAROM_API uint64_t cw_watch_tick(const cw_watch *watch)
{
    return carom_game_tick(cm_stream_game(watch->stream));
}

CAROM_API uint64_t cw_watch_hash(const cw_watch *watch)
{
    return cm_game_hash(cm_stream_game(watch->stream));
}

CAROM_API uint64_t cw_watch_match(const cw_watch *watch)
{
    return cm_stream_match(watch->stream);
}

CAROM_API uint32_t cw_watch_tick_rate(const cw_watch *watch)
{
    return cm_stream_tick_rate(watch->stream);
}

CAROM_API uint32_t cw_watch_next(const cw_watch *watch)
{
    return cm_stream_next(watch->stream);
}

// cm_match_end, as the loaded chunk says.
CAROM_API uint32_t cw_watch_end(const cw_watch *watch)
{
    return cm_stream_end(watch->stream);
}

// Those who play, a bit a player.
CAROM_API uint64_t cw_watch_players(const cw_watch *watch)
{
    return cm_game_players(cm_stream_game(watch->stream));
}

// The body that a player steers, else its pointer, else the null id.
CAROM_API carom_body_id cw_watch_player_body(const cw_watch *watch, uint32_t player)
{
    return cm_game_player_body(cm_stream_game(watch->stream), player);
}

// Six floats a joint: its anchor on either body, x, y, z each. Returns how many were written.
CAROM_API uint32_t cw_watch_joints(const cw_watch *watch, float *rows, uint32_t capacity)
{
    const carom_world *world = carom_game_world(cm_stream_game(watch->stream));
    uint32_t count = 0, slots = carom_world_joint_slots(world);
    for (uint32_t slot = 0; slot < slots && count < capacity; slot++) {
        carom_joint_state joint;
        if (carom_joint_get(world, carom_world_joint_at(world, slot), &joint) == CAROM_OK) {
            float *row = rows + 6 * (size_t)count++;
            memcpy(row, &joint.anchor_a, sizeof joint.anchor_a);
            memcpy(row + 3, &joint.anchor_b, sizeof joint.anchor_b);
        }
    }
    return count;
}
