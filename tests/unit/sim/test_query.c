// Goal: queries find what is there, in the order that query.h promises, and nothing of it depends
// on the tree, on capacity, lanes or what happened before; what cannot be asked is refused. Method:
// random worlds of every shape, resting, pushed about, rewound; each answer compared bit by bit
// with that of a scan over all shapes without any tree or box.
#include <criterion/criterion.h>

#include "tests/unit/counts.h"
#include "tests/unit/sim/query_rig.h"
#include "tests/unit/sim/rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORLDS     400u
#define WORLDS_ALL 2000u
#define ASKED      50u
#define BATCH      200u // questions of one call

// Every kind of question, in turn.
Test(query, answers_are_those_of_a_scan)
{
    cm_rng rng;
    uint32_t worlds = test_count(WORLDS, WORLDS_ALL);
    uint64_t hits[4] = {0}, several[4] = {0};
    cm_rng_seed(&rng, 1);
    for (uint32_t i = 0; i < worlds; i++) {
        cm_random_world random;
        cr_assert(cm_random_world_open(&random, 1000 + i));
        carom_world *twin = cm_random_world_twin(&random);
        for (uint32_t k = 0; k < ASKED; k++) {
            cm_question question;
            cm_query_kind kind = k % 5 == 4 ? CM_QUERY_RAY : (cm_query_kind)(k % 5);
            if (k % 10 == 0) {
                cm_question_stir(&random, twin, &rng);
            }
            if (cm_question_draw(kind, &random, &rng, &question)) {
                uint32_t count = cm_question_check(random.world, &question);
                hits[kind] += count;
                several[kind] += count > 1;
            }
        }
        free((void *)twin);
        cm_random_world_close(&random);
    }
    for (uint32_t kind = 0; kind < 4; kind++) {
        cr_assert_gt(hits[kind], worlds * ASKED / 20, "%u: %llu hits", kind,
                     (unsigned long long)hits[kind]);
        cr_assert_gt(several[kind], worlds * ASKED / 200, "%u: %llu with several", kind,
                     (unsigned long long)several[kind]);
    }
}

static void ask_each(const carom_world *world, cm_query_kind kind, const cm_question *questions,
                     carom_query_hit *hits)
{
    carom_ray rays[BATCH];
    carom_shape_def shapes[BATCH];
    carom_vec3 ways[BATCH], points[BATCH];
    const carom_query_filter *filter = &questions[0].filter;
    for (uint32_t i = 0; i < BATCH; i++) {
        rays[i] = questions[i].ray;
        shapes[i] = questions[i].shape;
        ways[i] = rays[i].translation;
        points[i] = rays[i].origin;
    }
    carom_result result = CAROM_OK;
    switch (kind) {
    case CM_QUERY_RAY:
        result = carom_world_cast_rays(world, rays, BATCH, filter, hits);
        break;
    case CM_QUERY_CAST:
        result = carom_world_cast_shapes(world, shapes, ways, BATCH, filter, hits);
        break;
    case CM_QUERY_OVERLAP:
        result = carom_world_overlaps(world, shapes, BATCH, filter, hits);
        break;
    default:
        result =
            carom_world_closest_each(world, points, BATCH, questions[0].max_distance, filter, hits);
        break;
    }
    cr_assert_eq(result, CAROM_OK);
}

