// See the header. A chunk of 120 ticks is read and hashed in 0.3 ms; one with a keyframe of 400
// bodies in 1 ms.
#include "server/record/format/match_chunks.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/format/match_meta.h"
#include "server/record/format/match_rows.h"
#include "shared/base/array.h"
#include "shared/base/assert.h"
#include "shared/base/bytes.h"
#include "shared/wire/chunk_file.h"

_Static_assert(CM_CHUNK_HASH == CM_CHAIN_BYTES, "a commitment and a hash");

// Bytes that grow.
typedef struct growing {
    uint8_t *bytes;
    uint32_t size, capacity;
} growing;

struct cm_match_chunks {
    cm_match_file *file;
    uint64_t next_tick; // of the next chunk
    bool is_over;       // the last one was given
    uint8_t before[CM_CHUNK_HASH];
    growing head, personal, ticks, body;
};

static bool grow(growing *part, size_t more, uint8_t **at)
{
    if (more > CM_CHUNK_BODY_MAX - part->size ||
        !cm_array_reserve(&part->bytes, &part->capacity, part->size + (uint32_t)more, 1)) {
        return false;
    }
    *at = part->bytes + part->size;
    part->size += (uint32_t)more;
    return true;
}

static carom_result no_room(cm_match_error *error)
{
    return cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory, or a chunk above 64 MiB");
}

// Head -----------------------------------------------------------------------------------------

// The file's meta and its scene, packed as a server packs it.
static bool put_head(cm_match_chunks *c)
{
    const cm_match_info *info = &c->file->info;
    char texts[CM_META_KEYS][CM_META_TEXT_MAX];
    cm_chunk_meta meta[CM_META_KEYS];
    uint32_t count = 0;
    for (size_t i = 0; i < CM_META_KEYS; i++) {
        const cm_meta_key *key = &cm_meta_keys[i];
        bool wanted =
            key->when == CM_META_ALWAYS || (key->when == CM_META_OF_SEAM && info->parent != 0);
        if (wanted) {
            cm_meta_text(info, key, texts[count]);
            meta[count] = (cm_chunk_meta){key->name, texts[count]};
            count++;
        }
    }
    size_t size = cm_scene_packed_size(c->file->scene);
    uint8_t *scene = malloc(size > 0 ? size : 1), *at;
    bool good = scene != NULL && size <= CM_CHUNK_BODY_MAX &&
                grow(&c->head, cm_chunk_head_size(meta, count, size), &at);
    if (good) {
        cm_scene_pack(c->file->scene, scene);
        cm_chunk_head_write(meta, count, scene, size, at);
    }
    free(scene);
    return good;
}

carom_result cm_match_chunks_create(cm_match_file *file, cm_match_chunks **out,
                                    cm_match_error *error)
{
    cm_match_chunks *c = *out = calloc(1, sizeof *c);
    if (c == NULL) {
        return no_room(error);
    }
    c->file = file;
    c->next_tick = file->info.gap_to;
    if (file->scene == NULL) {
        cm_match_chunks_destroy(c);
        *out = NULL;
        return cm_match_wrong(error, CAROM_ERROR_VERSION,
                              "recorded by engine %u (%s), whose scene this build does not read",
                              file->info.engine_version, file->info.engine_text);
    }
    if (!put_head(c)) {
        cm_match_chunks_destroy(c);
        *out = NULL;
        return no_room(error);
    }
    return CAROM_OK;
}

void cm_match_chunks_destroy(cm_match_chunks *c)
{
    if (c != NULL) {
        free(c->head.bytes);
        free(c->personal.bytes);
        free(c->ticks.bytes);
        free(c->body.bytes);
        free(c);
    }
}

// Rows -----------------------------------------------------------------------------------------

// Commitments to names; to addresses they are nobody's business but the operator's.
static carom_result put_personal(cm_match_chunks *c, uint64_t last, cm_match_error *error)
{
    cm_match_file *file = c->file;
    sqlite3_stmt *rows =
        cm_match_prepare(file, "SELECT tick, client_id, commitment FROM personal WHERE tick >= ?1 "
                               "AND tick <= ?2 AND kind = 'name' ORDER BY number");
    if (rows == NULL) {
        return cm_match_db_wrong(&file->db, "personal", error);
    }
    sqlite3_bind_int64(rows, 1, (sqlite3_int64)c->next_tick);
    sqlite3_bind_int64(rows, 2, (sqlite3_int64)last);
    carom_result result = CAROM_OK;
    int code = SQLITE_DONE;
    while (result == CAROM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        uint64_t tick, client;
        uint8_t commitment[CM_CHAIN_BYTES], *at;
        if (!cm_column_u64(rows, 0, &tick) || !cm_column_id(rows, 1, &client) ||
            !cm_column_bytes(rows, 2, commitment, sizeof commitment)) {
            result = cm_match_corrupt(error, "personal: expected a tick, an id and 32 bytes");
        } else if (!grow(&c->personal, CM_CHUNK_PERSONAL, &at)) {
            result = no_room(error);
        } else {
            cm_byte_writer out = cm_byte_writer_make(at, CM_CHUNK_PERSONAL);
            cm_put_u64(&out, tick);
            cm_put_u64(&out, client);
            cm_put_bytes(&out, commitment, sizeof commitment);
        }
    }
    if (result == CAROM_OK && code != SQLITE_DONE) {
        result = cm_match_db_wrong(&file->db, "personal", error);
    }
    sqlite3_finalize(rows);
    return result;
}

