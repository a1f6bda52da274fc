// See past.h.
#include "shared/game/past.h"

#include "carom/game.h"
#include "shared/base/vec.h"

#include <string.h>

#define POSE_WORDS 9u

_Static_assert(sizeof(carom_body_pose) == 4 * POSE_WORDS, "saved as it stands: no hidden padding");

size_t cm_past_size(uint32_t ticks)
{
    return ticks * (sizeof(uint32_t) + CAROM_HISTORY_BODIES_MAX * sizeof(carom_body_pose));
}

cm_past cm_past_at(void *memory, uint32_t ticks)
{
    uint32_t *counts = memory;
    return (cm_past){ticks, counts, (carom_body_pose *)(counts + ticks)};
}

static carom_body_pose *row_at(const cm_past *past, uint64_t tick)
{
    return past->poses + (size_t)(tick % past->ticks) * CAROM_HISTORY_BODIES_MAX;
}

void cm_past_note(cm_past *past, const carom_world *world)
{
    if (past->ticks == 0) {
        return;
    }
    uint64_t tick = carom_world_tick(world);
    carom_body_pose *row = row_at(past, tick);
    uint32_t count = 0, slots = carom_world_body_slots(world);
    for (uint32_t slot = 0; slot < slots && count < CAROM_HISTORY_BODIES_MAX; slot++) {
        carom_body_id body = carom_world_body_at(world, slot);
        carom_body_state state;
        if (carom_body_has_history(world, body) &&
            carom_body_get(world, body, &state) == CAROM_OK) {
            row[count++] = (carom_body_pose){body, state.position, state.orientation};
        }
    }
    past->counts[tick % past->ticks] = count;
}

// The shorter way round, as clients draw it.
static carom_body_pose between(const carom_body_pose *a, const carom_body_pose *b, float share)
{
    carom_quat p = a->orientation, q = b->orientation;
    float dot = p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    float u = 1.0f - share, v = dot < 0.0f ? -share : share;
    carom_quat turn = {u * p.x + v * q.x, u * p.y + v * q.y, u * p.z + v * q.z, u * p.w + v * q.w};
    carom_vec3 place = cm_add(cm_scale(u, a->position), cm_scale(share, b->position));
    return (carom_body_pose){a->body, place, cm_quat_normalize(turn)};
}

uint32_t cm_past_poses(const cm_past *past, const carom_world *world, uint64_t newest,
                       uint64_t time, carom_body_pose *poses)
{
    uint64_t held = newest + 1 < past->ticks ? newest + 1 : past->ticks;
    uint64_t oldest = newest + 1 - held, tick = time / CAROM_SEEN_PER_TICK;
    float share = (float)(time % CAROM_SEEN_PER_TICK) / (float)CAROM_SEEN_PER_TICK;
    if (tick < oldest || tick >= newest) {
        tick = tick < oldest ? oldest : newest;
        share = 0.0f;
    }
    const carom_body_pose *row = row_at(past, tick), *after = row_at(past, tick + (share > 0.0f));
    uint32_t rows = past->counts[tick % past->ticks];
    uint32_t afters = past->counts[(tick + (share > 0.0f)) % past->ticks];
    uint32_t count = 0, next = 0;
    for (uint32_t i = 0; i < rows; i++) {
        if (!carom_body_is_valid(world, row[i].body)) {
            continue;
        }
        while (next < afters && after[next].body.index < row[i].body.index) {
            next++;
        }
        bool both = next < afters && carom_body_id_equal(after[next].body, row[i].body);
        poses[count++] = both && share > 0.0f ? between(&row[i], &after[next], share) : row[i];
    }
    return count;
}

// The words of a pose, one by one.
static void load_pose(const carom_body_pose *pose, uint32_t *words)
{
    memcpy(words, pose, sizeof *pose);
}

void cm_past_hash(const cm_past *past, cm_hash *hash)
{
    for (uint32_t t = 0; t < past->ticks; t++) {
        cm_hash_u32(hash, past->counts[t]);
        for (uint32_t i = 0; i < past->counts[t]; i++) {
            uint32_t words[POSE_WORDS];
            load_pose(&row_at(past, t)[i], words);
            for (uint32_t k = 0; k < POSE_WORDS; k++) {
                cm_hash_u32(hash, words[k]);
            }
        }
    }
}