Test(query, batches_rewinds_lanes_and_capacities_do_not_count)
{
    cm_rng rng;
    cm_rng_seed(&rng, 2);
    for (uint32_t i = 0; i < 80; i++) {
        cm_random_world random;
        cr_assert(cm_random_world_open(&random, 5000 + i));
        carom_world_def def = random.def;
        def.limits.bodies *= 3;
        def.limits.shapes *= 2;
        def.limits.contacts *= 2;
        cm_rig other = cm_rig_open(&def, 3);
        cr_assert_eq(carom_world_set_lanes(other.world, 1), CAROM_OK);
        for (uint32_t k = 0; random.tame && k < 20; k++) {
            carom_world_step(random.world);
        }
        size_t size = carom_world_save_size(random.world);
        void *image = malloc(size);
        carom_world_save(random.world, image, size);
        cr_assert_eq(carom_world_restore(other.world, image, size), CAROM_OK);
        free(image);
        static cm_question questions[BATCH];
        carom_query_hit all[BATCH], one;
        cm_query_kind kind = (cm_query_kind)(i % 4);
        for (uint32_t k = 0; k < BATCH; k++) {
            while (!cm_question_draw(kind, &random, &rng, &questions[k])) {
            }
            questions[k].filter = questions[0].filter;
            questions[k].max_distance = questions[0].max_distance;
        }
        uint64_t before = carom_world_hash(other.world);
        ask_each(other.world, kind, questions, all);
        cr_assert_eq(carom_world_hash(other.world), before);
        for (uint32_t k = 0; k < BATCH; k++) {
            uint32_t count;
            cr_assert_eq(cm_question_ask(random.world, &questions[k], &one, 1, &count), CAROM_OK);
            cr_assert_eq(count, all[k].shape.generation > 0 ? 1 : 0);
            cr_assert(count == 0 || cm_same_hit(&one, &all[k]), "question %u", k);
        }
        cm_rig_close(&other);
        cm_random_world_close(&random);
    }
}

// Bodies at poses given: as in a world in which they were put there.
Test(query, poses_given_are_as_if_bodies_were_put_there)
{
    cm_rng rng;
    uint32_t kinds[4] = {0};
    cm_rng_seed(&rng, 4);
    for (uint32_t i = 0; i < 400; i++) {
        cm_random_world random;
        cr_assert(cm_random_world_open(&random, 7000 + i));
        carom_world *twin = cm_random_world_twin(&random);
        size_t size = carom_world_save_size(random.world);
        void *image = malloc(size);
        carom_world_save(random.world, image, size);
        cr_assert_eq(carom_world_restore(twin, image, size), CAROM_OK);
        free(image);
        carom_body_pose poses[4];
        uint32_t count = 0, slots = carom_world_body_slots(twin);
        for (uint32_t slot = cm_rng_below(&rng, 6); slot < slots && count < 4;
             slot += 1 + cm_rng_below(&rng, 6)) {
            carom_body_id body = carom_world_body_at(twin, slot);
            carom_quat q = {0.0f, 0.6f, 0.0f, 0.8f};
            carom_vec3 place = cm_around(&rng, 3.0f);
            poses[count++] = (carom_body_pose){body, place, q};
            cr_assert_eq(carom_body_set_pose(twin, body, place, q), CAROM_OK);
        }
        for (uint32_t k = 0; k < 40; k++) {
            cm_question question;
            carom_query_hit here[CM_QUERY_RIG_HITS], there[CM_QUERY_RIG_HITS];
            uint32_t found, wanted, kind = k % 4;
            if (!cm_question_draw((cm_query_kind)kind, &random, &rng, &question)) {
                continue;
            }
            cr_assert_eq(cm_question_ask(twin, &question, there, 3 + k, &wanted), CAROM_OK);
            question.filter.poses = poses;
            question.filter.pose_count = count;
            cr_assert_eq(cm_question_ask(random.world, &question, here, 3 + k, &found), CAROM_OK);
            cr_assert_eq(found, wanted);
            for (uint32_t n = 0; n < found; n++) {
                cr_assert(cm_same_hit(&here[n], &there[n]), "kind %u", kind);
                for (uint32_t p = 0; p < count; p++) {
                    kinds[kind] += carom_body_id_equal(here[n].body, poses[p].body);
                }
            }
        }
        free((void *)twin);
        cm_random_world_close(&random);
    }
    for (uint32_t kind = 0; kind < 4; kind++) {
        cr_assert_gt(kinds[kind], 100, "%u: %u hits of bodies at poses given", kind, kinds[kind]);
    }
}

