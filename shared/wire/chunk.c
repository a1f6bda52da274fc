// See the header.
#include "shared/wire/chunk.h"

#include <string.h>

#include "shared/base/assert.h"
#include "shared/base/bytes.h"

#define MAGIC  "CRMC"
#define FORMAT 1u

size_t cm_chunk_size(const cm_chunk *chunk)
{
    return CM_CHUNK_HEAD + chunk->head.size + chunk->keyframe.size + chunk->personal.size +
           chunk->ticks.size;
}

void cm_chunk_write(const cm_chunk *chunk, uint8_t *bytes)
{
    const cm_chunk_bytes *parts[] = {&chunk->head, &chunk->keyframe, &chunk->personal,
                                     &chunk->ticks};
    cm_byte_writer out = cm_byte_writer_make(bytes, cm_chunk_size(chunk));
    cm_put_bytes(&out, MAGIC, 4);
    cm_put_u16(&out, FORMAT);
    cm_put_u8(&out, (uint8_t)chunk->end);
    cm_put_u8(&out, 0);
    cm_put_u64(&out, chunk->match_id);
    cm_put_u64(&out, chunk->first_tick);
    cm_put_u32(&out, chunk->number);
    cm_put_u32(&out, chunk->tick_count);
    cm_put_bytes(&out, chunk->before, sizeof chunk->before);
    for (size_t i = 0; i < 4; i++) {
        CM_ASSERT(parts[i]->size <= CM_CHUNK_BODY_MAX);
        cm_put_u32(&out, (uint32_t)parts[i]->size);
    }
    for (size_t i = 0; i < 4; i++) {
        cm_put_bytes(&out, parts[i]->bytes, parts[i]->size);
    }
    CM_ASSERT(!out.overflow && out.size == cm_chunk_size(chunk));
}

// Reading --------------------------------------------------------------------------------------

// A text of printable characters. NULL: it is none.
static const char *get_text(cm_byte_reader *in, size_t *size)
{
    *size = cm_get_u8(in);
    const char *text = (const char *)cm_get_bytes(in, *size);
    bool good = !in->overflow && *size <= CM_CHUNK_META_TEXT_MAX;
    for (size_t i = 0; good && i < *size; i++) {
        good = text[i] >= 0x20 && text[i] <= 0x7e;
    }
    return good ? text : NULL;
}

static const char *check_head(const cm_chunk *chunk)
{
    cm_byte_reader in = cm_byte_reader_make(chunk->head.bytes, chunk->head.size);
    uint32_t count = cm_get_u8(&in);
    size_t size = 0;
    for (uint32_t i = 0; i < 2 * count; i++) {
        if (count > CM_CHUNK_META_MAX || get_text(&in, &size) == NULL) {
            return "head: expected at most 32 keys, each with a value, of printable characters";
        }
    }
    size = cm_get_u32(&in);
    (void)cm_get_bytes(&in, size);
    return in.overflow || cm_bytes_left(&in) > 0 ? "head: its sizes do not fit" : NULL;
}

static const char *check_personal(const cm_chunk *chunk)
{
    cm_byte_reader in = cm_byte_reader_make(chunk->personal.bytes, chunk->personal.size);
    uint64_t last = chunk->first_tick;
    while (cm_bytes_left(&in) >= CM_CHUNK_PERSONAL) {
        uint64_t tick = cm_get_u64(&in);
        (void)cm_get_bytes(&in, CM_CHUNK_PERSONAL - 8);
        if (tick < last || tick - chunk->first_tick >= chunk->tick_count) {
            return "personal: expected ticks of the chunk, in order";
        }
        last = tick;
    }
    return cm_bytes_left(&in) > 0 ? "personal: expected rows of 48 bytes" : NULL;
}

