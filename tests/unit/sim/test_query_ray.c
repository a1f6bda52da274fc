// Goal: rays meet what is there, where it is, in the order that query.h promises, and nothing of it
// depends on the tree, on capacity or on what happened before. Method: random worlds of every
// shape, resting, pushed about, rewound, encoded; each answer compared bit by bit with that of a
// scan over all shapes without any tree or box, and within 1e-4 of its size with a reference that
// works by bisection (true_shapes.h).
#include <criterion/criterion.h>

#include "shared/sim/collide/broadphase.h"
#include "shared/sim/inspect.h"
#include "shared/sim/query/query.h"
#include "shared/sim/query/ray.h"
#include "tests/fuzz/random_world.h"
#include "tests/unit/sim/rig.h"
#include "tests/unit/sim/true_shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORLDS 2000u
#define RAYS   50u
#define HITS   200u

static carom_vec3 around(cm_rng *rng, float width)
{
    carom_vec3 v;
    v.x = cm_rng_range(rng, -width, width);
    v.y = cm_rng_range(rng, -width, width);
    v.z = cm_rng_range(rng, -width, width);
    return v;
}

// Most of them near some body and beyond it.
static carom_ray some_ray(cm_rng *rng, const carom_world *world)
{
    carom_ray ray = {around(rng, 5.0f), around(rng, 8.0f)};
    uint32_t kind = cm_rng_below(rng, 8);
    carom_body_state body;
    carom_body_id id = carom_world_body_at(world, cm_rng_below(rng, carom_world_body_slots(world)));
    if (kind == 0) { // along an axis
        ray.translation.x = ray.translation.z = 0.0f;
        ray.translation.y = ray.translation.y < 0.0f ? -4.0f : 4.0f;
    } else if (kind < 6 && carom_body_get(world, id, &body) == CAROM_OK) {
        carom_vec3 middle = cm_add(body.position, around(rng, 0.5f));
        ray.translation = around(rng, 6.0f);
        ray.origin = cm_mul_add(middle, -cm_rng_range(rng, 0.0f, 1.0f), ray.translation);
    }
    return ray;
}

static carom_query_filter some_filter(cm_rng *rng, const carom_world *world)
{
    carom_query_filter filter = carom_default_query_filter();
    uint32_t slots = carom_world_body_slots(world);
    if (cm_rng_below(rng, 4) == 0) {
        filter.mask = 1 + cm_rng_below(rng, 3);
        filter.category = 1 + cm_rng_below(rng, 3);
    }
    if (cm_rng_below(rng, 3) == 0) {
        filter.exclude = carom_world_body_at(world, cm_rng_below(rng, slots));
    }
    filter.sensors = cm_rng_below(rng, 2);
    return filter;
}

static bool seen(const carom_shape_def *def, carom_body_id body, const carom_query_filter *filter)
{
    bool excluded =
        !carom_body_id_is_null(filter->exclude) && carom_body_id_equal(body, filter->exclude);
    return (def->category & filter->mask) && (def->mask & filter->category) &&
           (!def->sensor || filter->sensors) && !excluded;
}

// All hits in order, by asking every shape.
static uint32_t scan(const carom_world *world, const carom_ray *ray,
                     const carom_query_filter *filter, carom_query_hit *hits)
{
    cm_d3 way = cm_d3_from(ray->translation);
    double length = cm_d3_length(way);
    const cm_line line = {cm_d3_from(ray->origin), cm_d3_scale(1.0 / length, way), length};
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < world->state.shape_slots; slot++) {
        const cm_shape *shape = &cm_shapes(world)[slot];
        cm_scratch scratch;
        cm_entry entry;
        if (!shape->alive) {
            continue;
        }
        carom_shape_id id = {slot, shape->generation};
        carom_shape_def def;
        carom_body_id body;
        cr_assert_eq(carom_shape_get(world, id, &def, &body), CAROM_OK);
        cm_scratch_map(world, &scratch);
        cm_place_shape(world, &scratch, slot);
        if (!seen(&def, body, filter) ||
            !cm_line_enter(&line, shape, &scratch.places[slot], &entry)) {
            continue;
        }
        carom_query_hit hit = {
            body, id, {0}, cm_d3_round(entry.normal), (float)entry.distance, entry.inside};
        hit.point = cm_d3_round(cm_d3_mad(line.origin, entry.distance, line.direction));
        uint32_t at = count++;
        for (; at > 0 && cm_hit_before(&hit, &hits[at - 1]); at--) {
            hits[at] = hits[at - 1];
        }
        hits[at] = hit;
    }
    return count;
}

