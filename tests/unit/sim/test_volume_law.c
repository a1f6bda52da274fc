// Goal: a volume scene that names no stiffness and no damping holds everyday bodies: they rest as
// deep as the derivation says, do not bounce, do not tumble, and stacks, walls and pyramids of them
// stand; given numbers win; what is far from the derived ones is found.
// Method: worlds by formula (README.md of the solver): depth g h^2 under a face, the rebound of a
// damped spring, the bound m / h^2.
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "carom/check.h"
#include "carom/volume.h"
#include "tests/unit/counts.h"
#include "tests/unit/sim/rig.h"

static const double G = 9.81;

static cm_rig open_rig(uint32_t bodies, uint32_t rate, uint32_t substeps)
{
    carom_world_def def = cm_rig_def(bodies);
    def.solver.type = CAROM_SOLVER_VOLUME;
    def.solver.volume.substeps = substeps;
    def.tick_rate = rate;
    return cm_rig_open(&def, 0);
}

static carom_body_id add_box(cm_rig *rig, carom_vec3 position, carom_vec3 half, float density,
                             carom_quat orientation)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = position;
    body.orientation = orientation;
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = half;
    shape.density = density;
    return cm_rig_body(rig, &body, &shape);
}

static const carom_quat UPRIGHT = {0.0f, 0.0f, 0.0f, 1.0f};

static double fastest(const cm_rig *rig)
{
    double most = 0.0;
    for (uint32_t i = 0; i < carom_world_body_slots(rig->world); i++) {
        carom_body_state s = cm_rig_get(rig, carom_world_body_at(rig->world, i));
        most = fmax(most, (double)cm_length(s.linear_velocity));
        most = fmax(most, (double)cm_length(s.angular_velocity));
    }
    return most;
}

Test(volume_law, pure_functions)
{
    double k, b;
    carom_volume_contact_of(1000.0, 1.0 / 240.0, CAROM_VOLUME_INTERSECTION, &k, &b);
    cr_expect_float_eq(k, 1000.0 * 240.0 * 240.0, 1e-6 * k);
    cr_expect_float_eq(b, 4.0 * sqrt(k * 1000.0), 1e-9 * b, "twice critical");
    // A deepest point's damper is explicit: c h / m + K h^2 / 2m < 2 for a quarter of the mass.
    carom_volume_contact_of(0.25, 0.01, CAROM_VOLUME_DEEPEST_POINT, &k, &b);
    cr_expect_lt(4.0 * (b * 0.01 / 0.25 + 0.5 * k * 1e-4 / 0.25), 2.0);
    const double bad[] = {0.0, -1.0, NAN};
    for (size_t i = 0; i < 3; i++) {
        carom_volume_contact_of(bad[i], 0.01, CAROM_VOLUME_INTERSECTION, &k, &b);
        cr_expect(k == 0.0 && b == 0.0);
        carom_volume_contact_of(1.0, bad[i], CAROM_VOLUME_INTERSECTION, &k, &b);
        cr_expect(k == 0.0 && b == 0.0);
    }
    cr_expect_eq(carom_volume_substeps(1.0 / 60.0, G, 0.0), 4u);
    cr_expect_eq(carom_volume_substeps(1.0 / 200.0, G, 1.0), 2u);
    cr_expect_eq(carom_volume_substeps(1.0 / 1000.0, 0.0, 0.01), 1u);
    cr_expect_eq(carom_volume_substeps(1.0, 0.0, 0.0), 64u);
    // 60 sqrt(g / L) = 594 a second for 10 cm.
    cr_expect_eq(carom_volume_substeps(1.0 / 60.0, G, 0.1), 10u);
    cr_expect_eq(carom_volume_substeps(1.0 / 1000.0, G, 0.1), 1u);
    cr_expect_eq(carom_volume_substeps(1.0 / 60.0, NAN, NAN), 4u);
}

// On the floor K d = m g: d = g / w^2, w = 3,000 rad/s, whatever the size, density and rate.
Test(volume_law, depth_at_rest)
{
    const float sizes[] = {0.2f, 1.0f, 5.0f}, densities[] = {10.0f, 1000.0f, 8000.0f};
    const uint32_t rates[] = {60, 200, 1000};
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t j = 0; j < 3; j++) {
            for (uint32_t r = 0; r < 3; r++) {
                cm_rig rig = open_rig(4, rates[r], 0);
                float half = 0.5f * sizes[i];
                cm_rig_plane(&rig);
                carom_body_id box = add_box(&rig, cm_vec(0.0f, half, 0.0f),
                                            cm_vec(half, half, half), densities[j], UPRIGHT);
                cm_rig_step(&rig, rates[r]);
                double depth = (double)half - (double)cm_rig_get(&rig, box).position.y;
                cr_expect_float_eq(depth, G / 9e6, 0.02 * G / 9e6 + 5e-7 * (double)half,
                                   "%g m, %g kg/m^3, %u Hz: %g", (double)sizes[i],
                                   (double)densities[j], rates[r], depth);
                cr_expect_lt(fastest(&rig), 3e-4, "%g m, %g kg/m^3, %u Hz: %g m/s",
                             (double)sizes[i], (double)densities[j], rates[r], fastest(&rig));
                cm_rig_close(&rig);
            }
        }
    }
}

