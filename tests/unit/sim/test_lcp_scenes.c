// Goal: the scenes of tests/scenes/seeds that the lcp solver runs show the figures of
// JP2003526160A. Method: each from its file, with the tolerances printed there; joints are read by
// the API. Every step is also taken by a second world, restored from a save after it ran ahead: bit
// for bit.
#include "shared/scene/scene_json.h"
#include "tests/unit/sim/rig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Each figure under both forms of free rotation: the default and the source's own.
static carom_rotation rotation = CAROM_ROTATION_MOMENTUM;

#define FIGURE(name)                                                                               \
    static void name(void);                                                                        \
    Test(lcp_scenes, name)                                                                         \
    {                                                                                              \
        name();                                                                                    \
    }                                                                                              \
    Test(lcp_scenes_own_rotation, name)                                                            \
    {                                                                                              \
        rotation = CAROM_ROTATION_QUASI_IMPLICIT;                                                  \
        name();                                                                                    \
    }                                                                                              \
    static void name(void)

typedef struct play {
    cm_scene *scene;
    carom_world *world, *rewound;
    void *memory[2], *image;
} play;

static carom_world *new_world(const cm_scene *scene, void **memory)
{
    carom_world_def def;
    carom_world *world;
    cm_scene_world_def(scene, &def);
    def.solver.lcp.rotation = rotation;
    size_t size = (carom_world_size(&def) + 63) / 64 * 64;
    *memory = aligned_alloc(64, size);
    cr_assert_eq(carom_world_create(&def, *memory, size, &world), CAROM_OK);
    cr_assert_eq(cm_scene_populate(scene, world), CAROM_OK);
    return world;
}

static play start(const char *name)
{
    play p;
    char path[128];
    cm_scene_error error;
    snprintf(path, sizeof path, "tests/scenes/seeds/lcp_%s.json", name);
    cr_assert_eq(cm_scene_from_file(path, &p.scene, &error), CAROM_OK, "%s: %s %s", name,
                 error.path, error.message);
    p.world = new_world(p.scene, &p.memory[0]);
    p.rewound = new_world(p.scene, &p.memory[1]);
    p.image = aligned_alloc(64, (carom_world_save_bound(p.world) + 63) / 64 * 64);
    return p;
}

static void finish(play *p)
{
    carom_world_stats stats;
    carom_world_stats_get(p->world, &stats);
    cr_assert_eq(stats.log_counts[CAROM_LOG_LCP_ISLAND_LARGE], 0);
    cr_assert_eq(stats.log_counts[CAROM_LOG_LCP_UNSOLVED], 0);
    cr_assert_eq(stats.log_counts[CAROM_LOG_LCP_ROW_REFUSED], 0);
    cr_assert_eq(stats.log_counts[CAROM_LOG_BODY_PUT_TO_REST], 0);
    cm_scene_free(p->scene);
    free(p->memory[0]);
    free(p->memory[1]);
    free(p->image);
}

static void step(play *p, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        size_t size = carom_world_save(p->world, p->image, carom_world_save_bound(p->world));
        carom_world_step(p->world);
        carom_world_step(p->rewound);
        cr_assert_eq(carom_world_restore(p->rewound, p->image, size), CAROM_OK);
        carom_world_step(p->rewound);
        cr_assert_eq(carom_world_hash(p->world), carom_world_hash(p->rewound), "tick %u", i);
    }
}

static carom_body_state body(const play *p, const char *name)
{
    carom_body_state state = {0};
    uint32_t index = cm_scene_find_body(p->scene, name);
    cr_assert_neq(index, CM_SCENE_NO_BODY, "%s", name);
    cr_assert_eq(carom_body_get(p->world, carom_world_body_at(p->world, index), &state), CAROM_OK);
    return state;
}

static carom_joint_state joint(const play *p, uint32_t slot)
{
    carom_joint_state state;
    cr_assert_eq(carom_joint_get(p->world, carom_world_joint_at(p->world, slot), &state), CAROM_OK);
    return state;
}

static double worst_error(const play *p)
{
    double worst = 0.0;
    for (uint32_t i = 0; i < carom_world_joint_slots(p->world); i++) {
        worst = fmax(worst, (double)joint(p, i).error);
    }
    return worst;
}

