// Goal: each joint type does what it says: holds what it holds, lets go what is free, and motors,
// limits, springs and breaking follow their numbers. Method: small mechanisms whose motion has a
// formula (pendulum, rotor, incline, oscillator, hanging weight), stepped with rubbish in scratch,
// against that formula.
#include "tests/unit/sim/rig.h"

#include <criterion/criterion.h>
#include <math.h>

#define PI 3.14159265358979

static const carom_body_id WORLD = {0, 0};

static cm_rig open_rig(float gravity)
{
    carom_world_def def = cm_rig_def(64);
    def.gravity = cm_vec(0.0f, gravity, 0.0f);
    def.sleep = false; // what creeps to its place gets there
    return cm_rig_open(&def, 0);
}

// A box of 1 m of this mass, of inertia mass / 6.
static carom_body_id make_box(cm_rig *rig, carom_vec3 position, float mass)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = position;
    body.has_mass = true;
    body.mass = mass;
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(0.5f, 0.5f, 0.5f);
    return cm_rig_body(rig, &body, &shape);
}

static carom_joint_def joint_of(carom_joint_type type, carom_body_id b, carom_vec3 anchor,
                                carom_vec3 axis)
{
    carom_joint_def def = carom_default_joint_def();
    def.type = type;
    def.body_b = b;
    def.anchor = anchor;
    def.axis = axis;
    return def;
}

static carom_joint_id create(cm_rig *rig, const carom_joint_def *def)
{
    carom_joint_id id;
    carom_result result = carom_joint_create(rig->world, def, &id);
    cr_assert_eq(result, CAROM_OK, "%s", carom_result_text(result));
    return id;
}

static carom_joint_state get(const cm_rig *rig, carom_joint_id id)
{
    carom_joint_state state;
    cr_assert_eq(carom_joint_get(rig->world, id, &state), CAROM_OK);
    return state;
}

// Seconds of a whole swing of value - middle, from its crossings upward over `ticks`.
static double period(cm_rig *rig, carom_joint_id id, float middle, uint32_t ticks)
{
    double first = -1.0, last = -1.0, before = (double)(get(rig, id).value - middle);
    uint32_t swings = 0;
    for (uint32_t tick = 1; tick <= ticks; tick++) {
        cm_rig_step(rig, 1);
        double now = (double)(get(rig, id).value - middle);
        if (before < 0.0 && now >= 0.0) {
            last = ((double)tick - now / (now - before)) / 60.0;
            if (first < 0.0) {
                first = last;
            } else {
                swings++;
            }
        }
        before = now;
    }
    cr_assert_gt(swings, 1);
    return (last - first) / swings;
}

Test(joint, a_hinge_swings_as_a_pendulum)
{
    cm_rig rig = open_rig(-9.81f);
    carom_body_id box = make_box(&rig, cm_vec(0.2f, -1.99f, 0.0f), 3.0f);
    carom_joint_def def =
        joint_of(CAROM_JOINT_HINGE, box, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(0.0f, 0.0f, 1.0f));
    carom_joint_id id = create(&rig, &def);
    cr_assert_eq(get(&rig, id).value, 0.0f);
    // 0.1 rad off the plumb line, where it swings about.
    double length = sqrt(0.2 * 0.2 + 1.99 * 1.99);
    double expected = 2.0 * PI * sqrt((1.0 / 6.0 + length * length) / (9.81 * length));
    double found = period(&rig, id, (float)-atan2(0.2, 1.99), 900);
    cr_assert_float_eq(found, expected, 0.01 * expected, "%g, expected %g", found, expected);
    carom_joint_state state = get(&rig, id);
    cr_assert_lt(state.error, 0.001f);
    cr_assert_lt(state.angular_error, 0.001f);
    cr_assert_float_eq(state.force, 3.0f * 9.81f, 1.5f);
    carom_body_state body = cm_rig_get(&rig, box);
    cr_assert_float_eq(body.position.z, 0.0f, 1e-4f);
    cm_rig_close(&rig);
}