// From a metre above the floor: the rebound is below 1% of the fall, the end is rest. What does not
// fall flat may lift its centre as it rolls over a corner.
static void expect_no_bounce(carom_quat attitude, float size, float density, uint32_t substeps)
{
    cm_rig rig = open_rig(4, 60, substeps);
    cm_rig_plane(&rig);
    float half = 0.5f * size;
    carom_body_id box = add_box(&rig, cm_vec(0.0f, 1.0f + 2.0f * half, 0.0f),
                                cm_vec(half, half, half), density, attitude);
    double low = INFINITY, rebound = 0.0;
    for (uint32_t tick = 0; tick < 300; tick++) {
        cm_rig_step(&rig, 1);
        double y = (double)cm_rig_get(&rig, box).position.y;
        low = fmin(low, y);
        rebound = fmax(rebound, y - low);
    }
    double fall = 1.0 + 2.0 * (double)half, lift = 0.0;
    if (attitude.w != 1.0f) {
        lift = 0.01 * (fall + (double)size);
    }
    cr_expect_lt(rebound, 0.01 * fall + lift, "size %g, density %g, %u substeps: rebounds by %g m",
                 (double)size, (double)density, substeps, rebound);
    cr_expect_lt(fastest(&rig), 1e-3);
    cm_rig_close(&rig);
}

Test(volume_law, falls_do_not_bounce)
{
    carom_quat tilted = cm_rig_turn_z(0.1f), skewed = {0.2f, 0.3f, 0.1f, 0.9273618f};
    const float densities[] = {10.0f, 1000.0f, 8000.0f};
    for (uint32_t i = 0; i < 3; i++) {
        expect_no_bounce(UPRIGHT, 1.0f, densities[i], 0);
        expect_no_bounce(tilted, 1.0f, densities[i], 0);
        expect_no_bounce(skewed, 1.0f, densities[i], 0);
    }
    expect_no_bounce(skewed, 0.3f, 1000.0f, 0);
    expect_no_bounce(skewed, 3.0f, 1000.0f, 0);
    expect_no_bounce(UPRIGHT, 1.0f, 1000.0f, 16);
}

// Rows of bricks, each half over those below: a wall, or a pyramid of one less in each row.
static void expect_stands(uint32_t rows, uint32_t first, bool pyramid, float gap)
{
    cm_rig rig = open_rig(rows * first + 2, 60, 0);
    cm_rig_plane(&rig);
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t count = pyramid ? first - r : first - r % 2;
        for (uint32_t i = 0; i < count; i++) {
            float x = (1.0f + gap) * ((float)i - 0.5f * (float)(count - 1));
            add_box(&rig, cm_vec(x, 0.25f + 0.5f * (float)r, 0.0f), cm_vec(0.5f, 0.25f, 0.25f),
                    1000.0f, UPRIGHT);
        }
    }
    cm_rig_step(&rig, 600);
    // Each contact gives way by what lies on it: at most rows^2 / 2 of g h^2 K / (K / 2) at the
    // top.
    double most = 2.0 * (double)(rows * rows) * G / (240.0 * 240.0), fall = 0.0;
    uint32_t slot = 1;
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t count = pyramid ? first - r : first - r % 2;
        for (uint32_t i = 0; i < count; i++, slot++) {
            carom_body_state s = cm_rig_get(&rig, carom_world_body_at(rig.world, slot));
            float x = (1.0f + gap) * ((float)i - 0.5f * (float)(count - 1));
            fall = fmax(fall, hypot((double)(s.position.x - x),
                                    (double)(s.position.y - 0.25f - 0.5f * (float)r)));
        }
    }
    cr_expect_lt(fall, most, "%u rows moved by %g m", rows, fall);
    cr_expect_lt(fastest(&rig), 1e-3, "%u rows: %g m/s", rows, fastest(&rig));
    cm_rig_close(&rig);
}

