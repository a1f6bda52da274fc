// Goal: the pair list is exactly the overlapping, permitted pairs, in canonical order, and a limit
// cuts its end. Method: random worlds against a double loop over the same boxes; worlds in which
// everything overlaps; sorting against insertion.
#include "shared/base/rng.h"
#include "shared/sim/collide/broadphase.h"
#include "shared/sim/collide/bounds_tree.h"
#include "shared/sim/step/sleep.h"
#include "shared/sim/state/sort.h"
#include "tests/unit/sim/rig.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static uint32_t g_state;

// A number in [0, 1); seeded by each test.
static float chance(void)
{
    g_state = g_state * 1664525u + 1013904223u;
    return (float)(g_state >> 8) / 16777216.0f;
}

static void add_random_body(cm_rig *rig, float space)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.type = chance() < 0.2f   ? CAROM_BODY_STATIC
                : chance() < 0.2f ? CAROM_BODY_KINEMATIC
                                  : CAROM_BODY_DYNAMIC;
    body.position = cm_vec(space * chance(), space * chance(), space * chance());
    if (body.type != CAROM_BODY_STATIC) {
        body.linear_velocity = cm_vec(5.0f * chance(), -5.0f * chance(), 0.0f);
    }
    carom_quat q = {chance() - 0.5f, chance() - 0.5f, chance() - 0.5f, chance() + 0.1f};
    body.orientation = cm_quat_normalize(q);
    shape.type = (carom_shape_type)(3.0f * chance());
    shape.radius = 0.1f + 0.5f * chance();
    shape.half_height = 0.1f + chance();
    shape.half_extents = cm_vec(0.1f + chance(), 0.1f + chance(), 0.1f + chance());
    shape.category = 1u << (uint32_t)(3.0f * chance());
    shape.mask = chance() < 0.7f ? 0xffffffffu : (chance() < 0.5f ? 5u : 0u);
    shape.category = chance() < 0.05f ? 0u : shape.category;
    shape.group = chance() < 0.7f ? 0 : (int32_t)(5.0f * chance()) - 2;
    if (chance() < 0.03f) {
        body.type = CAROM_BODY_STATIC;
        body.linear_velocity = cm_vec(0.0f, 0.0f, 0.0f);
        body.orientation = cm_quat_identity();
        shape.type = CAROM_SHAPE_PLANE;
        shape.normal = chance() < 0.5f ? cm_vec(0.0f, 1.0f, 0.0f) : cm_vec(0.6f, 0.0f, 0.8f);
    }
    cm_rig_body(rig, &body, &shape);
}

static bool permitted(const cm_rig *rig, const cm_shape *a, const cm_shape *b)
{
    const cm_body *bodies = cm_bodies(rig->world);
    if (bodies[a->body].type != CAROM_BODY_DYNAMIC && bodies[b->body].type != CAROM_BODY_DYNAMIC) {
        return false;
    }
    if (a->group != 0 && a->group == b->group) {
        return a->group > 0;
    }
    return (a->category & b->mask) && (b->category & a->mask);
}

static bool meet(const cm_scratch *scratch, const cm_shape *shapes, uint32_t a, uint32_t b)
{
    if (shapes[a].type == CAROM_SHAPE_PLANE && shapes[b].type == CAROM_SHAPE_PLANE) {
        return false;
    }
    if (shapes[a].type != CAROM_SHAPE_PLANE && shapes[b].type != CAROM_SHAPE_PLANE) {
        return cm_aabb_overlap(&scratch->bounds[a], &scratch->bounds[b]);
    }
    uint32_t plane = shapes[a].type == CAROM_SHAPE_PLANE ? a : b, other = a + b - plane;
    const cm_aabb *box = &scratch->bounds[other];
    const float *n = shapes[plane].size;
    float lowest = 1e30f;
    for (uint32_t i = 0; i < 8; i++) {
        carom_vec3 p =
            cm_vec(i & 1u ? box->upper.x : box->lower.x, i & 2u ? box->upper.y : box->lower.y,
                   i & 4u ? box->upper.z : box->lower.z);
        carom_vec3 from = cm_sub(p, scratch->transforms[plane].position);
        lowest = cm_min(lowest, n[0] * from.x + n[1] * from.y + n[2] * from.z - n[3]);
    }
    return lowest <= 0.0f;
}