Test(joint, a_ball_holds_and_turns_every_way)
{
    cm_rig rig = open_rig(-9.81f);
    carom_body_id box = make_box(&rig, cm_vec(0.0f, 0.0f, 2.0f), 3.0f);
    carom_body_set_velocity(rig.world, box, cm_vec(3.0f, 0.0f, 0.0f), cm_vec(0.0f, 1.5f, 4.0f));
    carom_joint_def def =
        joint_of(CAROM_JOINT_BALL, box, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(0.0f, 1.0f, 0.0f));
    carom_joint_id id = create(&rig, &def);
    float worst = 0.0f, most = 0.0f;
    for (uint32_t i = 0; i < 300; i++) {
        cm_rig_step(&rig, 1);
        carom_joint_state state = get(&rig, id);
        worst = fmaxf(worst, state.error);
        most = fmaxf(most, state.value);
    }
    cr_assert_lt(worst, 0.002f, "%g m apart", (double)worst);
    cr_assert_gt(most, 1.5f);
    cm_rig_close(&rig);
}

// From level, for a minute: how high it comes in the end is what energy is left.
Test(joint, a_ball_keeps_a_swing_going)
{
    cm_rig rig = open_rig(-10.0f);
    carom_body_id box = make_box(&rig, cm_vec(0.8f, 0.0f, 0.6f), 3.0f);
    carom_joint_def def =
        joint_of(CAROM_JOINT_BALL, box, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(0.0f, 1.0f, 0.0f));
    create(&rig, &def);
    float highest = -1.0f;
    for (uint32_t tick = 0; tick < 3600; tick++) {
        cm_rig_step(&rig, 1);
        carom_vec3 at = cm_rig_get(&rig, box).position;
        highest = tick >= 3300 ? fmaxf(highest, at.y) : highest;
        cr_assert_float_eq(cm_length(at), 1.0f, 0.002f, "tick %u: %g m", tick,
                           (double)cm_length(at));
    }
    cr_assert_float_eq(highest, 0.0f, 0.02f, "of 1 m: %g", (double)highest);
    cm_rig_close(&rig);
}

Test(joint, a_motor_gives_its_torque_until_its_speed)
{
    cm_rig rig = open_rig(0.0f);
    carom_body_id box = make_box(&rig, cm_vec(0.0f, 0.0f, 0.0f), 6.0f); // 1 kg m^2
    carom_joint_def def =
        joint_of(CAROM_JOINT_HINGE, box, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(0.0f, 1.0f, 0.0f));
    def.has_motor = true;
    def.motor_velocity = 4.0f;
    def.motor_max = 2.0f;
    carom_joint_id id = create(&rig, &def);
    cm_rig_step(&rig, 60);
    carom_joint_state state = get(&rig, id);
    cr_assert_float_eq(state.rate, 2.0f, 0.01f);
    cr_assert_float_eq(state.value, 1.0f, 0.02f);
    cr_assert_float_eq(state.torque, 2.0f, 0.001f);
    cm_rig_step(&rig, 120);
    state = get(&rig, id);
    cr_assert_float_eq(state.rate, 4.0f, 0.001f);
    cr_assert_lt(state.torque, 0.01f);
    cr_assert_gt(state.value, -3.1416f);
    cr_assert_leq(state.value, 3.14159265f, "an angle is in (-pi, pi]");
    cr_assert_eq(carom_joint_set_motor(rig.world, id, -1.0f, 1000.0f), CAROM_OK);
    cm_rig_step(&rig, 30);
    cr_assert_float_eq(get(&rig, id).rate, -1.0f, 0.001f);
    cr_assert_eq(carom_joint_set_motor(rig.world, id, 0.0f, 0.0f), CAROM_OK);
    cm_rig_step(&rig, 30);
    cr_assert_float_eq(get(&rig, id).rate, -1.0f, 0.001f, "free without a motor");
    cm_rig_close(&rig);
}

