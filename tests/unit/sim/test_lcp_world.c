// Goal: what the lcp solver offers beside scenes: rows of a game for up to three bodies, the
// iterative form of large islands, implicit damping, locks, several substeps, and worlds that no
// number upsets. Method: closed forms; the iterative form beside the direct one; rows of every
// joint type against differences of their own error; seeded random worlds with hostile settings.
#include "carom/lcp.h"
#include "shared/base/rng.h"
#include "shared/sim/state/image.h"
#include "shared/sim/joint/joint.h"
#include "tests/unit/sim/rig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static cm_rig open_lcp(uint32_t bodies, uint32_t rate)
{
    carom_world_def def = cm_rig_def(bodies);
    def.solver.type = CAROM_SOLVER_LCP;
    def.tick_rate = rate;
    def.limits.joints = 64;
    return cm_rig_open(&def, 0);
}

static carom_body_id ball(cm_rig *rig, float mass, float x, float y)
{
    carom_body_def def = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    shape.radius = 0.1f;
    shape.mask = 0;
    def.position = cm_vec(x, y, 0.0f);
    def.has_mass = true;
    def.mass = mass;
    return cm_rig_body(rig, &def, &shape);
}

// A rope over a block: bodies 0 and 1 hang on it, body 2 is the block: y0 + y1 - 2 y2 stays.
typedef struct tackle {
    carom_body_id bodies[3];
    uint32_t starts;
} tackle;

static void count_start(void *context, const carom_world *world)
{
    (void)world;
    ((tackle *)context)->starts++;
}

static uint32_t rope(void *context, const carom_world *world, carom_row *rows, uint32_t capacity)
{
    const tackle *t = context;
    cr_assert_geq(capacity, 2);
    const float weights[3] = {1.0f, 1.0f, -2.0f};
    float sum = 0.0f;
    for (uint32_t i = 0; i < 3; i++) {
        carom_body_state state;
        cr_assert_eq(carom_body_get(world, t->bodies[i], &state), CAROM_OK);
        rows[0].body[i] = t->bodies[i];
        rows[0].linear[i] = cm_vec(0.0f, weights[i], 0.0f);
        sum += weights[i] * state.position.y;
    }
    rows[0].error = sum;
    rows[0].upper = 0.0f; // a rope pulls down on this sum alone
    rows[1].body[0] = t->bodies[0];
    rows[1].linear[0] = cm_vec(NAN, 0.0f, 0.0f); // left out, and counted
    return 2;
}

Test(lcp_world, a_default_row_holds_without_a_bound)
{
    carom_row row = carom_default_row();
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(row.body[i].generation, 0);
        cr_assert_eq(cm_length(row.linear[i]) + cm_length(row.angular[i]), 0.0f);
    }
    cr_assert_eq(row.lower, -INFINITY);
    cr_assert_eq(row.upper, INFINITY);
    cr_assert_eq(row.velocity, 0.0f);
    cr_assert_eq(row.error, 0.0f);
    cr_assert_eq(row.slip, 0.0f);
    cr_assert_lt(row.epsilon, 0.0f);
    cr_assert_lt(row.gamma, 0.0f);
}

