// Goal: what is measured is what it says: the generator makes the towers scene, a run starts from
// the scene and ends in the same state each time, joints are read as written, rewinds are exact.
// Method: the scene file against the generator body for body; short runs of real scenes; a small
// file with joints, whose scene stands in for one that the engine cannot take yet.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "server/tools/bench/energy.h"
#include "server/tools/bench/joints.h"
#include "server/tools/bench/rewind.h"
#include "server/tools/bench/scene_run.h"
#include "server/tools/bench/worlds.h"
#include "shared/scene/scene_json.h"
#include "tests/unit/counts.h"

#define TOWERS   "tests/scenes/bench/B0_towers1000.json"
#define PYRAMID  "tests/scenes/bench/A_pyramid20.json"
#define PILE     "tests/scenes/bench/B_pile1000.json"
#define BIG_PILE "tests/scenes/bench/E_pile5000.json"
#define CHAINS   "tests/scenes/bench/D_chains100x20.json"

static cm_scene *load(const char *path)
{
    cm_scene *scene = NULL;
    cm_scene_error error;
    cr_assert_eq(cm_scene_from_file(path, &scene, &error), CAROM_OK, "%s: %s", path, error.message);
    return scene;
}

Test(bench_scenes, generator_makes_the_towers)
{
    cm_scene *scene = load(TOWERS);
    carom_world_def def;
    cm_scene_world_def(scene, &def);
    carom_world *filed = cm_bench_world_new(&def), *made = cm_bench_towers(1000);
    cr_assert(filed != NULL && made != NULL);
    cr_assert_eq(cm_scene_populate(scene, filed), CAROM_OK);
    cr_assert_eq(carom_world_body_slots(filed), 1005);
    cr_assert_eq(carom_world_body_slots(made), 1005);
    for (uint32_t slot = 0; slot < 1005; slot++) {
        carom_body_state a, b;
        cr_assert_eq(carom_body_get(filed, carom_world_body_at(filed, slot), &a), CAROM_OK);
        cr_assert_eq(carom_body_get(made, carom_world_body_at(made, slot), &b), CAROM_OK);
        cr_assert_eq(memcmp(&a.position, &b.position, sizeof a.position), 0, "body %u", slot);
        cr_assert(a.type == b.type && a.mass == b.mass, "body %u", slot);
    }
    for (int i = 0; i < 10; i++) {
        carom_world_step(filed);
        carom_world_step(made);
    }
    carom_body_state a, b;
    carom_body_get(filed, carom_world_body_at(filed, 1004), &a);
    carom_body_get(made, carom_world_body_at(made, 1004), &b);
    cr_assert_eq(memcmp(&a.position, &b.position, sizeof a.position), 0, "same friction and rules");
    cm_bench_world_free(filed);
    cm_bench_world_free(made);
    cm_scene_free(scene);
}

Test(bench_scenes, generator_makes_the_piles)
{
    static const struct {
        const char *path;
        uint32_t bodies, row;
    } PILES[] = {{PILE, 1000, 10}, {BIG_PILE, 5000, 20}};
    for (int i = 0; i < 2; i++) {
        cm_scene *scene = load(PILES[i].path);
        const cm_scene_run_options options = {.steps = 30, .from = 0, .runs = 1};
        const cm_scene_run_source filed = {.scene = scene};
        const cm_scene_run_source made = {
            .pile_bodies = PILES[i].bodies, .pile_row = PILES[i].row, .pile_seed = CM_BENCH_SEED};
        cm_scene_run a, b;
        cr_assert_eq(cm_scene_run_measure(&filed, &options, &a), CAROM_OK);
        cr_assert_eq(cm_scene_run_measure(&made, &options, &b), CAROM_OK);
        cr_expect_eq(a.bodies, b.bodies);
        cr_expect_eq(a.quality.top_height, b.quality.top_height);
        cr_expect_eq(a.quality.pairs, b.quality.pairs);
        cr_expect_eq(a.quality.mean_penetration, b.quality.mean_penetration);
        cr_expect_eq(a.kinetic_energy, b.kinetic_energy);
        cm_scene_free(scene);
    }
}

// As cubes land on cubes, edges touch first and faces turn onto each other within a tick: what a
// manifold of one point lets pass is 110 to 200 mm deep.
Test(bench_scenes, a_collapse_keeps_cubes_apart)
{
    const cm_scene_run_options options = {.steps = 90, .from = 0, .runs = 1};
    for (uint32_t seed = 0; seed < test_count(2, 6); seed++) {
        const cm_scene_run_source pile = {
            .pile_bodies = 300, .pile_row = 5, .pile_seed = CM_BENCH_SEED + seed};
        cm_scene_run run;
        cr_assert_eq(cm_scene_run_measure(&pile, &options, &run), CAROM_OK);
        cr_expect_lt(run.worst_penetration, 0.09, "seed %u: %g", seed, run.worst_penetration);
        cr_expect_gt(run.worst_penetration, 0.005, "seed %u: nothing fell", seed);
    }
}