Test(joint, limits_of_a_hinge_hold)
{
    cm_rig rig = open_rig(0.0f);
    carom_body_id door = make_box(&rig, cm_vec(0.5f, 0.0f, 0.0f), 20.0f);
    carom_joint_def def =
        joint_of(CAROM_JOINT_HINGE, door, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(0.0f, 2.0f, 0.0f));
    def.has_limits = true;
    def.lower = -0.25f;
    def.upper = 0.5f;
    def.has_motor = true;
    def.motor_velocity = 3.0f;
    def.motor_max = 500.0f;
    carom_joint_id id = create(&rig, &def);
    float most = 0.0f, least = 0.0f;
    for (uint32_t i = 0; i < 240; i++) {
        if (i == 120) {
            cr_assert_eq(carom_joint_set_motor(rig.world, id, -3.0f, 500.0f), CAROM_OK);
        }
        cm_rig_step(&rig, 1);
        most = fmaxf(most, get(&rig, id).value);
        least = fminf(least, get(&rig, id).value);
    }
    cr_assert_float_eq(most, 0.5f, 0.01f);
    cr_assert_float_eq(least, -0.25f, 0.01f);
    cr_assert_lt(get(&rig, id).error, 0.005f);
    // Equal limits hold an angle; without limits it is free.
    cr_assert_eq(carom_joint_set_motor(rig.world, id, 0.0f, 0.0f), CAROM_OK);
    cr_assert_eq(carom_joint_set_limits(rig.world, id, 0.2f, 0.2f), CAROM_OK);
    cm_rig_step(&rig, 120);
    cr_assert_float_eq(get(&rig, id).value, 0.2f, 0.005f);
    cr_assert_eq(carom_joint_clear_limits(rig.world, id), CAROM_OK);
    carom_body_apply_force(rig.world, door, cm_vec(0.0f, 0.0f, -3000.0f), cm_vec(0.0f, 0.0f, 0.0f));
    cm_rig_step(&rig, 60);
    cr_assert_gt(fabsf(get(&rig, id).value), 0.5f);
    cm_rig_close(&rig);
}

Test(joint, a_prismatic_slides_along_its_axis_alone)
{
    cm_rig rig = open_rig(-9.81f);
    carom_body_id box = make_box(&rig, cm_vec(1.0f, 5.0f, 2.0f), 4.0f);
    carom_joint_def def =
        joint_of(CAROM_JOINT_PRISMATIC, box, cm_vec(0.7f, 5.0f, 2.0f), cm_vec(0.6f, 0.8f, 0.0f));
    carom_joint_id id = create(&rig, &def);
    cm_rig_step(&rig, 30);
    // The mean of the steps' speeds lies between t and t + h: half a step more than the formula.
    float t = 0.5f, h = 1.0f / 240.0f, acceleration = 9.81f * 0.8f;
    carom_joint_state state = get(&rig, id);
    cr_assert_float_eq(state.value, -0.5f * acceleration * t * (t + h), 0.003f);
    cr_assert_float_eq(state.rate, -acceleration * t, 0.01f);
    cr_assert_lt(state.error, 0.001f);
    cr_assert_lt(state.angular_error, 0.001f);
    carom_body_state body = cm_rig_get(&rig, box);
    cr_assert_float_eq(body.position.x, 1.0f + 0.6f * state.value, 0.001f);
    cr_assert_float_eq(body.position.z, 2.0f, 0.001f);
    // A limit in metres stops it, and then it bears the weight along the axis.
    cr_assert_eq(carom_joint_set_limits(rig.world, id, -1.5f, 0.0f), CAROM_OK);
    cm_rig_step(&rig, 120);
    state = get(&rig, id);
    cr_assert_float_eq(state.value, -1.5f, 0.005f);
    cr_assert_float_eq(state.force, 4.0f * 9.81f, 0.3f);
    cm_rig_close(&rig);
}

Test(joint, a_fixed_joint_holds_a_lever)
{
    cm_rig rig = open_rig(-9.81f);
    carom_body_id box = make_box(&rig, cm_vec(2.0f, 0.0f, 0.0f), 5.0f);
    carom_joint_def def =
        joint_of(CAROM_JOINT_FIXED, box, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(0.0f, 1.0f, 0.0f));
    carom_joint_id id = create(&rig, &def);
    cm_rig_step(&rig, 300);
    carom_joint_state state = get(&rig, id);
    cr_assert_lt(state.error, 0.001f, "%g %g %g %g", (double)state.error, (double)state.value,
                 (double)state.force, (double)state.torque);
    cr_assert_lt(state.value, 0.002f);
    cr_assert_float_eq(state.force, 5.0f * 9.81f, 0.1f);
    cr_assert_float_eq(state.torque, 5.0f * 9.81f * 2.0f, 0.5f);
    cm_rig_close(&rig);
}