// Compares with the double loop; returns the number of pairs.
static uint32_t check_against_loop(cm_rig *rig)
{
    cm_scratch scratch;
    cm_scratch_map(rig->world, &scratch);
    // Once with everything active, for the boxes of what otherwise stays away.
    memset(scratch.active, 1, rig->world->state.body_slots);
    cm_find_pairs(rig->world, &scratch, 0.02f, 1.0f / 60.0f);
    cm_activate_all(rig->world, &scratch);
    uint32_t dropped = cm_find_pairs(rig->world, &scratch, 0.02f, 1.0f / 60.0f);
    const cm_shape *shapes = cm_shapes(rig->world);
    uint32_t at = 0, limit = scratch.pair_room, beyond = 0;
    for (uint32_t a = 0; a < rig->world->state.shape_slots; a++) {
        for (uint32_t b = a + 1; b < rig->world->state.shape_slots; b++) {
            if (!shapes[a].alive || !shapes[b].alive || !permitted(rig, &shapes[a], &shapes[b]) ||
                !meet(&scratch, shapes, a, b)) {
                continue;
            }
            if (at == limit) {
                beyond++;
                continue;
            }
            cr_assert_lt(at, scratch.pair_count);
            cr_assert_eq(scratch.pairs[at].shape_a, a);
            cr_assert_eq(scratch.pairs[at].shape_b, b);
            at++;
        }
    }
    cr_assert_eq(scratch.pair_count, at);
    cr_assert_eq(dropped, beyond);
    return at;
}

Test(broadphase, pairs_are_those_of_the_double_loop)
{
    for (uint32_t seed = 1; seed <= 20; seed++) {
        g_state = seed;
        carom_world_def def = cm_rig_def(300);
        cm_rig rig = cm_rig_open(&def, 0);
        for (int i = 0; i < 300; i++) {
            add_random_body(&rig, seed % 2 ? 8.0f : 20.0f);
        }
        for (uint32_t i = 0; i < 300; i += 7) {
            carom_body_destroy(rig.world, carom_world_body_at(rig.world, i));
        }
        uint32_t pairs = check_against_loop(&rig);
        cr_assert_gt(pairs, 100, "seed %u shows nothing: %u pairs", seed, pairs);
        cm_rig_close(&rig);
    }
}

// A shape may be far from its body's origin, from its centre of mass, or from both.
Test(broadphase, what_rests_is_found_wherever_its_shapes_are)
{
    static const carom_vec3 centers[] = {{0.0f, 0.0f, 0.0f}, {20.0f, 0.0f, 0.0f}};
    carom_world_def def = cm_rig_def(64);
    cm_rig rig = cm_rig_open(&def, 0);
    for (uint32_t i = 0; i < 16; i++) {
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        carom_vec3 arm = cm_scale(i & 2u ? 20.0f : 0.0f, cm_vec(1.0f, 0.0f, 0.0f));
        body.type = CAROM_BODY_STATIC;
        body.position = cm_vec(0.0f, 0.0f, 100.0f * (float)i);
        body.orientation = cm_rig_turn_z(0.7f * (float)(i >> 2));
        body.has_center_of_mass = true;
        body.center_of_mass = centers[i & 1u];
        shape.position = arm;
        shape.radius = 0.5f;
        cm_rig_body(&rig, &body, &shape);
        // The turn of a body that has it, and of the ball's place about the same point.
        carom_vec3 place = cm_mat3_mul(cm_mat3_from_quat(body.orientation), arm);
        cm_rig_sphere(&rig, cm_add(body.position, cm_add(place, cm_vec(0.0f, 0.9f, 0.0f))), 0.5f);
    }
    cr_assert_eq(check_against_loop(&rig), 16);
    cm_rig_close(&rig);
}

