// See queries.h. Nothing but the call stands between two clock readings; before a batch that is to
// build its tree, a body is moved and moved back.
#include "server/tools/bench/queries.h"

#include <stdlib.h>

#include "carom/query.h"
#include "server/tools/bench/worlds.h"
#include "shared/base/rng.h"
#include "shared/base/vec.h"

#define OUTSIDE  20.0f // m around the box, where rays begin
#define OVERLAPS 64u   // of a sphere, at most

typedef struct batch {
    uint32_t count;
    carom_ray *rays;
    carom_shape_def *shapes;
    carom_vec3 *ways, *points;
    carom_query_hit *hits;
} batch;

static bool batch_make(batch *b, uint32_t count)
{
    b->count = count;
    b->rays = calloc(count, sizeof *b->rays);
    b->shapes = calloc(count, sizeof *b->shapes);
    b->ways = calloc(count, sizeof *b->ways);
    b->points = calloc(count, sizeof *b->points);
    b->hits = calloc(count, sizeof *b->hits);
    return b->rays && b->shapes && b->ways && b->points && b->hits;
}

static void batch_drop(batch *b)
{
    free(b->rays);
    free(b->shapes);
    free(b->ways);
    free(b->points);
    free(b->hits);
}

static carom_vec3 within(cm_rng *rng, carom_vec3 low, carom_vec3 high)
{
    carom_vec3 v;
    v.x = cm_rng_range(rng, low.x, high.x);
    v.y = cm_rng_range(rng, low.y, high.y);
    v.z = cm_rng_range(rng, low.z, high.z);
    return v;
}

static void fill(batch *b, const carom_world *world)
{
    carom_vec3 low = cm_vec(1.0e6f, 1.0e6f, 1.0e6f), high = cm_neg(low);
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        carom_body_state s;
        if (carom_body_get(world, carom_world_body_at(world, slot), &s) == CAROM_OK &&
            s.type == CAROM_BODY_DYNAMIC) {
            carom_vec3 p = s.position;
            low = cm_vec(cm_min(low.x, p.x), cm_min(low.y, p.y), cm_min(low.z, p.z));
            high = cm_vec(cm_max(high.x, p.x), cm_max(high.y, p.y), cm_max(high.z, p.z));
        }
    }
    cm_rng rng;
    cm_rng_seed(&rng, 1);
    carom_vec3 out = cm_vec(OUTSIDE, OUTSIDE, OUTSIDE);
    for (uint32_t i = 0; i < b->count; i++) {
        carom_vec3 from = within(&rng, cm_sub(low, out), cm_add(high, out));
        from.y = high.y + cm_rng_range(&rng, 0.0f, OUTSIDE);
        b->points[i] = within(&rng, low, high);
        b->ways[i] = cm_scale(1.25f, cm_sub(b->points[i], from));
        b->rays[i] = (carom_ray){from, b->ways[i]};
        b->shapes[i] = carom_default_shape_def();
        b->shapes[i].radius = 0.25f;
        b->shapes[i].position = from;
    }
}

// So that the tree is of no use any more.
static void stir(carom_world *world)
{
    carom_body_id body = carom_world_body_at(world, carom_world_body_slots(world) - 1);
    carom_body_state s;
    if (carom_body_get(world, body, &s) == CAROM_OK) {
        carom_vec3 away = cm_add(s.position, cm_vec(0.0f, 1.0f, 0.0f));
        carom_body_set_pose(world, body, away, s.orientation);
        carom_body_set_pose(world, body, s.position, s.orientation);
    }
}

// One by one, as a game asks, and all that each overlaps.
static carom_result overlap_each(const carom_world *world, const batch *b)
{
    carom_result worst = CAROM_OK;
    for (uint32_t i = 0; i < b->count; i++) {
        carom_query_hit hits[OVERLAPS];
        uint32_t count;
        carom_shape_def shape = b->shapes[i];
        shape.position = b->points[i];
        carom_result result = carom_world_overlap(world, &shape, NULL, hits, OVERLAPS, &count);
        worst = result != CAROM_OK ? result : worst;
    }
    return worst;
}

static carom_result measure(carom_world *world, const batch *b, uint32_t runs, double *samples,
                            cm_query_bench *bench)
{
    cm_samples_summary *const rows[] = {&bench->all,   &bench->first,   &bench->rays_only,
                                        &bench->casts, &bench->closest, &bench->overlaps};
    carom_result worst = CAROM_OK;
    for (uint32_t kind = 0; kind < sizeof rows / sizeof rows[0]; kind++) {
        for (uint32_t i = 0; i < runs; i++) {
            carom_result result = CAROM_OK;
            if (kind < 2) {
                stir(world);
            }
            double start = cm_bench_thread_ms();
            if (kind == 3) {
                result =
                    carom_world_cast_shapes(world, b->shapes, b->ways, b->count, NULL, b->hits);
            } else if (kind == 4) {
                result = carom_world_closest_each(world, b->points, b->count, 1.0f, NULL, b->hits);
            } else if (kind == 5) {
                result = overlap_each(world, b);
            } else {
                result =
                    carom_world_cast_rays(world, b->rays, kind == 1 ? 1 : b->count, NULL, b->hits);
            }
            samples[i] = cm_bench_thread_ms() - start;
            worst = result != CAROM_OK ? result : worst;
        }
        cm_samples_summarise(samples, runs, rows[kind]);
        for (uint32_t i = 0; kind == 2 && i < b->count; i++) {
            bench->hits += b->hits[i].shape.generation != 0;
        }
    }
    return worst;
}

carom_result cm_query_bench_measure(const cm_scene *scene, uint32_t steps, uint32_t runs,
                                    uint32_t rays, cm_query_bench *bench)
{
    carom_world_def def;
    batch b = {0};
    cm_scene_world_def(scene, &def);
    carom_world *world = cm_bench_world_new(&def);
    double *samples = calloc(runs, sizeof *samples);
    bool room = world != NULL && samples != NULL && batch_make(&b, rays);
    carom_result result = room ? cm_scene_populate(scene, world) : CAROM_ERROR_MEMORY;
    *bench = (cm_query_bench){.rays = rays};
    if (result == CAROM_OK) {
        for (uint32_t i = 0; i < steps; i++) {
            carom_world_step(world);
        }
        carom_world_stats stats;
        carom_world_stats_get(world, &stats);
        bench->shapes = stats.shapes;
        fill(&b, world);
        result = measure(world, &b, runs, samples, bench);
    }
    batch_drop(&b);
    free(samples);
    cm_bench_world_free(world);
    return result;
}
