// Goal: worst and mean penetration, pairs, top height and joint error are what their definitions
// say, over solids and over a world through its public interface.
// Method: hand-made arrangements with known answers; random solids against all pairs without a
// sweep.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "server/tools/bench/energy.h"
#include "server/tools/bench/quality.h"
#include "server/tools/bench/samples.h"
#include "server/tools/bench/worlds.h"

static const double UPRIGHT[4] = {0.0, 0.0, 0.0, 1.0};

static cm_solid cube_at(uint32_t body, double x, double y, double z, const double turn[4])
{
    carom_shape_def def = carom_default_shape_def();
    def.type = CAROM_SHAPE_BOX;
    def.half_extents = (carom_vec3){0.5f, 0.5f, 0.5f};
    cm_solid solid;
    const double position[3] = {x, y, z};
    cr_assert(cm_solid_place(&solid, &def, position, turn));
    solid.body = body;
    solid.movable = true;
    return solid;
}

Test(quality, a_stack)
{
    cm_solid stack[5] = {
        cube_at(0, 0.0, 0.5, 0.0, UPRIGHT),   cube_at(1, 0.1, 1.49, 0.0, UPRIGHT), // 10 mm into 0
        cube_at(2, 0.0, 2.46, 0.0, UPRIGHT),                                       // 30 mm into 1
        cube_at(3, 0.0, 3.475, 0.0, UPRIGHT),                                      // 15 mm apart
        cube_at(4, 0.0, 4.500, 0.0, UPRIGHT),                                      // 25 mm apart
    };
    cm_quality quality = {0};
    cr_assert(cm_quality_of_solids(stack, 5, NULL, 0, &quality));
    cr_assert_eq(quality.pairs, 3);
    cr_assert_float_eq(quality.max_penetration, 0.03, 1e-9);
    cr_assert_float_eq(quality.mean_penetration, 0.04 / 3.0, 1e-9);
    const cm_quality_joint joint = {.body_a = 2, .body_b = 1};
    cr_assert(cm_quality_of_solids(stack, 5, &joint, 1, &quality));
    cr_assert_eq(quality.pairs, 2, "bodies of a joint do not meet");
    cr_assert_float_eq(quality.max_penetration, 0.01, 1e-9);
    stack[1].mask = 0;
    cr_assert(cm_quality_of_solids(stack, 5, NULL, 0, &quality));
    cr_assert_eq(quality.pairs, 1);
    cr_assert_eq(quality.max_penetration, 0.0);
    cr_assert_eq(quality.mean_penetration, 0.0);
    cr_assert(cm_quality_of_solids(NULL, 0, NULL, 0, &quality));
    cr_assert_eq(quality.pairs, 0);
}

static double chance(uint64_t *state) // -1 to 1
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*state >> 33) / (double)(1u << 30) - 1.0;
}

Test(quality, the_sweep_misses_nothing)
{
    enum { COUNT = 300 };
    static cm_solid solids[COUNT];
    uint64_t state = 11;
    for (uint32_t i = 0; i < COUNT; i++) {
        double turn[4] = {chance(&state), chance(&state), chance(&state), chance(&state) + 1e-3};
        solids[i] =
            cube_at(i, 4.0 * chance(&state), 4.0 * chance(&state), 4.0 * chance(&state), turn);
        solids[i].half[0] = 0.1 + 0.4 * fabs(chance(&state));
    }
    uint32_t pairs = 0;
    double sum = 0.0, worst = 0.0;
    for (uint32_t i = 0; i < COUNT; i++) {
        for (uint32_t k = i + 1; k < COUNT; k++) {
            double depth = cm_solid_depth(&solids[i], &solids[k]);
            pairs += depth > -CM_QUALITY_NEAR;
            sum += fmax(depth, 0.0);
            worst = fmax(worst, depth);
        }
    }
    cm_quality quality = {0};
    cr_assert(cm_quality_of_solids(solids, COUNT, NULL, 0, &quality));
    cr_assert_gt(pairs, 200);
    cr_assert_eq(quality.pairs, pairs);
    cr_assert_float_eq(quality.max_penetration, worst, 1e-12);
    cr_assert_float_eq(quality.mean_penetration, sum / pairs, 1e-12);
}