static bool same_hit(const carom_query_hit *a, const carom_query_hit *b)
{
    return carom_body_id_equal(a->body, b->body) && a->shape.index == b->shape.index &&
           memcmp(&a->point, &b->point, sizeof a->point) == 0 &&
           memcmp(&a->normal, &b->normal, sizeof a->normal) == 0 && a->distance == b->distance &&
           a->inside == b->inside;
}

static uint32_t check_against_scan(const carom_world *world, const carom_ray *ray,
                                   const carom_query_filter *filter)
{
    carom_query_hit found[HITS], all[HITS];
    uint32_t count, few, capacity;
    carom_result result = carom_world_cast_ray(world, ray, filter, found, HITS, &count);
    if (cm_abs(ray->origin.x) + cm_abs(ray->origin.y) + cm_abs(ray->origin.z) > 1.0e6f) {
        return 0; // a body of a wild world got beyond where rays may begin
    }
    cr_assert_eq(result, CAROM_OK);
    uint32_t expected = scan(world, ray, filter, all);
    cr_assert_eq(count, expected, "%u hits, %u by the scan", count, expected);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert(same_hit(&found[i], &all[i]), "hit %u", i);
    }
    capacity = count / 2 + 1;
    cr_assert_eq(carom_world_cast_ray(world, ray, filter, found, capacity, &few), CAROM_OK);
    cr_assert_eq(few, count < capacity ? count : capacity);
    for (uint32_t i = 0; i < few; i++) {
        cr_assert(same_hit(&found[i], &all[i]), "hit %u of %u", i, capacity);
    }
    return count;
}

// The pose at the call, whatever came before it.
static void stir(cm_random_world *random, carom_world *twin, cm_rng *rng)
{
    for (uint32_t i = cm_rng_below(rng, 4); i > 0; i--) {
        cm_random_world_disturb(random);
    }
    if (cm_rng_below(rng, 2)) {
        carom_world_step(random->world);
    }
    if (cm_rng_below(rng, 4) == 0) { // away and back
        size_t size = carom_world_save_size(random->world);
        void *image = malloc(size);
        cr_assert_eq(carom_world_save(random->world, image, size), size);
        carom_ray ray = some_ray(rng, random->world);
        uint32_t count;
        carom_query_hit hit;
        carom_world_step(random->world);
        carom_world_cast_ray(random->world, &ray, NULL, &hit, 1, &count);
        cr_assert_eq(carom_world_restore(random->world, image, size), CAROM_OK);
        cr_assert_eq(carom_world_restore(twin, image, size), CAROM_OK);
        cm_world_spoil_scratch(twin, 0x3f);
        free(image);
    }
}

Test(query_ray, answers_are_those_of_a_scan, .timeout = 300)
{
    cm_rng rng;
    uint64_t hits = 0, several = 0;
    cm_rng_seed(&rng, 1);
    for (uint32_t i = 0; i < WORLDS; i++) {
        cm_random_world random;
        cr_assert(cm_random_world_open(&random, 1000 + i));
        carom_world *twin = cm_random_world_twin(&random);
        for (uint32_t k = 0; k < RAYS; k++) {
            if (k % 10 == 0) {
                stir(&random, twin, &rng);
            }
            carom_ray ray = some_ray(&rng, random.world);
            carom_query_filter filter = some_filter(&rng, random.world);
            uint32_t count = check_against_scan(random.world, &ray, &filter);
            hits += count;
            several += count > 1;
        }
        free((void *)twin);
        cm_random_world_close(&random);
    }
    cr_assert_gt(hits, WORLDS * RAYS / 2, "%llu hits", (unsigned long long)hits);
    cr_assert_gt(several, WORLDS * RAYS / 10, "%llu with several", (unsigned long long)several);
}

Test(query_ray, batches_rewinds_lanes_and_capacities_do_not_count)
{
    cm_rng rng;
    cm_rng_seed(&rng, 2);
    for (uint32_t i = 0; i < 60; i++) {
        cm_random_world random;
        cr_assert(cm_random_world_open(&random, 5000 + i));
        carom_world_def def = random.def;
        def.limits.bodies *= 3;
        def.limits.shapes *= 2;
        def.limits.contacts *= 2;
        cm_rig other = cm_rig_open(&def, 3);
        cr_assert_eq(carom_world_set_lanes(other.world, 1), CAROM_OK);
        for (uint32_t k = 0; k < 20; k++) {
            carom_world_step(random.world);
        }
        size_t size = carom_world_save_size(random.world);
        void *image = malloc(size);
        carom_world_save(random.world, image, size);
        cr_assert_eq(carom_world_restore(other.world, image, size), CAROM_OK);
        free(image);
        carom_ray rays[RAYS];
        carom_query_hit all[RAYS], one;
        for (uint32_t k = 0; k < RAYS; k++) {
            rays[k] = some_ray(&rng, random.world);
        }
        uint64_t before = carom_world_hash(other.world);
        cr_assert_eq(carom_world_cast_rays(other.world, rays, RAYS, NULL, all), CAROM_OK);
        cr_assert_eq(carom_world_hash(other.world), before);
        for (uint32_t k = 0; k < RAYS; k++) {
            uint32_t count;
            cr_assert_eq(carom_world_cast_ray(random.world, &rays[k], NULL, &one, 1, &count),
                         CAROM_OK);
            cr_assert_eq(count, all[k].shape.generation > 0 ? 1 : 0);
            cr_assert(count == 0 || same_hit(&one, &all[k]), "ray %u", k);
        }
        cm_rig_close(&other);
        cm_random_world_close(&random);
    }
}

