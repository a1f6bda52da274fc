// Fuzzed worlds: fuzz_worlds [--first SEED] [--seeds N | --endless] | fuzz_worlds --list FILE
//
// Goal: whatever is built through the API steps without a fault or a number that is not finite, and
// remembers nothing outside its state, and queries find the same in both. Method: a world from each
// seed (random_world.h), disturbed and stepped; in each stretch its image goes into a second world,
// both step side by side for seven ticks, with other rubbish in the scratch of one than of the
// other, and must have the same hash after each; its encoded form decodes to the same hash; and
// encoded bytes that were damaged are refused, or make a world that steps. What is remembered of
// bodies with a history goes the same ways (random_past.h). Built with the address
// and undefined-behaviour sanitizers; with the memory sanitizer scratch counts as never written
// when a step begins, so that what a step reads there without having written it is a failure at
// once, whatever its value. In a debug build every step also checks itself (shadow.h).
//
// FILE has "FIRST LAST" a line and comments after #. Without anything: 200 seeds. A failure prints
// the seed: `--first SEED --seeds 1` does it again. 200 seeds and more must have seen every solver
// and model, and contacts, cuts, sleep and breaks: else they tested nothing, and that is a failure.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/query.h"
#include "shared/base/vec.h"
#include "shared/sim/state/image.h"
#include "tests/fuzz/random_past.h"
#include "tests/fuzz/random_world.h"

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define FORGET(at, size) __msan_poison(at, size)
#endif
#endif
#ifndef FORGET
#define FORGET(at, size)
#endif

#define STRETCHES 6u
#define STRETCH   7u
#define ENOUGH    200u // seeds that must have seen everything