// A chain of the scene's links, as written, lies level at 20 m: the middle of link i, which hangs
// 0.6 i + 0.3 m below the anchor, falls by so much.
Test(bench_scenes, what_chains_can_lose)
{
    cm_scene *scene = load(CHAINS);
    carom_world_def def;
    cm_scene_world_def(scene, &def);
    carom_world *world = cm_bench_world_new(&def);
    cr_assert_eq(cm_scene_populate(scene, world), CAROM_OK);
    cm_quality_joint *joints;
    uint32_t count;
    double hanging;
    cr_assert_eq(cm_bench_joints_load(scene, world, &joints, &count), CAROM_OK);
    cr_assert_eq(cm_energy_hanging(world, joints, count, &hanging), CAROM_OK);
    double start = cm_energy_total(world), mean = 0.3 + 0.6 * 9.5;
    cr_expect_float_eq(start, 10.0 * 20.0, 1e-3);
    cr_expect_float_eq(start - hanging, 10.0 * mean, 1e-2, "%g", start - hanging);
    cr_assert_eq(cm_energy_hanging(world, joints, count - 1, &hanging), CAROM_OK);
    cr_expect(hanging == HUGE_VAL, "the last link hangs on nothing");
    cr_expect_eq(cm_energy_kinetic(world), 0.0);
    free(joints);
    cm_bench_world_free(world);
    cm_scene_free(scene);
}

Test(bench_scenes, a_short_run)
{
    cm_scene *scene = load(PYRAMID);
    const cm_scene_run_options options = {.steps = 6, .from = 2, .runs = 2};
    cm_scene_run run;
    const cm_scene_run_source source = {.scene = scene};
    cr_assert_eq(cm_scene_run_measure(&source, &options, &run), CAROM_OK);
    cr_assert_eq(run.bodies, 210);
    cr_assert(run.same, "two runs, one hash");
    cr_assert_gt(run.step.mean, 0.0);
    cr_assert_leq(run.step.median, run.step.p99);
    cr_assert_gt(run.state_bytes, 210 * 64);
    cr_assert_float_eq(run.quality.top_height, 19.5, 0.05);
    cr_assert_lt(run.quality.max_penetration, 0.01);
    cr_assert_gt(run.quality.pairs, 400, "each cube stands on two");

    carom_world_def def;
    cm_scene_world_def(scene, &def);
    carom_world *world = cm_bench_world_new(&def);
    cr_assert_eq(cm_scene_populate(scene, world), CAROM_OK);
    for (int i = 0; i < 6; i++) {
        carom_world_step(world);
    }
    cr_assert_eq(carom_world_hash(world), run.hash, "the hash after the last step");
    cm_bench_world_free(world);
    cm_scene_free(scene);
}

static const char TWO_BODIES[] =
    "{\"carom\": 1, \"name\": \"pair\", \"bodies\": ["
    "{\"name\": \"a\", \"type\": \"static\", \"position\": [1, 2, 3],"
    " \"shapes\": [{\"sphere\": {\"radius\": 0.5}}]},"
    "{\"name\": \"b\", \"position\": [1, 4, 3], \"orientation\": [0, 0, 0.6, 0.8],"
    " \"shapes\": [{\"sphere\": {\"radius\": 0.5}}]}]%s}";
static const char JOINTS[] =
    ", \"joints\": ["
    "{\"type\": \"ball\", \"a\": \"a\", \"b\": \"b\", \"anchor\": [1, 3, 3]},"
    "{\"type\": \"distance\", \"a\": \"a\", \"b\": \"b\", \"anchor\": [1, 3, 3]},"
    "{\"type\": \"hinge\", \"a\": \"world\", \"b\": \"b\", \"anchor\": [0, 5, 0]}]";

static void write_file(const char *path, const char *joints)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fprintf(file, TWO_BODIES, joints);
    fclose(file);
}

Test(bench_scenes, joints_are_read_as_written)
{
    char path[] = "/tmp/carom-joints-XXXXXX";
    int handle = mkstemp(path);
    cr_assert_geq(handle, 0);
    close(handle);
    write_file(path, JOINTS);
    cm_scene *scene = load(path);
    carom_world_def def;
    cm_scene_world_def(scene, &def);
    carom_world *world = cm_bench_world_new(&def);
    cr_assert_eq(cm_scene_populate(scene, world), CAROM_OK);
    cm_quality_joint *joints;
    uint32_t count;
    cr_assert_eq(cm_bench_joints_load(scene, world, &joints, &count), CAROM_OK);
    cr_assert_eq(count, 2, "a distance joint holds no points together");
    cr_assert(joints[0].body_a == 0 && joints[0].body_b == 1);
    cr_assert_eq(joints[1].body_a, CM_QUALITY_WORLD);
    cm_quality quality;
    cr_assert_eq(cm_quality_of_world(world, joints, count, &quality), CAROM_OK);
    cr_assert_lt(quality.joint_error, 1e-6, "no error as written");
    carom_body_id b = carom_world_body_at(world, 1);
    cr_assert_eq(carom_body_set_pose(world, b, (carom_vec3){1.0f, 4.25f, 3.0f},
                                     (carom_quat){0.0f, 0.0f, 0.6f, 0.8f}),
                 CAROM_OK);
    cr_assert_eq(cm_quality_of_world(world, joints, count, &quality), CAROM_OK);
    cr_assert_float_eq(quality.joint_error, 0.25, 1e-6);
    free(joints);
    unlink(path);
    cm_bench_world_free(world);
    cm_scene_free(scene);
}

Test(bench_scenes, rewinds_are_exact)
{
    cm_rewind rewind;
    carom_world *world = cm_bench_towers(20);
    cr_assert_not_null(world);
    cr_assert_eq(cm_rewind_measure(world, 4, 3, &rewind), CAROM_OK);
    cm_bench_world_free(world);
    cr_assert(rewind.hash_equal);
    cr_assert_gt(rewind.time.median, 0.0);
}
