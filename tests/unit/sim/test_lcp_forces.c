// Goal: a stiff outside force that gives its derivatives stays stable and is implicit Euler, alone,
// between two bodies, on a rail, for turns and where it is not linear. Method: each case beside its
// formula in binary64, k h^2 / m far above 1, where the explicit force explodes (shown too).
#include "carom/game.h"
#include "carom/query.h"
#include "shared/game/game_host.h"
#include "shared/scene/scene_json.h"
#include "tests/unit/sim/rig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define H (1.0 / 60.0)

#define NEAR(value, expected, tolerance)                                                           \
    cr_assert(fabs((double)(value) - (expected)) <= (tolerance), "%s: %.9g, expected %.9g",        \
              #value, (double)(value), (double)(expected))

// What the game knows: bodies, and a law of force along x of the first (less the second).
typedef struct law {
    carom_body_id a, b; // b null: the world
    carom_vec3 axis;
    double stiffness, damping, cubic;
    bool turn, explicit_force;
} law;

static carom_dvec3 pose_of(const carom_world *world, carom_body_id id, bool turn, double rate[3])
{
    carom_body_state s = {0};
    carom_body_get(world, id, &s);
    carom_vec3 v = turn ? s.angular_velocity : s.linear_velocity;
    rate[0] = (double)v.x;
    rate[1] = (double)v.y;
    rate[2] = (double)v.z;
    if (turn) {
        double angle = 2.0 * atan2((double)s.orientation.z, (double)s.orientation.w);
        return (carom_dvec3){0.0, 0.0, angle};
    }
    return (carom_dvec3){(double)s.position.x, (double)s.position.y, (double)s.position.z};
}

static double along(carom_vec3 axis, double x, double y, double z)
{
    return (double)axis.x * x + (double)axis.y * y + (double)axis.z * z;
}

static uint32_t give_force(void *context, const carom_world *world, carom_force *forces,
                           uint32_t capacity)
{
    const law *l = context;
    double va[3], vb[3] = {0};
    carom_dvec3 a = pose_of(world, l->a, l->turn, va), b = {0};
    if (!carom_body_id_is_null(l->b)) {
        b = pose_of(world, l->b, l->turn, vb);
    }
    double q = along(l->axis, a.x - b.x, a.y - b.y, a.z - b.z);
    double rate = along(l->axis, va[0] - vb[0], va[1] - vb[1], va[2] - vb[2]);
    carom_force *f = &forces[0];
    f->body[0] = l->a;
    f->body[1] = l->b;
    *(l->turn ? &f->angular[0] : &f->linear[0]) = l->axis;
    if (!carom_body_id_is_null(l->b)) {
        carom_vec3 back = cm_neg(l->axis);
        *(l->turn ? &f->angular[1] : &f->linear[1]) = back;
    }
    f->force = (float)(-l->stiffness * q - l->cubic * q * q * q - l->damping * rate);
    if (!l->explicit_force) {
        f->by_position = (float)(-l->stiffness - 3.0 * l->cubic * q * q);
        f->by_velocity = (float)-l->damping;
    }
    return capacity > 0 ? 1 : 0;
}

static carom_body_id ball_of(cm_rig *rig, float mass, carom_vec3 position)
{
    carom_body_def def = carom_default_body_def();
    def.has_mass = def.has_inertia = true;
    def.mass = mass;
    def.inertia = cm_vec(0.5f, 0.5f, 0.5f);
    def.position = position;
    carom_body_id id;
    cr_assert_eq(carom_body_create(rig->world, &def, NULL, 0, &id), CAROM_OK);
    return id;
}

static cm_rig open_with(law *l, float gravity)
{
    carom_world_def def = cm_rig_def(4);
    def.solver.type = CAROM_SOLVER_LCP;
    def.gravity = cm_vec(gravity, 0.0f, 0.0f); // along the springs
    def.sleep = false;
    cm_rig rig = cm_rig_open(&def, 0);
    carom_row_source source = {.context = l, .forces = give_force};
    cr_assert_eq(carom_world_set_rows(rig.world, &source), CAROM_OK);
    return rig;
}

// One step of implicit Euler of m v' = m g - k q - d v - c q^3, linearised where it begins.
static void euler(double m, double g, const law *l, double *q, double *v)
{
    double force = m * g - l->stiffness * *q - l->cubic * *q * *q * *q - l->damping * *v;
    double k = l->stiffness + 3.0 * l->cubic * *q * *q;
    *v += H * (force - H * k * *v) / (m + H * H * k + H * l->damping);
    *q += H * *v;
}

// k h^2 / m of 1e-2, 1 and 1e4; then dampers of d h / m up to 1e4; then a cubic spring. What is
// kept between steps is binary32.
Test(lcp_forces, are_implicit_euler)
{
    static const double laws[][3] = {{72.0, 0.0, 0.0},    {7.2e3, 0.0, 0.0}, {7.2e7, 0.0, 0.0},
                                     {0.0, 1.2, 0.0},     {0.0, 1.2e6, 0.0}, {7.2e7, 1.2e6, 0.0},
                                     {7.2e3, 50.0, 0.0},  {0.0, 0.0, 5.0e6}, {100.0, 3.0, 1.0e5},
                                     {7.2e11, 0.0, 1.0e9}};
    const double m = 2.0, g = 3.0;
    for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++) {
        law l = {.axis = {1.0f, 0.0f, 0.0f}};
        l.stiffness = laws[i][0];
        l.damping = laws[i][1];
        l.cubic = laws[i][2];
        cm_rig rig = open_with(&l, (float)g);
        l.a = ball_of(&rig, (float)m, cm_vec(0.3f, 5.0f, 0.0f));
        carom_body_set_velocity(rig.world, l.a, cm_vec(2.0f, 1.0f, 0.0f), cm_vec(0, 0, 0));
        double q = (double)0.3f, v = 2.0;
        for (int tick = 0; tick < 120; tick++) {
            cm_rig_step(&rig, 1);
            euler(m, g, &l, &q, &v);
            carom_body_state s = cm_rig_get(&rig, l.a);
            NEAR(s.position.x, q, 1e-6);
            NEAR(s.linear_velocity.x, v, 1e-6 * (1.0 + fabs(v)) + 1e-7 / H);
            q = (double)s.position.x; // rounding alone must not add up
            v = (double)s.linear_velocity.x;
        }
        NEAR(cm_rig_get(&rig, l.a).linear_velocity.y, 1.0, 1e-6); // across the force
        cm_rig_close(&rig);
    }
}