typedef struct count {
    uint64_t worlds, ticks, refused, damaged, decoded, touching, dropped, slept, woken, broken,
        asked, found, unasked;
    uint64_t solver[4], impulse_model[3], friction_model[4], volume_contact[2];
    cm_past_counts past;
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

// One tick, out of scratch filled with a byte that follows from `rubbish` and the tick: as binary32
// 0.7, 0, -0.7, no number, 3, -3e-16, 2e17, -3. What is like a scene's numbers shows most.
static void step(carom_world *world, uint32_t rubbish, count *c)
{
    static const uint8_t bytes[] = {0x3f, 0x00, 0xbf, 0xff, 0x40, 0xa5, 0x5c, 0xc0};
    char *scratch = (char *)world + world->offset.scratch;
    uint32_t events;
    memset(scratch, bytes[(rubbish + world->state.tick) % sizeof bytes],
           world->offset.scratch_size);
    FORGET(scratch, world->offset.scratch_size);
    carom_world_step(world);
    const carom_sleep_event *sleeps = carom_world_sleep_events(world, &events);
    for (uint32_t i = 0; i < events; i++) {
        c->slept += sleeps[i].asleep;
        c->woken += !sleeps[i].asleep;
    }
    c->ticks++;
}

// Back, and forward again side by side with another world.
static void check_rewind(cm_random_world *random, carom_world *twin, void *image, size_t size,
                         uint64_t seed, count *c)
{
    size_t used = carom_world_save(random->world, image, size);
    if (used == 0 || carom_world_restore(twin, image, used) != CAROM_OK) {
        fail(seed, "a save is refused");
    }
    for (uint32_t i = 0; i < STRETCH; i++) {
        step(random->world, 0, c);
        step(twin, 1 + (uint32_t)(seed % 7), c);
        if (carom_world_hash(random->world) != carom_world_hash(twin)) {
            fail(seed, "another hash after going back");
        }
    }
}

// A length, a place, or what is none.
static float some(cm_rng *rng, float usual)
{
    static const float odd[] = {0.0f, 1.0e-45f, 1.0e-5f, 1.0e7f, 3.0e38f, INFINITY, NAN};
    bool sane = cm_rng_below(rng, 40) != 0;
    float value = cm_rng_range(rng, -usual, usual);
    return sane ? value : odd[cm_rng_below(rng, sizeof odd / sizeof odd[0])];
}

static carom_vec3 some_vec(cm_rng *rng, float usual)
{
    carom_vec3 v;
    v.x = some(rng, usual);
    v.y = some(rng, usual);
    v.z = some(rng, usual);
    return v;
}

typedef struct question {
    uint32_t kind, capacity;
    carom_ray ray;
    carom_shape_def shape;
    carom_query_filter filter;
} question;

static question some_question(const cm_random_world *random, cm_rng *rng)
{
    question q = {.kind = cm_rng_below(rng, 4), .capacity = cm_rng_below(rng, 9)};
    uint32_t slots = carom_world_body_slots(random->world);
    q.ray.origin = some_vec(rng, 4.0f);
    q.ray.translation = some_vec(rng, 9.0f);
    q.shape = carom_default_shape_def();
    q.shape.type = (carom_shape_type)cm_rng_below(rng, CAROM_SHAPE_HULL + 2);
    q.shape.position = q.ray.origin;
    q.shape.orientation = (carom_quat){0.0f, 0.6f, 0.0f, some(rng, 0.0f) + 0.8f};
    q.shape.radius = some(rng, 0.1f) + 0.2f;
    q.shape.half_height = some(rng, 0.1f) + 0.2f;
    q.shape.half_extents = some_vec(rng, 0.6f);
    q.shape.hull =
        random->hull_count > 0 ? random->hulls[cm_rng_below(rng, random->hull_count)] : NULL;
    q.filter = carom_default_query_filter();
    q.filter.mask = cm_rng_below(rng, 8) ? UINT32_MAX : cm_rng_below(rng, 4);
    q.filter.sensors = cm_rng_below(rng, 2);
    q.filter.exclude = carom_world_body_at(random->world, cm_rng_below(rng, slots + 1));
    q.filter.exclude.generation += cm_rng_below(rng, 20) == 0;
    return q;
}

static carom_result ask(const carom_world *world, const question *q, carom_query_hit *hits,
                        uint32_t *found)
{
    switch (q->kind) {
    case 0:
        return carom_world_cast_ray(world, &q->ray, &q->filter, hits, q->capacity, found);
    case 1:
        return carom_world_cast_shape(world, &q->shape, q->ray.translation, &q->filter, hits,
                                      q->capacity, found);
    case 2:
        return carom_world_overlap(world, &q->shape, &q->filter, hits, q->capacity, found);
    default:
        return carom_world_closest(world, q->ray.origin, q->ray.translation.x, &q->filter, hits,
                                   q->capacity, found);
    }
}

static void check_hit(const carom_query_hit *a, const carom_query_hit *b, uint64_t seed)
{
    if (!cm_vec_is_finite(a->point) || !cm_vec_is_finite(a->normal) || !cm_is_finite(a->distance)) {
        fail(seed, "what a query found is not finite");
    }
    if (a->shape.index != b->shape.index || a->distance != b->distance || a->inside != b->inside ||
        memcmp(&a->point, &b->point, sizeof a->point) != 0 ||
        memcmp(&a->normal, &b->normal, sizeof a->normal) != 0) {
        fail(seed, "a query finds something else in the same world");
    }
}

// Two worlds of the same state.
static void check_queries(const cm_random_world *random, const carom_world *twin, uint64_t seed,
                          count *c)
{
    cm_rng rng;
    uint64_t before = carom_world_hash(random->world);
    cm_rng_seed(&rng, seed ^ before);
    for (uint32_t i = 0; i < 16; i++) {
        question q = some_question(random, &rng);
        carom_query_hit hits[2][8];
        uint32_t found[2] = {0, 0};
        carom_result first = ask(random->world, &q, hits[0], &found[0]);
        carom_result second = ask(twin, &q, hits[1], &found[1]);
        if (first != second || found[0] != found[1]) {
            fail(seed, "a query has another result in the same world");
        }
        for (uint32_t k = 0; k < found[0]; k++) {
            check_hit(&hits[0][k], &hits[1][k], seed);
        }
        c->asked++;
        c->found += found[0];
        c->unasked += first != CAROM_OK;
    }
    if (carom_world_hash(random->world) != before) {
        fail(seed, "a query changed the world");
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
        for (uint32_t i = 0; i < 3; i++) {
            step(twin, 0, c);
        }
        check_finite(twin, seed);
    }
    free(bytes);
}

static void step_past(carom_world *world)
{
    count none = {0};
    step(world, 3, &none);
}

// By numbers of its own, in the twin: the world goes on as it would without.
static void check_past(const cm_random_world *random, carom_world *twin, void *image, size_t size,
                       uint64_t seed, count *c)
{
    cm_rng rng;
    cm_rng_seed(&rng, seed + carom_world_tick(random->world));
    size_t used = carom_world_save(random->world, image, size);
    const char *wrong = cm_random_past(twin, image, used, size, &rng, step_past, &c->past);
    if (wrong != NULL) {
        fail(seed, wrong);
    }
}

static void count_world(const cm_random_world *random, count *c)
{
    const carom_solver_def *solver = &random->def.solver;
    c->refused += random->refused;
    c->solver[solver->type]++;
    c->impulse_model[solver->impulse.model] += solver->type == CAROM_SOLVER_IMPULSE;
    c->friction_model[solver->lcp.friction_model] += solver->type == CAROM_SOLVER_LCP;
    c->volume_contact[solver->volume.contact] += solver->type == CAROM_SOLVER_VOLUME;
    c->worlds++;
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
        check_rewind(&random, twin, image, size, seed, c);
        check_queries(&random, twin, seed, c);
        check_finite(random.world, seed);
        check_codec(&random, twin, seed, c);
        check_past(&random, twin, image, size, seed, c);
        for (uint32_t i = cm_rng_below(&random.rng, 3) ? 5 : 40; i > 0; i--) {
            step(random.world, 0, c);
        }
        check_finite(random.world, seed);
    }
    carom_world_stats stats;
    carom_world_stats_get(random.world, &stats);
    c->touching += stats.touching;
    c->dropped += stats.log_counts[CAROM_LOG_CONTACTS_CUT];
    c->broken += stats.joints_broken;
    count_world(&random, c);
    free(image);
    free((void *)twin);
    cm_random_world_close(&random);
}

