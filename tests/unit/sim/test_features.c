// Goal: rolling and spin friction, running surfaces, locked axes and reported forces of the soft
// solver do what their numbers say. Method: one or two bodies whose motion has a formula, against
// it; what must not move is compared to the bit. Planar worlds are in test_planar.c.
#include "tests/unit/sim/rig.h"

#include "shared/sim/state/image.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define G 9.81f

static cm_rig open_rig(carom_vec3 gravity)
{
    carom_world_def def = cm_rig_def(64);
    def.gravity = gravity;
    return cm_rig_open(&def, 0);
}

// A ball of 0.5 m that rolls at 1 m/s along x on a plane.
static carom_body_id roll_ball(cm_rig *rig, float rolling)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = cm_vec(0.0f, 0.5f, 0.0f);
    body.linear_velocity = cm_vec(1.0f, 0.0f, 0.0f);
    body.angular_velocity = cm_vec(0.0f, 0.0f, -2.0f);
    shape.type = CAROM_SHAPE_SPHERE;
    shape.radius = 0.5f;
    shape.rolling_friction = rolling;
    cm_rig_plane(rig);
    return cm_rig_body(rig, &body, &shape);
}

// m a = m g sin - f, 2/5 m r^2 a / r = f r - c r N.
static float rolling_acceleration(float slope, float rolling)
{
    return G * (sinf(slope) - rolling * cosf(slope)) / 1.4f;
}

Test(features, rolling_friction_stops_a_ball_on_a_slope)
{
    const float slope = 0.05f, rolling = 0.1f;
    cm_rig rig = open_rig(cm_vec(G * sinf(slope), -G * cosf(slope), 0.0f));
    carom_body_id ball = roll_ball(&rig, rolling);
    cm_rig_step(&rig, 120);
    float a = rolling_acceleration(slope, rolling);
    cr_assert_float_eq(cm_rig_get(&rig, ball).linear_velocity.x, 1.0f + 2.0f * a, 0.01f,
                       "%g, expected %g", (double)cm_rig_get(&rig, ball).linear_velocity.x,
                       (double)(1.0f + 2.0f * a));
    cm_rig_step(&rig, 240);
    carom_body_state end = cm_rig_get(&rig, ball);
    cr_assert_float_eq(end.position.x, -0.5f / a, 0.02f, "stopped at %g, expected %g",
                       (double)end.position.x, (double)(-0.5f / a));
    cm_rig_step(&rig, 600);
    cr_assert_float_eq(cm_rig_get(&rig, ball).position.x, end.position.x, 1.0e-4f);
    cm_rig_close(&rig);
}

Test(features, rolling_friction_slows_a_ball_on_a_steep_slope)
{
    const float slope = 0.3f, rolling = 0.1f;
    cm_rig rig = open_rig(cm_vec(G * sinf(slope), -G * cosf(slope), 0.0f));
    carom_body_id ball = roll_ball(&rig, rolling);
    cm_rig_step(&rig, 120);
    float expected = 1.0f + 2.0f * rolling_acceleration(slope, rolling);
    float found = cm_rig_get(&rig, ball).linear_velocity.x;
    cr_assert_float_eq(found, expected, 0.01f * expected, "%g, expected %g", (double)found,
                       (double)expected);
    cm_rig_close(&rig);
}

// The point of contact does not turn with what rolls over it: a turn of half a radian a tick must
// neither sink a ball nor lead a cylinder off its way.
Test(features, what_rolls_fast_stays_on_the_ground)
{
    static const carom_shape_type types[] = {CAROM_SHAPE_SPHERE, CAROM_SHAPE_CAPSULE,
                                             CAROM_SHAPE_CYLINDER};
    const carom_quat lying = {0.70710678f, 0.0f, 0.0f, 0.70710678f};
    for (uint32_t i = 0; i < 3; i++) {
        cm_rig rig = open_rig(cm_vec(0.0f, -G, 0.0f));
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        body.position = cm_vec(0.0f, 0.5f, 0.0f);
        body.orientation = i == 0 ? cm_quat_identity() : lying;
        body.linear_velocity = cm_vec(15.0f, 0.0f, 0.0f);
        body.angular_velocity = cm_vec(0.0f, 0.0f, -30.0f);
        shape.type = types[i];
        shape.radius = 0.5f;
        shape.half_height = 0.4f;
        cm_rig_plane(&rig);
        carom_body_id id = cm_rig_body(&rig, &body, &shape);
        for (uint32_t tick = 0; tick < 180; tick++) {
            cm_rig_step(&rig, 1);
            carom_body_state state = cm_rig_get(&rig, id);
            cr_assert_float_eq(state.position.y, 0.5f, 1.0e-3f, "shape %u tick %u: %g", i, tick,
                               (double)state.position.y);
        }
        carom_body_state end = cm_rig_get(&rig, id);
        cr_assert_float_eq(end.linear_velocity.x, 15.0f, 0.02f);
        cr_assert_float_eq(end.linear_velocity.z, 0.0f, 0.01f);
        cm_rig_close(&rig);
    }
}