// The same spring without its derivatives: k h^2 / m = 10 explodes, as explicit Euler does.
Test(lcp_forces, without_derivatives_are_explicit)
{
    law l = {.axis = {1.0f, 0.0f, 0.0f}, .stiffness = 7.2e4, .explicit_force = true};
    cm_rig rig = open_with(&l, 0.0f);
    l.a = ball_of(&rig, 2.0f, cm_vec(0.01f, 0.0f, 0.0f));
    double q = (double)0.01f, v = 0.0;
    for (int tick = 0; tick < 4; tick++) {
        cm_rig_step(&rig, 1);
        v -= H * l.stiffness / 2.0 * q;
        q += H * v;
        NEAR(cm_rig_get(&rig, l.a).position.x, q, 2e-6 * (1.0 + fabs(q)));
    }
    cr_assert_gt(fabs(q), 1.0); // from 1 cm in four steps
    cm_rig_close(&rig);
}

// Between two bodies: the relative coordinate has the reduced mass, and momentum stays. Turning:
// the same about z, with inertias.
Test(lcp_forces, between_two_bodies_keep_momentum)
{
    for (int turn = 0; turn < 2; turn++) {
        law l = {.axis = {turn ? 0.0f : 1.0f, 0.0f, turn ? 1.0f : 0.0f},
                 .stiffness = 7.2e6,
                 .damping = 2.0e3,
                 .turn = turn != 0};
        cm_rig rig = open_with(&l, 0.0f);
        l.a = ball_of(&rig, 1.0f, cm_vec(0.2f, 0.0f, 0.0f));
        l.b = ball_of(&rig, 3.0f, cm_vec(0.0f, 0.0f, 0.0f));
        carom_vec3 none = cm_vec(0.0f, 0.0f, 0.0f), spin = cm_vec(0.0f, 0.0f, 6.0f);
        carom_body_set_velocity(rig.world, l.a, turn ? none : cm_vec(4.0f, 0.0f, 0.0f), spin);
        double m = turn ? 0.25 : 0.75, q = turn ? 0.0 : (double)0.2f, v = turn ? 6.0 : 4.0;
        for (int tick = 0; tick < 60; tick++) {
            cm_rig_step(&rig, 1);
            euler(m, 0.0, &l, &q, &v);
            double va[3], vb[3];
            carom_dvec3 a = pose_of(rig.world, l.a, l.turn, va);
            carom_dvec3 b = pose_of(rig.world, l.b, l.turn, vb);
            int k = turn ? 2 : 0;
            NEAR(va[k] - vb[k], v, 2e-5);
            NEAR(turn ? a.z - b.z : a.x - b.x, q, 2e-6);
            NEAR(turn ? va[2] + vb[2] : va[0] + 3.0 * vb[0], turn ? 6.0 : 4.0, 1e-5);
            q = turn ? a.z - b.z : a.x - b.x;
            v = va[k] - vb[k];
        }
        cm_rig_close(&rig);
    }
}