static carom_result put_ticks(cm_match_chunks *c, uint64_t last, cm_match_error *error)
{
    cm_recorded_tick tick;
    carom_result result = CAROM_OK;
    cm_match_seek(c->file, c->next_tick);
    for (uint64_t at = c->next_tick; result == CAROM_OK && at <= last; at++) {
        result = cm_match_next(c->file, &tick, error);
        if (result != CAROM_OK) {
            break;
        }
        tick.follows = at > c->next_tick;
        tick.arrival_count = 0;
        size_t size = cm_confirmed_size(&tick);
        uint8_t *bytes;
        if (!grow(&c->ticks, size, &bytes)) {
            result = no_room(error);
        } else {
            CM_ASSERT(cm_confirmed_write(&tick, bytes, size) == size);
        }
    }
    cm_match_rest(c->file); // a server has many of them, which wait for the next chunk
    return result == CAROM_ERROR_NOT_FOUND
               ? cm_match_corrupt(error, "ticks: cut before tick %llu", (unsigned long long)last)
               : result;
}

// A fifth chunk has the keyframe of its first tick, where the file has one.
static carom_result find_keyframe(cm_match_chunks *c, cm_chunk *chunk, cm_match_error *error)
{
    uint64_t tick;
    cm_chunk_bytes found;
    if (chunk->tick_count == 0 || chunk->first_tick == 0 ||
        (chunk->number % CM_CHUNK_KEYFRAMES != 0 && chunk->first_tick != c->file->info.gap_to)) {
        return CAROM_OK;
    }
    uint64_t before;
    carom_result result = cm_match_keyframe_before(c->file, chunk->first_tick, &before, error);
    if (result == CAROM_OK && before == chunk->first_tick) {
        result = cm_match_keyframe(c->file, before, &tick, &found.bytes, &found.size, error);
        chunk->keyframe = result == CAROM_OK ? found : chunk->keyframe;
    }
    return result == CAROM_ERROR_NOT_FOUND ? CAROM_OK : result;
}

// Chunks ---------------------------------------------------------------------------------------

static carom_result finish(cm_match_chunks *c, cm_chunk *chunk, cm_match_chunk *out,
                           cm_match_error *error)
{
    uint8_t *bytes;
    memcpy(chunk->before, c->before, sizeof c->before);
    chunk->personal = (cm_chunk_bytes){c->personal.bytes, c->personal.size};
    chunk->ticks = (cm_chunk_bytes){c->ticks.bytes, c->ticks.size};
    if (c->next_tick == c->file->info.gap_to) {
        chunk->head = (cm_chunk_bytes){c->head.bytes, c->head.size};
    }
    size_t most = CM_CHUNK_BODY_MAX - cm_chunk_size(&(cm_chunk){0});
    if (chunk->keyframe.size > most || cm_chunk_size(chunk) > CM_CHUNK_BODY_MAX) {
        chunk->keyframe = (cm_chunk_bytes){NULL, 0}; // it plays from an earlier one
    }
    c->body.size = 0;
    if (!grow(&c->body, cm_chunk_size(chunk), &bytes)) {
        return no_room(error);
    }
    cm_chunk_write(chunk, bytes);
    cm_chunk_hash(bytes, c->body.size, c->before);
    *out = (cm_match_chunk){chunk->number,
                            chunk->first_tick,
                            chunk->tick_count,
                            chunk->keyframe.size > 0,
                            chunk->end != CM_MATCH_LIVE,
                            bytes,
                            c->body.size,
                            {0}};
    memcpy(out->hash, c->before, sizeof c->before);
    c->next_tick += chunk->tick_count;
    c->is_over = out->is_last;
    return CAROM_OK;
}

carom_result cm_match_chunks_next(cm_match_chunks *c, uint64_t delay, cm_match_chunk *out,
                                  cm_match_error *error)
{
    uint64_t length = (uint64_t)CM_CHUNK_SECONDS * c->file->info.tick_rate, newest;
    uint64_t last = (c->next_tick / length + 1) * length - 1;
    cm_match_end end;
    if (c->is_over) {
        return CAROM_ERROR_NOT_FOUND;
    }
    carom_result result = cm_match_last(c->file, &newest, &end, error);
    if (result != CAROM_OK) {
        return result;
    }
    if (newest + 1 < c->next_tick || c->next_tick / length > UINT32_MAX) {
        return cm_match_corrupt(error, "last: expected a tick after those before it");
    }
    bool whole = newest >= last && (end != CM_MATCH_LIVE || newest - last >= delay);
    if (!whole && end == CM_MATCH_LIVE) {
        return CAROM_ERROR_NOT_FOUND;
    }
    last = whole ? last : newest;
    cm_chunk chunk = {.match_id = c->file->info.match_id,
                      .number = (uint32_t)(c->next_tick / length),
                      .first_tick = c->next_tick,
                      .tick_count = (uint32_t)(last + 1 - c->next_tick),
                      .end = whole ? CM_MATCH_LIVE : end};
    c->personal.size = c->ticks.size = 0;
    result = put_personal(c, last, error);
    result = result == CAROM_OK ? put_ticks(c, last, error) : result;
    result = result == CAROM_OK ? find_keyframe(c, &chunk, error) : result;
    return result == CAROM_OK ? finish(c, &chunk, out, error) : result;
}
