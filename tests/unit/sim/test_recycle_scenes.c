// Goal: stacks stand awake because manifolds are kept, and nothing else is held up by it: what must
// topple, slide or ride does so when the formula says. Method: columns for a minute; a column over
// an edge against its equation of motion (RK4, double precision); a plank that is turned slowly
// against the angle of friction; columns on a platform that turns and one that is lifted.
#include "tests/unit/sim/rig.h"

#include <criterion/criterion.h>
#include <math.h>

#define SECOND  60u
#define MINUTE  3600u
#define LEAN    0.10f // m, of a column as it settles: it sways for minutes, less and less
#define GRAVITY 10.0

static const carom_vec3 cube = {0.5f, 0.5f, 0.5f};

static cm_rig open_awake(uint32_t bodies)
{
    carom_world_def def = cm_rig_def(bodies);
    def.gravity = cm_vec(0.0f, -(float)GRAVITY, 0.0f);
    def.sleep = false;
    return cm_rig_open(&def, 0);
}

static carom_body_id add_box(cm_rig *rig, carom_body_type type, carom_vec3 position,
                             carom_vec3 half, float friction, float density)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.type = type;
    body.position = position;
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = half;
    shape.friction = friction;
    shape.density = density;
    return cm_rig_body(rig, &body, &shape);
}

// A column of so many cubes of 1 m, the topmost so many times as heavy: where its top is in the
// end.
static carom_vec3 stand(uint32_t count, float top)
{
    cm_rig rig = open_awake(count + 1);
    cm_rig_plane(&rig);
    carom_body_id last = {0};
    for (uint32_t i = 0; i < count; i++) {
        last = add_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.5f + (float)i, 0.0f), cube, 0.6f,
                       i + 1 == count ? 1000.0f * top : 1000.0f);
    }
    cm_rig_step(&rig, MINUTE);
    carom_body_state state = cm_rig_get(&rig, last);
    cr_assert_lt(cm_length(state.linear_velocity), 0.02f, "%g",
                 (double)cm_length(state.linear_velocity));
    cm_rig_close(&rig);
    return state.position;
}

Test(recycle_scenes, a_column_of_thirty_stands_awake)
{
    carom_vec3 top = stand(30, 1.0f);
    cr_assert_float_eq(top.y, 29.5f, 0.2f, "%g", (double)top.y); // springs give by 6 mm a cube
    cr_assert_lt(fabsf(top.x) + fabsf(top.z), LEAN);
}

Test(recycle_scenes, a_column_of_twenty_bears_what_is_tenfold_as_heavy)
{
    carom_vec3 top = stand(21, 10.0f);
    cr_assert_float_eq(top.y, 20.5f, 0.2f, "%g", (double)top.y);
    cr_assert_lt(fabsf(top.x) + fabsf(top.z), LEAN);
}

// Seconds in which a box 1 m wide, its centre `height` above an edge and `over` beyond it, turns
// about the edge from rest by `angle`: I a = m g (over cos + height sin).
static double topple_time(double height, double over, double angle)
{
    const double dt = 1e-4, arm = height * height + over * over;
    double inertia = (1.0 + 4.0 * height * height) / 12.0 + arm; // of 1 kg
    double turn = 0.0, rate = 0.0, time = 0.0;
    for (; turn < angle && time < 60.0; time += dt) { // midpoint
        double half_turn = turn + 0.5 * dt * rate;
        double half_rate =
            rate + 0.5 * dt * GRAVITY * (over * cos(turn) + height * sin(turn)) / inertia;
        rate += dt * GRAVITY * (over * cos(half_turn) + height * sin(half_turn)) / inertia;
        turn += dt * half_rate;
    }
    return time;
}

// The same of a column of `count` cubes on a ledge, 60 for one that stands.
static double topple(uint32_t count, float over, float angle)
{
    cm_rig rig = open_awake(count + 1);
    add_box(&rig, CAROM_BODY_STATIC, cm_vec(-2.0f, -0.5f, 0.0f), cm_vec(2.0f, 0.5f, 2.0f), 1.0f,
            1000.0f);
    carom_body_id last = {0};
    for (uint32_t i = 0; i < count; i++) {
        last = add_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(over, 0.5f + (float)i, 0.0f), cube, 1.0f,
                       1000.0f);
    }
    uint32_t tick = 0;
    for (float turn = 0.0f; tick < MINUTE && turn < angle; tick++) {
        cm_rig_step(&rig, 1);
        turn = 2.0f * fabsf(cm_rig_get(&rig, last).orientation.z);
    }
    cm_rig_close(&rig);
    return (double)tick / SECOND;
}

Test(recycle_scenes, what_hangs_over_topples_in_time)
{
    static const struct {
        uint32_t count;
        float over;
    } cases[] = {{1, 0.02f}, {1, 0.1f}, {3, 0.02f}, {3, 0.05f}, {6, 0.05f}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double expected = topple_time(0.5 * cases[i].count, (double)cases[i].over, (double)0.2f);
        double time = topple(cases[i].count, cases[i].over, 0.2f);
        cr_expect_float_eq(time, expected, 0.1 * expected, "%u over by %g: %g s, not %g s",
                           cases[i].count, (double)cases[i].over, time, expected);
    }
    cr_expect_eq(topple(3, -0.05f, 0.2f), 60.0, "what does not hang over stands");
}