// A bead on a rail at 30 degrees, a spring along x: what the rail lets through is implicit, too.
// (m + h^2 k c^2) v* = m v + h (m g c - k x c), c the cosine.
Test(lcp_forces, share_the_step_with_joints)
{
    const double c = 0.8, m = 2.0, k = 7.2e6, g = 3.0;
    law l = {.axis = {1.0f, 0.0f, 0.0f}, .stiffness = k};
    cm_rig rig = open_with(&l, (float)g);
    l.a = ball_of(&rig, (float)m, cm_vec(0.3f, 0.0f, 0.0f));
    carom_joint_def def = carom_default_joint_def();
    def.type = CAROM_JOINT_PRISMATIC;
    def.body_b = l.a;
    def.anchor = cm_vec(0.3f, 0.0f, 0.0f);
    def.axis = cm_vec(0.8f, 0.6f, 0.0f);
    def.epsilon = 0.0f;
    carom_joint_id joint;
    cr_assert_eq(carom_joint_create(rig.world, &def, &joint), CAROM_OK);
    double v = 0.0;
    for (int tick = 0; tick < 60; tick++) {
        double x = (double)cm_rig_get(&rig, l.a).position.x;
        cm_rig_step(&rig, 1);
        v = (m * v + H * (m * g * c - k * x * c)) / (m + H * H * k * c * c);
        carom_joint_state s;
        cr_assert_eq(carom_joint_get(rig.world, joint, &s), CAROM_OK);
        NEAR(s.rate, v, 3e-5);
        v = (double)s.rate;
    }
    NEAR(cm_rig_get(&rig, l.a).position.x, m * g / k, 1e-6);
    cm_rig_close(&rig);
}

static uint32_t give_bad_forces(void *context, const carom_world *world, carom_force *forces,
                                uint32_t capacity)
{
    const carom_body_id *ids = context;
    (void)world;
    cr_assert_eq(capacity, CAROM_ROWS_MAX);
    for (int i = 0; i < 5; i++) {
        forces[i].body[0] = ids[0];
        forces[i].linear[0] = cm_vec(0.0f, 1.0f, 0.0f);
        forces[i].force = 10.0f;
    }
    forces[0].by_velocity = 5.0f; // drives itself on
    forces[1].force = NAN;
    forces[2].body[1] = ids[0]; // twice
    forces[3].body[0].generation++;
    forces[4].by_position = -1.0f; // good
    return 5;
}

