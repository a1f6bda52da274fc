// Goal: a pointer feels whatever it is put into, whether that can move or not: the first thing that
// a haptic programmer builds is a wall.
// Method: a cube of 0.2 m as a pointer, 4 cm inside a wall, a plane, a platform, another pointer
// and a body of 10^7 kg; its wrench by formula: k A d, b A v, mu N, (c - x) x F; at rest and in
// motion.
#include <criterion/criterion.h>
#include <math.h>

#include "tests/unit/sim/rig.h"

#define K     37500.0f // N/m^3 over 0.04 m^2 and 4 cm: 60 N
#define B     500.0f   // N s/m^3
#define DEPTH 0.04f

typedef enum against { BOX, PLANE, PLATFORM, POINTER, HEAVY, WAYS } against;

static const char *const NAMES[WAYS] = {"a static box", "a plane", "a platform", "a pointer",
                                        "a body of 10^7 kg"};

static cm_rig open_rig(float stiffness, float damping)
{
    carom_world_def def = cm_rig_def(4);
    def.solver.type = CAROM_SOLVER_VOLUME;
    def.solver.volume.stiffness = stiffness;
    def.solver.volume.damping = damping;
    def.gravity = cm_vec(0.0f, 0.0f, 0.0f);
    def.tick_rate = 1000;
    return cm_rig_open(&def, 0);
}

static carom_body_id add(cm_rig *rig, carom_body_type type, uint32_t player, carom_vec3 position,
                         carom_vec3 velocity, float half)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.type = type;
    body.pointer = player;
    body.position = position;
    body.linear_velocity = velocity;
    body.has_mass = type == CAROM_BODY_DYNAMIC;
    body.mass = 1.0e7f;
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(half, half, half);
    return cm_rig_body(rig, &body, &shape);
}

// What stands below y = 0.
static void add_floor(cm_rig *rig, against what)
{
    const carom_body_type types[WAYS] = {CAROM_BODY_STATIC, CAROM_BODY_STATIC, CAROM_BODY_KINEMATIC,
                                         CAROM_BODY_KINEMATIC, CAROM_BODY_DYNAMIC};
    if (what == PLANE) {
        cm_rig_plane(rig);
        return;
    }
    add(rig, types[what], what == POINTER ? 1 : CAROM_NO_PLAYER, cm_vec(0.0f, -0.5f, 0.0f),
        cm_vec(0.0f, 0.0f, 0.0f), 0.5f);
}

static carom_body_id add_pointer(cm_rig *rig, carom_vec3 position, carom_vec3 velocity)
{
    return add(rig, CAROM_BODY_KINEMATIC, 0, position, velocity, 0.1f);
}

Test(volume_pointer, feels_what_cannot_move)
{
    for (uint32_t what = 0; what < WAYS; what++) {
        for (uint32_t order = 0; order < 2; order++) { // whichever has the lower slot
            cm_rig rig = open_rig(K, B);
            carom_body_id pointer;
            carom_vec3 at = cm_vec(0.1f, 0.1f - DEPTH, 0.0f), still = cm_vec(0.0f, 0.0f, 0.0f);
            if (order == 0) {
                add_floor(&rig, (against)what);
            }
            pointer = add_pointer(&rig, at, still);
            if (order == 1) {
                add_floor(&rig, (against)what);
            }
            for (uint32_t tick = 0; tick < 5; tick++) {
                cm_rig_step(&rig, 1);
                carom_vec3 f = cm_rig_get(&rig, pointer).contact_force;
                cr_expect_float_eq((double)f.y, 60.0, 0.01, "%s, tick %u: %g N", NAMES[what], tick,
                                   (double)f.y);
                cr_expect_lt(fabsf(f.x) + fabsf(f.z), 1e-4f, "%s", NAMES[what]);
            }
            cm_rig_close(&rig);
        }
    }
}

// Pressed in at 0.1 m/s and dragged at 1 m/s: spring and damper at the poses of the tick's start,
// friction mu N against the way it is dragged.
Test(volume_pointer, feels_dampers_and_friction)
{
    for (uint32_t what = 0; what < HEAVY; what++) {
        cm_rig rig = open_rig(K, B);
        add_floor(&rig, (against)what);
        carom_body_id pointer =
            add_pointer(&rig, cm_vec(-0.1f, 0.1f - DEPTH, 0.0f), cm_vec(0.8f, -0.1f, 0.6f));
        for (uint32_t tick = 0; tick < 100; tick++) {
            carom_body_state s = cm_rig_get(&rig, pointer);
            double depth = 0.1 - (double)s.position.y;
            cm_rig_step(&rig, 1);
            carom_vec3 f = cm_rig_get(&rig, pointer).contact_force;
            double n = 0.04 * ((double)K * depth + (double)B * 0.1);
            cr_expect_float_eq((double)f.y, n, 1e-3 * n, "%s: %g N", NAMES[what], (double)f.y);
            if (tick > 60) { // 0.8 * 0.8 of two default surfaces; it has broken loose by then
                cr_expect_float_eq((double)f.x, -0.64 * 0.8 * n, 1e-3 * n, "%s", NAMES[what]);
                cr_expect_float_eq((double)f.z, -0.64 * 0.6 * n, 1e-3 * n, "%s", NAMES[what]);
            }
        }
        cm_rig_close(&rig);
    }
}