Test(lcp_world, a_row_of_the_game_joins_three_bodies)
{
    cm_rig rig = open_lcp(8, 200);
    tackle t = {
        {ball(&rig, 1.0f, 0.0f, 0.0f), ball(&rig, 2.0f, 1.0f, 0.0f), ball(&rig, 4.0f, 2.0f, 0.0f)},
        0};
    // Without gravity on the block: A = 1 + 1/2 + 4/4, J a = -2 g.
    carom_row_source source = {&t, count_start, rope};
    cr_assert_eq(carom_world_set_rows(rig.world, &source), CAROM_OK);
    cr_assert_eq(carom_body_apply_force(rig.world, t.bodies[2], cm_vec(0.0f, 4.0f * 9.81f, 0.0f),
                                        cm_vec(0.0f, 0.0f, 0.0f)),
                 CAROM_OK);
    // The sum falls: a rope that only pulls down on it lets go.
    cm_rig_step(&rig, 1);
    carom_world_stats stats;
    carom_world_stats_get(rig.world, &stats);
    cr_assert_geq(t.starts, 1); // twice where a shadow world steps beside
    cr_assert_eq(stats.lcp_rows, 1);
    cr_assert_eq(stats.log_counts[CAROM_LOG_LCP_ROW_REFUSED], 1);
    cr_assert(cm_abs(cm_rig_get(&rig, t.bodies[0]).linear_velocity.y + 0.04905f) < 1e-5f);
    // Thrown up, it holds: J v = 0 at once.
    for (int i = 0; i < 3; i++) {
        float v = i == 0 ? 3.0f : 0.0f;
        carom_body_set_velocity(rig.world, t.bodies[i], cm_vec(0.0f, v, 0.0f),
                                cm_vec(0.0f, 0.0f, 0.0f));
    }
    cm_rig_step(&rig, 1);
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        sum += (i == 2 ? -2.0 : 1.0) * (double)cm_rig_get(&rig, t.bodies[i]).linear_velocity.y;
    }
    // What the fall before left is pulled back: gamma error / h.
    cr_assert(fabs(sum - 0.2 * 2.0 * 0.04905) < 1e-3, "%g", sum);
    cr_assert(cm_rig_get(&rig, t.bodies[2]).linear_velocity.y > 0.5f);
    cr_assert_eq(carom_world_set_rows(rig.world, NULL), CAROM_OK);
    cm_rig_step(&rig, 1);
    carom_world_stats_get(rig.world, &stats);
    cr_assert_eq(stats.lcp_rows, 0);
    cm_rig_close(&rig);
    carom_world_def soft = cm_rig_def(4);
    rig = cm_rig_open(&soft, 0);
    cr_assert_eq(carom_world_set_rows(rig.world, &source), CAROM_ERROR_STATE);
    cm_rig_close(&rig);
}

// Of two bodies that touch the one that has a gamma of its own decides, not the world's default;
// where both have one, the smaller.
Test(lcp_world, a_bodys_own_gamma_is_that_of_its_contacts)
{
    static const float gammas[][3] = {// floor's, box's, what counts; negative: the world's 0.2
                                      {-1.0f, -1.0f, 0.2f},
                                      {-1.0f, 0.5f, 0.5f},
                                      {1.0f, -1.0f, 1.0f},
                                      {0.5f, 0.1f, 0.1f}};
    for (int i = 0; i < 4; i++) {
        cm_rig rig = open_lcp(4, 200);
        carom_body_def def = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        shape.type = CAROM_SHAPE_BOX;
        shape.half_extents = cm_vec(0.5f, 0.5f, 0.5f);
        def.gamma = gammas[i][0];
        def.type = CAROM_BODY_STATIC;
        cm_rig_body(&rig, &def, &shape);
        def.has_mass = true;
        def.mass = 1.0f;
        def.gamma = gammas[i][1];
        def.type = CAROM_BODY_DYNAMIC;
        def.position = cm_vec(0.0f, 0.98f, 0.0f);
        carom_body_id box = cm_rig_body(&rig, &def, &shape);
        cm_rig_step(&rig, 1);
        double moved = (double)cm_rig_get(&rig, box).position.y - 0.98;
        cr_assert(fabs(moved - 0.02 * (double)gammas[i][2]) < 2e-5, "%d: %g", i, moved);
        cm_rig_close(&rig);
    }
}

// A box pushed on, so that it now and then leaves some of its corners: friction of the floor is no
// more than its normal force allows, whichever corners carried it the step before.
Test(lcp_world, friction_of_a_pushed_box_is_coulombs)
{
    cm_rig rig = open_lcp(8, 500);
    carom_body_def def = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    shape.friction = 0.8f;
    def.report_force = true;
    def.type = CAROM_BODY_STATIC;
    shape.type = CAROM_SHAPE_PLANE;
    shape.normal = cm_vec(0.0f, 1.0f, 0.0f);
    carom_body_id floor = cm_rig_body(&rig, &def, &shape);
    shape.type = CAROM_SHAPE_BOX;
    def.type = CAROM_BODY_DYNAMIC;
    def.has_mass = true;
    def.mass = 1.0f;
    def.position = cm_vec(0.0f, 0.5f, 0.0f);
    shape.half_extents = cm_vec(0.5f, 0.5f, 0.5f);
    cm_rig_body(&rig, &def, &shape);
    def.type = CAROM_BODY_KINEMATIC;
    def.position = cm_vec(-0.71f, 0.5f, 0.0f);
    def.linear_velocity = cm_vec(0.8f, 0.0f, 0.0f);
    shape.half_extents = cm_vec(0.2f, 0.2f, 0.2f);
    cm_rig_body(&rig, &def, &shape);
    cm_rig_step(&rig, 50);
    double along = 0.0, normal = 0.0;
    for (int i = 0; i < 500; i++) {
        cm_rig_step(&rig, 1);
        carom_body_state state = cm_rig_get(&rig, floor);
        along += (double)state.contact_force.x;
        normal -= (double)state.contact_force.y;
    }
    cr_assert(normal > 2500.0, "%g", normal);
    cr_assert(fabs(along / normal - 0.64) < 0.02, "%g", along / normal);
    cm_rig_close(&rig);
}