// Torque c r m g on 2/5 m r^2.
Test(features, spin_friction_stops_a_spinning_ball)
{
    for (uint32_t i = 0; i < 2; i++) {
        cm_rig rig = open_rig(cm_vec(0.0f, -G, 0.0f));
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        body.position = cm_vec(0.0f, 0.4f, 0.0f);
        body.angular_velocity = cm_vec(0.0f, 10.0f, 0.0f);
        shape.type = CAROM_SHAPE_SPHERE;
        shape.radius = 0.4f;
        shape.spin_friction = i == 0 ? 0.1f : 0.0f;
        cm_rig_plane(&rig);
        carom_body_id ball = cm_rig_body(&rig, &body, &shape);
        cm_rig_step(&rig, 60);
        float expected = 10.0f - shape.spin_friction * G / (0.4f * 0.4f);
        cr_assert_float_eq(cm_rig_get(&rig, ball).angular_velocity.y, expected, 0.06f);
        cm_rig_step(&rig, 60);
        cr_assert(i == 1 || cm_rig_get(&rig, ball).angular_velocity.y == 0.0f ||
                  fabsf(cm_rig_get(&rig, ball).angular_velocity.y) < 1.0e-5f);
        cm_rig_close(&rig);
    }
}

// The belt is turned by a quarter, so that its x runs along the world's -z.
Test(features, a_conveyor_carries_a_box_at_its_speed)
{
    cm_rig rig = open_rig(cm_vec(0.0f, -G, 0.0f));
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.type = CAROM_BODY_STATIC;
    body.position = cm_vec(0.0f, 0.5f, 0.0f);
    body.orientation = (carom_quat){0.0f, 0.70710678f, 0.0f, 0.70710678f};
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(20.0f, 0.5f, 1.0f);
    shape.surface_velocity = cm_vec(1.5f, 0.0f, 0.0f);
    cm_rig_body(&rig, &body, &shape);
    carom_body_id box = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 1.25f, 0.0f),
                                   cm_vec(0.25f, 0.25f, 0.25f));
    // Coulomb friction 0.64 g until it runs along.
    cm_rig_step(&rig, 6);
    cr_assert_float_eq(cm_rig_get(&rig, box).linear_velocity.z, -0.1f * 0.64f * G, 0.06f);
    cm_rig_step(&rig, 114);
    carom_body_state state = cm_rig_get(&rig, box);
    cr_assert_float_eq(state.linear_velocity.z, -1.5f, 1.0e-3f);
    cr_assert_float_eq(state.linear_velocity.x, 0.0f, 1.0e-3f);
    cr_assert_float_eq(cm_length(state.angular_velocity), 0.0f, 1.0e-3f);
    cm_rig_close(&rig);
}

// Locks ------------------------------------------------------------------------------------------

static carom_body_id locked_box(cm_rig *rig, carom_vec3 position, carom_quat orientation,
                                uint32_t locks)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = position;
    body.orientation = orientation;
    body.axis_locks = locks;
    body.linear_velocity = cm_vec(0.3f, 0.2f, 0.1f);
    body.angular_velocity = cm_vec(0.5f, 0.7f, 0.9f);
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(0.5f, 0.3f, 0.4f);
    shape.restitution = 0.5f;
    return cm_rig_body(rig, &body, &shape);
}

