// Goal: what a match may change while it runs does what it says: a force at a point, along the
// body's axes, gravity, the softness of the lcp solver; all of it is state. Method: one tick
// against Newton's law, a box at rest against the formula of its sinking, and a restored world that
// goes on alike; a scene whose drive calls every setter, rewound at every tick.
#include "tests/unit/sim/rewind.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define NEAR(value, expected, tolerance)                                                           \
    cr_assert(fabs((double)(value) - (expected)) <= (tolerance), "%s: %.9g, expected %.9g",        \
              #value, (double)(value), (double)(expected))

static carom_body_id free_body(cm_rig *rig, float angle)
{
    carom_body_def def = carom_default_body_def();
    def.has_mass = def.has_inertia = true;
    def.mass = 2.0f;
    def.inertia = cm_vec(0.5f, 0.5f, 0.5f);
    def.position = cm_vec(1.0f, 2.0f, 3.0f);
    def.orientation = cm_rig_turn_z(angle);
    carom_body_id id;
    cr_assert_eq(carom_body_create(rig->world, &def, NULL, 0, &id), CAROM_OK);
    return id;
}

static carom_world_def weightless(carom_solver_type solver)
{
    carom_world_def def = cm_rig_def(4);
    def.gravity = cm_vec(0.0f, 0.0f, 0.0f);
    def.solver.type = solver;
    return def;
}

Test(setters, a_force_at_a_point_turns_and_one_along_the_axes_follows_them)
{
    for (int solver = CAROM_SOLVER_SOFT; solver <= CAROM_SOLVER_VOLUME; solver++) {
        carom_world_def def = weightless((carom_solver_type)solver);
        cm_rig rig = cm_rig_open(&def, 0);
        double h = 1.0 / (double)def.tick_rate;
        carom_body_id id = free_body(&rig, 0.0f);
        // r x F = (0, 1, 0) x (6, 0, 0) = (0, 0, -6)
        cr_assert_eq(carom_body_apply_force_at(rig.world, id, cm_vec(6.0f, 0.0f, 0.0f),
                                               cm_vec(1.0f, 3.0f, 3.0f)),
                     CAROM_OK);
        cm_rig_step(&rig, 1);
        carom_body_state s = cm_rig_get(&rig, id);
        NEAR(s.linear_velocity.x, 6.0 / 2.0 * h, 1e-6);
        NEAR(s.angular_velocity.z, -6.0 / 0.5 * h, 1e-6);
        id = free_body(&rig, 1.5707963f); // its x axis is the world's y axis
        cr_assert_eq(carom_body_apply_local_force(rig.world, id, cm_vec(6.0f, 0.0f, 0.0f),
                                                  cm_vec(0.0f, 3.0f, 0.0f)),
                     CAROM_OK);
        cm_rig_step(&rig, 1);
        s = cm_rig_get(&rig, id);
        NEAR(s.linear_velocity.x, 0.0, 1e-6);
        NEAR(s.linear_velocity.y, 6.0 / 2.0 * h, 1e-6);
        NEAR(s.angular_velocity.x, -3.0 / 0.5 * h, 1e-6);
        carom_vec3 before = s.linear_velocity;
        cm_rig_step(&rig, 1); // for one tick
        NEAR(cm_rig_get(&rig, id).linear_velocity.y, before.y, 1e-6);
        cm_rig_close(&rig);
    }
}

Test(setters, gravity_changes_and_wakes_what_sleeps)
{
    for (int solver = CAROM_SOLVER_SOFT; solver <= CAROM_SOLVER_LCP; solver += 2) { // these sleep
        carom_world_def def = cm_rig_def(4);
        def.solver.type = (carom_solver_type)solver;
        cm_rig rig = cm_rig_open(&def, 0);
        cm_rig_plane(&rig);
        carom_body_id id = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.5f, 0.0f),
                                      cm_vec(0.5f, 0.5f, 0.5f));
        cm_rig_step(&rig, 300);
        cr_assert(cm_rig_get(&rig, id).asleep, "solver %d", solver);
        cr_assert_eq(carom_world_set_gravity(rig.world, cm_vec(0.0f, 3.0f, 0.0f)), CAROM_OK);
        cr_assert(!cm_rig_get(&rig, id).asleep);
        cm_rig_step(&rig, 30);
        NEAR(cm_rig_get(&rig, id).linear_velocity.y, 3.0 * 30.0 / 60.0, 0.05);
        NEAR(carom_world_gravity(rig.world).y, 3.0, 0.0);
        cr_assert_eq(carom_world_set_gravity(rig.world, cm_vec(0.0f, NAN, 0.0f)),
                     CAROM_ERROR_NOT_FINITE);
        cm_rig_close(&rig);
    }
}