// A hanging chain and a stack, solved directly and in blocks.
static double build_and_run(uint32_t direct_rows, uint64_t *iterative)
{
    carom_world_def def = cm_rig_def(16);
    def.solver.type = CAROM_SOLVER_LCP;
    def.solver.lcp.direct_rows = direct_rows;
    def.solver.lcp.rounds = 3;
    def.sleep = false;
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    carom_body_id top = {0, 0}, last = {0, 0};
    for (int i = 0; i < 4; i++) {
        top = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.25f + 0.5f * (float)i, 0.0f),
                         cm_vec(0.25f, 0.25f, 0.25f));
    }
    for (int i = 0; i < 5; i++) {
        carom_joint_def joint = carom_default_joint_def();
        joint.body_a = last;
        joint.body_b = last = ball(&rig, 1.0f, 3.0f + 0.3f * (float)i, 3.0f);
        joint.anchor = cm_vec(2.85f + 0.3f * (float)i, 3.0f, 0.0f);
        cr_assert_eq(carom_joint_create(rig.world, &joint, NULL), CAROM_OK);
    }
    cm_rig_step(&rig, 240);
    double worst = fabs((double)cm_rig_get(&rig, top).position.y - 1.75);
    for (uint32_t i = 0; i < 5; i++) {
        carom_joint_state state;
        carom_joint_get(rig.world, carom_world_joint_at(rig.world, i), &state);
        worst = fmax(worst, (double)state.error);
    }
    carom_world_stats stats;
    carom_world_stats_get(rig.world, &stats);
    *iterative =
        stats.log_counts[CAROM_LOG_LCP_ISLAND_LARGE] + stats.log_counts[CAROM_LOG_LCP_UNSOLVED];
    cm_rig_close(&rig);
    return worst;
}

Test(lcp_world, large_islands_are_solved_in_blocks)
{
    uint64_t iterative;
    double direct = build_and_run(256, &iterative);
    cr_assert_eq(iterative, 0);
    cr_assert(direct < 0.02, "%g", direct);
    double blocks = build_and_run(4, &iterative);
    cr_assert_gt(iterative, 200);
    cr_assert(blocks < 0.05, "%g", blocks);
}

// Damping of 1e5 / s at 60 ticks a second: what is damped stops, and stays held by its joint.
Test(lcp_world, damping_is_implicit)
{
    cm_rig rig = open_lcp(4, 60);
    carom_body_def def = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    def.linear_damping = 1.0e5f;
    def.linear_velocity = cm_vec(10.0f, 0.0f, 0.0f);
    carom_body_id body = cm_rig_body(&rig, &def, &shape);
    cm_rig_step(&rig, 1);
    double expected = 10.0 / (1.0 + 1.0e5 / 60.0);
    cr_assert(fabs((double)cm_rig_get(&rig, body).linear_velocity.x - expected) < 1e-6);
    cm_rig_close(&rig);
}