Test(volume_law, stacks_walls_and_pyramids_stand)
{
    expect_stands(8, 5, false, 0.002f);
    expect_stands(8, 8, true, 0.05f);
    cm_rig rig = open_rig(12, 60, 0);
    carom_body_id boxes[10];
    cm_rig_plane(&rig);
    for (uint32_t i = 0; i < 10; i++) {
        boxes[i] = add_box(&rig, cm_vec(0.0f, 0.5f + (float)i, 0.0f), cm_vec(0.5f, 0.5f, 0.5f),
                           1000.0f, UPRIGHT);
    }
    cm_rig_step(&rig, 1200);
    double y = 0.0; // the floor carries 10 at 3,000 rad/s; each box i less, on m / 2 at 2 x 240
    for (uint32_t i = 0; i < 10; i++) {
        y -= (double)(10 - i) * (i == 0 ? G / 9e6 : 2.0 * G / (480.0 * 480.0));
        carom_vec3 p = cm_rig_get(&rig, boxes[i]).position;
        cr_expect_float_eq((double)p.y - 0.5 - (double)i, y, 1e-5, "box %u", i);
        cr_expect_lt(fabsf(p.x) + fabsf(p.z), 1e-4f, "box %u", i);
    }
    cm_rig_close(&rig);
}

// Ten cubes of any size stand for a minute, not quite in line: a column of contacts buckles where
// there are fewer than 27.7 sqrt(g / L) steps a second (Greenhill's column, in README.md).
static double lean_of_ten(float size, uint32_t rate, uint32_t substeps, uint32_t seconds)
{
    cm_rig rig = open_rig(12, rate, substeps);
    carom_body_id top = {0};
    float half = 0.5f * size, start = 0.0f;
    cm_rig_plane(&rig);
    for (uint32_t i = 0; i < 10; i++) {
        start = 1e-3f * size * ((float)(i * 7 % 5) - 2.0f);
        top = add_box(&rig, cm_vec(start, half + size * (float)i, 0.5f * start),
                      cm_vec(half, half, half), 1000.0f, UPRIGHT);
    }
    cm_rig_step(&rig, seconds * rate);
    carom_vec3 p = cm_rig_get(&rig, top).position;
    cm_rig_close(&rig);
    return hypot((double)(p.x - start), (double)(p.z - 0.5f * start)) / (double)size;
}

Test(volume_law, ten_small_cubes_stand_for_a_minute)
{
    cr_expect_lt(lean_of_ten(0.1f, 60, 0, test_count(20, 60)), 0.02);
    if (test_count(0, 1) == 1) {
        cr_expect_lt(lean_of_ten(0.1f, 240, 0, 60), 0.02);
        cr_expect_lt(lean_of_ten(0.03f, 60, 0, 60), 0.02);
        cr_expect_lt(lean_of_ten(0.5f, 60, 0, 60), 0.02);
    }
    cr_expect_gt(lean_of_ten(0.1f, 60, 1, 10), 1.0, "the check can fail");
}

// Cubes that appear half in each other part at 3 m/s, whatever their mass.
Test(volume_law, deep_overlaps_part_slowly)
{
    for (uint32_t i = 0; i < 3; i++) {
        carom_world_def def = cm_rig_def(4);
        def.solver.type = CAROM_SOLVER_VOLUME;
        def.gravity = cm_vec(0.0f, 0.0f, 0.0f);
        cm_rig rig = cm_rig_open(&def, 0);
        float density = i == 0 ? 10.0f : 1000.0f, other = i == 2 ? 10.0f : density;
        carom_vec3 half = cm_vec(0.5f, 0.5f, 0.5f);
        carom_body_id a = add_box(&rig, cm_vec(0.0f, 0.0f, 0.0f), half, density, UPRIGHT);
        carom_body_id b = add_box(&rig, cm_vec(0.1f, 0.5f, 0.05f), half, other, UPRIGHT);
        double most = 0.0;
        for (uint32_t tick = 0; tick < 120; tick++) {
            cm_rig_step(&rig, 1);
            carom_vec3 v =
                cm_sub(cm_rig_get(&rig, b).linear_velocity, cm_rig_get(&rig, a).linear_velocity);
            most = fmax(most, (double)cm_length(v));
        }
        cr_expect(most > 0.5 && most < 3.15, "%g m/s", most);
        cr_expect_gt(cm_rig_get(&rig, b).position.y - cm_rig_get(&rig, a).position.y, 0.99f);
        cm_rig_close(&rig);
    }
}

// The scene's numbers are taken as they are; a damping left open follows the stiffness.
Test(volume_law, given_numbers_win)
{
    carom_world_def def = cm_rig_def(4);
    def.solver.type = CAROM_SOLVER_VOLUME;
    def.solver.volume.stiffness = 2.0e6f;
    def.tick_rate = 60;
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    carom_body_id box =
        add_box(&rig, cm_vec(0.0f, 0.5f, 0.0f), cm_vec(0.5f, 0.5f, 0.5f), 1000.0f, UPRIGHT);
    double low = INFINITY, rebound = 0.0;
    for (uint32_t tick = 0; tick < 300; tick++) {
        cm_rig_step(&rig, 1);
        double y = (double)cm_rig_get(&rig, box).position.y;
        low = fmin(low, y);
        rebound = fmax(rebound, y - low);
    }
    cr_expect_float_eq(0.5 - low, 1000.0 * G / 2.0e6, 1e-5, "m g / (k A)");
    cr_expect_lt(rebound, 1e-5);
    cm_rig_close(&rig);
}