static double spring_period(carom_spring_type spring, bool distance)
{
    cm_rig rig = open_rig(0.0f);
    carom_body_id box = make_box(&rig, cm_vec(0.0f, -3.0f, 0.0f), 2.0f);
    carom_joint_def def = joint_of(distance ? CAROM_JOINT_DISTANCE : CAROM_JOINT_PRISMATIC, box,
                                   cm_vec(0.0f, 0.0f, 0.0f), cm_vec(0.0f, 1.0f, 0.0f));
    def.anchor_b = cm_vec(0.0f, -3.0f, 0.0f);
    def.spring = spring;
    def.spring_hertz = 1.5f;
    def.spring_stiffness = 2.0f * (float)(2.0 * PI * 1.5 * 2.0 * PI * 1.5);
    carom_joint_id id = create(&rig, &def);
    carom_body_set_velocity(rig.world, box, cm_vec(0.0f, -1.0f, 0.0f), cm_vec(0.0f, 0.0f, 0.0f));
    double found = period(&rig, id, 0.0f, 400);
    cr_assert_lt(get(&rig, id).error, 0.001f);
    cm_rig_close(&rig);
    return found;
}

Test(joint, springs_have_their_frequency)
{
    cr_assert_float_eq(spring_period(CAROM_SPRING_HERTZ, true), 1.0 / 1.5, 0.01);
    cr_assert_float_eq(spring_period(CAROM_SPRING_STIFFNESS, true), 1.0 / 1.5, 0.01);
    cr_assert_float_eq(spring_period(CAROM_SPRING_HERTZ, false), 1.0 / 1.5, 0.01);
    cr_assert_float_eq(spring_period(CAROM_SPRING_STIFFNESS, false), 1.0 / 1.5, 0.01);
}

Test(joint, a_distance_holds_its_length_or_its_range)
{
    cm_rig rig = open_rig(-9.81f);
    carom_body_id rod = make_box(&rig, cm_vec(2.0f, 0.0f, 0.0f), 1.0f);
    carom_body_id rope = make_box(&rig, cm_vec(0.5f, 0.0f, 5.0f), 1.0f);
    carom_joint_def def =
        joint_of(CAROM_JOINT_DISTANCE, rod, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(0.0f, 1.0f, 0.0f));
    def.anchor_b = cm_vec(2.0f, 0.0f, 0.0f);
    carom_joint_id held = create(&rig, &def);
    def.body_b = rope;
    def.anchor = cm_vec(0.0f, 0.0f, 5.0f);
    def.anchor_b = cm_vec(0.5f, 0.0f, 5.0f);
    def.has_limits = true;
    def.lower = 0.0f;
    def.upper = 3.0f;
    carom_joint_id range = create(&rig, &def);
    float worst = 0.0f;
    for (uint32_t i = 0; i < 300; i++) {
        cm_rig_step(&rig, 1);
        worst = fmaxf(worst, get(&rig, held).error);
    }
    cr_assert_lt(worst, 0.002f);
    cr_assert_float_eq(get(&rig, held).value, 0.0f, 0.002f);
    cr_assert_float_eq(get(&rig, range).value, 2.5f, 0.1f, "near the end of its rope");
    cr_assert_lt(get(&rig, range).error, 0.02f);
    cm_rig_close(&rig);
}

Test(joint, a_wheel_steers_and_spins)
{
    cm_rig rig = open_rig(0.0f);
    carom_body_id chassis = make_box(&rig, cm_vec(0.0f, 0.0f, 0.0f), 100.0f);
    carom_body_id wheel = cm_rig_sphere(&rig, cm_vec(0.3f, -0.2f, 1.0f), 0.3f);
    carom_joint_def def =
        joint_of(CAROM_JOINT_STEERING, wheel, cm_vec(0.3f, -0.2f, 1.0f), cm_vec(0.0f, 0.0f, 1.0f));
    def.body_a = chassis;
    def.has_limits = true;
    carom_joint_id id = create(&rig, &def);
    cr_assert_eq(carom_joint_set_limits(rig.world, id, 0.3f, 0.3f), CAROM_OK);
    for (uint32_t i = 0; i < 60; i++) {
        carom_body_apply_force(rig.world, wheel, cm_vec(0.0f, 0.0f, 0.0f),
                               cm_vec(0.0f, 0.0f, 5.0f));
        cm_rig_step(&rig, 1);
    }
    carom_joint_state state = get(&rig, id);
    cr_assert_float_eq(state.value, 0.3f, 0.01f);
    cr_assert_lt(state.error, 0.002f);
    cr_assert_lt(state.angular_error, 0.01f);
    // The hinge axis has turned by the steering angle, to the left.
    cr_assert_float_eq(cm_dot(state.axis_b, state.axis), 0.0f, 0.01f);
    carom_vec3 spin = cm_sub(cm_rig_get(&rig, wheel).angular_velocity,
                             cm_rig_get(&rig, chassis).angular_velocity);
    cr_assert_gt(cm_dot(spin, state.axis_b), 0.5f, "spins about its hinge axis");
    cr_assert_float_eq(state.rate, 0.0f, 0.02f);
    cm_rig_close(&rig);
}