Test(lcp_world, locks_and_planes_hold)
{
    carom_world_def world = cm_rig_def(4);
    world.solver.type = CAROM_SOLVER_LCP;
    world.planar = true;
    cm_rig rig = cm_rig_open(&world, 0);
    carom_body_def def = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(0.5f, 0.2f, 0.3f);
    def.force = cm_vec(100.0f, 0.0f, 100.0f);
    def.torque = cm_vec(50.0f, 20.0f, 10.0f);
    def.axis_locks = CAROM_LOCK_X;
    carom_body_id body = cm_rig_body(&rig, &def, &shape);
    cm_rig_step(&rig, 120);
    carom_body_state state = cm_rig_get(&rig, body);
    cr_assert(state.position.x == 0.0f && state.position.z == 0.0f);
    cr_assert(state.angular_velocity.x == 0.0f && state.angular_velocity.y == 0.0f);
    cr_assert(state.angular_velocity.z > 0.0f && state.position.y < -1.0f);
    cm_rig_close(&rig);
}

static carom_vec3 random_vec(cm_rng *rng, float size)
{
    return cm_vec(cm_rng_range(rng, -size, size), cm_rng_range(rng, -size, size),
                  cm_rng_range(rng, -size, size));
}

static carom_quat random_turn(cm_rng *rng)
{
    carom_vec3 v = random_vec(rng, 1.0f);
    return cm_quat_normalize((carom_quat){v.x, v.y, v.z, cm_rng_range(rng, 0.5f, 1.0f)});
}

// A joint at poses displaced by t times the velocities, in binary64 where it matters: J v is the
// rate of error, to what binary32 rows allow.
static void check_rows(uint32_t type, uint64_t seed)
{
    cm_rng rng;
    cm_rng_seed(&rng, seed);
    cm_rig rig = open_lcp(4, 100);
    carom_joint_def def = carom_default_joint_def();
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = random_vec(&rng, 0.5f);
    def.body_a = cm_rig_body(&rig, &body, &shape);
    body.position = random_vec(&rng, 0.5f);
    def.body_b = cm_rig_body(&rig, &body, &shape);
    def.type = (carom_joint_type)type;
    def.anchor = random_vec(&rng, 0.5f);
    def.anchor_b = random_vec(&rng, 0.5f);
    def.axis = cm_vec(0.0f, 0.6f, 0.8f);
    cr_assert_eq(carom_joint_create(rig.world, &def, NULL), CAROM_OK);
    const cm_joint *joint = cm_joints(rig.world);
    cm_motion *m = cm_motions(rig.world);
    m[1].position = cm_add(m[1].position, random_vec(&rng, 0.002f));
    carom_vec3 v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = random_vec(&rng, 1.0f);
    }
    cm_motion first[2] = {m[0], m[1]};
    cm_joint_row rows[3][CM_JOINT_ROWS_MAX];
    uint32_t count = 0;
    const float t = 1.0f / 256.0f;
    for (int k = 0; k < 3; k++) {
        float at = k == 0 ? 0.0f : (k == 1 ? t : -t);
        for (int i = 0; i < 2; i++) {
            carom_vec3 w = cm_scale(0.5f * at, v[2 * i + 1]);
            carom_quat turn = cm_quat_normalize((carom_quat){w.x, w.y, w.z, 1.0f});
            m[i] = first[i];
            m[i].position = cm_mul_add(first[i].position, at, v[2 * i]);
            m[i].orientation = cm_quat_normalize(cm_quat_mul(turn, first[i].orientation));
        }
        cm_joint_pose pose;
        cm_joint_pose_get(rig.world, joint, &pose);
        count = cm_joint_kind_of(type)->rows(joint, &pose, rows[k]);
    }
    for (uint32_t i = 0; i < count; i++) {
        const cm_joint_row *r = &rows[0][i];
        double rate = (double)cm_dot(r->linear, cm_sub(v[2], v[0])) +
                      (double)cm_dot(r->angular_a, v[1]) + (double)cm_dot(r->angular_b, v[3]);
        double slope = ((double)rows[1][i].error - (double)rows[2][i].error) / (2.0 * (double)t);
        cr_assert(fabs(rate - slope) < 2e-3, "type %u, row %u: %g, differences %g", type, i, rate,
                  slope);
    }
    cm_rig_close(&rig);
}

Test(lcp_world, jacobians_are_the_rates_of_their_errors)
{
    for (uint32_t type = 0; type < CAROM_JOINT_MOTOR; type++) {
        for (uint64_t seed = 1; seed < 20; seed++) {
            check_rows(type, seed);
        }
    }
}