#define NEAR(value, expected, tolerance)                                                           \
    cr_assert(fabs((double)(value) - (expected)) <= (tolerance), "%s: %.9g, expected %.9g",        \
              #value, (double)(value), (double)(expected))

FIGURE(cube_drop_rests_without_a_bounce)
{
    play p = start("cube_drop");
    for (int i = 0; i < 300; i++) {
        step(&p, 1);
        cr_assert(body(&p, "cube").linear_velocity.y < 1e-3f, "bounces at tick %d", i);
    }
    carom_body_state cube = body(&p, "cube");
    NEAR(cube.position.y, 0.5, 2e-3);
    NEAR(cube.position.x, 0.0, 1e-6);
    NEAR(cube.position.z, 0.0, 1e-6);
    cr_assert(cm_length(cube.linear_velocity) < 1e-3f);
    NEAR(cube.contact_force.y, 9.81, 0.01);
    NEAR(cm_length(cube.contact_torque), 0.0, 1e-3);
    finish(&p);
}

FIGURE(slab_slides_to_rest_in_every_friction_model)
{
    static const char *const names[] = {"slab_estimated", "slab_constant", "slab_pyramid"};
    for (int k = 0; k < 3; k++) {
        play p = start(names[k]);
        step(&p, 100);
        NEAR((3.0 - (double)body(&p, "slab").linear_velocity.x) / 0.5, 4.905, 0.03 * 4.905);
        step(&p, 100);
        carom_body_state stopped = body(&p, "slab");
        NEAR(stopped.position.x, 0.910, 0.03);
        step(&p, 200);
        NEAR(body(&p, "slab").position.x, (double)stopped.position.x, 1e-6);
        finish(&p);
    }
}

FIGURE(pendulum_keeps_its_period_and_its_anchor)
{
    play p = start("pendulum");
    double crossings[4], last = 0.1;
    int count = 0;
    for (int i = 1; count < 4; i++) {
        step(&p, 1);
        double angle = (double)joint(&p, 0).value + 0.1;
        if (last < 0.0 && angle >= 0.0) {
            crossings[count++] = (i - angle / (angle - last)) / 200.0;
        }
        last = angle;
        cr_assert(worst_error(&p) < 1e-5);
    }
    NEAR((crossings[3] - crossings[0]) / 3.0, 1.6395, 0.005 * 1.6395);
    finish(&p);
}

static double worst_of(const char *name, uint32_t ticks, double *at_end)
{
    play p = start(name);
    double worst = 0.0;
    for (uint32_t i = 0; i < ticks; i++) {
        step(&p, 1);
        worst = fmax(worst, worst_error(&p));
    }
    *at_end = worst_error(&p);
    finish(&p);
    return worst;
}

// Gamma 0.2 holds what gamma 0 lets drift.
FIGURE(gamma_pulls_errors_back)
{
    double end;
    NEAR(worst_of("pendulum_wide", 1000, &end), 4e-4, 1e-4);
    NEAR(worst_of("pendulum_drift", 1000, &end), 3.6e-2, 4e-3);
    NEAR(worst_of("chain", 600, &end), 9.7e-3, 1e-3);
    NEAR(end, 1.1e-3, 2e-4);
    worst_of("chain_drift", 600, &end);
    NEAR(end, 6e-2, 1e-2);
}

FIGURE(motors_are_exact_or_limited)
{
    play p = start("motor");
    step(&p, 100);
    NEAR(body(&p, "strong").angular_velocity.z, 2.0, 2e-3);
    NEAR(joint(&p, 0).rate, 2.0, 2e-3);
    // 1 N m on 0.5 kg m^2 for a second.
    NEAR(body(&p, "weak").angular_velocity.z, 2.0, 2e-3);
    NEAR(joint(&p, 1).torque, 1.0, 1e-4);
    finish(&p);
}

static carom_vec3 in_body(const carom_body_state *b)
{
    return cm_rotate_inverse(b->orientation, b->angular_velocity);
}

static double momentum(const carom_body_state *b)
{
    carom_vec3 w = in_body(b);
    return sqrt((double)(w.x * w.x) + 4.0 * (double)(w.y * w.y) + 9.0 * (double)(w.z * w.z));
}

FIGURE(spinning_body_turns_over)
{
    play p = start("spinning_body");
    carom_body_state b = body(&p, "top");
    double first = momentum(&b), flip = 0.0;
    for (int i = 1; i <= 4000; i++) {
        carom_world_step(p.world);
        b = body(&p, "top");
        if (flip == 0.0 && in_body(&b).y < 0.0f) {
            flip = i / 1000.0;
        }
        if (i == 2000) {
            NEAR(momentum(&b) / first, 1.0, 1e-4);
        }
    }
    NEAR(momentum(&b) / first, 1.0, 3e-3);
    NEAR(flip, 2.95, 0.1);
    finish(&p);
}

FIGURE(hinge_limit_holds_without_a_bounce)
{
    play p = start("hinge_limit");
    bool reached = false;
    for (int i = 0; i < 400; i++) {
        step(&p, 1);
        float angle = joint(&p, 0).value;
        cr_assert(angle < 0.3f + 0.0125f, "overshoots: %g", (double)angle);
        reached = reached || angle > 0.2999f;
        cr_assert(!reached || angle > 0.2999f, "bounces at tick %d: %g", i, (double)angle);
    }
    cr_assert(reached);
    finish(&p);
}

FIGURE(slider_falls_along_its_rail)
{
    play p = start("prismatic_tilt");
    step(&p, 200);
    carom_joint_state rail = joint(&p, 0);
    NEAR(rail.rate, 9.81 * cos(0.5), 1e-3);
    NEAR(rail.error, 0.0, 1e-4);
    carom_vec3 x = body(&p, "slider").position;
    NEAR((double)x.x * cos(0.5) + (double)x.y * sin(0.5), 0.0, 1e-4);
    finish(&p);
}

FIGURE(tyre_slips_sideways_and_rolls)
{
    play p = start("tyre_slip");
    step(&p, 300);
    carom_body_state wheel = body(&p, "wheel");
    NEAR(wheel.linear_velocity.z, 0.2, 2e-3);
    // It rolls: the point of touch stands still along x.
    NEAR((double)wheel.linear_velocity.x + 0.3 * (double)wheel.angular_velocity.z, 0.0, 1e-2);
    NEAR(wheel.linear_velocity.x, 3.0, 0.1);
    finish(&p);
}

// Boxes of 1 kg pushed by (2, 0, 2) N against mu m g = 4.9 N.
FIGURE(contact_modes_choose_what_rubs)
{
    play p = start("contact_modes");
    step(&p, 100);
    carom_vec3 v = body(&p, "none").linear_velocity;
    NEAR(v.x, 1.0, 1e-4);
    NEAR(v.z, 1.0, 1e-4);
    v = body(&p, "1d").linear_velocity;
    NEAR(v.x, 0.0, 1e-4);
    NEAR(v.z, 1.0, 1e-4);
    v = body(&p, "2d").linear_velocity;
    NEAR(cm_length(v), 0.0, 1e-4);
    // At most 0.25 N a tangent and point, in the box's own directions.
    v = body(&p, "capped").linear_velocity;
    cr_assert(v.x > 0.4f && v.x < 0.8f && cm_abs(v.x - v.z) < 1e-3f);
    v = body(&p, "tyre").linear_velocity;
    NEAR(v.x, 0.0, 1e-4);
    NEAR(v.z, 0.1, 2e-3);
    finish(&p);
}

FIGURE(belts_carry)
{
    play p = start("belt");
    step(&p, 100);
    NEAR(body(&p, "parcel").linear_velocity.x, 1.5, 1e-3);
    finish(&p);
}

// Of 2 kg on springs of 10 to 1e9 N/m: the stiff ones rest where k says, none gains energy.
FIGURE(stiff_springs_stay_calm)
{
    play p = start("springs");
    static const double stiffness[] = {1e1, 1e3, 1e5, 1e7, 1e9};
    for (int i = 0; i < 600; i++) {
        step(&p, 1);
        for (uint32_t k = 1; k < 5; k++) {
            cr_assert(fabsf(joint(&p, k).value) < 0.1f);
        }
    }
    for (uint32_t k = 2; k < 5; k++) {
        NEAR(joint(&p, k).value, -2.0 * 9.81 / stiffness[k], 1e-6);
    }
    finish(&p);
}

// A bob of 1 kg sags by epsilon h^2 m g / gamma.
FIGURE(epsilon_softens)
{
    play p = start("epsilon_sweep");
    static const double epsilon[] = {1e-4, 1e-3, 1e-1, 1.0};
    step(&p, 300);
    char name[16];
    for (int k = 0; k < 4; k++) {
        snprintf(name, sizeof name, "bob_%d", k);
        double sag = epsilon[k] * 1e-4 * 9.81 / 0.2;
        NEAR(body(&p, name).position.y, -sag, 0.01 * sag + 1e-8);
    }
    finish(&p);
}

FIGURE(car_drives_over_the_bump)
{
    play p = start("car_over_bump");
    float highest = 0.0f;
    for (int i = 0; i < 1000; i++) {
        step(&p, 1);
        highest = cm_max(highest, body(&p, "chassis").position.y);
        cr_assert(worst_error(&p) < 1e-3);
    }
    carom_body_state chassis = body(&p, "chassis");
    cr_assert(highest > 0.47f, "highest %g", (double)highest);
    cr_assert(chassis.position.x > 5.0f && cm_abs(chassis.position.z) < 0.05f);
    NEAR(chassis.position.y, 0.45, 2e-3);
    for (uint32_t k = 0; k < 4; k++) {
        NEAR(joint(&p, k).value, 0.0, 1e-2); // the wheels steer straight
    }
    finish(&p);
}

FIGURE(ragdoll_falls_and_lies_still)
{
    play p = start("ragdoll");
    for (int i = 0; i < 400; i++) {
        carom_world_step(p.world);
        cr_assert(worst_error(&p) < 0.03, "tick %d: %g", i, worst_error(&p));
    }
    double depth;
    carom_world_measure_contacts(p.world, NULL, &depth);
    cr_assert(depth < 1e-3);
    cr_assert(cm_length(body(&p, "pelvis").linear_velocity) < 0.05f);
    finish(&p);
}