Test(volume_law, bound_of_a_body)
{
    for (uint32_t given = 0; given < 4; given++) {
        carom_world_def def = cm_rig_def(4);
        float k = -2.0f, b = -2.0f;
        def.solver.type = CAROM_SOLVER_VOLUME;
        def.tick_rate = 1000;
        def.solver.volume.stiffness = given & 1 ? 5000.0f : -1.0f;
        def.solver.volume.damping = given & 2 ? 20.0f : -1.0f;
        cm_rig rig = cm_rig_open(&def, 0);
        carom_body_id box = add_box(&rig, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(0.1f, 0.1f, 0.1f),
                                    125.0f, UPRIGHT); // 1 kg
        double area = 0.04 * sqrt(3.0), derived = given & 1 ? 5000.0 * area : 1.0e6;
        cr_assert_eq(carom_volume_bound(rig.world, box, &k, &b), CAROM_OK);
        // Substeps of a given stiffness: one is enough for 5,000 N/m^3 on 0.04 m^2.
        cr_expect_float_eq((double)k, derived, 1e-5 * derived);
        double want = given & 2 ? 20.0 * area : 4.0 * sqrt(derived);
        cr_expect_float_eq((double)b, want, 1e-5 * want);
        cr_expect_eq(carom_volume_bound(rig.world, (carom_body_id){9, 9}, &k, &b),
                     CAROM_ERROR_ARGUMENT);
        cm_rig_close(&rig);
    }
    carom_world_def def = cm_rig_def(4);
    float k = 1.0f, b = 1.0f;
    cm_rig rig = cm_rig_open(&def, 0);
    carom_body_id ball = cm_rig_sphere(&rig, cm_vec(0.0f, 0.0f, 0.0f), 1.0f);
    cr_assert_eq(carom_volume_bound(rig.world, ball, &k, &b), CAROM_OK);
    cr_expect(k == 0.0f && b == 0.0f, "soft has none that is fixed");
    cm_rig_close(&rig);
}

static void count(void *context, const carom_error *finding)
{
    uint32_t *found = context;
    cr_expect_eq(finding->result, CAROM_OK, "a warning");
    cr_expect_str_eq(finding->field, "mass");
    const char *const words[] = {"sinks", "throws", "bounces"};
    for (uint32_t i = 0; i < 3; i++) {
        *found |= strstr(finding->expected, words[i]) != NULL ? 1u << i : 0u;
    }
}

// What is said of a body of 1,000 kg and 1 m^2 in a scene of these numbers.
static uint32_t found(float stiffness, float damping, uint32_t substeps)
{
    carom_world_def def = cm_rig_def(4);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    def.solver.type = CAROM_SOLVER_VOLUME;
    def.solver.volume.stiffness = stiffness;
    def.solver.volume.damping = damping;
    def.solver.volume.substeps = substeps;
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(0.5f, 0.5f, 0.5f);
    uint32_t what = 0;
    const carom_findings findings = {&what, count};
    cr_assert(carom_check_body(&def, &body, &shape, 1, &findings));
    body.type = CAROM_BODY_STATIC;
    uint32_t none = 0;
    const carom_findings of_static = {&none, count};
    cr_assert(carom_check_body(&def, &body, &shape, 1, &of_static));
    cr_expect_eq(none, 0u);
    return what;
}

// The bounds by formula: m g = k A d; w h = 2; B = 2 sqrt(K m) / 40.
Test(volume_law, numbers_that_do_not_fit)
{
    cr_expect_eq(found(-1.0f, -1.0f, 0), 0u);
    cr_expect_eq(found(1.0e6f, 1.0e3f, 0), 4u, "0.016 of critical");
    cr_expect_eq(found(1.0e6f, 2.0e3f, 0), 0u);
    cr_expect_eq(found(5.1f * 9810.0f, 1.0e6f, 0), 0u);
    cr_expect_eq(found(4.9f * 9810.0f, 1.0e6f, 0), 1u, "a fifth of its size");
    float most = 1000.0f * 4.0f * 3600.0f * 64.0f * 64.0f; // 64 substeps at 60 ticks a second
    cr_expect_eq(found(0.9f * most, -1.0f, 0), 0u);
    cr_expect_eq(found(1.1f * most, -1.0f, 0), 2u, "no step is short enough");
    cr_expect_eq(found(1.1f * 1000.0f * 4.0f * 3600.0f, -1.0f, 1), 2u);
    cr_expect_eq(found(-1.0f, 1.0e3f, 0), 4u, "one of them given");
}