static void check_locked(const carom_body_state *state, const carom_body_state *start,
                         uint32_t locks)
{
    const float *x = &state->center_of_mass.x, *x0 = &start->center_of_mass.x;
    const float *v = &state->linear_velocity.x, *w = &state->angular_velocity.x;
    for (uint32_t k = 0; k < 3; k++) {
        if (locks >> k & 1u) {
            cr_assert_eq(x[k], x0[k], "locks %u: axis %u moved to %.9g", locks, k, (double)x[k]);
            cr_assert_eq(v[k], 0.0f);
        }
        if (locks >> (k + 3) & 1u) {
            cr_assert_eq(w[k], 0.0f, "locks %u: turns about %u at %g", locks, k, (double)w[k]);
        }
    }
}

// Every set of locks: hit by a ball from aside and above, hung with a weight on a ball joint, and
// given velocities along locked axes that a step must take away.
Test(features, locked_bodies_do_not_leave_their_axes)
{
    const carom_quat tilt = {0.18257419f, 0.36514837f, 0.54772256f, 0.73029674f};
    for (uint32_t locks = 0; locks < 64; locks++) {
        cm_rig rig = open_rig(cm_vec(0.4f, -G, 0.7f));
        cm_rig_plane(&rig);
        carom_body_id box = locked_box(&rig, cm_vec(0.0f, 1.3f, 0.0f), tilt, locks);
        carom_body_id ball = cm_rig_sphere(&rig, cm_vec(-2.0f, 1.5f, 0.2f), 0.3f);
        carom_body_id top = cm_rig_sphere(&rig, cm_vec(0.1f, 3.5f, 0.1f), 0.3f);
        carom_body_id bob = cm_rig_sphere(&rig, cm_vec(1.4f, 1.0f, 0.6f), 0.2f);
        carom_body_set_velocity(rig.world, ball, cm_vec(8.0f, 0.5f, 0.0f),
                                cm_vec(1.0f, 2.0f, 3.0f));
        carom_joint_def joint = carom_default_joint_def();
        joint.body_a = box;
        joint.body_b = bob;
        joint.anchor = cm_vec(0.4f, 1.2f, 0.2f);
        cr_assert_eq(carom_joint_create(rig.world, &joint, NULL), CAROM_OK);
        carom_body_state start = cm_rig_get(&rig, box);
        for (uint32_t tick = 0; tick < 240; tick++) {
            cm_rig_step(&rig, 1);
            carom_body_state state = cm_rig_get(&rig, box);
            check_locked(&state, &start, locks);
            cr_assert_lt(cm_length(state.linear_velocity), 20.0f, "locks %u tick %u", locks, tick);
            cr_assert_lt(cm_length(state.angular_velocity), 40.0f, "locks %u tick %u", locks, tick);
            cr_assert_lt(cm_length(cm_rig_get(&rig, bob).linear_velocity), 20.0f, "locks %u",
                         locks);
            cr_assert_lt(cm_length(cm_rig_get(&rig, top).linear_velocity), 20.0f, "locks %u",
                         locks);
        }
        carom_world_stats stats;
        carom_world_stats_get(rig.world, &stats);
        cr_assert_eq(stats.log_counts[CAROM_LOG_BODY_PUT_TO_REST], 0);
        cm_rig_close(&rig);
    }
}

// About a world axis that is not a principal one: torque / I_yy, with I_yy = y . R I R^T y.
Test(features, a_locked_body_turns_about_its_free_axis_as_it_should)
{
    const float half = 0.39269908f; // an eighth of a turn about z
    const carom_quat tilt = {0.0f, 0.0f, sinf(half), cosf(half)};
    cm_rig rig = open_rig(cm_vec(0.0f, 0.0f, 0.0f));
    carom_body_id box =
        locked_box(&rig, cm_vec(0.0f, 5.0f, 0.0f), tilt, CAROM_LOCK_RX | CAROM_LOCK_RZ);
    carom_body_set_velocity(rig.world, box, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(0.0f, 0.0f, 0.0f));
    carom_body_set_force(rig.world, box, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(50.0f, 100.0f, -70.0f));
    const cm_body *row = &cm_bodies(rig.world)[box.index];
    cm_rig_step(&rig, 6);
    float inertia = 0.5f * (row->inertia.x + row->inertia.y);
    cr_assert_float_eq(cm_rig_get(&rig, box).angular_velocity.y, 0.1f * 100.0f / inertia,
                       1.0e-3f * 0.1f * 100.0f / inertia);
    cm_rig_close(&rig);
}

