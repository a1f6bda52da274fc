// See the header.
#include "shared/room/stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/room/timeline.h"
#include "shared/scene/scene.h"

struct cm_stream {
    cm_scene *scene;
    carom_game *game;
    cm_timeline *timeline;
    uint64_t match_id, first_tick;
    uint32_t tick_rate;
    char key[CM_CHUNK_META_TEXT_MAX + 1];
    cm_chunk chunk;              // the loaded one
    uint8_t hash[CM_CHUNK_HASH]; // of it
    size_t position;             // in its ticks
    uint32_t taken;              // ticks of it
    bool is_lost;                // the game is not at the tick before the next
    cm_confirmed_read_tick tick;
};

static carom_result wrong(cm_stream_error *error, carom_result result, uint32_t number,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

static carom_result wrong(cm_stream_error *error, carom_result result, uint32_t number,
                          const char *format, ...)
{
    va_list arguments;
    int size = snprintf(error->message, sizeof error->message, "chunk %u: ", (unsigned)number);
    va_start(arguments, format);
    vsnprintf(error->message + size, sizeof error->message - (size_t)size, format, arguments);
    va_end(arguments);
    return result;
}

// Ticks ----------------------------------------------------------------------------------------

// The next tick of the loaded chunk, read and checked, and not run.
static carom_result take_tick(cm_stream *s, cm_stream_error *error)
{
    const cm_chunk *chunk = &s->chunk;
    const cm_confirmed_tick *tick = &s->tick.tick;
    uint64_t due = chunk->first_tick + s->taken;
    size_t used = 0;
    if (s->taken == chunk->tick_count) {
        return s->position == chunk->ticks.size
                   ? CAROM_ERROR_NOT_FOUND
                   : wrong(error, CAROM_ERROR_CORRUPT, chunk->number, "bytes behind its ticks");
    }
    const char *what = cm_confirmed_read(chunk->ticks.bytes + s->position,
                                         chunk->ticks.size - s->position, &s->tick, &used);
    if (what == NULL &&
        (tick->tick != due || tick->follows != (s->taken > 0) || tick->arrival_count > 0)) {
        what = "expected each tick of the chunk once, in order, without arrivals";
    }
    if (what != NULL) {
        return wrong(error, CAROM_ERROR_CORRUPT, chunk->number, "tick %llu: %s",
                     (unsigned long long)due, what);
    }
    s->position += used;
    s->taken++;
    return CAROM_OK;
}

static carom_result compare(cm_stream *s, cm_stream_error *error)
{
    uint64_t hash = cm_game_hash(s->game), told = s->tick.tick.hash;
    if (hash == told) {
        return CAROM_OK;
    }
    return wrong(error, CAROM_ERROR_DIVERGED, s->chunk.number,
                 "diverged at tick %llu: recorded hash %016llx, replayed %016llx",
                 (unsigned long long)s->tick.tick.tick, (unsigned long long)told,
                 (unsigned long long)hash);
}

static carom_result check_inputs(const cm_stream *s, cm_stream_error *error)
{
    const cm_tick_input *input = &s->tick.tick.input;
    for (uint32_t i = 0; i < input->input_count; i++) {
        cm_pointer_reason reason;
        if (cm_game_check_input(s->game, input->inputs[i].bytes, &reason) != CM_INPUT_GOOD) {
            return wrong(error, CAROM_ERROR_CORRUPT, s->chunk.number,
                         "tick %llu: input of player %u is refused by the game",
                         (unsigned long long)s->tick.tick.tick, (unsigned)input->inputs[i].player);
        }
    }
    return CAROM_OK;
}

// The keyframe of a chunk that was come to tick by tick is the very state there.
static carom_result check_keyframe(const cm_stream *s, cm_stream_error *error)
{
    const cm_chunk_bytes *told = &s->chunk.keyframe;
    if (s->taken != 1 || told->size == 0) {
        return CAROM_OK;
    }
    size_t size = cm_game_encode_size(s->game);
    uint8_t *bytes = malloc(size);
    if (bytes == NULL) {
        return wrong(error, CAROM_ERROR_MEMORY, s->chunk.number, "no memory");
    }
    bool same = size == told->size && cm_game_encode(s->game, bytes, size) == size &&
                memcmp(bytes, told->bytes, size) == 0;
    free(bytes);
    return same ? CAROM_OK
                : wrong(error, CAROM_ERROR_DIVERGED, s->chunk.number,
                        "its keyframe is not the state at tick %llu",
                        (unsigned long long)s->chunk.first_tick);
}

carom_result cm_stream_step(cm_stream *s, cm_stream_error *error)
{
    if (s->is_lost) {
        return wrong(error, CAROM_ERROR_STATE, s->chunk.number, "the stream stands at no tick");
    }
    carom_result result = take_tick(s, error);
    result = result == CAROM_OK ? check_inputs(s, error) : result;
    if (result == CAROM_OK) {
        cm_timeline_step(s->timeline, &s->tick.tick.input);
        result = compare(s, error);
    }
    result = result == CAROM_OK ? check_keyframe(s, error) : result;
    s->is_lost = result != CAROM_OK && result != CAROM_ERROR_NOT_FOUND;
    return result;
}

// The first tick of a chunk is the state of its keyframe, or of the scene: nothing is run for it.
static carom_result stand_at_first(cm_stream *s, cm_stream_error *error)
{
    const cm_chunk *chunk = &s->chunk;
    s->is_lost = true;
    carom_result result = take_tick(s, error);
    if (result == CAROM_ERROR_NOT_FOUND) {
        return wrong(error, CAROM_ERROR_CORRUPT, chunk->number, "no tick, expected its first");
    }
    if (result == CAROM_OK && chunk->keyframe.size > 0 &&
        (cm_game_decode(s->game, chunk->keyframe.bytes, chunk->keyframe.size) != CAROM_OK ||
         carom_game_tick(s->game) != chunk->first_tick)) {
        return wrong(error, CAROM_ERROR_CORRUPT, chunk->number,
                     "its keyframe is no state of this scene at tick %llu",
                     (unsigned long long)chunk->first_tick);
    }
    if (result == CAROM_OK && !cm_timeline_start(s->timeline)) {
        return wrong(error, CAROM_ERROR_MEMORY, chunk->number, "no memory");
    }
    result = result == CAROM_OK ? compare(s, error) : result;
    s->is_lost = result != CAROM_OK;
    return result;
}

// Chunks ---------------------------------------------------------------------------------------

static carom_result read_chunk(const cm_stream *s, const uint8_t *body, size_t size,
                               cm_chunk *chunk, cm_stream_error *error)
{
    const char *what = cm_chunk_read(body, size, chunk);
    if (what != NULL) { // its number may be lost: it was to be the next one
        return wrong(error, CAROM_ERROR_CORRUPT, s->match_id != 0 ? s->chunk.number + 1 : 0, "%s",
                     what);
    }
    uint64_t length = (uint64_t)CM_CHUNK_SECONDS * s->tick_rate;
    if (s->match_id != 0 && chunk->match_id != s->match_id) {
        what = "of another match";
    }
    // A chunk's place follows from its number; the last one may be shorter, and the first of a
    // match that goes on from another begins where that ended.
    if (what == NULL && s->match_id != 0) {
        bool first = chunk->first_tick == s->first_tick;
        uint64_t begins = chunk->number * length, ends = begins + length;
        uint64_t after = chunk->first_tick + chunk->tick_count;
        bool placed = (first || chunk->first_tick == begins) && chunk->first_tick >= begins &&
                      chunk->first_tick < ends && (chunk->end != 0 ? after < ends : after == ends);
        what = placed ? NULL : "its ticks are not those of its number";
    }
    return what == NULL ? CAROM_OK : wrong(error, CAROM_ERROR_CORRUPT, chunk->number, "%s", what);
}

static void enter(cm_stream *s, const cm_chunk *chunk, const uint8_t hash[CM_CHUNK_HASH])
{
    s->chunk = *chunk;
    memcpy(s->hash, hash, sizeof s->hash);
    s->position = 0;
    s->taken = 0;
}

carom_result cm_stream_load(cm_stream *s, const uint8_t *body, size_t size,
                            const uint8_t hash[CM_CHUNK_HASH], cm_stream_error *error)
{
    cm_chunk chunk;
    carom_result result = read_chunk(s, body, size, &chunk, error);
    if (result != CAROM_OK) {
        return result;
    }
    bool next = chunk.number == s->chunk.number + 1;
    if (next && memcmp(chunk.before, s->hash, sizeof s->hash) != 0) {
        return wrong(error, CAROM_ERROR_CORRUPT, chunk.number,
                     "it names another hash than that of chunk %u", (unsigned)s->chunk.number);
    }
    bool follows = next && !s->is_lost && s->taken == s->chunk.tick_count;
    if (!follows && chunk.keyframe.size == 0) {
        return wrong(error, CAROM_ERROR_STATE, chunk.number,
                     "neither the next chunk, all ticks before it run, nor one with a keyframe");
    }
    enter(s, &chunk, hash);
    return follows ? CAROM_OK : stand_at_first(s, error);
}

// Opening --------------------------------------------------------------------------------------

static carom_result find_module(const cm_chunk *chunk, const carom_module **module,
                                cm_stream_error *error)
{
    uint64_t engine, version, abi;
    char name[CM_CHUNK_META_TEXT_MAX + 1], source[CM_CHUNK_META_TEXT_MAX + 1];
    if (!cm_chunk_meta_number(chunk, "engine_version", 10, &engine) ||
        !cm_chunk_meta_number(chunk, "module_version", 10, &version) ||
        !cm_chunk_meta_number(chunk, "module_abi", 10, &abi) ||
        !cm_chunk_meta_text(chunk, "module", name, sizeof name) ||
        !cm_chunk_meta_text(chunk, "module_source", source, sizeof source)) {
        return wrong(error, CAROM_ERROR_CORRUPT, chunk->number,
                     "head: expected engine_version, module, module_version, module_abi, "
                     "module_source");
    }
    if (engine != CAROM_ENGINE_VERSION) {
        return wrong(error, CAROM_ERROR_VERSION, chunk->number,
                     "recorded by engine %llu, this is engine %u", (unsigned long long)engine,
                     (unsigned)CAROM_ENGINE_VERSION);
    }
    if (*module == NULL || strcmp((*module)->name, name) != 0) {
        *module = cm_module_find(name);
    }
    if (*module == NULL || version > UINT32_MAX || abi > UINT32_MAX ||
        !cm_module_agrees(*module, name, (uint32_t)version, (uint32_t)abi, source)) {
        return wrong(error, CAROM_ERROR_VERSION, chunk->number,
                     "recorded with module '%.32s' version %llu, which is not here", name,
                     (unsigned long long)version);
    }
    return CAROM_OK;
}

static carom_result make_game(cm_stream *s, const cm_chunk *chunk, const carom_module *module,
                              uint64_t seed, cm_stream_error *error)
{
    cm_scene_error why;
    cm_chunk_bytes scene = cm_chunk_scene(chunk);
    carom_world_def world;
    carom_result result = cm_scene_unpack(scene.bytes, scene.size, NULL, &s->scene, &why);
    if (result != CAROM_OK) {
        s->scene = NULL;
        return wrong(error, result == CAROM_ERROR_MEMORY ? result : CAROM_ERROR_CORRUPT,
                     chunk->number, "scene: %.80s: %.100s", why.path, why.message);
    }
    cm_scene_world_def(s->scene, &world);
    if (world.tick_rate != s->tick_rate) {
        return wrong(error, CAROM_ERROR_CORRUPT, chunk->number,
                     "head: tick_rate %u, expected the scene's, %u", (unsigned)s->tick_rate,
                     (unsigned)world.tick_rate);
    }
    result = cm_game_create(s->scene, module, seed, NULL, &s->game);
    if (result == CAROM_OK) {
        s->timeline = cm_timeline_create(&(cm_timeline_def){.game = s->game});
        result = s->timeline != NULL ? CAROM_OK : CAROM_ERROR_MEMORY;
    }
    return result == CAROM_OK
               ? result
               : wrong(error, result, chunk->number, "scene: %s", carom_result_text(result));
}

// Match and tick rate first, with which the chunk is read once more.
static carom_result open_first(cm_stream *s, const uint8_t *body, size_t size,
                               const uint8_t hash[CM_CHUNK_HASH], const carom_module *module,
                               cm_stream_error *error)
{
    cm_chunk chunk;
    uint64_t rate = 0, seed = 0, gap_to = 0;
    carom_result result = read_chunk(s, body, size, &chunk, error);
    if (result != CAROM_OK) {
        return result;
    }
    (void)cm_chunk_meta_number(&chunk, "gap_to", 10, &gap_to);
    if (chunk.match_id == 0 || !cm_chunk_meta_number(&chunk, "tick_rate", 10, &rate) || rate < 1 ||
        rate > 1000 || !cm_chunk_meta_number(&chunk, "seed", 16, &seed) ||
        !cm_chunk_meta_text(&chunk, "sign_key", s->key, sizeof s->key) ||
        chunk.first_tick != gap_to || (gap_to > 0 && chunk.keyframe.size == 0)) {
        return wrong(error, CAROM_ERROR_CORRUPT, chunk.number,
                     "expected a match's first chunk, with its head");
    }
    s->match_id = chunk.match_id;
    s->tick_rate = (uint32_t)rate;
    s->first_tick = gap_to;
    result = read_chunk(s, body, size, &chunk, error);
    result = result == CAROM_OK ? find_module(&chunk, &module, error) : result;
    result = result == CAROM_OK ? make_game(s, &chunk, module, seed, error) : result;
    if (result == CAROM_OK) {
        enter(s, &chunk, hash);
        result = stand_at_first(s, error);
    }
    return result;
}

carom_result cm_stream_open(const uint8_t *body, size_t size, const uint8_t hash[CM_CHUNK_HASH],
                            const carom_module *module, cm_stream **out, cm_stream_error *error)
{
    cm_stream *s = calloc(1, sizeof *s);
    carom_result result = s != NULL ? open_first(s, body, size, hash, module, error)
                                    : wrong(error, CAROM_ERROR_MEMORY, 0, "no memory");
    if (result != CAROM_OK) {
        cm_stream_close(s);
        s = NULL;
    }
    *out = s;
    return result;
}

void cm_stream_close(cm_stream *s)
{
    if (s != NULL) {
        cm_timeline_destroy(s->timeline);
        cm_game_destroy(s->game);
        cm_scene_free(s->scene);
        free(s);
    }
}

carom_game *cm_stream_game(cm_stream *s)
{
    return s->game;
}

const cm_scene *cm_stream_scene(const cm_stream *s)
{
    return s->scene;
}

uint64_t cm_stream_match(const cm_stream *s)
{
    return s->match_id;
}

uint32_t cm_stream_tick_rate(const cm_stream *s)
{
    return s->tick_rate;
}

uint32_t cm_stream_next(const cm_stream *s)
{
    return s->chunk.number + 1;
}

cm_match_end cm_stream_end(const cm_stream *s)
{
    return s->chunk.end;
}

const char *cm_stream_key(const cm_stream *s)
{
    return s->key;
}