// Axes that are not at right angles keep their angle (caster, camber).
Test(joint, oblique_steering_axes_keep_their_angle)
{
    cm_rig rig = open_rig(0.0f);
    carom_body_id wheel = cm_rig_sphere(&rig, cm_vec(0.0f, 0.0f, 0.0f), 0.3f);
    carom_joint_def def =
        joint_of(CAROM_JOINT_STEERING, wheel, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(0.0f, 0.28f, 0.96f));
    carom_joint_id id = create(&rig, &def);
    carom_joint_state state = get(&rig, id);
    cr_assert_float_eq(cm_dot(state.axis, state.axis_b), 0.28f, 1e-5f);
    cr_assert_float_eq(state.value, 0.0f, 1e-5f);
    carom_body_set_velocity(rig.world, wheel, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(0.0f, 1.0f, 0.5f));
    float before = 0.0f, rate = 0.0f;
    for (uint32_t i = 0; i < 90; i++) {
        before = state.value;
        cm_rig_step(&rig, 1);
        state = get(&rig, id);
        rate = 60.0f * (state.value - before);
        cr_assert_float_eq(cm_dot(state.axis, state.axis_b), 0.28f, 2e-3f);
    }
    cr_assert_gt(fabsf(state.value), 0.5f);
    cr_assert_float_eq(state.rate, rate, 0.05f * fabsf(rate), "the rate is that of the angle");
    cm_rig_close(&rig);
}

Test(joint, a_drive_gives_its_force_until_its_speed_and_a_spring_brings_it_back)
{
    cm_rig rig = open_rig(0.0f);
    carom_body_id box = make_box(&rig, cm_vec(0.0f, 0.0f, 0.0f), 2.0f);
    carom_joint_def def =
        joint_of(CAROM_JOINT_MOTOR, box, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(1.0f, 0.0f, 0.0f));
    def.has_motor = true;
    def.motor_velocity = 3.0f;
    def.motor_max = 4.0f;
    carom_joint_id id = create(&rig, &def);
    cm_rig_step(&rig, 60);
    carom_joint_state state = get(&rig, id);
    cr_assert_float_eq(state.rate, 2.0f, 0.01f);
    cr_assert_float_eq(state.force, 4.0f, 0.01f);
    cm_rig_step(&rig, 60);
    cr_assert_float_eq(get(&rig, id).rate, 3.0f, 0.001f);
    cr_assert_eq(carom_joint_set_drive(rig.world, id, cm_vec(0.0f, 0.0f, 1.0f),
                                       cm_vec(0.5f, 0.0f, 0.0f), 1e6f, 1e6f),
                 CAROM_OK);
    cm_rig_step(&rig, 10);
    carom_body_state body = cm_rig_get(&rig, box);
    cr_assert_float_eq(body.linear_velocity.x, 0.0f, 0.001f);
    cr_assert_float_eq(cm_length(body.linear_velocity), 1.0f, 0.001f);
    cr_assert_float_eq(body.angular_velocity.x, 0.5f, 0.001f);
    cr_assert_eq(carom_joint_destroy(rig.world, id), CAROM_OK);
    def.motor_velocity = 0.0f;
    def.motor_max = 1.0e4f;
    def.spring = CAROM_SPRING_HERTZ;
    def.spring_hertz = 2.0f;
    def.spring_damping_ratio = 1.0f;
    def.anchor = cm_rig_get(&rig, box).position;
    id = create(&rig, &def);
    carom_body_set_velocity(rig.world, box, cm_vec(2.0f, 1.0f, 0.0f), cm_vec(1.0f, 0.0f, 2.0f));
    cm_rig_step(&rig, 180);
    cr_assert_lt(cm_length(cm_sub(cm_rig_get(&rig, box).position, def.anchor)), 0.001f);
    cr_assert_lt(cm_length(cm_rig_get(&rig, box).angular_velocity), 0.001f);
    cm_rig_close(&rig);
}