const char *cm_chunk_read(const uint8_t *bytes, size_t size, cm_chunk *chunk)
{
    cm_byte_reader in = cm_byte_reader_make(bytes, size);
    const uint8_t *magic = cm_get_bytes(&in, 4);
    uint32_t format = cm_get_u16(&in), end = cm_get_u8(&in), zero = cm_get_u8(&in);
    memset(chunk, 0, sizeof *chunk);
    if (in.overflow || memcmp(magic, MAGIC, 4) != 0) {
        return "not a chunk of a match";
    }
    if (format != FORMAT) {
        return "a chunk of another format, expected 1";
    }
    chunk->end = (cm_match_end)end;
    chunk->match_id = cm_get_u64(&in);
    chunk->first_tick = cm_get_u64(&in);
    chunk->number = cm_get_u32(&in);
    chunk->tick_count = cm_get_u32(&in);
    const uint8_t *before = cm_get_bytes(&in, CM_CHUNK_HASH);
    cm_chunk_bytes *parts[] = {&chunk->head, &chunk->keyframe, &chunk->personal, &chunk->ticks};
    for (size_t i = 0; i < 4; i++) {
        parts[i]->size = cm_get_u32(&in);
    }
    for (size_t i = 0; i < 4; i++) {
        parts[i]->bytes = cm_get_bytes(&in, parts[i]->size);
    }
    if (in.overflow || cm_bytes_left(&in) > 0) {
        return "its sizes do not fit";
    }
    memcpy(chunk->before, before, CM_CHUNK_HASH);
    if (end > CM_MATCH_CUT || zero != 0 || chunk->first_tick > INT64_MAX ||
        (chunk->tick_count == 0) != (chunk->ticks.size == 0) ||
        (chunk->tick_count == 0 && (end == 0 || chunk->keyframe.size > 0))) {
        return "its first 80 bytes contradict each other";
    }
    const char *wrong = chunk->head.size > 0 ? check_head(chunk) : NULL;
    return wrong == NULL ? check_personal(chunk) : wrong;
}

// Heads ----------------------------------------------------------------------------------------

size_t cm_chunk_head_size(const cm_chunk_meta *meta, uint32_t count, size_t scene_size)
{
    size_t size = 1 + 4 + scene_size;
    for (uint32_t i = 0; i < count; i++) {
        size += 2 + strlen(meta[i].key) + strlen(meta[i].value);
    }
    return size;
}

static void put_text(cm_byte_writer *out, const char *text)
{
    size_t size = strlen(text);
    CM_ASSERT(size <= CM_CHUNK_META_TEXT_MAX);
    cm_put_u8(out, (uint8_t)size);
    cm_put_bytes(out, text, size);
}

void cm_chunk_head_write(const cm_chunk_meta *meta, uint32_t count, const uint8_t *scene,
                         size_t scene_size, uint8_t *bytes)
{
    size_t size = cm_chunk_head_size(meta, count, scene_size);
    cm_byte_writer out = cm_byte_writer_make(bytes, size);
    CM_ASSERT(count <= CM_CHUNK_META_MAX && scene_size <= CM_CHUNK_BODY_MAX);
    cm_put_u8(&out, (uint8_t)count);
    for (uint32_t i = 0; i < count; i++) {
        put_text(&out, meta[i].key);
        put_text(&out, meta[i].value);
    }
    cm_put_u32(&out, (uint32_t)scene_size);
    cm_put_bytes(&out, scene, scene_size);
    CM_ASSERT(!out.overflow && out.size == size);
}

bool cm_chunk_meta_text(const cm_chunk *chunk, const char *key, char *text, size_t size)
{
    cm_byte_reader in = cm_byte_reader_make(chunk->head.bytes, chunk->head.size);
    uint32_t count = cm_get_u8(&in);
    for (uint32_t i = 0; i < count; i++) {
        size_t key_size, value_size;
        const char *found = get_text(&in, &key_size), *value = get_text(&in, &value_size);
        if (found == NULL || value == NULL) {
            return false;
        }
        if (key_size == strlen(key) && memcmp(found, key, key_size) == 0) {
            if (value_size >= size) {
                return false;
            }
            memcpy(text, value, value_size);
            text[value_size] = '\0';
            return true;
        }
    }
    return false;
}

bool cm_chunk_meta_number(const cm_chunk *chunk, const char *key, uint32_t base, uint64_t *value)
{
    char text[CM_CHUNK_META_TEXT_MAX + 1];
    *value = 0;
    if (!cm_chunk_meta_text(chunk, key, text, sizeof text) || text[0] == '\0' ||
        (base == 16 && strlen(text) != 16)) {
        return false;
    }
    for (const char *at = text; *at != '\0'; at++) {
        uint32_t digit = *at >= '0' && *at <= '9'   ? (uint32_t)(*at - '0')
                         : *at >= 'a' && *at <= 'f' ? (uint32_t)(*at - 'a') + 10
                                                    : 99;
        if (digit >= base || *value > (UINT64_MAX - digit) / base) {
            return false;
        }
        *value = *value * base + digit;
    }
    return true;
}

cm_chunk_bytes cm_chunk_scene(const cm_chunk *chunk)
{
    cm_byte_reader in = cm_byte_reader_make(chunk->head.bytes, chunk->head.size);
    uint32_t count = cm_get_u8(&in);
    size_t size;
    for (uint32_t i = 0; i < 2 * count; i++) {
        (void)get_text(&in, &size);
    }
    cm_chunk_bytes scene = {.size = cm_get_u32(&in)};
    scene.bytes = cm_get_bytes(&in, scene.size);
    return scene;
}
