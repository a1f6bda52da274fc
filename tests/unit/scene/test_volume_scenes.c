// Goal: the experiments of the volume solver's source, as scenes, give the figures that the
// specification names: the tilted cube comes to rest as it should and under the deepest-point law
// does not; friction breaks, slides and stops; piles stand; the top spins down only with
// distributed friction; pieces of one body carry its weight together; a pointer knocks a pile over.
// Method: each file of tests/scenes/seeds is run, and beside it the same world saved and restored
// at every tick, whose hash must stay the same.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/vec.h"
#include "shared/scene/scene_json.h"
#include "tests/unit/counts.h"

typedef struct run {
    cm_scene *scene; // its hulls outlive the world
    carom_world *world;
    void *memory;
    char *image;
} run;

static void start(const char *name, run *r)
{
    char path[128];
    cm_scene_error error;
    carom_world_def def;
    snprintf(path, sizeof path, "tests/scenes/seeds/volume_%s.json", name);
    cr_assert_eq(cm_scene_from_file(path, &r->scene, &error), CAROM_OK, "%s: %s", error.path,
                 error.message);
    cm_scene_world_def(r->scene, &def);
    size_t size = (carom_world_size(&def) + 63) / 64 * 64;
    r->memory = aligned_alloc(64, size);
    cr_assert_eq(carom_world_create(&def, r->memory, size, &r->world), CAROM_OK);
    cr_assert_eq(cm_scene_populate(r->scene, r->world), CAROM_OK);
    r->image = aligned_alloc(64, (carom_world_save_bound(r->world) + 63) / 64 * 64);
}

static void stop(run *r)
{
    cm_scene_free(r->scene);
    free(r->memory);
    free(r->image);
}

static carom_body_state state_of(const run *r, const char *name)
{
    carom_body_state state;
    uint32_t slot = cm_scene_find_body(r->scene, name);
    carom_body_id body = carom_world_body_at(r->world, slot);
    cr_assert_eq(carom_body_get(r->world, body, &state), CAROM_OK, "%s", name);
    return state;
}

static void expect_near(double is, double want, double within, const char *what)
{
    cr_assert(fabs(is - want) <= within, "%s: %.9g, expected %.9g within %g", what, is, want,
              within);
}

// Angular momentum of the cube about z: 2/3 kg m^2.
static double momentum(const run *r)
{
    return fabs(2.0 / 3.0 * (double)state_of(r, "cube").angular_velocity.z);
}

// S2.12
Test(volume_scenes, tilted_cube)
{
    run r;
    start("tilted_cube", &r);
    double first = 0.0, last = 0.0;
    for (int tick = 1; tick <= 300; tick++) {
        carom_world_stats stats;
        carom_world_step(r.world);
        carom_world_stats_get(r.world, &stats);
        first = first == 0.0 && stats.touching > 0 ? 0.01 * tick : first;
        last = momentum(&r) > 2e-3 ? 0.01 * tick : last;
    }
    expect_near(first, 0.45, 0.0101, "first contact");
    expect_near(last, 0.7, 0.1, "comes to rest");
    cr_assert_lt(momentum(&r), 1e-6);
    expect_near(state_of(&r, "cube").position.y, 0.99755, 1e-5, "height");
    stop(&r);
    start("tilted_cube_deepest_point", &r);
    for (int tick = 1; tick <= 300; tick++) {
        carom_world_step(r.world);
        last = momentum(&r) > 2e-3 ? 0.01 * tick : last;
    }
    cr_assert_gt(last, 2.9, "the deepest point keeps it rocking");
    stop(&r);
}

static void step(run *r, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        carom_world_step(r->world);
    }
}

// S2.7, S2.8, S2.9
Test(volume_scenes, slabs)
{
    run r;
    start("slab_pushed", &r);
    step(&r, 1000);
    double before = state_of(&r, "slab").linear_velocity.x;
    step(&r, 1000);
    expect_near(state_of(&r, "slab").linear_velocity.x - before, 3.1, 0.01, "8 N");
    stop(&r);
    start("slab_held", &r);
    step(&r, 3000);
    expect_near(state_of(&r, "slab").position.x, 6.0 / 4000.0, 1e-4, "held by the static spring");
    stop(&r);
    start("slab_sliding", &r);
    step(&r, 3000);
    expect_near(state_of(&r, "slab").position.x, 0.41, 0.02, "2 m/s");
    cr_assert_lt(fabsf(state_of(&r, "slab").linear_velocity.x), 1e-6f);
    stop(&r);
    start("slab_spinning", &r);
    step(&r, 3000);
    cr_assert_lt(fabsf(state_of(&r, "slab").angular_velocity.y), 1e-3f);
    stop(&r);
}