// What enough seeds must have seen.
static bool saw_all(const count *c)
{
    const struct {
        const char *what;
        uint64_t times;
    } wanted[] = {
        {"soft", c->solver[CAROM_SOLVER_SOFT]},
        {"lcp", c->solver[CAROM_SOLVER_LCP]},
        {"impulse interpolated", c->impulse_model[CAROM_IMPULSE_INTERPOLATED]},
        {"impulse normal", c->impulse_model[CAROM_IMPULSE_NORMAL]},
        {"impulse circle", c->impulse_model[CAROM_IMPULSE_CIRCLE]},
        {"lcp box_estimated", c->friction_model[CAROM_FRICTION_BOX_ESTIMATED]},
        {"lcp box_constant", c->friction_model[CAROM_FRICTION_BOX_CONSTANT]},
        {"lcp pyramid", c->friction_model[CAROM_FRICTION_PYRAMID]},
        {"lcp cone", c->friction_model[CAROM_FRICTION_CONE]},
        {"volume intersection", c->volume_contact[CAROM_VOLUME_INTERSECTION]},
        {"volume deepest_point", c->volume_contact[CAROM_VOLUME_DEEPEST_POINT]},
        {"contacts that touch", c->touching},
        {"contacts cut", c->dropped},
        {"bodies that fall asleep", c->slept},
        {"bodies that wake", c->woken},
        {"joints that break", c->broken},
        {"calls refused", c->refused},
        {"shapes that queries found", c->found},
        {"queries refused", c->unasked},
        {"damaged images refused", c->damaged - c->decoded},
        {"damaged images decoded", c->decoded},
        {"poses of bodies with a history", c->past.poses},
        {"damaged histories refused", c->past.damaged - c->past.taken},
        {"damaged histories taken", c->past.taken},
    };
    bool all = true;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (wanted[i].times == 0) {
            fprintf(stderr, "fuzz_worlds: %llu seeds without: %s\n", (unsigned long long)c->worlds,
                    wanted[i].what);
            all = false;
        }
    }
    return all;
}

static void print(const count *c)
{
    printf(
        "fuzz_worlds: %llu seeds, %llu ticks, solvers %llu soft %llu impulse %llu lcp %llu "
        "volume, %llu touching, %llu contacts cut, %llu fell asleep, %llu woke, %llu joints "
        "broken, %llu calls refused, %llu queries found %llu shapes, %llu of %llu damaged "
        "images decoded, %llu poses remembered, %llu of %llu damaged histories taken; 0 failed\n",
        (unsigned long long)c->worlds, (unsigned long long)c->ticks,
        (unsigned long long)c->solver[0], (unsigned long long)c->solver[1],
        (unsigned long long)c->solver[2], (unsigned long long)c->solver[3],
        (unsigned long long)c->touching, (unsigned long long)c->dropped,
        (unsigned long long)c->slept, (unsigned long long)c->woken, (unsigned long long)c->broken,
        (unsigned long long)c->refused, (unsigned long long)c->asked, (unsigned long long)c->found,
        (unsigned long long)c->decoded, (unsigned long long)c->damaged,
        (unsigned long long)c->past.poses, (unsigned long long)c->past.taken,
        (unsigned long long)c->past.damaged);
    fflush(stdout);
}

static void run_seeds(uint64_t first, uint64_t seeds, count *c)
{
    for (uint64_t i = 0; i < seeds; i++) {
        run(first + i, c);
        if (c->worlds % 1000 == 0) {
            print(c);
        }
    }
}

static bool run_list(const char *path, count *c)
{
    FILE *file = fopen(path, "r");
    char text[256];
    unsigned long long first, last;
    if (file == NULL) {
        fprintf(stderr, "fuzz_worlds: no %s\n", path);
        return false;
    }
    bool good = true;
    while (good && fgets(text, sizeof text, file) != NULL) {
        text[strcspn(text, "#\n")] = '\0';
        int fields = sscanf(text, "%llu %llu", &first, &last);
        good = fields == EOF || (fields == 2 && first <= last);
        if (!good) {
            fprintf(stderr, "fuzz_worlds: %s: '%s', expected FIRST LAST\n", path, text);
        } else if (fields == 2) {
            run_seeds(first, last - first + 1, c);
        }
    }
    fclose(file);
    return good;
}

int main(int argc, char **argv)
{
    uint64_t first = 1, seeds = 200;
    const char *list = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--endless") == 0) {
            seeds = UINT64_MAX;
        } else if (i + 1 < argc && strcmp(argv[i], "--first") == 0) {
            first = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--seeds") == 0) {
            seeds = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--list") == 0) {
            list = argv[++i];
        } else {
            fprintf(stderr, "usage: fuzz_worlds [--first SEED] [--seeds N | --endless] | --list "
                            "FILE\n");
            return 2;
        }
    }
    count c = {0};
    if (list == NULL) {
        run_seeds(first, seeds, &c);
    } else if (!run_list(list, &c)) {
        return 1;
    }
    print(&c);
    return c.worlds < ENOUGH || saw_all(&c) ? 0 : 1;
}
