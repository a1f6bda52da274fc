// Goal: a hit is told once, with the speed at which two shapes met and what that cost; what presses
// is none; looking for hits changes no bit. Method: a ball and a tilted box that fall, a stack that
// rests, in every solver, against the speed that a fall has; and the same world without hits beside
// it, hash for hash.
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/sim/rig.h"

static carom_world_def def_of(int solver, float hit_speed)
{
    carom_world_def def = cm_rig_def(16);
    def.solver.type = (carom_solver_type)solver;
    def.hit_speed = hit_speed;
    return def;
}

static carom_body_id drop(cm_rig *rig, carom_vec3 half, carom_vec3 at, carom_quat turned,
                          float speed)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    carom_body_id id;
    body.position = at;
    body.orientation = turned;
    body.linear_velocity = cm_vec(0.0f, -speed, 0.0f);
    shape.type = half.y > 0.0f ? CAROM_SHAPE_BOX : CAROM_SHAPE_SPHERE;
    shape.radius = half.x;
    shape.half_extents = half;
    cr_assert_eq(carom_body_create(rig->world, &body, &shape, 1, &id), CAROM_OK);
    return id;
}

static const carom_quat upright = {0.0f, 0.0f, 0.0f, 1.0f};

Test(hits, a_ball_hits_the_ground_once_as_fast_as_it_fell)
{
    for (int solver = CAROM_SOLVER_SOFT; solver <= CAROM_SOLVER_VOLUME; solver++) {
        carom_world_def def = def_of(solver, 1.0f);
        cm_rig rig = cm_rig_open(&def, 0);
        carom_body_id ground = cm_rig_plane(&rig);
        carom_body_id ball =
            drop(&rig, cm_vec(0.5f, 0.0f, 0.0f), cm_vec(0.0f, 1.0f, 0.0f), upright, 5.0f);
        double mass = (double)cm_rig_get(&rig, ball).mass;
        uint32_t hits = 0, count;
        for (int i = 0; i < 90; i++) {
            cm_rig_step(&rig, 1);
            const carom_hit_event *events = carom_world_hit_events(rig.world, &count);
            for (uint32_t k = 0; k < count; k++, hits++) {
                bool first = carom_body_id_equal(events[k].body_a, ground);
                cr_expect(first && carom_body_id_equal(events[k].body_b, ball));
                double fell = sqrt(25.0 + 2 * 9.81 * 0.5);
                cr_expect_float_eq((double)events[k].speed, fell, 0.35, "solver %d: %g, %g", solver,
                                   (double)events[k].speed, fell);
                cr_expect_float_eq((double)events[k].normal.y, 1.0, 1e-6);
                cr_expect_lt(fabsf(events[k].point.y), 0.15f);
                if (solver < CAROM_SOLVER_LCP) { // the others push on
                    cr_expect_float_eq((double)events[k].impulse, mass * fell, 0.2 * mass * fell,
                                       "solver %d: %g of %g", solver, (double)events[k].impulse,
                                       mass * fell);
                }
                cr_expect_gt(events[k].impulse, 0.0f);
            }
        }
        cr_expect_eq(hits, 1, "solver %d: %u", solver, hits);
        cm_rig_close(&rig);
    }
}

Test(hits, what_presses_hits_nothing_and_slow_ones_are_not_told)
{
    for (int solver = CAROM_SOLVER_SOFT; solver <= CAROM_SOLVER_LCP; solver++) {
        carom_world_def def = def_of(solver, 0.5f);
        cm_rig rig = cm_rig_open(&def, 0);
        cm_rig_plane(&rig);
        for (int i = 0; i < 4; i++) {
            drop(&rig, cm_vec(0.5f, 0.5f, 0.5f), cm_vec(0.0f, 0.5f + (float)i, 0.0f), upright,
                 0.0f);
        }
        drop(&rig, cm_vec(0.5f, 0.5f, 0.5f), cm_vec(4.0f, 0.505f, 0.0f), upright, 0.1f);
        for (int i = 0; i < 120; i++) {
            uint32_t count;
            cm_rig_step(&rig, 1);
            carom_world_hit_events(rig.world, &count);
            cr_expect_eq(count, 0, "solver %d, tick %d", solver, i);
        }
        cm_rig_close(&rig);
    }
}