// The belt's surface moves, its body does not.
Test(volume_scenes, conveyor)
{
    run r;
    start("conveyor", &r);
    step(&r, 20);
    expect_near(state_of(&r, "crate").linear_velocity.x, 0.1 * 0.5 * 9.8, 0.02, "mu g t");
    step(&r, 580);
    expect_near(state_of(&r, "crate").linear_velocity.x, 1.0, 1e-3, "as fast as the belt");
    stop(&r);
}

// How far the bodies have moved, at most.
static double shift(const run *now, const run *then)
{
    double most = 0.0;
    for (uint32_t i = 0; i < cm_scene_body_count(now->scene); i++) {
        carom_body_state a, b;
        carom_body_get(now->world, carom_world_body_at(now->world, i), &a);
        carom_body_get(then->world, carom_world_body_at(then->world, i), &b);
        most = fmax(most, fabs((double)a.position.x - (double)b.position.x));
        most = fmax(most, fabs((double)a.position.y - (double)b.position.y));
    }
    return most;
}

static void expect_stands(const char *name, uint32_t ticks, double within)
{
    run r, begin;
    start(name, &r);
    start(name, &begin);
    step(&r, ticks);
    double moved = shift(&r, &begin);
    cr_assert_lt(moved, within, "%s: a block moved by %g m", name, moved);
    stop(&r);
    stop(&begin);
}

// S2.11: under the volume they stand for 10 s, under the deepest point 13 blocks collapse.
Test(volume_scenes, piles)
{
    expect_stands("pile_3", 2000, 0.05);
    expect_stands("pile_6", 2000, 0.05);
    expect_stands("pile_10", 2000, 0.05);
    expect_stands("pile_13", 2000, 0.05);
    expect_stands("pile_100", 600, 0.2);
    run r, begin;
    start("pile_13_deepest_point", &r);
    start("pile_13_deepest_point", &begin);
    step(&r, 2000);
    cr_assert_gt(shift(&r, &begin), 1.0);
    stop(&r);
    stop(&begin);
}

// Spin about the top's own axis.
static double spin(const run *r)
{
    carom_body_state s = state_of(r, "top");
    carom_quat q = s.orientation;
    double x = 2.0 * ((double)q.x * q.y - (double)q.z * q.w);
    double y = 1.0 - 2.0 * ((double)q.x * q.x + (double)q.z * q.z);
    double z = 2.0 * ((double)q.y * q.z + (double)q.x * q.w);
    return x * s.angular_velocity.x + y * s.angular_velocity.y + z * s.angular_velocity.z;
}

// S2.14
Test(volume_scenes, top)
{
    run r;
    start("top", &r);
    step(&r, 1000);
    cr_assert_lt(spin(&r), 0.95 * 25.0, "distributed friction takes its spin");
    cr_assert_lt(state_of(&r, "top").position.y, 0.02f);
    step(&r, 6000);
    double early = fabs(spin(&r));
    cr_assert_lt(fabsf(state_of(&r, "top").angular_velocity.y), 0.1f, "fallen, it only rolls");
    step(&r, 5000);
    cr_assert_lt(fabs(spin(&r)), 0.8 * early, "and comes to rest");
    stop(&r);
    start("top_point", &r);
    step(&r, 1000);
    double landed = spin(&r);
    cr_assert_gt(landed, 24.0);
    step(&r, 4000);
    expect_near(spin(&r), landed, 1e-2, "a point takes nothing on the tip");
    stop(&r);
}

