// Goal: a car of tyres whose slip grows with speed, or whose side force trails behind the contact,
// understeers as the text-book's bicycle does, and one of plain tyres does not. Method: three cars
// on a circle at several speeds (tests/scenes/understeer.json), steered and driven by PD
// controllers; the radius of each beside R = (L + K u^2) / delta,
//     K = m / L ((b + t) / C_front - (a - t) / C_rear)
// with the wheelbase L = a + b, the trail t and the cornering stiffness C of an axle (T. D.
// Gillespie, Fundamentals of Vehicle Dynamics, 1992, chapter 6). A plain tyre's slip is K = 0.
#include "shared/scene/scene_json.h"
#include "tests/unit/sim/rig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR(value, expected, tolerance)                                                           \
    cr_assert(fabs((double)(value) - (expected)) <= (tolerance), "%s: %.9g, expected %.9g",        \
              #value, (double)(value), (double)(expected))

enum { CARS = 3, PARTS = 5, JOINTS = 4, RATE = 200 };

// As the scene has them.
static const double LENGTH = 2.5, MASS = 1080.0, STEER = 0.03, RADIUS = 0.3;

typedef struct road {
    cm_scene *scene;
    void *memory;
    carom_world *world;
} road;

static road open_road(void)
{
    road r;
    cm_scene_error error;
    carom_world_def def;
    cr_assert_eq(cm_scene_from_file("tests/scenes/understeer.json", &r.scene, &error), CAROM_OK,
                 "%s: %s", error.path, error.message);
    cm_scene_world_def(r.scene, &def);
    size_t size = (carom_world_size(&def) + 63) / 64 * 64;
    r.memory = aligned_alloc(64, size);
    cr_assert_eq(carom_world_create(&def, r.memory, size, &r.world), CAROM_OK);
    cr_assert_eq(cm_scene_populate(r.scene, r.world), CAROM_OK);
    return r;
}

static void close_road(road *r)
{
    cm_scene_free(r->scene);
    free(r->memory);
}

static carom_body_state part(const road *r, uint32_t car, uint32_t i)
{
    carom_body_state s;
    cr_assert_eq(carom_body_get(r->world, carom_world_body_at(r->world, 1 + PARTS * car + i), &s),
                 CAROM_OK);
    return s;
}

static carom_joint_id joint(const road *r, uint32_t car, uint32_t i)
{
    return carom_world_joint_at(r->world, JOINTS * car + i);
}

// All cars straight on at a speed, held by their drives.
static void drive(road *r, double speed)
{
    const carom_vec3 v = cm_vec((float)speed, 0.0f, 0.0f), none = cm_vec(0.0f, 0.0f, 0.0f);
    for (uint32_t car = 0; car < CARS; car++) {
        for (uint32_t i = 0; i < PARTS; i++) {
            carom_vec3 spin = cm_vec(0.0f, 0.0f, (float)(-speed / RADIUS));
            carom_body_set_velocity(r->world, carom_world_body_at(r->world, 1 + PARTS * car + i), v,
                                    i == 0 ? none : spin);
        }
        for (uint32_t i = 2; i < JOINTS; i++) {
            cr_assert_eq(
                carom_joint_set_target(r->world, joint(r, car, i), 0.0f, (float)(-speed / RADIUS)),
                CAROM_OK);
        }
    }
}

// Sums over a second of each car's speed and yaw rate, once it has settled.
static void settle(road *r, double *speeds, double *yaws)
{
    for (int i = 0; i < 4 * RATE; i++) {
        carom_world_step(r->world);
    }
    memset(speeds, 0, CARS * sizeof *speeds);
    memset(yaws, 0, CARS * sizeof *yaws);
    for (int i = 0; i < RATE; i++) {
        carom_world_step(r->world);
        for (uint32_t car = 0; car < CARS; car++) {
            carom_body_state s = part(r, car, 0);
            speeds[car] += hypot((double)s.linear_velocity.x, (double)s.linear_velocity.z);
            yaws[car] += (double)s.angular_velocity.y;
        }
    }
}

Test(tyre, radius_grows_with_speed_as_the_bicycle_says)
{
    // Of an axle of two tyres: C = 2 / slip_by_speed.
    const double gains[CARS] = {
        0.0,
        MASS / LENGTH * (0.5 * LENGTH / 1.0e5 - 0.5 * LENGTH / 2.0e5),
        MASS / LENGTH * ((0.5 * LENGTH + 0.1) / 1.0e5 - (0.5 * LENGTH - 0.1) / 1.0e5),
    };
    static const double wanted[] = {4.0, 12.0, 20.0};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        road r = open_road();
        double speeds[CARS], yaws[CARS];
        drive(&r, wanted[i]);
        settle(&r, speeds, yaws);
        for (uint32_t car = 0; car < CARS; car++) {
            double u = speeds[car] / RATE, radius = speeds[car] / yaws[car];
            double expected = (LENGTH + gains[car] * u * u) / STEER;
            cr_assert(fabs(radius - expected) < 0.012 * expected,
                      "car %u at %.4g m/s: a radius of %.5g m, expected %.5g", car, u, radius,
                      expected);
        }
        close_road(&r);
    }
}