Test(broadphase, a_limit_cuts_the_end_and_counts)
{
    g_state = 7;
    carom_world_def def = cm_rig_def(200);
    def.limits.contacts = 500 / CM_PAIRS_A_CONTACT;
    cm_rig rig = cm_rig_open(&def, 0);
    for (int i = 0; i < 200; i++) {
        add_random_body(&rig, 0.5f);
    }
    cr_assert_eq(check_against_loop(&rig), 500 / CM_PAIRS_A_CONTACT * CM_PAIRS_A_CONTACT);
    cm_rig_step(&rig, 1);
    carom_world_stats stats;
    carom_world_stats_get(rig.world, &stats);
    cr_assert_gt(stats.log_counts[CAROM_LOG_CONTACTS_CUT], 1000);
    cr_assert_leq(stats.contacts, 500 / CM_PAIRS_A_CONTACT);
    cm_rig_close(&rig);
}

// Plates that stand aslant behind each other: the box of each meets those of many, and none touch.
Test(broadphase, more_pairs_than_contacts_lose_nothing)
{
    carom_world_def def = cm_rig_def(64);
    def.gravity = cm_vec(0.0f, 0.0f, 0.0f);
    def.limits.contacts = 100;
    cm_rig rig = cm_rig_open(&def, 0);
    for (int i = 0; i < 60; i++) {
        carom_body_id plate = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.08f * (float)i, 0, 0),
                                         cm_vec(0.01f, 0.5f, 0.5f));
        cm_motions(rig.world)[plate.index].orientation = cm_rig_turn_z(0.785f);
    }
    cr_assert_gt(check_against_loop(&rig), 400);
    cm_rig_step(&rig, 3);
    carom_world_stats stats;
    carom_world_stats_get(rig.world, &stats);
    cr_assert_eq(stats.log_counts[CAROM_LOG_CONTACTS_CUT], 0);
    cm_rig_close(&rig);
}

Test(broadphase, coinciding_bodies_and_far_ones_step)
{
    carom_world_def def = cm_rig_def(100);
    cm_rig rig = cm_rig_open(&def, 0);
    for (int i = 0; i < 50; i++) {
        cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(1, 1, 1), cm_vec(0.5f, 0.5f, 0.5f));
    }
    for (int i = 0; i < 10; i++) {
        cm_rig_sphere(&rig, cm_vec(9e6f, 9e6f, -9e6f), 0.5f);
    }
    cr_assert_gt(check_against_loop(&rig), 0);
    cm_rig_step(&rig, 120);
    for (uint32_t i = 0; i < 60; i++) {
        carom_body_state s = cm_rig_get(&rig, carom_world_body_at(rig.world, i));
        cr_assert(cm_vec_is_finite(s.position));
        cr_assert(cm_vec_is_finite(s.linear_velocity));
    }
    cm_rig_close(&rig);
}

Test(broadphase, sort_is_stable_and_sorted)
{
    enum { MOST = 3000 };
    static uint32_t keys[MOST], values[MOST], spare_keys[MOST], spare_values[MOST];
    for (uint32_t count = 0; count <= MOST; count = count * 2 + 1) {
        g_state = count + 1;
        uint32_t range = count % 3 ? 1u << 29 : 16u;
        for (uint32_t i = 0; i < count; i++) {
            keys[i] = (uint32_t)(chance() * (float)range);
            values[i] = i;
        }
        cm_sort(keys, values, spare_keys, spare_values, count);
        for (uint32_t i = 1; i < count; i++) {
            cr_assert_leq(keys[i - 1], keys[i]);
            cr_assert(keys[i - 1] < keys[i] || values[i - 1] < values[i]);
        }
    }
}