size_t cm_past_save_size(const cm_past *past)
{
    size_t size = past->ticks * sizeof *past->counts;
    for (uint32_t t = 0; t < past->ticks; t++) {
        size += past->counts[t] * sizeof *past->poses;
    }
    return size;
}

size_t cm_past_save_bound(const cm_past *past)
{
    return cm_past_size(past->ticks);
}

void cm_past_save(const cm_past *past, void *bytes)
{
    size_t head = past->ticks * sizeof *past->counts;
    char *at = bytes;
    if (past->ticks == 0) {
        return;
    }
    memcpy(at, past->counts, head);
    at += head;
    for (uint32_t t = 0; t < past->ticks; t++) {
        size_t size = past->counts[t] * sizeof *past->poses;
        memcpy(at, row_at(past, t), size);
        at += size;
    }
}

size_t cm_past_saved_size(const cm_past *past, const void *bytes, size_t size)
{
    size_t total = past->ticks * sizeof *past->counts;
    for (uint32_t t = 0; t < past->ticks; t++) {
        uint32_t count;
        if (size < (t + 1) * sizeof count) {
            return 0;
        }
        memcpy(&count, (const char *)bytes + t * sizeof count, sizeof count);
        if (count > CAROM_HISTORY_BODIES_MAX) {
            return 0;
        }
        total += count * sizeof *past->poses;
    }
    return total <= size ? total : 0;
}

void cm_past_restore(cm_past *past, const void *bytes)
{
    const char *at = bytes;
    if (past->ticks == 0) {
        return;
    }
    memcpy(past->counts, at, past->ticks * sizeof *past->counts);
    at += past->ticks * sizeof *past->counts;
    for (uint32_t t = 0; t < past->ticks; t++) {
        size_t size = past->counts[t] * sizeof *past->poses;
        memcpy(row_at(past, t), at, size);
        at += size;
    }
}

size_t cm_past_encode_size(const cm_past *past)
{
    return past->ticks > 0 ? 4 + cm_past_save_size(past) : 0;
}

void cm_past_encode(const cm_past *past, cm_byte_writer *writer)
{
    if (past->ticks > 0) {
        cm_put_u32(writer, past->ticks);
    }
    for (uint32_t t = 0; t < past->ticks; t++) {
        cm_put_u32(writer, past->counts[t]);
        for (uint32_t i = 0; i < past->counts[t]; i++) {
            uint32_t words[POSE_WORDS];
            load_pose(&row_at(past, t)[i], words);
            for (uint32_t k = 0; k < POSE_WORDS; k++) {
                cm_put_u32(writer, words[k]);
            }
        }
    }
}

static carom_body_pose get_pose(cm_byte_reader *reader)
{
    uint32_t words[POSE_WORDS];
    carom_body_pose pose;
    for (uint32_t k = 0; k < POSE_WORDS; k++) {
        words[k] = cm_get_u32(reader);
    }
    memcpy(&pose, words, sizeof pose);
    return pose;
}

// As a world's own poses: finite, and unit quaternions as near as the rules for those ask.
static bool is_sound(const carom_body_pose *pose)
{
    carom_quat q = pose->orientation;
    return cm_vec_is_finite(pose->position) && cm_quat_is_finite(q) &&
           cm_abs(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w - 1.0f) < CAROM_UNIT_TOLERANCE;
}

bool cm_past_check(const cm_past *past, cm_byte_reader *reader)
{
    if (past->ticks > 0 && cm_get_u32(reader) != past->ticks) {
        return false;
    }
    for (uint32_t t = 0; t < past->ticks; t++) {
        uint32_t count = cm_get_u32(reader), last = 0;
        for (uint32_t i = 0; i < count; i++) {
            carom_body_pose pose = get_pose(reader);
            bool ascends = i == 0 || pose.body.index > last;
            if (reader->overflow || count > CAROM_HISTORY_BODIES_MAX || !ascends ||
                !is_sound(&pose)) {
                return false;
            }
            last = pose.body.index;
        }
    }
    return !reader->overflow;
}

void cm_past_read(cm_past *past, cm_byte_reader *reader)
{
    if (past->ticks > 0) {
        cm_get_u32(reader);
    }
    for (uint32_t t = 0; t < past->ticks; t++) {
        past->counts[t] = cm_get_u32(reader);
        for (uint32_t i = 0; i < past->counts[t]; i++) {
            row_at(past, t)[i] = get_pose(reader);
        }
    }
}