// What only grazes a shape by less than this may be seen by one and not by the other.
#define GRAZE 1.0e-4

static void check_against_truth(const carom_world *world, const carom_ray *ray, uint32_t *hit_count)
{
    carom_query_hit hits[HITS];
    carom_query_filter filter = carom_default_query_filter();
    uint32_t count;
    filter.sensors = true;
    cr_assert_eq(carom_world_cast_ray(world, ray, &filter, hits, HITS, &count), CAROM_OK);
    cm_d3 way = cm_d3_from(ray->translation);
    double length = cm_d3_length(way);
    for (uint32_t slot = 0; slot < world->state.shape_slots; slot++) {
        if (!cm_shapes(world)[slot].alive) {
            continue;
        }
        carom_shape_id id = {slot, cm_shapes(world)[slot].generation};
        const carom_query_hit *hit = NULL;
        for (uint32_t i = 0; i < count; i++) {
            hit = hits[i].shape.index == slot ? &hits[i] : hit;
        }
        cm_true_shape shape = cm_true_shape_of(world, id);
        double depth;
        double at = cm_true_cast(&shape, cm_d3_from(ray->origin), cm_d3_scale(1.0 / length, way),
                                 length, 0.0, &depth);
        if (depth < GRAZE) {
            cr_assert(hit == NULL || depth > -GRAZE, "shape %u: hit from %g m", slot, -depth);
            continue;
        }
        cr_assert(hit, "shape %u of type %d: no hit, %g m deep", slot, (int)shape.def.type, depth);
        double error = fabs((double)hit->distance - at);
        cr_assert(error <= 1.0e-4 * at + 2.0e-6, "shape %u of type %d: %g beside %g", slot,
                  (int)shape.def.type, (double)hit->distance, at);
        cr_assert(fabs(cm_true_distance(&shape, cm_d3_from(hit->point))) < 1.0e-4 || hit->inside);
        // A step outward leaves the shape at the rate of the step.
        carom_dvec3 out = cm_d3_mad(cm_d3_from(hit->point), 0.01, cm_d3_from(hit->normal));
        cr_assert(hit->inside || fabs(cm_true_distance(&shape, out) - 0.01) < 2.0e-4);
        (*hit_count)++;
    }
}

Test(query_ray, hits_are_where_bisection_finds_them, .timeout = 300)
{
    cm_rng rng;
    uint32_t hits = 0;
    cm_rng_seed(&rng, 3);
    for (uint32_t i = 0; hits < 1000; i++) {
        cm_random_world random;
        cr_assert(cm_random_world_open(&random, 9000 + i));
        for (uint32_t k = 0; random.tame && k < 3; k++) {
            carom_ray ray = some_ray(&rng, random.world);
            check_against_truth(random.world, &ray, &hits);
        }
        cm_random_world_close(&random);
    }
}

Test(query_ray, a_query_sees_poses_at_the_call)
{
    carom_world_def def = cm_rig_def(8);
    cm_rig rig = cm_rig_open(&def, 0);
    carom_body_id ball = cm_rig_sphere(&rig, cm_vec(0.0f, 0.0f, 0.0f), 1.0f);
    carom_ray ray = {{-5.0f, 0.0f, 0.0f}, {10.0f, 0.0f, 0.0f}};
    carom_query_hit hit;
    uint32_t count;
    cr_assert_eq(carom_world_cast_ray(rig.world, &ray, NULL, &hit, 1, &count), CAROM_OK);
    cr_assert(count == 1 && carom_body_id_equal(hit.body, ball) && hit.distance == 4.0f);
    cr_assert(hit.point.x == -1.0f && hit.normal.x == -1.0f && !hit.inside);
    carom_body_set_pose(rig.world, ball, cm_vec(2.0f, 0.0f, 0.0f), cm_quat_identity());
    carom_world_cast_ray(rig.world, &ray, NULL, &hit, 1, &count);
    cr_assert(count == 1 && hit.distance == 6.0f);
    carom_body_id second = cm_rig_sphere(&rig, cm_vec(-2.0f, 0.0f, 0.0f), 1.0f);
    carom_world_cast_ray(rig.world, &ray, NULL, &hit, 1, &count);
    cr_assert(count == 1 && hit.distance == 2.0f && carom_body_id_equal(hit.body, second));
    uint32_t touching;
    carom_world_measure_contacts(rig.world, &touching, NULL); // it has its trees there too
    carom_world_cast_ray(rig.world, &ray, NULL, &hit, 1, &count);
    cr_assert(count == 1 && hit.distance == 2.0f);
    carom_body_destroy(rig.world, second);
    carom_world_cast_ray(rig.world, &ray, NULL, &hit, 1, &count);
    cr_assert(count == 1 && hit.distance == 6.0f);
    cm_rig_step(&rig, 1); // it falls by 2.7 mm
    carom_world_cast_ray(rig.world, &ray, NULL, &hit, 1, &count);
    cr_assert(count == 1 && hit.distance > 6.0f);
    ray.origin = cm_vec(2.5f, 0.0f, 0.0f);
    carom_world_cast_ray(rig.world, &ray, NULL, &hit, 1, &count);
    cr_assert(count == 1 && hit.inside && hit.distance == 0.0f && hit.normal.x == -1.0f);
    cm_rig_close(&rig);
}

