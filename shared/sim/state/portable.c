// Portable rows: words in little-endian bytes; see portable.h. Used by world_codec.c and
// body_codec.c.
#include "shared/sim/state/portable.h"

#include "shared/sim/state/check.h"

void cm_portable_put_header(cm_byte_writer *writer, uint32_t magic, uint64_t layout_hash)
{
    cm_put_u32(writer, magic);
    cm_put_u32(writer, CAROM_ENGINE_VERSION);
    cm_put_u64(writer, layout_hash);
}

carom_result cm_portable_check_header(cm_byte_reader *reader, uint32_t magic, uint64_t layout_hash)
{
    uint32_t found = cm_get_u32(reader);
    uint32_t version = cm_get_u32(reader);
    uint64_t hash = cm_get_u64(reader);
    if (reader->overflow) {
        return CAROM_ERROR_CORRUPT;
    }
    if (found != magic) {
        return CAROM_ERROR_MAGIC;
    }
    return version == CAROM_ENGINE_VERSION && hash == layout_hash ? CAROM_OK : CAROM_ERROR_VERSION;
}

void cm_portable_put_row(cm_byte_writer *writer, cm_section section, const void *row)
{
    uint32_t words[CM_ROW_WORDS_MAX];
    uint8_t bytes[4 * CM_ROW_WORDS_MAX]; // one row at a time: a world of 20,000 bodies has 8 MB
    uint32_t count = cm_section_words(section);
    cm_row_load(section, row, words);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < 4; k++) {
            bytes[4 * i + k] = (uint8_t)(words[i] >> (8 * k));
        }
    }
    cm_put_bytes(writer, bytes, 4 * (size_t)count);
}

bool cm_portable_get_row(cm_byte_reader *reader, cm_section section, void *row)
{
    uint32_t words[CM_ROW_WORDS_MAX];
    uint32_t count = cm_section_words(section);
    for (uint32_t i = 0; i < count; i++) {
        words[i] = cm_get_u32(reader);
    }
    return cm_row_store(section, words, row);
}

bool cm_portable_is_dead(cm_section section, const void *row)
{
    uint32_t words[CM_ROW_WORDS_MAX];
    uint32_t count = cm_section_words(section);
    cm_row_load(section, row, words);
    // The generation is the first field of a body, a shape and a joint; a motion has none.
    uint32_t from = section == CM_SECTION_motion ? 0 : 1;
    for (uint32_t i = from; i < count; i++) {
        if (words[i] != 0) {
            return false;
        }
    }
    return true;
}

carom_result cm_portable_check_body(const cm_motion *motion, const cm_body *body)
{
    if (body->generation == 0 || !body->alive || cm_check_motion(motion) != CAROM_OK ||
        cm_check_body(body, NULL) != CAROM_OK) {
        return CAROM_ERROR_CORRUPT;
    }
    carom_vec3 v = motion->linear_velocity, w = motion->angular_velocity;
    bool rests =
        v.x == 0.0f && v.y == 0.0f && v.z == 0.0f && w.x == 0.0f && w.y == 0.0f && w.z == 0.0f;
    bool still = body->type == CAROM_BODY_STATIC || (body->flags & CM_BODY_ASLEEP);
    return !still || rests ? CAROM_OK : CAROM_ERROR_CORRUPT;
}