// Where a coordinate is so large that sums are rounded by centimetres, boxes are still wide enough.
Test(query, far_from_the_origin_nothing_is_missed)
{
    cm_rng rng;
    uint32_t hits[4] = {0};
    cm_rng_seed(&rng, 5);
    for (uint32_t i = 0; i < 200; i++) {
        cm_random_world random;
        cr_assert(cm_random_world_open(&random, 11000 + i));
        carom_vec3 far = cm_around(&rng, 3.0e5f);
        for (uint32_t slot = 0; slot < carom_world_body_slots(random.world); slot++) {
            carom_body_id body = carom_world_body_at(random.world, slot);
            carom_body_state state;
            if (carom_body_get(random.world, body, &state) == CAROM_OK) {
                carom_vec3 place = cm_add(far, cm_around(&rng, 3.0f));
                cr_assert_eq(carom_body_set_pose(random.world, body, place, state.orientation),
                             CAROM_OK);
            }
        }
        for (uint32_t k = 0; k < 100; k++) {
            cm_question question;
            if (cm_question_draw((cm_query_kind)(k % 4), &random, &rng, &question)) {
                hits[k % 4] += cm_question_check(random.world, &question);
            }
        }
        cm_random_world_close(&random);
    }
    for (uint32_t kind = 0; kind < 4; kind++) {
        cr_assert_gt(hits[kind], 500, "%u: %u hits", kind, hits[kind]);
    }
}

Test(query, poses_that_make_no_sense_are_refused)
{
    carom_world_def def = cm_rig_def(8);
    cm_rig rig = cm_rig_open(&def, 0);
    carom_body_id a = cm_rig_sphere(&rig, cm_vec(0.0f, 0.0f, 0.0f), 1.0f);
    carom_body_id b = cm_rig_sphere(&rig, cm_vec(5.0f, 0.0f, 0.0f), 1.0f);
    const carom_quat none = {0.0f, 0.0f, 0.0f, 1.0f};
    carom_body_pose poses[2] = {{a, {0}, none}, {b, {0}, none}};
    carom_query_filter filter = carom_default_query_filter();
    carom_ray ray = {{-5.0f, 0.0f, 0.0f}, {10.0f, 0.0f, 0.0f}};
    carom_query_hit hits[2];
    uint32_t count;
    filter.poses = poses;
    filter.pose_count = 2;
    cr_assert_eq(carom_world_cast_ray(rig.world, &ray, &filter, hits, 2, &count), CAROM_OK);
    cr_assert(count == 2 && hits[1].distance == 4.0f && carom_body_id_equal(hits[1].body, b));
    poses[1].body = a;
    cr_assert_eq(carom_world_cast_ray(rig.world, &ray, &filter, hits, 2, &count),
                 CAROM_ERROR_ARGUMENT);
    poses[1].body = b;
    poses[1].position.x = NAN;
    cr_assert_eq(carom_world_cast_ray(rig.world, &ray, &filter, hits, 2, &count),
                 CAROM_ERROR_NOT_FINITE);
    poses[1].position.x = 0.0f;
    poses[1].orientation.w = 0.5f;
    cr_assert_eq(carom_world_cast_ray(rig.world, &ray, &filter, hits, 2, &count),
                 CAROM_ERROR_ARGUMENT);
    poses[1].orientation.w = 1.0f;
    carom_body_destroy(rig.world, b);
    cr_assert_eq(carom_world_cast_ray(rig.world, &ray, &filter, hits, 2, &count),
                 CAROM_ERROR_STALE_ID);
    filter.poses = NULL;
    cr_assert_eq(carom_world_cast_ray(rig.world, &ray, &filter, hits, 2, &count),
                 CAROM_ERROR_ARGUMENT);
    cm_rig_close(&rig);
}

Test(query, a_query_sees_poses_at_the_call)
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

Test(query, what_cannot_be_asked_is_refused)
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
