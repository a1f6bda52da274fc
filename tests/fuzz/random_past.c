// A ring beside a world, as a game has it. Typical: 8 ticks of 3 bodies.
#include "tests/fuzz/random_past.h"

#include <stdlib.h>
#include <string.h>

#include "carom/game.h"
#include "shared/base/vec.h"
#include "shared/game/past.h"

#define RING  8u
#define FIRST 6u // ticks up to where it goes back to
#define LAST  6u // and after it

static cm_past open_ring(void *memory)
{
    memset(memory, 0, cm_past_size(RING));
    return cm_past_at(memory, RING);
}

static uint64_t hash_of(const cm_past *past)
{
    cm_hash hash = cm_hash_begin(1);
    cm_past_hash(past, &hash);
    return cm_hash_end(&hash);
}

static void play(carom_world *world, cm_past *past, uint32_t ticks, void (*step)(carom_world *))
{
    for (uint32_t i = 0; i < ticks; i++) {
        step(world);
        cm_past_note(past, world);
    }
}

// Poses of any time: ascending, of bodies that are there, numbers.
static const char *ask(const cm_past *past, const carom_world *world, cm_rng *rng)
{
    carom_body_pose poses[CAROM_HISTORY_BODIES_MAX];
    uint64_t tick = carom_world_tick(world);
    for (uint32_t i = 0; i < 8; i++) {
        uint64_t time = (tick + 4) * CAROM_SEEN_PER_TICK - cm_rng_below(rng, 20 * 64);
        uint32_t count = cm_past_poses(past, world, tick, time, poses);
        for (uint32_t k = 0; k < count; k++) {
            if (!carom_body_is_valid(world, poses[k].body) ||
                (k > 0 && poses[k].body.index <= poses[k - 1].body.index) ||
                !cm_vec_is_finite(poses[k].position) || !cm_quat_is_finite(poses[k].orientation)) {
                return "a pose of the past is none";
            }
        }
    }
    return NULL;
}

static const char *code(const cm_past *past, const carom_world *world, void *memory, cm_rng *rng,
                        cm_past_counts *counts)
{
    const char *wrong = NULL;
    size_t size = cm_past_encode_size(past);
    uint8_t *bytes = malloc(size);
    cm_past other = open_ring(memory);
    cm_byte_writer writer = cm_byte_writer_make(bytes, size);
    cm_past_encode(past, &writer);
    cm_byte_reader check = cm_byte_reader_make(bytes, size), take = check;
    if (writer.size != size || !cm_past_check(&other, &check)) {
        free(bytes);
        return "a past that was encoded is refused";
    }
    cm_past_read(&other, &take);
    wrong = hash_of(&other) == hash_of(past) ? NULL : "a past decodes to another";
    for (uint32_t i = 0; i < 16; i++) {
        uint8_t *at = &bytes[cm_rng_below(rng, (uint32_t)size)], was = *at;
        *at = (uint8_t)cm_rng_next(rng);
        size_t length = cm_rng_below(rng, 4) > 0 ? size : cm_rng_below(rng, (uint32_t)size);
        check = take = cm_byte_reader_make(bytes, length);
        counts->damaged++;
        if (cm_past_check(&other, &check)) {
            cm_past_read(&other, &take);
            counts->taken++;
            wrong = wrong != NULL ? wrong : ask(&other, world, rng);
        }
        *at = was;
    }
    free(bytes);
    return wrong;
}

static const char *run(carom_world *world, void *image, size_t size, void *kept, void *memory[2],
                       cm_rng *rng, void (*step)(carom_world *), cm_past_counts *counts)
{
    cm_past past = open_ring(memory[0]), again = open_ring(memory[1]);
    cm_past_note(&past, world);
    play(world, &past, FIRST, step);
    size_t used = carom_world_save(world, image, size);
    size_t kept_size = cm_past_save_size(&past);
    cm_past_save(&past, kept);
    play(world, &past, LAST, step);
    for (uint32_t i = 0; i < RING; i++) {
        counts->poses += past.counts[i];
    }
    const char *wrong = ask(&past, world, rng);
    if (wrong == NULL && (carom_world_restore(world, image, used) != CAROM_OK ||
                          cm_past_saved_size(&again, kept, kept_size) != kept_size)) {
        wrong = "a past that was saved is refused";
    }
    if (wrong == NULL) {
        cm_past_restore(&again, kept);
        play(world, &again, LAST, step);
        wrong = hash_of(&again) == hash_of(&past) ? NULL : "another past after going back";
    }
    return wrong != NULL ? wrong : code(&past, world, memory[1], rng, counts);
}

const char *cm_random_past(carom_world *world, const void *image, size_t used, size_t size,
                           cm_rng *rng, void (*step)(carom_world *world), cm_past_counts *counts)
{
    size_t ring = cm_past_size(RING);
    void *memory[2] = {malloc(ring), malloc(ring)}, *kept = malloc(ring + sizeof(uint64_t));
    void *own = malloc(size);
    const char *wrong = "no memory";
    if (memory[0] != NULL && memory[1] != NULL && kept != NULL && own != NULL) {
        wrong = carom_world_restore(world, image, used) == CAROM_OK
                    ? run(world, own, size, kept, memory, rng, step, counts)
                    : "a save is refused";
    }
    free(memory[0]);
    free(memory[1]);
    free(kept);
    free(own);
    return wrong;
}