// It lands on an edge, and then on its face, without having parted.
Test(hits, what_touches_may_hit_again)
{
    carom_world_def def = def_of(CAROM_SOLVER_SOFT, 0.5f);
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    drop(&rig, cm_vec(1.0f, 0.25f, 0.5f), cm_vec(0.0f, 1.5f, 0.0f), cm_rig_turn_z(0.4f), 2.0f);
    uint32_t hits = 0, begins = 0, count;
    for (int i = 0; i < 120; i++) {
        cm_rig_step(&rig, 1);
        carom_world_hit_events(rig.world, &count);
        hits += count;
        const carom_contact_event *events = carom_world_contact_events(rig.world, &count);
        for (uint32_t k = 0; k < count; k++) {
            begins += events[k].begin;
        }
    }
    cr_expect_geq(hits, 2);
    cr_expect_gt(hits, begins);
    cm_rig_close(&rig);
}

// A heap of boxes: sorted pairs, the same after a rewind into another world, and the hashes of one
// that looks for no hits.
Test(hits, no_bit_depends_on_them)
{
    for (int solver = CAROM_SOLVER_SOFT; solver <= CAROM_SOLVER_VOLUME; solver++) {
        carom_world_def def = def_of(solver, 0.25f), plain = def_of(solver, 0.0f);
        cm_rig rig = cm_rig_open(&def, 0), without = cm_rig_open(&plain, 0);
        cm_rig other = cm_rig_open(&def, 0);
        cm_rig *both[] = {&rig, &without};
        for (int w = 0; w < 2; w++) {
            cm_rig_plane(both[w]);
            for (int i = 0; i < 8; i++) {
                drop(both[w], cm_vec(0.4f, 0.3f, 0.5f),
                     cm_vec(0.2f * (float)(i % 3), 1.0f + 0.9f * (float)i, 0.1f * (float)i),
                     cm_rig_turn_z(0.3f * (float)i), 1.0f);
            }
        }
        size_t size = carom_world_save_bound(rig.world), all = 0;
        void *image = malloc(size);
        for (int i = 0; i < 100; i++) {
            uint32_t count, again;
            size_t used = carom_world_save(rig.world, image, size);
            cr_assert_eq(carom_world_restore(other.world, image, used), CAROM_OK);
            cm_rig_step(&rig, 1);
            cm_rig_step(&without, 1);
            cm_rig_step(&other, 1);
            cr_assert_eq(carom_world_hash(rig.world), carom_world_hash(without.world), "%d", i);
            const carom_hit_event *a = carom_world_hit_events(rig.world, &count);
            const carom_hit_event *b = carom_world_hit_events(other.world, &again);
            cr_assert_eq(count, again);
            cr_assert(count == 0 || memcmp(a, b, count * sizeof *a) == 0);
            for (uint32_t k = 1; k < count; k++) {
                cr_assert(a[k].shape_a.index > a[k - 1].shape_a.index ||
                          (a[k].shape_a.index == a[k - 1].shape_a.index &&
                           a[k].shape_b.index > a[k - 1].shape_b.index));
            }
            all += count;
            carom_world_hit_events(without.world, &count);
            cr_assert_eq(count, 0);
        }
        cr_expect_gt(all, 8, "solver %d: %zu", solver, all);
        uint32_t count;
        cm_rig_step(&rig, 1);
        carom_world_clear_events(rig.world);
        carom_world_hit_events(rig.world, &count);
        cr_expect_eq(count, 0);
        free(image);
        cm_rig_close(&rig);
        cm_rig_close(&without);
        cm_rig_close(&other);
    }
}

Test(hits, speeds_that_are_none_are_refused)
{
    const float bad[] = {-1.0f, NAN, INFINITY, 2.0e6f};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        carom_world_def def = def_of(CAROM_SOLVER_SOFT, bad[i]);
        carom_error error = {CAROM_OK, "", "", CAROM_NO_SHAPE};
        carom_world *world;
        size_t size = 1 << 22;
        void *memory = aligned_alloc(64, size);
        def.error = &error;
        cr_expect_neq(carom_world_create(&def, memory, size, &world), CAROM_OK);
        cr_expect_str_eq(error.field, "hit_speed");
        free(memory);
    }
}