Test(query_ray, what_cannot_be_asked_is_refused)
{
    carom_world_def def = cm_rig_def(8);
    cm_rig rig = cm_rig_open(&def, 0);
    carom_body_id ball = cm_rig_sphere(&rig, cm_vec(0.0f, 0.0f, 0.0f), 1.0f);
    const carom_ray good = {{-5.0f, 0.0f, 0.0f}, {10.0f, 0.0f, 0.0f}};
    const struct {
        carom_ray ray;
        carom_result result;
    } bad[] = {
        {{{0}, {0.0f, 0.0f, 0.0f}}, CAROM_ERROR_ARGUMENT},
        {{{0}, {1.0e-6f, 0.0f, 0.0f}}, CAROM_ERROR_ARGUMENT},
        {{{0}, {1.1e7f, 0.0f, 0.0f}}, CAROM_ERROR_ARGUMENT},
        {{{0}, {INFINITY, 0.0f, 0.0f}}, CAROM_ERROR_NOT_FINITE},
        {{{0}, {0.0f, NAN, 0.0f}}, CAROM_ERROR_NOT_FINITE},
        {{{NAN, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}}, CAROM_ERROR_NOT_FINITE},
        {{{0.0f, 2.0e7f, 0.0f}, {1.0f, 0.0f, 0.0f}}, CAROM_ERROR_ARGUMENT},
    };
    carom_query_hit hit;
    uint32_t count = 7;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        carom_ray two[2] = {good, bad[i].ray};
        cr_assert_eq(carom_world_cast_ray(rig.world, &bad[i].ray, NULL, &hit, 1, &count),
                     bad[i].result, "%zu", i);
        cr_assert_eq(carom_world_cast_rays(rig.world, two, 2, NULL, &hit), bad[i].result, "%zu", i);
    }
    cr_assert_eq(count, 7);
    cr_assert_eq(carom_world_cast_ray(NULL, &good, NULL, &hit, 1, &count), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_world_cast_ray(rig.world, NULL, NULL, &hit, 1, &count),
                 CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_world_cast_ray(rig.world, &good, NULL, NULL, 1, &count),
                 CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_world_cast_ray(rig.world, &good, NULL, &hit, 0, &count),
                 CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_world_cast_ray(rig.world, &good, NULL, &hit, 1, NULL), CAROM_ERROR_ARGUMENT);
    carom_query_filter filter = carom_default_query_filter();
    filter.mask = 0;
    cr_assert_eq(carom_world_cast_ray(rig.world, &good, &filter, &hit, 1, &count),
                 CAROM_ERROR_ARGUMENT);
    filter = carom_default_query_filter();
    filter.category = 0;
    cr_assert_eq(carom_world_cast_rays(rig.world, &good, 1, &filter, &hit), CAROM_ERROR_ARGUMENT);
    filter = carom_default_query_filter();
    filter.exclude = ball;
    cr_assert_eq(carom_world_cast_ray(rig.world, &good, &filter, &hit, 1, &count), CAROM_OK);
    cr_assert_eq(count, 0);
    carom_body_destroy(rig.world, ball);
    cr_assert_eq(carom_world_cast_ray(rig.world, &good, &filter, &hit, 1, &count),
                 CAROM_ERROR_STALE_ID);
    cr_assert_eq(carom_world_cast_ray(rig.world, &good, NULL, &hit, 1, &count), CAROM_OK);
    cr_assert_eq(count, 0); // nothing is left
    cr_assert_eq(carom_world_cast_rays(rig.world, NULL, 0, NULL, NULL), CAROM_OK);
    cm_rig_close(&rig);
}