// What rests sinks by epsilon h^2 F / gamma, F of a row; a saved world has the values too.
Test(setters, softness_of_the_lcp_solver)
{
    carom_world_def def = cm_rig_def(4);
    def.solver.type = CAROM_SOLVER_LCP;
    def.sleep = false;
    cm_rig rig = cm_rig_open(&def, 0), other = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    carom_body_id id = cm_rig_sphere(&rig, cm_vec(0.0f, 0.5f, 0.0f), 0.5f);
    carom_body_def body;
    cr_assert_eq(carom_body_get_def(rig.world, id, &body), CAROM_OK);
    double force = 9.81 * (double)body.mass, h = 1.0 / 60.0;
    for (int i = 0; i < 2; i++) {
        float gamma = i ? 0.5f : 0.2f, epsilon = (float)(1.0 / force);
        cr_assert_eq(carom_world_set_softness(rig.world, epsilon, gamma), CAROM_OK);
        size_t size = carom_world_save_bound(rig.world);
        void *image = aligned_alloc(64, (size + 63) / 64 * 64);
        size = carom_world_save(rig.world, image, size);
        cr_assert_eq(carom_world_restore(other.world, image, size), CAROM_OK);
        free(image);
        cm_rig_step(&rig, 400);
        cm_rig_step(&other, 400);
        double sunk = 0.5 - (double)cm_rig_get(&rig, id).position.y;
        NEAR(sunk, (double)epsilon * h * h * force / (double)gamma, 2e-5);
        cr_assert_eq(carom_world_hash(rig.world), carom_world_hash(other.world));
    }
    cr_assert_eq(carom_world_set_softness(rig.world, -1.0f, 0.2f), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_world_set_softness(rig.world, 0.1f, 1.5f), CAROM_ERROR_ARGUMENT);
    cm_rig_close(&rig);
    cm_rig_close(&other);
    def.solver.type = CAROM_SOLVER_SOFT;
    rig = cm_rig_open(&def, 0);
    cr_assert_eq(carom_world_set_softness(rig.world, 0.1f, 0.2f), CAROM_ERROR_STATE);
    cm_rig_close(&rig);
}

static const carom_vec3 half = {0.3f, 0.3f, 0.3f};

enum { FLOOR, LEFT, RIGHT, HUNG };

static void build_changing(cm_rig *rig)
{
    cm_rig_plane(rig);
    cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.3f, 0.0f), half);
    cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(1.0f, 0.3f, 0.0f), half);
    cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(3.0f, 2.0f, 0.0f), half);
    carom_joint_def def = carom_default_joint_def();
    def.type = CAROM_JOINT_HINGE;
    def.body_b = carom_world_body_at(rig->world, HUNG);
    def.anchor = cm_vec(2.5f, 2.0f, 0.0f);
    def.axis = cm_vec(0.0f, 0.0f, 1.0f);
    carom_joint_create(rig->world, &def, NULL); // impulse and volume have none
}

static void drive_changing(carom_world *world, uint32_t tick)
{
    carom_joint_id joint = carom_world_joint_at(world, 0);
    carom_body_id left = carom_world_body_at(world, LEFT);
    carom_joint_def def = carom_default_joint_def();
    const carom_body_id nobody = {0, 0};
    switch (tick) {
    case 10:
        carom_joint_detach(world, joint);
        carom_world_set_gravity(world, cm_vec(1.0f, -3.0f, 0.0f));
        break;
    case 16:
        carom_joint_attach(world, joint, nobody, left);
        carom_world_set_softness(world, 1.0e-3f, 0.6f);
        break;
    case 22:
        def.type = CAROM_JOINT_FIXED;
        def.body_a = left;
        def.body_b = carom_world_body_at(world, RIGHT);
        def.anchor = cm_vec(0.5f, 0.3f, 0.0f);
        carom_joint_create(world, &def, NULL);
        break;
    case 30:
        carom_joint_detach(world, joint);
        break;
    case 34:
        carom_joint_attach(world, joint, nobody, carom_world_body_at(world, HUNG));
        break;
    default:
        carom_body_apply_force_at(world, left, cm_vec(90.0f, 0.0f, 3.0f), half);
        carom_body_apply_local_force(world, carom_world_body_at(world, RIGHT),
                                     cm_vec(0.0f, 0.0f, 50.0f), half);
        break;
    }
}

static carom_solver_type changing_solver;

static void define_changing(carom_world_def *def)
{
    def->solver.type = changing_solver;
}

Test(setters, leave_no_trace_in_a_rewind)
{
    const cm_golden_scene scene = {"changing",     8, 50, build_changing, drive_changing,
                                   define_changing};
    for (int solver = CAROM_SOLVER_SOFT; solver <= CAROM_SOLVER_VOLUME; solver++) {
        changing_solver = (carom_solver_type)solver;
        cm_rewind_scene(&scene, false);
        cr_assert_gt(cm_rewind_scene(&scene, true).touching, 40);
    }
}