// A locked floor is a floor: what lies on a body that may not fall lies as on a static one.
Test(features, a_locked_body_bears_a_stack)
{
    cm_rig rig = open_rig(cm_vec(0.0f, -G, 0.0f));
    carom_body_id floor = locked_box(&rig, cm_vec(0.0f, 5.0f, 0.0f), cm_quat_identity(), 63u);
    carom_body_id boxes[4];
    for (uint32_t i = 0; i < 4; i++) {
        boxes[i] = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 5.5f + 0.4f * (float)i, 0.0f),
                              cm_vec(0.2f, 0.2f, 0.2f));
    }
    cm_rig_step(&rig, 300);
    cr_assert_eq(cm_rig_get(&rig, floor).position.y, 5.0f);
    for (uint32_t i = 0; i < 4; i++) {
        float y = cm_rig_get(&rig, boxes[i]).position.y;
        cr_assert_float_eq(y, 5.5f + 0.4f * (float)i, 0.005f, "box %u at %g", i, (double)y);
    }
    cm_rig_close(&rig);
}

// An impulse from the API turns a locked body about its free axes alone.
Test(features, impulses_respect_locks)
{
    cm_rig rig = open_rig(cm_vec(0.0f, 0.0f, 0.0f));
    carom_body_id box = locked_box(&rig, cm_vec(0.0f, 5.0f, 0.0f), cm_quat_identity(),
                                   CAROM_LOCK_X | CAROM_LOCK_RX | CAROM_LOCK_RY);
    carom_body_set_velocity(rig.world, box, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(0.0f, 0.0f, 0.0f));
    carom_body_apply_impulse(rig.world, box, cm_vec(10.0f, 20.0f, 30.0f), cm_vec(0.2f, 5.1f, 0.3f));
    carom_body_state state = cm_rig_get(&rig, box);
    cr_assert_eq(state.linear_velocity.x, 0.0f);
    cr_assert_eq(state.angular_velocity.x, 0.0f);
    cr_assert_eq(state.angular_velocity.y, 0.0f);
    cr_assert_float_eq(state.linear_velocity.y, 20.0f / state.mass, 1.0e-6f);
    float inertia = cm_bodies(rig.world)[box.index].inertia.z;
    cr_assert_float_eq(state.angular_velocity.z, (0.2f * 20.0f - 0.1f * 10.0f) / inertia, 1.0e-5f);
    cm_rig_close(&rig);
}

// Reports ----------------------------------------------------------------------------------------

static void put_reporting(cm_rig *rig, bool report, carom_body_id ids[2])
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    shape.type = CAROM_SHAPE_BOX;
    body.report_force = report;
    body.type = CAROM_BODY_STATIC;
    body.position = cm_vec(0.0f, 0.5f, 0.0f);
    shape.half_extents = cm_vec(1.0f, 0.5f, 1.0f);
    ids[0] = cm_rig_body(rig, &body, &shape);
    body.type = CAROM_BODY_DYNAMIC;
    body.position = cm_vec(0.4f, 1.2f, 0.2f);
    shape.half_extents = cm_vec(0.2f, 0.2f, 0.2f);
    shape.restitution = 0.3f;
    ids[1] = cm_rig_body(rig, &body, &shape);
}

Test(features, a_resting_box_reports_its_weight)
{
    cm_rig rig = open_rig(cm_vec(1.0f, -G, 0.0f)); // leans on friction too
    carom_body_id ids[2];
    put_reporting(&rig, true, ids);
    cm_rig_step(&rig, 120);
    carom_body_state plate = cm_rig_get(&rig, ids[0]), box = cm_rig_get(&rig, ids[1]);
    float w = box.mass * G, push = box.mass;
    cr_assert_float_eq(box.contact_force.y, w, 1.0e-3f * w);
    cr_assert_float_eq(box.contact_force.x, -push, 2.0e-2f * push);
    cr_assert_float_eq(cm_length(box.contact_torque), 0.0f, 1.0e-2f * w);
    cr_assert_float_eq(plate.contact_force.y, -w, 1.0e-3f * w);
    cr_assert_float_eq(plate.contact_force.x, push, 2.0e-2f * push);
    // r x F about the plate's centre, from the box's: the weight, and the push 0.7 m above it.
    carom_vec3 r = cm_sub(box.position, plate.position);
    carom_vec3 torque = cm_cross(r, plate.contact_force);
    cr_assert_float_eq(cm_length(cm_sub(plate.contact_torque, torque)), 0.0f, 1.0e-2f * w);
    cm_rig_close(&rig);
}