Test(lcp_forces, that_make_no_sense_are_left_out_and_counted)
{
    law none = {0};
    cm_rig rig = open_with(&none, 0.0f);
    carom_body_id id = ball_of(&rig, 2.0f, cm_vec(0.0f, 0.0f, 0.0f));
    carom_row_source source = {.context = &id, .forces = give_bad_forces};
    cr_assert_eq(carom_world_set_rows(rig.world, &source), CAROM_OK);
    cm_rig_step(&rig, 1);
    carom_world_stats stats;
    carom_world_stats_get(rig.world, &stats);
    cr_assert_eq(stats.log_counts[CAROM_LOG_LCP_ROW_REFUSED], 4);
    NEAR(cm_rig_get(&rig, id).linear_velocity.y, 10.0 / 2.0 * H, 1e-4);
    cm_rig_close(&rig);
}

// A force that comes after a second, of nothing that anything touches.
static uint32_t give_late_force(void *context, const carom_world *world, carom_force *forces,
                                uint32_t capacity)
{
    const carom_body_id *id = context;
    (void)capacity;
    forces[0].body[0] = *id;
    forces[0].linear[0] = cm_vec(1.0f, 0.0f, 0.0f);
    forces[0].force = 8.0f;
    return carom_world_tick(world) >= 120 ? 1 : 0;
}

Test(lcp_forces, reach_a_body_that_would_sleep)
{
    for (int given = 0; given < 2; given++) {
        carom_world_def def = cm_rig_def(4);
        def.solver.type = CAROM_SOLVER_LCP;
        def.gravity = cm_vec(0.0f, 0.0f, 0.0f);
        def.sleep = true;
        cm_rig rig = cm_rig_open(&def, 0);
        carom_body_id id = ball_of(&rig, 2.0f, cm_vec(0.0f, 0.0f, 0.0f));
        carom_row_source source = {.context = &id, .forces = give_late_force};
        cm_rig_step(&rig, given ? 0 : 110);
        cr_assert_eq(cm_rig_get(&rig, id).asleep, !given, "without a source it does sleep");
        cr_assert_eq(carom_world_set_rows(rig.world, &source), CAROM_OK);
        cm_rig_step(&rig, given ? 110 : 1);
        cr_assert_not(cm_rig_get(&rig, id).asleep);
        cm_rig_step(&rig, given ? 20 : 19);
        NEAR(cm_rig_get(&rig, id).linear_velocity.x, 8.0 / 2.0 * 10.0 * H, 1e-4);
        cm_rig_close(&rig);
    }
}

static uint32_t no_forces(const carom_game *game, const carom_world *world, carom_force *forces,
                          uint32_t capacity)
{
    (void)game, (void)world, (void)forces, (void)capacity;
    return 0;
}