// A wheel of 1 kg pushed sideways by 4 N on a road: how fast it slips across, and what turns it.
static carom_body_state pushed_wheel(double speed, float slip, float by_speed, float trail)
{
    carom_world_def world_def = cm_rig_def(4);
    world_def.solver.type = CAROM_SOLVER_LCP;
    world_def.solver.lcp.epsilon = 1.0e-7f;
    world_def.sleep = false;
    cm_rig rig = cm_rig_open(&world_def, 0);
    cm_rig_plane(&rig);
    carom_body_def def = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    shape.radius = 0.3f;
    shape.friction = 2.0f;
    shape.contact_mode = CAROM_CONTACT_TYRE;
    shape.contact_axis = cm_vec(1.0f, 0.0f, 0.0f);
    shape.contact_slip = slip;
    shape.contact_slip_by_speed = by_speed;
    shape.contact_trail = trail;
    def.has_mass = true;
    def.mass = 1.0f;
    def.position = cm_vec(0.0f, 0.3f, 0.0f);
    def.force = cm_vec(0.0f, 0.0f, 4.0f);
    def.axis_locks = CAROM_LOCK_RX | CAROM_LOCK_RY | CAROM_LOCK_RZ; // it slides, at its speed
    def.report_force = true;
    carom_body_id id = cm_rig_body(&rig, &def, &shape);
    for (int i = 0; i < 60; i++) {
        carom_body_state s = cm_rig_get(&rig, id);
        carom_body_set_velocity(rig.world, id,
                                cm_vec((float)speed, s.linear_velocity.y, s.linear_velocity.z),
                                cm_vec(0.0f, 0.0f, 0.0f));
        cm_rig_step(&rig, 1);
    }
    carom_body_state s = cm_rig_get(&rig, id);
    cm_rig_close(&rig);
    return s;
}

Test(tyre, slips_by_speed_and_its_force_trails)
{
    static const double speeds[] = {0.0, 0.25, 5.0, -5.0};
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
        double u = speeds[i], part = fabs(u) > 1.0 ? (u > 0.0 ? 1.0 : -1.0) : u;
        carom_body_state s = pushed_wheel(u, 0.01f, 0.02f, 0.0f);
        NEAR(s.linear_velocity.z, (0.01 + 0.02 * fabs(u)) * 4.0, 2e-4);
        NEAR(s.contact_force.z, -4.0, 2e-3);
        NEAR(s.contact_torque.y, 0.0, 1e-4);
        s = pushed_wheel(u, 0.01f, 0.02f, 0.15f);
        NEAR(s.linear_velocity.z, (0.01 + 0.02 * fabs(u)) * 4.0, 2e-4);
        // The force of -4 N acts at x = -0.15 m: r x F = (0, -(-0.15) (-4), 0).
        NEAR(s.contact_torque.y, -0.15 * part * 4.0, 2e-3);
    }
}

static cm_rig hinged(carom_solver_type solver, carom_joint_def *def, carom_body_id *bar)
{
    carom_world_def world_def = cm_rig_def(4);
    world_def.solver.type = solver;
    world_def.sleep = false;
    world_def.gravity = cm_vec(0.0f, 0.0f, 0.0f);
    cm_rig rig = cm_rig_open(&world_def, 0);
    carom_body_def body = carom_default_body_def();
    body.has_mass = body.has_inertia = true;
    body.mass = 2.0f;
    body.inertia = cm_vec(0.5f, 0.5f, 0.5f);
    cr_assert_eq(carom_body_create(rig.world, &body, NULL, 0, bar), CAROM_OK);
    *def = carom_default_joint_def();
    def->type = CAROM_JOINT_HINGE;
    def->body_b = *bar;
    def->axis = cm_vec(0.0f, 0.0f, 1.0f);
    def->spring = CAROM_SPRING_STIFFNESS;
    return rig;
}