Test(joint, a_ball_has_friction_and_a_spring)
{
    cm_rig rig = open_rig(0.0f);
    carom_body_id box = make_box(&rig, cm_vec(0.0f, 0.0f, 0.0f), 6.0f); // 1 kg m^2
    carom_joint_def def =
        joint_of(CAROM_JOINT_BALL, box, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(0.0f, 1.0f, 0.0f));
    def.has_motor = true;
    def.motor_max = 0.5f;
    carom_joint_id id = create(&rig, &def);
    carom_body_set_velocity(rig.world, box, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(0.0f, 0.0f, 2.0f));
    cm_rig_step(&rig, 60);
    cr_assert_float_eq(cm_rig_get(&rig, box).angular_velocity.z, 1.5f, 0.01f);
    cm_rig_step(&rig, 240);
    cr_assert_float_eq(cm_rig_get(&rig, box).angular_velocity.z, 0.0f, 0.001f);
    cr_assert_eq(carom_joint_destroy(rig.world, id), CAROM_OK);
    def.has_motor = false;
    def.spring = CAROM_SPRING_STIFFNESS;
    def.spring_stiffness = 30.0f;
    def.spring_damping = 8.0f;
    id = create(&rig, &def);
    carom_body_set_velocity(rig.world, box, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(3.0f, 0.0f, 2.0f));
    cm_rig_step(&rig, 20);
    cr_assert_gt(get(&rig, id).value, 0.2f);
    cm_rig_step(&rig, 200);
    cr_assert_lt(get(&rig, id).value, 0.001f);
    cm_rig_close(&rig);
}

Test(joint, a_joint_breaks_above_its_force)
{
    cm_rig rig = open_rig(-9.81f);
    carom_body_id light = make_box(&rig, cm_vec(0.0f, 0.0f, 0.0f), 10.0f);
    carom_body_id heavy = make_box(&rig, cm_vec(5.0f, 0.0f, 0.0f), 30.0f);
    carom_joint_def def =
        joint_of(CAROM_JOINT_BALL, light, cm_vec(0.0f, 1.0f, 0.0f), cm_vec(0.0f, 1.0f, 0.0f));
    def.break_force = 200.0f;
    carom_joint_id first = create(&rig, &def);
    def.body_b = heavy;
    def.anchor = cm_vec(5.0f, 1.0f, 0.0f);
    carom_joint_id second = create(&rig, &def);
    cm_rig_step(&rig, 1);
    uint32_t count;
    const carom_joint_event *events = carom_world_joint_events(rig.world, &count);
    cr_assert_eq(count, 1);
    cr_assert_eq(events[0].joint.index, second.index);
    cr_assert_eq(events[0].body_b.index, heavy.index);
    cr_assert(carom_body_id_equal(events[0].body_a, WORLD));
    cr_assert_float_eq(events[0].force, 294.3f, 3.0f);
    cr_assert_not(carom_joint_is_valid(rig.world, second));
    cm_rig_step(&rig, 60);
    carom_world_joint_events(rig.world, &count);
    cr_assert_eq(count, 0);
    cr_assert_float_eq(get(&rig, first).force, 98.1f, 0.5f);
    cr_assert_lt(cm_rig_get(&rig, heavy).position.y, -4.0f);
    // A torque: a lever that is too long.
    def = joint_of(CAROM_JOINT_FIXED, light, cm_vec(3.0f, 0.0f, 0.0f), cm_vec(0.0f, 1.0f, 0.0f));
    cr_assert_eq(carom_joint_destroy(rig.world, first), CAROM_OK);
    def.break_torque = 290.0f;
    create(&rig, &def);
    float torque = 0.0f;
    for (int i = 0; i < 2; i++) {
        cm_rig_step(&rig, 1);
        events = carom_world_joint_events(rig.world, &count);
        torque = count > 0 ? events[0].torque : torque;
    }
    cr_assert_float_eq(torque, 10.0f * 9.81f * 3.0f, 6.0f, "%g: weight by lever", (double)torque);
    carom_world_stats stats;
    carom_world_stats_get(rig.world, &stats);
    cr_assert_eq(stats.joints_broken, 2);
    cr_assert_eq(stats.joints, 0);
    cm_rig_close(&rig);
}