// Angle at which a box of that edge has slid by 1/100 of it down a plank that turns by 1/100 rad a
// second.
static double slide_angle(float edge, float from)
{
    const float rate = 0.01f, friction = 0.70710678f; // they combine by product: 1/2
    cm_rig rig = open_awake(2);
    carom_body_id plank = add_box(&rig, CAROM_BODY_KINEMATIC, cm_vec(0.0f, 0.0f, 0.0f),
                                  cm_vec(6.0f * edge, edge, 6.0f * edge), friction, 1000.0f);
    float half = 0.5f * edge;
    carom_body_id box = add_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, edge + half, 0.0f),
                                cm_vec(half, half, half), friction, 1000.0f);
    carom_body_set_pose(rig.world, plank, cm_vec(0.0f, 0.0f, 0.0f), cm_rig_turn_z(from));
    carom_body_set_pose(rig.world, box,
                        cm_rotate(cm_rig_turn_z(from), cm_vec(0.0f, edge + half, 0.0f)),
                        cm_rig_turn_z(from));
    carom_body_set_velocity(rig.world, plank, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(0.0f, 0.0f, rate));
    double angle = 0.0;
    for (uint32_t tick = 0; tick < MINUTE; tick++) {
        cm_rig_step(&rig, 1);
        carom_quat turn = cm_rig_get(&rig, plank).orientation;
        angle = 2.0 * asin((double)turn.z);
        carom_vec3 at = cm_rotate(cm_quat_conjugate(turn), cm_rig_get(&rig, box).position);
        if (fabsf(at.x) > 0.01f * edge) {
            break;
        }
    }
    cm_rig_close(&rig);
    return angle;
}

Test(recycle_scenes, a_box_slides_at_the_angle_of_friction)
{
    double cubes = slide_angle(1.0f, 0.4f), dice = slide_angle(0.05f, 0.4f);
    cr_expect_float_eq(cubes, atan(0.5), 0.015, "%g, not %g", cubes, atan(0.5));
    cr_expect_float_eq(dice, atan(0.5), 0.015, "%g, not %g", dice, atan(0.5));
}

// A column of three cubes on a platform of that motion: the most by which one of them shifts
// against it in ten seconds, after the first one.
static float ride(carom_vec3 velocity, carom_vec3 spin)
{
    cm_rig rig = open_awake(4);
    carom_body_id platform = add_box(&rig, CAROM_BODY_KINEMATIC, cm_vec(0.0f, -0.5f, 0.0f),
                                     cm_vec(4.0f, 0.5f, 4.0f), 0.6f, 1000.0f);
    carom_body_id cubes[3];
    carom_vec3 start[3];
    for (uint32_t i = 0; i < 3; i++) {
        carom_vec3 at = cm_vec(1.5f, 0.5f + (float)i, 0.0f);
        cubes[i] = add_box(&rig, CAROM_BODY_DYNAMIC, at, cube, 0.6f, 1000.0f);
        carom_body_set_velocity(rig.world, cubes[i], cm_add(velocity, cm_cross(spin, at)), spin);
    }
    carom_body_set_velocity(rig.world, platform, velocity, spin);
    float most = 0.0f;
    for (uint32_t tick = 0; tick < 11 * SECOND; tick++) {
        cm_rig_step(&rig, 1);
        carom_body_state frame = cm_rig_get(&rig, platform);
        for (uint32_t i = 0; i < 3; i++) {
            carom_vec3 at = cm_rotate(cm_quat_conjugate(frame.orientation),
                                      cm_sub(cm_rig_get(&rig, cubes[i]).position, frame.position));
            start[i] = tick < SECOND ? at : start[i];
            most = cm_max(most, cm_length(cm_sub(at, start[i])));
        }
    }
    cm_rig_close(&rig);
    return most;
}

Test(recycle_scenes, a_column_rides_a_platform)
{
    carom_vec3 none = cm_vec(0.0f, 0.0f, 0.0f);
    float turned = ride(none, cm_vec(0.0f, 1.0f, 0.0f));
    float slowly = ride(none, cm_vec(0.0f, 0.1f, 0.0f));
    float lifted = ride(cm_vec(0.0f, 1.0f, 0.0f), none);
    float carried = ride(cm_vec(2.0f, -0.5f, 1.0f), none);
    // A point of the platform moves straight on within a tick, or while its manifold is kept:
    // outward.
    cr_expect_lt(turned, 0.14f, "%g m", (double)turned);
    cr_expect_lt(slowly, 0.01f, "%g m", (double)slowly);
    cr_expect_lt(lifted, 0.002f, "%g m", (double)lifted);
    cr_expect_lt(carried, 0.002f, "%g m", (double)carried);
}