// w* = (I w + h (k (target - q - h w*) + d (velocity - w*))) / I, or the most torque there is.
Test(tyre, a_controller_is_implicit_and_limited)
{
    static const double cases[][4] = {// stiffness, damping, target, velocity
                                      {50.0, 5.0, 0.7, 0.0},
                                      {5.0e6, 1.0e4, -1.2, 0.0},
                                      {0.0, 20.0, 0.0, 6.0},
                                      {300.0, 20.0, 1.0, -0.5}};
    const double h = 1.0 / 60.0, inertia = 0.5, most = 8.0;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        const double *c = cases[i / 2];
        bool limited = i % 2 != 0;
        carom_joint_def def;
        carom_body_id bar;
        carom_joint_id id;
        cm_rig rig = hinged(CAROM_SOLVER_LCP, &def, &bar);
        def.spring_stiffness = (float)c[0];
        def.spring_damping = (float)c[1];
        def.spring_max = limited ? (float)most : def.spring_max;
        cr_assert_eq(carom_joint_create(rig.world, &def, &id), CAROM_OK);
        cr_assert_eq(carom_joint_set_target(rig.world, id, (float)c[2], (float)c[3]), CAROM_OK);
        double q = 0.0, w = 0.0;
        for (int tick = 0; tick < 90; tick++) {
            double pull = c[0] * (c[2] - q) + c[1] * c[3];
            double next = (inertia * w + h * pull) / (inertia + h * h * c[0] + h * c[1]);
            double torque = inertia * (next - w) / h;
            if (limited && fabs(torque) > most) {
                next = w + h * (torque > 0.0 ? most : -most) / inertia;
            }
            cm_rig_step(&rig, 1);
            carom_joint_state s;
            cr_assert_eq(carom_joint_get(rig.world, id, &s), CAROM_OK);
            NEAR(s.rate, next, 2e-4);
            q = (double)s.value;
            w = (double)s.rate;
        }
        cm_rig_close(&rig);
    }
}

// A servo of the soft solver gets there as well; and what may not be.
Test(tyre, targets_are_for_springs_of_one_coordinate)
{
    carom_joint_def def;
    carom_body_id bar;
    carom_joint_id id;
    cm_rig rig = hinged(CAROM_SOLVER_SOFT, &def, &bar);
    def.spring = CAROM_SPRING_HERTZ;
    def.spring_hertz = 4.0f;
    def.spring_damping_ratio = 1.0f;
    cr_assert_eq(carom_joint_create(rig.world, &def, &id), CAROM_OK);
    cr_assert_eq(carom_joint_set_target(rig.world, id, 3.0f, 0.0f), CAROM_OK);
    cm_rig_step(&rig, 120);
    carom_joint_state s;
    cr_assert_eq(carom_joint_get(rig.world, id, &s), CAROM_OK);
    NEAR(s.value, 3.0, 1e-3);
    // The short way round: from 3 over pi to -3.
    cr_assert_eq(carom_joint_set_target(rig.world, id, -3.0f, 0.0f), CAROM_OK);
    for (int i = 0; i < 120; i++) {
        cm_rig_step(&rig, 1);
        cr_assert_eq(carom_joint_get(rig.world, id, &s), CAROM_OK);
        cr_assert_gt(fabsf(s.value), 2.9f);
    }
    NEAR(s.value, -3.0, 1e-3);
    cr_assert_eq(carom_joint_set_target(rig.world, id, 0.0f, 1.0f), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_joint_set_target(rig.world, id, NAN, 0.0f), CAROM_ERROR_NOT_FINITE);
    def.spring_velocity = 1.0f;
    cr_assert_eq(carom_joint_create(rig.world, &def, NULL), CAROM_ERROR_ARGUMENT);
    def.spring_velocity = 0.0f;
    def.type = CAROM_JOINT_BALL;
    def.spring_target = 0.5f;
    cr_assert_eq(carom_joint_create(rig.world, &def, NULL), CAROM_ERROR_ARGUMENT);
    cr_assert(strcmp(carom_last_error(rig.world).field, "spring_target") == 0);
    def.spring_target = 0.0f;
    def.spring_max = 3.0f;
    cr_assert_eq(carom_joint_create(rig.world, &def, NULL), CAROM_ERROR_ARGUMENT);
    def.spring = CAROM_SPRING_NONE;
    cr_assert_eq(carom_joint_create(rig.world, &def, &id), CAROM_OK);
    cr_assert_eq(carom_joint_set_target(rig.world, id, 0.0f, 0.0f), CAROM_ERROR_ARGUMENT);
    cm_rig_close(&rig);
}
