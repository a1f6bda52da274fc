// Fuzzed worlds: fuzz_worlds [--first SEED] [--seeds N] [--seconds S]
//
// Goal: whatever is built through the API steps without a fault or a number that is not finite, and
// remembers nothing outside its state. Method: a world from each seed (random_world.h), disturbed
// and stepped; after each stretch it goes back seven ticks and forward again in a second world with
// scrubbed scratch and must have the same hash; its encoded form decodes to the same hash; and
// encoded bytes that were damaged are refused, or make a world that steps. Built with the address
// and undefined-behaviour sanitizers, in a debug build every step also checks itself (shadow.h).
//
// Ends after N seeds or S seconds, whichever is first; without either after 200 seeds. A failure
// prints the seed: `--first SEED --seeds 1` does it again.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shared/base/vec.h"
#include "shared/sim/state/image.h"
#include "tests/fuzz/random_world.h"

#define STRETCHES 6u
#define STRETCH   7u

typedef struct count {
    uint64_t worlds, ticks, refused, damaged, decoded, touching, asleep, broken;
    uint64_t solver[4];
} count;

static void fail(uint64_t seed, const char *what)
{
    fflush(stdout);
    fprintf(stderr, "fuzz_worlds: seed %llu: %s\n", (unsigned long long)seed, what);
    exit(1);
}

static void check_finite(const carom_world *world, uint64_t seed)
{
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        carom_body_state s;
        if (carom_body_get(world, carom_world_body_at(world, slot), &s) == CAROM_OK &&
            !(cm_vec_is_finite(s.position) && cm_quat_is_finite(s.orientation) &&
              cm_vec_is_finite(s.linear_velocity) && cm_vec_is_finite(s.angular_velocity) &&
              cm_vec_is_finite(s.contact_force) && cm_vec_is_finite(s.contact_torque))) {
            fail(seed, "a body's state is not finite");
        }
    }
    for (uint32_t slot = 0; slot < carom_world_joint_slots(world); slot++) {
        carom_joint_state s;
        if (carom_joint_get(world, carom_world_joint_at(world, slot), &s) == CAROM_OK &&
            !(cm_is_finite(s.value) && cm_is_finite(s.rate) && cm_is_finite(s.error) &&
              cm_is_finite(s.force) && cm_is_finite(s.torque))) {
            fail(seed, "a joint's state is not finite");
        }
    }
}

static void step(carom_world *world, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        memset((char *)world + world->offset.scratch, 0x5a, world->offset.scratch_size);
        carom_world_step(world);
    }
}

// Back and forward again, in another world.
static void check_rewind(cm_random_world *random, carom_world *twin, void *image, size_t size,
                         uint64_t seed)
{
    size_t used = carom_world_save(random->world, image, size);
    if (used == 0 || carom_world_restore(twin, image, used) != CAROM_OK) {
        fail(seed, "a save is refused");
    }
    for (uint32_t i = 0; i < STRETCH; i++) {
        carom_world_step(random->world);
    }
    step(twin, STRETCH);
    if (carom_world_hash(random->world) != carom_world_hash(twin)) {
        fail(seed, "another hash after going back");
    }
}

// The portable form, whole and damaged.
static void check_codec(cm_random_world *random, carom_world *twin, uint64_t seed, count *c)
{
    size_t size = carom_world_encode_size(random->world);
    uint8_t *bytes = malloc(size + 1);
    if (bytes == NULL || carom_world_encode(random->world, bytes, size) != size) {
        fail(seed, "does not encode");
    }
    if (carom_world_decode(twin, bytes, size) != CAROM_OK ||
        carom_world_hash(twin) != carom_world_hash(random->world)) {
        fail(seed, "what was encoded does not decode to the same world");
    }
    uint32_t hits = 1 + cm_rng_below(&random->rng, 4);
    for (uint32_t i = 0; i < hits; i++) {
        size_t at = cm_rng_below(&random->rng, (uint32_t)size);
        bytes[at] = (uint8_t)cm_rng_next(&random->rng);
    }
    size_t length = cm_rng_below(&random->rng, 8) ? size : size - cm_rng_below(&random->rng, 64);
    c->damaged++;
    if (carom_world_decode(twin, bytes, length) == CAROM_OK) {
        c->decoded++;
        step(twin, 3);
        check_finite(twin, seed);
    }
    free(bytes);
}

static void run(uint64_t seed, count *c)
{
    cm_random_world random;
    if (!cm_random_world_open(&random, seed)) {
        fail(seed, "no world");
    }
    carom_world *twin = cm_random_world_twin(&random);
    size_t size = carom_world_save_bound(random.world);
    void *image = malloc(size);
    if (twin == NULL || image == NULL) {
        fail(seed, "no memory");
    }
    for (uint32_t stretch = 0; stretch < STRETCHES; stretch++) {
        for (uint32_t i = cm_rng_below(&random.rng, 4); i > 0; i--) {
            cm_random_world_disturb(&random);
        }
        check_rewind(&random, twin, image, size, seed);
        check_finite(random.world, seed);
        check_codec(&random, twin, seed, c);
        for (uint32_t i = cm_rng_below(&random.rng, 3) ? 5 : 40; i > 0; i--) {
            carom_world_step(random.world);
            c->ticks++;
        }
        c->ticks += STRETCH;
        check_finite(random.world, seed);
    }
    carom_world_stats stats;
    carom_world_stats_get(random.world, &stats);
    c->touching += stats.touching;
    c->broken += stats.joints_broken;
    for (uint32_t slot = 0; slot < carom_world_body_slots(random.world); slot++) {
        carom_body_state s;
        carom_body_id id = carom_world_body_at(random.world, slot);
        c->asleep += carom_body_get(random.world, id, &s) == CAROM_OK && s.asleep;
    }
    c->refused += random.refused;
    c->solver[random.def.solver.type]++;
    c->worlds++;
    free(image);
    free((void *)twin);
    cm_random_world_close(&random);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    uint64_t first = 1, seeds = 0;
    double seconds = 0.0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--first") == 0) {
            first = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--seeds") == 0) {
            seeds = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--seconds") == 0) {
            seconds = strtod(argv[i + 1], NULL);
        } else {
            fprintf(stderr, "usage: fuzz_worlds [--first SEED] [--seeds N] [--seconds S]\n");
            return 2;
        }
    }
    seeds = seeds == 0 ? (seconds > 0.0 ? UINT64_MAX : 200) : seeds;
    count c = {0};
    double end = seconds_now() + seconds;
    for (uint64_t i = 0; i < seeds && (seconds <= 0.0 || seconds_now() < end); i++) {
        run(first + i, &c);
    }
    printf("fuzz_worlds: seeds %llu..%llu: %llu ticks, solvers %llu soft %llu impulse %llu lcp "
           "%llu volume, %llu touching, %llu asleep, %llu joints broken, %llu calls refused, %llu "
           "of %llu damaged images decoded; 0 failed\n",
           (unsigned long long)first, (unsigned long long)(first + c.worlds - 1),
           (unsigned long long)c.ticks, (unsigned long long)c.solver[0],
           (unsigned long long)c.solver[1], (unsigned long long)c.solver[2],
           (unsigned long long)c.solver[3], (unsigned long long)c.touching,
           (unsigned long long)c.asleep, (unsigned long long)c.broken,
           (unsigned long long)c.refused, (unsigned long long)c.decoded,
           (unsigned long long)c.damaged);
    return 0;
}