// A world, and a game, of another solver says what is wrong.
Test(lcp_forces, other_solvers_refuse_them)
{
    static const char *const names[] = {"soft", "impulse", "lcp", "volume"};
    static const carom_module module = {
        .abi = CAROM_MODULE_ABI, .version = 1, .name = "stiff", .forces = no_forces};
    for (int solver = CAROM_SOLVER_SOFT; solver <= CAROM_SOLVER_VOLUME; solver++) {
        bool lcp = solver == CAROM_SOLVER_LCP;
        carom_result expected = lcp ? CAROM_OK : CAROM_ERROR_STATE;
        carom_world_def def = cm_rig_def(4);
        def.solver.type = (carom_solver_type)solver;
        cm_rig rig = cm_rig_open(&def, 0);
        carom_row_source source = {.forces = give_bad_forces};
        cr_assert_eq(carom_world_set_rows(rig.world, &source), expected);
        carom_error error = carom_last_error(rig.world);
        cr_assert(lcp || (error.result == CAROM_ERROR_STATE && strcmp(error.field, "forces") == 0 &&
                          strstr(error.expected, "lcp") != NULL));
        cm_rig_close(&rig);
        cr_assert_eq(carom_module_suits(&module, (carom_solver_type)solver, &error), lcp);
        cr_assert(lcp || strcmp(error.field, "forces") == 0);
        char text[128];
        int size = snprintf(text, sizeof text,
                            "{\"carom\": 1, \"name\": \"s\", \"solver\": {\"type\": \"%s\"}}",
                            names[solver]);
        cm_scene *scene;
        cm_scene_error why;
        carom_game *game;
        cr_assert_eq(cm_scene_from_json(text, (size_t)size, &scene, &why), CAROM_OK, "%s",
                     why.message);
        cr_assert_eq(cm_game_create(scene, &module, 7, NULL, &game), expected);
        cm_game_destroy(game);
        cm_scene_free(scene);
    }
}

// A game that casts a ray while it gives its forces, as a wheel's suspension does.
typedef struct sounder {
    float depth; // in the last substep
    uint32_t asked;
} sounder;

static float height_of(const carom_world *world)
{
    carom_ray ray = {.origin = {0.0f, 20.0f, 0.0f}, .translation = {0.0f, -40.0f, 0.0f}};
    carom_query_hit hit;
    uint32_t count = 0;
    cr_assert_eq(carom_world_cast_ray(world, &ray, NULL, &hit, 1, &count), CAROM_OK);
    return count > 0 ? hit.point.y : -1.0f;
}

static uint32_t sound(void *context, const carom_world *world, carom_force *forces,
                      uint32_t capacity)
{
    sounder *s = context;
    (void)forces;
    (void)capacity;
    s->depth = height_of(world);
    s->asked++;
    return 0;
}

// The step moves on behind the question: the next one, after it, must not be answered from a tree
// of before, or a world that was restored would see something else.
Test(lcp_forces, may_ask_the_world_and_rewind)
{
    sounder live = {0}, again = {0};
    carom_world_def def = cm_rig_def(4);
    def.solver.type = CAROM_SOLVER_LCP;
    def.sleep = false;
    cm_rig rigs[2] = {cm_rig_open(&def, 0), cm_rig_open(&def, 0)};
    sounder *sounders[2] = {&live, &again};
    for (int i = 0; i < 2; i++) {
        carom_row_source source = {.context = sounders[i], .forces = sound};
        cr_assert_eq(carom_world_set_rows(rigs[i].world, &source), CAROM_OK);
    }
    carom_body_def body = carom_default_body_def();
    body.position = cm_vec(0.0f, 5.0f, 0.0f);
    carom_shape_def ball = carom_default_shape_def();
    carom_body_id id;
    cr_assert_eq(carom_body_create(rigs[0].world, &body, &ball, 1, &id), CAROM_OK);
    size_t bound = carom_world_save_bound(rigs[0].world);
    void *image = aligned_alloc(64, (bound + 63) / 64 * 64);
    for (int tick = 0; tick < 40; tick++) {
        size_t size = carom_world_save(rigs[0].world, image, bound);
        cr_assert_eq(carom_world_restore(rigs[1].world, image, size), CAROM_OK);
        float before = height_of(rigs[0].world);
        cr_assert_eq(before, height_of(rigs[1].world), "tick %d", tick);
        cm_rig_step(&rigs[0], 1);
        cm_rig_step(&rigs[1], 1);
        cr_assert_eq(live.depth, before, "tick %d: asked of its begin", tick);
        cr_assert_eq(live.depth, again.depth);
        cr_assert_lt(height_of(rigs[0].world), before, "tick %d", tick);
    }
    cr_assert_geq(live.asked, 40);
    free(image);
    cm_rig_close(&rigs[0]);
    cm_rig_close(&rigs[1]);
}