// Links on hinges, level, 0.6 m each; the first hangs in the world.
static void hang_hinges(cm_rig *rig, carom_body_id *link, uint32_t count)
{
    carom_body_id before = WORLD;
    for (uint32_t i = 0; i < count; i++) {
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        body.position = cm_vec(0.3f + 0.6f * (float)i, 20.0f, 0.0f);
        shape.type = CAROM_SHAPE_BOX;
        shape.half_extents = cm_vec(0.25f, 0.1f, 0.1f);
        shape.mask = 0;
        link[i] = cm_rig_body(rig, &body, &shape);
        carom_joint_def def = joint_of(CAROM_JOINT_HINGE, link[i],
                                       cm_vec(0.6f * (float)i, 20.0f, 0.0f), cm_vec(0, 0, 1));
        def.body_a = before;
        create(rig, &def);
        before = link[i];
    }
}

// Swinging down from the horizontal, of what they can lose.
Test(joint, a_chain_of_hinges_keeps_its_energy)
{
    cm_rig rig = open_rig(-10.0f);
    carom_body_id link[20];
    hang_hinges(&rig, link, 20);
    cm_rig_step(&rig, 360);
    double energy = 0.0;
    for (uint32_t i = 0; i < 20; i++) {
        carom_body_state s = cm_rig_get(&rig, link[i]);
        double spin = s.angular_velocity.z, speed = cm_length_squared(s.linear_velocity);
        energy += 0.5 * (speed + 0.0725 / 3.0 * spin * spin);
        energy += 10.0 * ((double)s.position.y - 20.0);
    }
    double most = 10.0 * 20.0 * 6.0; // from level to hanging, J/kg
    cr_expect_gt(energy / most, -0.27, "%g", energy / most);
    cr_expect_lt(energy / most, 0.0, "%g", energy / most);
    cm_rig_close(&rig);
}

// For half a minute. Held as stiffly as balls they leave it, and fly.
Test(joint, chains_of_hinges_stay_in_their_plane)
{
    const uint32_t lengths[] = {1, 2, 3, 5, 20};
    for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
        cm_rig rig = open_rig(-10.0f);
        carom_body_id link[20];
        hang_hinges(&rig, link, lengths[n]);
        cm_rig_step(&rig, 1800);
        for (uint32_t i = 0; i < lengths[n]; i++) {
            carom_body_state s = cm_rig_get(&rig, link[i]);
            carom_vec3 from = cm_sub(s.position, cm_vec(0.0f, 20.0f, 0.0f));
            cr_expect_lt(cm_abs(s.position.z), 1.0e-3f, "%u of %u: %g", i, lengths[n],
                         (double)s.position.z);
            cr_expect_lt(cm_length(from), 0.6f * (float)lengths[n], "%u of %u", i, lengths[n]);
        }
        cm_rig_close(&rig);
    }
}

// 20 links swing down from the horizontal.
Test(joint, a_chain_keeps_together)
{
    cm_rig rig = open_rig(-10.0f);
    carom_joint_id ids[20];
    carom_body_id before = WORLD;
    for (uint32_t i = 0; i < 20; i++) {
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        body.position = cm_vec(0.3f + 0.6f * (float)i, 20.0f, 0.0f);
        shape.type = CAROM_SHAPE_BOX;
        shape.half_extents = cm_vec(0.25f, 0.1f, 0.1f);
        carom_body_id link = cm_rig_body(&rig, &body, &shape);
        carom_joint_def def =
            joint_of(CAROM_JOINT_BALL, link, cm_vec(0.6f * (float)i, 20.0f, 0.0f), cm_vec(0, 1, 0));
        def.body_a = before;
        ids[i] = create(&rig, &def);
        before = link;
    }
    float worst = 0.0f, last = 0.0f;
    for (uint32_t tick = 1; tick <= 360; tick++) {
        cm_rig_step(&rig, 1);
        last = 0.0f;
        for (uint32_t i = 0; i < 20; i++) {
            last = fmaxf(last, get(&rig, ids[i]).error);
        }
        worst = fmaxf(worst, last);
    }
    cr_assert_lt(last, 0.005f, "%g m", (double)last);
    cr_assert_lt(worst, 0.05f, "%g m while it whips", (double)worst);
    cm_rig_close(&rig);
}