Test(quality, joints)
{
    cm_quality_pose poses[2] = {
        {{1.0, 2.0, 3.0}, {0.0, 0.0, 0.0, 1.0}},
        {{1.0, 4.0, 3.0}, {0.0, 0.0, M_SQRT1_2, M_SQRT1_2}}, // a quarter turn about z
    };
    cm_quality_joint joints[2] = {
        {0, 1, {0.0, 1.0, 0.0}, {-1.0, 0.0, 0.0}}, // both at (1, 3, 3)
        {CM_QUALITY_WORLD, 1, {1.0, 5.0, 3.0}, {0.97, 0.0, 0.04}},
    };
    cr_assert_float_eq(cm_quality_joint_error(poses, joints, 1), 0.0, 1e-12);
    cr_assert_float_eq(cm_quality_joint_error(poses, joints, 2), 0.05, 1e-12);
    cr_assert_eq(cm_quality_joint_error(poses, NULL, 0), 0.0);
}

Test(quality, of_a_world)
{
    carom_world_def def = carom_default_world_def();
    carom_world *world = cm_bench_world_new(&def);
    cr_assert_not_null(world);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shapes[2] = {carom_default_shape_def(), carom_default_shape_def()};
    carom_body_id id;
    shapes[0].type = CAROM_SHAPE_PLANE;
    body.type = CAROM_BODY_STATIC;
    cr_assert_eq(carom_body_create(world, &body, shapes, 1, &id), CAROM_OK);
    body.type = CAROM_BODY_DYNAMIC;
    body.position = (carom_vec3){0.0f, 1.0f, 0.0f};
    shapes[0].type = CAROM_SHAPE_SPHERE; // its lowest point at -0.25; the other sphere's at 0.5
    shapes[0].position = (carom_vec3){0.5f, -0.75f, 0.0f};
    shapes[1].position = (carom_vec3){-0.5f, 0.0f, 0.0f};
    cr_assert_eq(carom_body_create(world, &body, shapes, 2, &id), CAROM_OK);
    cm_quality quality;
    cr_assert_eq(cm_quality_of_world(world, NULL, 0, &quality), CAROM_OK);
    cr_assert_eq(quality.pairs, 1);
    cr_assert_float_eq(quality.max_penetration, 0.25, 1e-6);
    cr_assert_float_eq(quality.mean_penetration, 0.25, 1e-6);
    cr_assert_float_eq(quality.top_height, 1.0, 1e-6);
    const cm_quality_joint joint = {CM_QUALITY_WORLD, 1, {0.0, 1.0, 0.25}, {0.0, 0.0, 0.0}};
    cr_assert_eq(cm_quality_of_world(world, &joint, 1, &quality), CAROM_OK);
    cr_assert_float_eq(quality.joint_error, 0.25, 1e-6);
    cm_bench_world_free(world);
}

Test(quality, kinetic_energy)
{
    carom_world_def def = carom_default_world_def();
    carom_world *world = cm_bench_world_new(&def);
    cr_assert_not_null(world);
    cr_assert_eq(cm_energy_kinetic(world), 0.0);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    carom_body_id id;
    body.has_mass = body.has_inertia = true;
    body.mass = 2.0f;
    body.inertia = (carom_vec3){1.0f, 2.0f, 3.0f};
    body.orientation = (carom_quat){0.0f, 0.0f, (float)M_SQRT1_2, (float)M_SQRT1_2};
    body.linear_velocity = (carom_vec3){3.0f, 0.0f, 4.0f};
    body.angular_velocity = (carom_vec3){2.0f, 0.0f, 0.0f}; // about the body's -y
    cr_assert_eq(carom_body_create(world, &body, &shape, 1, &id), CAROM_OK);
    cr_assert_float_eq(cm_energy_kinetic(world), (25.0 + 4.0) / 2.0, 1e-5);
    body.linear_velocity = body.angular_velocity = (carom_vec3){0.0f, 0.0f, 0.0f};
    cr_assert_eq(carom_body_create(world, &body, &shape, 1, &id), CAROM_OK);
    cr_assert_float_eq(cm_energy_kinetic(world), (25.0 + 4.0) / 4.0, 1e-5, "a kg");
    cm_bench_world_free(world);
}

Test(quality, summary_of_samples)
{
    double samples[200];
    cm_samples_summary summary;
    for (uint32_t i = 0; i < 200; i++) {
        samples[i] = (double)((i * 77) % 200) + 1.0; // 1 to 200, shuffled
    }
    cm_samples_summarise(samples, 200, &summary);
    cr_assert_float_eq(summary.mean, 100.5, 1e-9);
    cr_assert_float_eq(summary.median, 101.0, 1e-9);
    cr_assert_float_eq(summary.p99, 199.0, 1e-9);
    cm_samples_summarise(samples, 0, &summary);
    cr_assert_eq(summary.mean, 0.0);
}