// Non-convex bodies as pieces, and S2.13.
Test(volume_scenes, pieces_and_pointer)
{
    run r;
    start("l_shape", &r);
    step(&r, 2000);
    carom_body_state s = state_of(&r, "l");
    expect_near(s.linear_velocity.y, 0.0, 1e-4, "at rest");
    // The floor carries 3 kg with 5000 N/m^3 over 2 m^2: the mean depth under the base.
    double tilt = 2.0 * (double)s.orientation.z;
    expect_near(0.5 - (double)s.position.y, 3.0 * 9.8 / (5000.0 * 2.0), 1e-4 + fabs(tilt), "depth");
    stop(&r);
    expect_near(s.contact_force.y, 3.0 * 9.8, 0.01, "its weight");
    start("six_blocks_pointer", &r);
    step(&r, 2000);
    expect_near(state_of(&r, "pointer").contact_force.x, 0.0, 0.0, "nothing touches it yet");
    cr_assert_gt(state_of(&r, "row2_0").position.y, 2.4f, "stands before the pointer comes");
    step(&r, 1000);
    cr_assert_lt(state_of(&r, "pointer").contact_force.x, -0.5f, "the blocks push back");
    step(&r, 3000);
    expect_near(state_of(&r, "pointer").position.x, 2.0, 1e-4, "the pointer goes its way");
    cr_assert_gt(state_of(&r, "row1_1").position.x, 1.5f, "and pushes the blocks aside");
    stop(&r);
}

// Nothing but shapes of a metre and densities: a wall stands, what falls comes to rest.
Test(volume_scenes, everyday)
{
    run r;
    start("everyday", &r);
    step(&r, 600);
    for (uint32_t i = 1; i < cm_scene_body_count(r.scene); i++) {
        const char *name = cm_scene_body_name(r.scene, i);
        carom_body_state s = state_of(&r, name);
        bool rolls = strcmp(name, "ball") == 0 || strcmp(name, "pill") == 0;
        cr_expect_lt(cm_length(s.linear_velocity), rolls ? 0.3f : 2e-3f, "%s", name);
        cr_expect(s.position.y > 0.05f && s.position.y < 2.0f, "%s", name);
    }
    expect_near(state_of(&r, "brick3_1").position.y, 1.75, 0.01, "the top of the wall");
    stop(&r);
}

// Round shapes, hulls and boxes in a pit of five pieces come to rest.
Test(volume_scenes, shapes)
{
    run r;
    start("shapes", &r);
    step(&r, 2000);
    for (uint32_t i = 1; i < cm_scene_body_count(r.scene); i++) {
        carom_body_state s = state_of(&r, cm_scene_body_name(r.scene, i));
        cr_assert(s.position.y > 0.1f && s.position.y < 2.0f, "body %u is in the pit", i);
        cr_assert_lt(cm_length(s.linear_velocity), 0.2f, "body %u is nearly at rest", i);
    }
    stop(&r);
}

// S2.15: a pile with a stiffness out of reach at its tick rate is stepped all the same, and said to
// be above the bounds; the piles of experiment 1 are within.
Test(volume_scenes, bounds)
{
    run r;
    carom_world_stats stats;
    start("pile_100", &r);
    step(&r, 20);
    carom_world_stats_get(r.world, &stats);
    cr_assert_eq(stats.log_counts[CAROM_LOG_VOLUME_OVER_BOUND], 0u);
    stop(&r);
    start("bounds", &r);
    step(&r, 20);
    carom_world_stats_get(r.world, &stats);
    cr_assert_eq(stats.log_counts[CAROM_LOG_VOLUME_OVER_BOUND], 20u);
    cr_assert_eq(stats.log_counts[CAROM_LOG_BODY_PUT_TO_REST], 0u);
    stop(&r);
}

// Saved and restored at every tick: what a step remembers is all in the state.
static void expect_rewinds(const char *name, uint32_t ticks)
{
    run straight, rewound;
    start(name, &straight);
    start(name, &rewound);
    for (uint32_t tick = 0; tick < ticks; tick++) {
        size_t size =
            carom_world_save(rewound.world, rewound.image, carom_world_save_bound(rewound.world));
        step(&straight, 1);
        step(&rewound, 3);
        cr_assert_eq(carom_world_restore(rewound.world, rewound.image, size), CAROM_OK);
        step(&rewound, 1);
        cr_assert_eq(carom_world_hash(straight.world), carom_world_hash(rewound.world),
                     "%s: tick %u", name, tick);
    }
    stop(&straight);
    stop(&rewound);
}

Test(volume_scenes, rewinds)
{
    expect_rewinds("tilted_cube", 200);
    expect_rewinds("pile_13_deepest_point", test_count(100, 300));
    expect_rewinds("pile_13", test_count(50, 100));
    expect_rewinds("six_blocks_pointer", 100);
    expect_rewinds("top", 400);
    expect_rewinds("shapes", 200);
    expect_rewinds("everyday", test_count(100, 200));
    expect_rewinds("pointer_walls", test_count(100, 300));
}