// Bodies in each other, springs without end, limits, motors, breaking joints, every friction model,
// epsilon 0, two substeps: never a NaN, and the same again from a save.
static void run_hostile(uint64_t seed)
{
    cm_rng rng;
    cm_rng_seed(&rng, seed);
    carom_world_def def = cm_rig_def(24);
    def.solver.type = CAROM_SOLVER_LCP;
    def.solver.lcp.friction_model = (carom_friction_model)(seed % 3);
    def.solver.lcp.max_friction = 5.0f;
    def.solver.lcp.epsilon = seed % 4 == 0 ? 0.0f : 1.0e-4f;
    def.solver.lcp.substeps = 1 + (uint32_t)(seed % 2);
    def.solver.lcp.direct_rows = seed % 5 == 0 ? 30 : 200;
    def.limits.joints = 64;
    cm_rig rig = cm_rig_open(&def, 0), other = cm_rig_open(&def, 3);
    cm_rig_plane(&rig);
    for (int i = 0; i < 14; i++) {
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        shape.type = (carom_shape_type)cm_rng_below(&rng, 3);
        shape.radius = 0.3f;
        shape.half_height = 0.2f;
        shape.half_extents = cm_vec(0.3f, 0.2f, 0.4f);
        shape.density = i % 5 == 0 ? 1.0e5f : 1.0f;
        shape.contact_mode = (carom_contact_mode)cm_rng_below(&rng, 4);
        shape.contact_axis = random_vec(&rng, 1.0f);
        shape.contact_slip = 0.01f;
        body.position = cm_add(random_vec(&rng, 0.8f), cm_vec(0.0f, 0.7f, 0.0f));
        body.orientation = random_turn(&rng);
        body.linear_velocity = random_vec(&rng, i == 3 ? 1.0e4f : 5.0f);
        body.angular_velocity = random_vec(&rng, i == 4 ? 1.0e4f : 5.0f);
        cm_rig_body(&rig, &body, &shape);
    }
    for (uint32_t i = 0; i < 12; i++) {
        carom_joint_def joint = carom_default_joint_def();
        joint.type = (carom_joint_type)(i % 7);
        joint.body_a = carom_world_body_at(rig.world, i);
        joint.body_b = carom_world_body_at(rig.world, i + 1);
        joint.anchor = random_vec(&rng, 1.0f);
        joint.anchor_b = random_vec(&rng, 1.0f);
        joint.axis = cm_vec(1.0f, 0.0f, 0.2f);
        joint.spring = (carom_spring_type)cm_rng_below(&rng, 3);
        joint.spring_hertz = 100.0f;
        joint.spring_stiffness = 1.0e9f;
        joint.break_force = i % 4 == 0 ? 1.0e4f : 0.0f;
        joint.has_motor = joint.type != CAROM_JOINT_FIXED;
        joint.motor_velocity = 1.0e3f;
        cr_assert_eq(carom_joint_create(rig.world, &joint, NULL), CAROM_OK);
    }
    size_t size = carom_world_save_bound(rig.world);
    void *image = malloc(size);
    for (int tick = 0; tick < 40; tick++) {
        size_t used = carom_world_save(rig.world, image, size);
        cm_rig_step(&rig, 1);
        cr_assert_eq(carom_world_restore(other.world, image, used), CAROM_OK);
        cm_rig_step(&other, 1);
        cr_assert_eq(carom_world_hash(rig.world), carom_world_hash(other.world), "seed %d, tick %d",
                     (int)seed, tick);
        for (uint32_t i = 0; i < 15; i++) {
            carom_body_state state = cm_rig_get(&rig, carom_world_body_at(rig.world, i));
            cr_assert(cm_vec_is_finite(state.position) && cm_vec_is_finite(state.linear_velocity));
        }
    }
    // What was made is what decode accepts.
    size_t bytes = carom_world_encode_size(rig.world);
    void *form = malloc(bytes);
    cr_assert_eq(carom_world_encode(rig.world, form, bytes), bytes);
    cr_assert_eq(carom_world_decode(other.world, form, bytes), CAROM_OK);
    free(form);
    free(image);
    cm_rig_close(&rig);
    cm_rig_close(&other);
}

Test(lcp_world, hostile_worlds_stay_finite)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        run_hostile(seed);
    }
}