// Half over an edge: the force acts at the middle of what overlaps.
Test(volume_pointer, feels_torques)
{
    cm_rig rig = open_rig(K, B);
    add_floor(&rig, BOX);
    carom_body_id pointer =
        add_pointer(&rig, cm_vec(0.5f, 0.1f - DEPTH, 0.0f), cm_vec(0.0f, 0.0f, 0.0f));
    cm_rig_step(&rig, 1);
    carom_body_state s = cm_rig_get(&rig, pointer);
    cr_expect_float_eq((double)s.contact_force.y, 30.0, 0.01);
    cr_expect_float_eq((double)s.contact_torque.z, -0.05 * 30.0, 0.001);
    cm_rig_close(&rig);
}

// With nothing given a wall has K = m / h^2 of the pointer's own 8 kg; two pointers share it.
Test(volume_pointer, walls_are_derived_from_its_mass)
{
    for (uint32_t what = 0; what < HEAVY; what++) {
        cm_rig rig = open_rig(-1.0f, -1.0f);
        add_floor(&rig, (against)what);
        carom_body_id pointer =
            add_pointer(&rig, cm_vec(0.0f, 0.1f - 1e-4f, 0.0f), cm_vec(0.0f, 0.0f, 0.0f));
        cm_rig_step(&rig, 1);
        double mass = what == POINTER ? 8.0 * 1000.0 / 1008.0 : 8.0;
        double f = (double)cm_rig_get(&rig, pointer).contact_force.y;
        cr_expect_float_eq(f, mass * 1e6 * 1e-4, 0.002 * f, "%s: %g N", NAMES[what], f);
        cm_rig_close(&rig);
    }
}

// In a corner of three walls each pushes back; out of it, none.
Test(volume_pointer, corner)
{
    cm_rig rig = open_rig(K, B);
    const carom_vec3 sides[3] = {{-0.5f, 0.0f, 0.0f}, {0.0f, -0.5f, 0.0f}, {0.0f, 0.0f, -0.5f}};
    for (uint32_t i = 0; i < 3; i++) {
        add(&rig, CAROM_BODY_STATIC, CAROM_NO_PLAYER, sides[i], cm_vec(0.0f, 0.0f, 0.0f), 0.5f);
    }
    float in = 0.1f - DEPTH;
    carom_body_id pointer = add_pointer(&rig, cm_vec(in, in, in), cm_vec(0.0f, 0.0f, 0.0f));
    cm_rig_step(&rig, 3);
    carom_body_state s = cm_rig_get(&rig, pointer);
    cr_expect_float_eq((double)s.contact_force.x, (double)s.contact_force.y, 1e-3);
    cr_expect_float_eq((double)s.contact_force.x, (double)s.contact_force.z, 1e-3);
    cr_expect_gt(s.contact_force.x, 20.0f);
    cr_assert_eq(carom_body_set_pose(rig.world, pointer, cm_vec(1.0f, 1.0f, 1.0f),
                                     (carom_quat){0.0f, 0.0f, 0.0f, 1.0f}),
                 CAROM_OK);
    cm_rig_step(&rig, 1);
    s = cm_rig_get(&rig, pointer);
    cr_expect_eq(cm_length(s.contact_force), 0.0f);
    cm_rig_close(&rig);
}

// Other bodies that nothing moves still do not meet, and the other solvers know no such pairs.
Test(volume_pointer, nothing_else_meets)
{
    for (uint32_t volume = 0; volume < 2; volume++) {
        carom_world_def def = cm_rig_def(4);
        def.solver.type = volume ? CAROM_SOLVER_VOLUME : CAROM_SOLVER_SOFT;
        cm_rig rig = cm_rig_open(&def, 0);
        add_floor(&rig, PLATFORM);
        add(&rig, CAROM_BODY_KINEMATIC, volume ? CAROM_NO_PLAYER : 0, cm_vec(0.0f, 0.05f, 0.0f),
            cm_vec(0.1f, 0.0f, 0.0f), 0.1f);
        cm_rig_step(&rig, 1);
        carom_world_stats stats;
        carom_world_stats_get(rig.world, &stats);
        cr_expect_eq(stats.contacts, 0u);
        cm_rig_close(&rig);
    }
}