// What sleeps goes on pressing: with another body moving, so that steps are not left out.
Test(features, what_sleeps_still_reports)
{
    cm_rig rig = open_rig(cm_vec(1.0f, -G, 0.0f));
    carom_body_id ids[2];
    put_reporting(&rig, true, ids);
    carom_body_id other = cm_rig_sphere(&rig, cm_vec(50.0f, 50.0f, 0.0f), 0.1f);
    cm_rig_step(&rig, 20);
    carom_body_state before[2] = {cm_rig_get(&rig, ids[0]), cm_rig_get(&rig, ids[1])};
    cm_rig_step(&rig, 100);
    cr_assert(cm_rig_get(&rig, ids[1]).asleep && !cm_rig_get(&rig, other).asleep);
    for (uint32_t i = 0; i < 2; i++) {
        carom_body_state now = cm_rig_get(&rig, ids[i]);
        float force = cm_length(before[i].contact_force);
        carom_vec3 df = cm_sub(now.contact_force, before[i].contact_force);
        carom_vec3 dt = cm_sub(now.contact_torque, before[i].contact_torque);
        cr_assert_lt(cm_length(df), 0.01f * force, "%u: %g N", i, (double)cm_length(df));
        cr_assert_lt(cm_length(dt), 0.01f * force, "%u: %g N m", i, (double)cm_length(dt));
    }
    cm_rig_close(&rig);
}

// The impulses of a tick are what changed its velocity: m dv = (F + m g) dt through a bounce.
Test(features, reported_forces_are_the_change_of_momentum)
{
    cm_rig rig = open_rig(cm_vec(0.0f, -G, 0.0f));
    carom_body_id ids[2];
    put_reporting(&rig, true, ids);
    carom_body_set_pose(rig.world, ids[1], cm_vec(0.4f, 2.5f, 0.2f),
                        (carom_quat){0.18257419f, 0.36514837f, 0.54772256f, 0.73029674f});
    float most = 0.0f;
    for (uint32_t tick = 0; tick < 120; tick++) {
        carom_body_state before = cm_rig_get(&rig, ids[1]);
        cm_rig_step(&rig, 1);
        carom_body_state after = cm_rig_get(&rig, ids[1]);
        carom_vec3 change = cm_sub(after.linear_velocity, before.linear_velocity);
        carom_vec3 force = cm_scale(60.0f * after.mass, change);
        force.y += after.mass * G;
        most = fmaxf(most, cm_length(force));
        cr_assert_float_eq(cm_length(cm_sub(force, after.contact_force)), 0.0f,
                           1.0e-3f * (cm_length(force) + after.mass * G), "tick %u", tick);
    }
    cr_assert_gt(most, 1000.0f);
    cm_rig_close(&rig);
}

Test(features, reporting_changes_no_motion)
{
    cm_rig rigs[2];
    carom_body_id ids[2][2];
    for (uint32_t i = 0; i < 2; i++) {
        rigs[i] = open_rig(cm_vec(0.3f, -G, 0.1f));
        put_reporting(&rigs[i], i == 1, ids[i]);
        carom_body_set_velocity(rigs[i].world, ids[i][1], cm_vec(1.0f, 2.0f, 0.5f),
                                cm_vec(1.0f, 2.0f, 3.0f));
    }
    for (uint32_t tick = 0; tick < 240; tick++) {
        cm_rig_step(&rigs[0], 1);
        cm_rig_step(&rigs[1], 1);
        cr_assert_eq(
            memcmp(&cm_motions(rigs[0].world)[1], &cm_motions(rigs[1].world)[1], sizeof(cm_motion)),
            0, "tick %u", tick);
    }
    cm_rig_close(&rigs[0]);
    cm_rig_close(&rigs[1]);
}
