// Goal: what rests falls asleep and stays exactly as it is, and whatever could move it wakes it, in
// time and warm. Method: small worlds, stepped with rubbish in scratch; each cause of waking by
// itself; a blow on a sleeping body against the same blow on one that is awake.
#include "shared/sim/state/resting.h"
#include "shared/sim/state/fields.h"
#include "tests/unit/sim/rig.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const carom_vec3 cube = {0.5f, 0.5f, 0.5f};
static const carom_vec3 zero = {0.0f, 0.0f, 0.0f};

static cm_rig open_rig(bool sleep)
{
    carom_world_def def = cm_rig_def(64);
    def.sleep = sleep;
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    return rig;
}

static carom_body_id add_cube(cm_rig *rig, float x, float y)
{
    return cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(x, y, 0.0f), cube);
}

static void add_tower(cm_rig *rig, float x, uint32_t count, carom_body_id *ids)
{
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = add_cube(rig, x, 0.5f + (float)i);
    }
}

static bool asleep(const cm_rig *rig, carom_body_id id)
{
    return cm_rig_get(rig, id).asleep;
}

static uint32_t sleeping(const cm_rig *rig)
{
    carom_world_stats stats;
    carom_world_stats_get(rig->world, &stats);
    return stats.sleeping;
}

static void step_until_asleep(cm_rig *rig, uint32_t count)
{
    for (uint32_t tick = 0; tick < 300 && sleeping(rig) < count; tick++) {
        cm_rig_step(rig, 1);
    }
    cr_assert_eq(sleeping(rig), count);
}

Test(sleep, a_tower_sleeps_as_one_and_stays)
{
    cm_rig rig = open_rig(true);
    carom_body_id ids[5];
    add_tower(&rig, 0.0f, 5, ids);
    uint32_t fell = 0;
    for (uint32_t tick = 0; tick < 200 && fell == 0; tick++) {
        cm_rig_step(&rig, 1);
        uint32_t count;
        const carom_sleep_event *events = carom_world_sleep_events(rig.world, &count);
        for (uint32_t i = 0; i < count; i++) {
            cr_assert(events[i].asleep);
            cr_assert_eq(events[i].body.index, ids[i].index);
        }
        cr_assert(count == 0 || count == 5);
        fell = count;
    }
    cr_assert_eq(fell, 5);
    cr_assert_geq(carom_world_tick(rig.world), 30); // half a second
    carom_body_state before[5];
    for (uint32_t i = 0; i < 5; i++) {
        before[i] = cm_rig_get(&rig, ids[i]);
        cr_assert(before[i].asleep);
        cr_assert_eq(cm_length(before[i].linear_velocity), 0.0f);
        cr_assert_eq(cm_bodies(rig.world)[ids[i].index].island, ids[0].index);
    }
    uint32_t rows = rig.world->state.contact_count;
    cm_contact *kept = malloc(rows * sizeof *kept);
    memcpy(kept, cm_contacts(rig.world), rows * sizeof *kept);
    cm_rig_step(&rig, 100);
    for (uint32_t i = 0; i < 5; i++) {
        carom_body_state after = cm_rig_get(&rig, ids[i]);
        cr_assert_eq(memcmp(&before[i], &after, sizeof after), 0);
    }
    cr_assert_eq(rig.world->state.contact_count, rows);
    cr_assert_eq(memcmp(kept, cm_contacts(rig.world), rows * sizeof *kept), 0);
    free(kept);
    cm_rig_close(&rig);
}

Test(sleep, a_world_or_a_body_that_may_not_sleep_does_not)
{
    cm_rig rig = open_rig(false);
    carom_body_id ids[3];
    add_tower(&rig, 0.0f, 3, ids);
    cm_rig_step(&rig, 200);
    cr_assert_eq(sleeping(&rig), 0);
    cm_rig_close(&rig);

    rig = open_rig(true);
    carom_body_def def = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    def.position = cm_vec(0.0f, 1.5f, 0.0f);
    def.sleep = false;
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cube;
    add_cube(&rig, 0.0f, 0.5f);
    cm_rig_body(&rig, &def, &shape);
    carom_body_id alone = add_cube(&rig, 5.0f, 0.5f);
    cm_rig_step(&rig, 200);
    cr_assert_eq(sleeping(&rig), 1);
    cr_assert(asleep(&rig, alone));
    cm_rig_close(&rig);
}

static carom_joint_id hinge(cm_rig *rig, carom_body_id a, carom_body_id b, carom_vec3 at)
{
    carom_joint_id id;
    carom_joint_def def = carom_default_joint_def();
    def.type = CAROM_JOINT_HINGE;
    def.body_a = a;
    def.body_b = b;
    def.anchor = at;
    def.axis = cm_vec(0.0f, 0.0f, 1.0f);
    cr_assert_eq(carom_joint_create(rig->world, &def, &id), CAROM_OK);
    return id;
}

// For half a second slower than what rests may be: in weak gravity, under a weak force or torque, a
// pair on a hinge too. What lies still, and what nothing drives, sleeps.
Test(sleep, what_hangs_on_nothing_and_is_driven_stays_awake)
{
    for (int solver = CAROM_SOLVER_SOFT; solver <= CAROM_SOLVER_LCP; solver += 2) {
        carom_world_def def = cm_rig_def(64);
        def.solver.type = (carom_solver_type)solver;
        def.gravity = cm_vec(0.0f, -0.06f, 0.0f);
        cm_rig rig = cm_rig_open(&def, 0);
        cm_rig_plane(&rig);
        carom_body_id falls = add_cube(&rig, 0.0f, 30.0f), lies = add_cube(&rig, 3.0f, 0.5f);
        carom_body_id pair[] = {add_cube(&rig, 6.0f, 30.0f), add_cube(&rig, 8.0f, 30.0f)};
        hinge(&rig, pair[0], pair[1], cm_vec(7.0f, 30.0f, 0.0f));
        cm_rig_step(&rig, 120);
        cr_expect(!asleep(&rig, falls) && !asleep(&rig, pair[0]) && asleep(&rig, lies));
        cr_expect_float_eq(cm_rig_get(&rig, falls).linear_velocity.y, -0.12f, 1e-5f);
        cr_expect_float_eq(cm_rig_get(&rig, pair[1]).linear_velocity.y, -0.12f, 1e-4f);
        cm_rig_close(&rig);

        def.gravity = zero;
        rig = cm_rig_open(&def, 0);
        carom_body_id pushed = add_cube(&rig, 0.0f, 0.0f), turned = add_cube(&rig, 5.0f, 0.0f);
        carom_body_id free = add_cube(&rig, 10.0f, 0.0f);
        float mass = cm_rig_get(&rig, pushed).mass;
        carom_body_set_force(rig.world, pushed, cm_vec(0.02f * mass, 0.0f, 0.0f), zero);
        carom_body_set_force(rig.world, turned, zero, cm_vec(0.0f, 0.01f * mass, 0.0f));
        cm_rig_step(&rig, 120);
        cr_expect(!asleep(&rig, pushed) && !asleep(&rig, turned) && asleep(&rig, free));
        cr_expect_float_eq(cm_rig_get(&rig, pushed).linear_velocity.x, 0.04f, 1e-5f);
        cr_expect_float_eq(cm_rig_get(&rig, turned).angular_velocity.y, 0.12f, 1e-4f);
        cm_rig_close(&rig);
    }
}

// Calls that wake ---------------------------------------------------------------------------------

typedef carom_result change(carom_world *world, carom_body_id id);

static carom_result push(carom_world *world, carom_body_id id)
{
    return carom_body_apply_force(world, id, cm_vec(0.0f, 1.0f, 0.0f), zero);
}

static carom_result kick(carom_world *world, carom_body_id id)
{
    return carom_body_apply_impulse(world, id, cm_vec(0.0f, 1.0f, 0.0f), zero);
}

static carom_result hold(carom_world *world, carom_body_id id)
{
    return carom_body_set_force(world, id, zero, cm_vec(0.0f, 1.0f, 0.0f));
}

static carom_result speed(carom_world *world, carom_body_id id)
{
    return carom_body_set_velocity(world, id, cm_vec(0.0f, 0.1f, 0.0f), zero);
}

static carom_result move(carom_world *world, carom_body_id id)
{
    carom_body_state state;
    carom_body_get(world, id, &state);
    state.position.x += 0.01f;
    return carom_body_set_pose(world, id, state.position, state.orientation);
}

static carom_result fix(carom_world *world, carom_body_id id)
{
    return carom_body_set_type(world, id, CAROM_BODY_STATIC);
}

static carom_result join(carom_world *world, carom_body_id id)
{
    carom_joint_def def = carom_default_joint_def();
    def.type = CAROM_JOINT_BALL;
    def.body_b = id;
    return carom_joint_create(world, &def, NULL);
}

// Nothing changes by these.
static carom_result push_nothing(carom_world *world, carom_body_id id)
{
    return carom_body_apply_force(world, id, zero, zero);
}

static carom_result kick_nothing(carom_world *world, carom_body_id id)
{
    return carom_body_apply_impulse(world, id, zero, zero);
}

static carom_result stay(carom_world *world, carom_body_id id)
{
    return carom_body_set_velocity(world, id, zero, zero);
}

static carom_result say(carom_world *world, carom_body_id id)
{
    return carom_body_set_user_data(world, id, 7);
}

// Does it to the middle of three cubes that sleep beside three others; returns how many are awake
// then.
static uint32_t awake_after(change *call)
{
    cm_rig rig = open_rig(true);
    carom_body_id ids[3], others[3];
    add_tower(&rig, 0.0f, 3, ids);
    add_tower(&rig, 5.0f, 3, others);
    step_until_asleep(&rig, 6);
    cr_assert_eq(call(rig.world, ids[1]), CAROM_OK);
    uint32_t awake = 6 - sleeping(&rig), count, woken = 0;
    cr_assert(asleep(&rig, others[1]));
    cm_rig_step(&rig, 1);
    const carom_sleep_event *events = carom_world_sleep_events(rig.world, &count);
    for (uint32_t i = 0; i < count; i++) {
        woken += !events[i].asleep;
    }
    bool fixed = cm_rig_get(&rig, ids[1]).type == CAROM_BODY_STATIC;
    cr_assert_eq(woken + fixed, awake);
    cm_rig_close(&rig);
    return awake;
}

Test(sleep, calls_that_change_something_wake_the_island)
{
    change *const waking[] = {push, kick, hold, speed, move, fix, join};
    change *const nothing[] = {push_nothing, kick_nothing, stay, say};
    for (uint32_t i = 0; i < sizeof waking / sizeof waking[0]; i++) {
        cr_assert_eq(awake_after(waking[i]), 3, "call %u", i);
    }
    for (uint32_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        cr_assert_eq(awake_after(nothing[i]), 0, "call %u", i);
    }
}

Test(sleep, a_pose_that_is_so_already_wakes_nothing)
{
    cm_rig rig = open_rig(true);
    carom_body_id id = cm_rig_sphere(&rig, cm_vec(1.0f, 0.5f, 0.0f), 0.5f);
    step_until_asleep(&rig, 1);
    carom_body_state state = cm_rig_get(&rig, id);
    carom_body_set_pose(rig.world, id, state.position, state.orientation);
    cr_assert(asleep(&rig, id));
    cm_rig_close(&rig);
}

// What goes, comes and moves beside ---------------------------------------------------------------

Test(sleep, what_lay_on_a_body_that_goes_falls)
{
    cm_rig rig = open_rig(true);
    carom_body_id shelf =
        cm_rig_box(&rig, CAROM_BODY_STATIC, cm_vec(0.0f, 2.0f, 0.0f), cm_vec(1.0f, 0.1f, 1.0f));
    carom_body_id on = add_cube(&rig, 0.0f, 2.6f), ids[3];
    add_tower(&rig, 5.0f, 3, ids);
    step_until_asleep(&rig, 4);
    carom_body_destroy(rig.world, shelf);
    cr_assert_not(asleep(&rig, on));
    cr_assert(asleep(&rig, ids[0]));
    carom_body_destroy(rig.world, ids[0]);
    cr_assert_eq(sleeping(&rig), 0);
    cm_rig_step(&rig, 60);
    cr_assert_lt(cm_rig_get(&rig, on).position.y, 0.6f);
    cr_assert_lt(cm_rig_get(&rig, ids[2]).position.y, 1.6f);
    step_until_asleep(&rig, 3);
    cm_rig_close(&rig);
}

Test(sleep, what_lay_on_a_body_that_is_moved_falls)
{
    cm_rig rig = open_rig(true);
    carom_body_id shelf =
        cm_rig_box(&rig, CAROM_BODY_STATIC, cm_vec(0.0f, 2.0f, 0.0f), cm_vec(1.0f, 0.1f, 1.0f));
    carom_body_id on = add_cube(&rig, 0.0f, 2.6f), alone = add_cube(&rig, 8.0f, 0.5f);
    step_until_asleep(&rig, 2);
    carom_body_set_pose(rig.world, shelf, cm_vec(20.0f, 2.0f, 0.0f), cm_quat_identity());
    cm_rig_step(&rig, 60);
    cr_assert_lt(cm_rig_get(&rig, on).position.y, 0.6f);
    cr_assert(asleep(&rig, alone));
    // Into another that sleeps: it is pushed out.
    carom_body_set_pose(rig.world, shelf, cm_vec(8.0f, 1.0f, 0.0f), cm_quat_identity());
    cm_rig_step(&rig, 1);
    cr_assert_not(asleep(&rig, alone));
    cm_rig_close(&rig);
}

Test(sleep, a_body_made_inside_one_that_sleeps_wakes_it)
{
    cm_rig rig = open_rig(true);
    carom_body_id on = add_cube(&rig, 0.0f, 0.5f);
    step_until_asleep(&rig, 1);
    cm_rig_box(&rig, CAROM_BODY_STATIC, cm_vec(0.9f, 0.5f, 0.0f), cube);
    cm_rig_step(&rig, 1);
    cr_assert_not(asleep(&rig, on));
    cm_rig_step(&rig, 120);
    cr_assert_lt(cm_rig_get(&rig, on).position.x, -0.05f);
    cm_rig_close(&rig);
}

Test(sleep, a_sweeper_wakes_when_it_arrives_and_a_platform_when_it_starts)
{
    cm_rig rig = open_rig(true);
    carom_body_id sweeper =
        cm_rig_box(&rig, CAROM_BODY_KINEMATIC, cm_vec(-3.0f, 0.6f, 0.0f), cm_vec(0.5f, 0.4f, 1.0f));
    carom_body_id platform =
        cm_rig_box(&rig, CAROM_BODY_KINEMATIC, cm_vec(8.0f, 1.0f, 0.0f), cm_vec(1.0f, 0.1f, 1.0f));
    carom_body_id met = add_cube(&rig, 0.0f, 0.5f), rider = add_cube(&rig, 8.0f, 1.6f);
    step_until_asleep(&rig, 2);
    carom_body_set_velocity(rig.world, sweeper, cm_vec(2.0f, 0.0f, 0.0f), zero);
    cm_rig_step(&rig, 30); // 1 of 2 m
    cr_assert(asleep(&rig, met));
    cm_rig_step(&rig, 60); // to 3 m
    cr_assert_not(asleep(&rig, met));
    cr_assert_float_eq(cm_rig_get(&rig, met).position.x, 1.0f, 0.03f);
    cr_assert(asleep(&rig, rider));
    carom_body_set_velocity(rig.world, platform, cm_vec(0.0f, 1.0f, 0.0f), zero);
    cm_rig_step(&rig, 60);
    cr_assert_not(asleep(&rig, rider));
    cr_assert_float_eq(cm_rig_get(&rig, rider).position.y, 2.6f, 0.02f);
    cm_rig_step(&rig, 120); // one that goes on moving carries what stays awake
    cr_assert_not(asleep(&rig, rider));
    cr_assert_float_eq(cm_rig_get(&rig, rider).position.y, 4.6f, 0.02f);
    cm_rig_close(&rig);
}

// A blow moves what sleeps as it would have moved it awake.
static carom_vec3 speed_after_blow(bool sleep, carom_vec3 *ball_speed)
{
    cm_rig rig = open_rig(sleep);
    carom_body_id ids[3];
    add_tower(&rig, 0.0f, 3, ids);
    cm_rig_step(&rig, 120);
    cr_assert_eq(sleeping(&rig), sleep ? 3 : 0);
    carom_body_id ball = cm_rig_sphere(&rig, cm_vec(-4.0f, 2.5f, 0.0f), 0.4f);
    carom_body_set_velocity(rig.world, ball, cm_vec(15.0f, 1.0f, 0.0f), zero);
    cm_rig_step(&rig, 20);
    cr_assert_eq(sleeping(&rig), 0);
    carom_vec3 v = cm_rig_get(&rig, ids[2]).linear_velocity;
    *ball_speed = cm_rig_get(&rig, ball).linear_velocity;
    cm_rig_close(&rig);
    return v;
}

Test(sleep, a_blow_on_what_sleeps_is_no_blow_on_a_wall)
{
    carom_vec3 ball, wanted_ball, wanted = speed_after_blow(false, &wanted_ball);
    carom_vec3 v = speed_after_blow(true, &ball);
    cr_assert_gt(wanted.x, 1.0f);
    cr_assert_lt(cm_length(cm_sub(v, wanted)), 0.05f * wanted.x);
    cr_assert_lt(cm_length(cm_sub(ball, wanted_ball)), 0.05f * wanted.x);
}

Test(sleep, a_tower_wakes_warm)
{
    cm_rig rig = open_rig(true);
    carom_body_id ids[20];
    add_tower(&rig, 0.0f, 20, ids);
    step_until_asleep(&rig, 20);
    carom_vec3 before = cm_rig_get(&rig, ids[19]).position;
    carom_body_apply_impulse(rig.world, ids[19], cm_vec(0.0f, -1.0f, 0.0f), before);
    for (uint32_t tick = 0; tick < 20; tick++) {
        cm_rig_step(&rig, 1);
        cr_assert_lt(cm_length(cm_rig_get(&rig, ids[10]).linear_velocity), 0.02f);
    }
    cr_assert_eq(sleeping(&rig), 0);
    cr_assert_lt(cm_length(cm_sub(cm_rig_get(&rig, ids[19]).position, before)), 0.005f);
    step_until_asleep(&rig, 20);
    cm_rig_close(&rig);
}

// Joints -----------------------------------------------------------------------------------------

Test(sleep, what_is_joined_sleeps_and_wakes_together)
{
    cm_rig rig = open_rig(true);
    carom_body_id a = add_cube(&rig, 0.0f, 0.5f), b = add_cube(&rig, 1.2f, 0.5f);
    carom_body_id hung = add_cube(&rig, 6.0f, 4.0f);
    carom_joint_id pair = hinge(&rig, a, b, cm_vec(0.6f, 0.5f, 0.0f));
    carom_joint_id nail = hinge(&rig, (carom_body_id){0, 0}, hung, cm_vec(6.0f, 5.0f, 0.0f));
    step_until_asleep(&rig, 3);
    carom_joint_state held;
    cr_assert_eq(carom_joint_get(rig.world, nail, &held), CAROM_OK);
    cr_assert_float_eq(held.force, 9810.0f, 100.0f);
    cm_rig_step(&rig, 30);
    cr_assert_eq(carom_joint_get(rig.world, nail, &held), CAROM_OK);
    cr_assert_float_eq(held.force, 9810.0f, 100.0f); // as it was
    carom_body_apply_impulse(rig.world, b, cm_vec(0.0f, 500.0f, 0.0f), cm_vec(1.7f, 0.5f, 0.0f));
    cr_assert_not(asleep(&rig, a));
    cr_assert(asleep(&rig, hung));
    step_until_asleep(&rig, 3);
    carom_joint_destroy(rig.world, pair);
    cr_assert_not(asleep(&rig, a));
    cr_assert_not(asleep(&rig, b));
    carom_joint_destroy(rig.world, nail);
    cm_rig_step(&rig, 30);
    cr_assert_lt(cm_rig_get(&rig, hung).position.y, 3.5f);
    cm_rig_close(&rig);
}

Test(sleep, a_slow_motor_goes_on_and_one_that_is_started_wakes)
{
    cm_rig rig = open_rig(true);
    carom_body_id body = add_cube(&rig, 0.0f, 4.0f), other = add_cube(&rig, 5.0f, 4.0f);
    carom_joint_id slow = hinge(&rig, (carom_body_id){0, 0}, body, cm_vec(0.0f, 4.0f, 0.0f));
    carom_joint_id late = hinge(&rig, (carom_body_id){0, 0}, other, cm_vec(5.0f, 4.0f, 0.0f));
    carom_joint_set_motor(rig.world, slow, 0.01f, 1e6f);
    cm_rig_step(&rig, 600);
    cr_assert_not(asleep(&rig, body));
    carom_joint_state state;
    carom_joint_get(rig.world, slow, &state);
    cr_assert_float_eq(state.value, 0.1f, 0.002f);
    cr_assert(asleep(&rig, other));
    carom_joint_set_motor(rig.world, late, 1.0f, 1e6f);
    cm_rig_step(&rig, 60);
    carom_joint_get(rig.world, late, &state);
    cr_assert_float_eq(state.value, 1.0f, 0.03f);
    cm_rig_close(&rig);
}

// A crank of a kinematic body takes along what hangs on it.
Test(sleep, a_kinematic_body_that_starts_wakes_what_it_holds)
{
    cm_rig rig = open_rig(true);
    carom_body_id crank =
        cm_rig_box(&rig, CAROM_BODY_KINEMATIC, cm_vec(0.0f, 6.0f, 0.0f), cm_vec(0.2f, 0.2f, 0.2f));
    carom_body_id hung = add_cube(&rig, 0.0f, 4.0f);
    hinge(&rig, crank, hung, cm_vec(0.0f, 5.5f, 0.0f));
    step_until_asleep(&rig, 1);
    carom_body_set_velocity(rig.world, crank, cm_vec(0.0f, 0.02f, 0.0f), zero);
    cm_rig_step(&rig, 300);
    cr_assert_float_eq(cm_rig_get(&rig, hung).position.y, 4.1f, 0.01f);
    cr_assert_not(asleep(&rig, hung));
    cm_rig_close(&rig);
}

// State ------------------------------------------------------------------------------------------

Test(sleep, islands_are_counted)
{
    cm_rig rig = open_rig(true);
    carom_body_id ids[3];
    carom_world_stats stats;
    add_tower(&rig, 0.0f, 3, ids);
    add_tower(&rig, 5.0f, 3, ids);
    add_cube(&rig, 9.0f, 0.5f);
    cm_rig_step(&rig, 3);
    carom_world_stats_get(rig.world, &stats);
    cr_assert_eq(stats.islands, 3);
    cr_assert_eq(stats.sleeping, 0);
    step_until_asleep(&rig, 7);
    carom_world_stats_get(rig.world, &stats);
    cr_assert_eq(stats.islands, 3);
    cm_rig_close(&rig);
}

// The words of a sleeping world that decode must refuse: an island out of range, one that is not
// the lowest, one that is awake, a body that sleeps and moves or is not dynamic.
Test(sleep, decode_checks_what_sleeps)
{
    cm_rig rig = open_rig(true), other = open_rig(true);
    carom_body_id ids[3];
    add_tower(&rig, 0.0f, 3, ids);
    step_until_asleep(&rig, 3);
    uint8_t bytes[16384];
    size_t size = carom_world_encode(rig.world, bytes, sizeof bytes);
    cr_assert_gt(size, 0);
    cr_assert_eq(carom_world_decode(other.world, bytes, size), CAROM_OK);
    cr_assert_eq(carom_world_hash(other.world), carom_world_hash(rig.world));
    cm_body *body = cm_body_change(rig.world, ids[1].index), right = *body;
    cm_motion *motion = &cm_motions(rig.world)[ids[1].index], still = *motion;
    for (uint32_t i = 0; i < 7; i++) {
        *body = right;
        *motion = still;
        body->island = i == 0 ? 1000 : i == 1 ? ids[2].index : i == 2 ? 0 : right.island;
        body->flags ^= i == 3 ? CM_BODY_ASLEEP : i == 4 ? CM_BODY_STIRRED : 0;
        body->type = i == 5 ? CAROM_BODY_STATIC : right.type;
        motion->linear_velocity.x = i == 6 ? 1.0f : 0.0f;
        size = carom_world_encode(rig.world, bytes, sizeof bytes);
        cr_assert_eq(carom_world_decode(other.world, bytes, size), CAROM_ERROR_CORRUPT, "%u", i);
    }
    *body = right;
    *motion = still;
    rig.world->state.flags = 0; // of a world in which nothing may sleep
    size = carom_world_encode(rig.world, bytes, sizeof bytes);
    cr_assert_eq(carom_world_decode(other.world, bytes, size), CAROM_ERROR_CORRUPT);
    cm_rig_close(&rig);
    cm_rig_close(&other);
}

// A single body that sleeps, put into a world where its island is not: it sleeps, and wakes alone.
Test(sleep, a_body_alone_of_its_island_sleeps_on)
{
    cm_rig rig = open_rig(true), other = open_rig(true);
    carom_body_id ids[3], id;
    uint8_t bytes[2048];
    add_tower(&rig, 0.0f, 3, ids);
    step_until_asleep(&rig, 3);
    size_t size = carom_world_encode_body(rig.world, ids[2], bytes, sizeof bytes);
    cr_assert_eq(carom_world_decode_body(other.world, bytes, size, &id), CAROM_OK);
    cm_rig_step(&other, 10);
    cr_assert(asleep(&other, id));
    cr_assert_eq(push(other.world, id), CAROM_OK);
    cm_rig_step(&other, 60);
    cr_assert_lt(cm_rig_get(&other, id).position.y, 1.0f);
    cm_rig_close(&rig);
    cm_rig_close(&other);
}

// Takes points away from the first contact of a sleeping world, all but the first of them, and
// makes that what is kept of it holds no more.
static void take_points(carom_world *world)
{
    cm_contact *first = cm_contact_row(world, CM_SECTION_contact, true, 0, sizeof *first);
    uint32_t gone = first->point_count - 1u;
    for (int section = CM_POINTS_FIRST; section <= CM_POINTS_LAST; section++) {
        uint32_t stride = cm_section_stride((cm_section)section);
        char *rows = cm_contact_row(world, (cm_section)section, true, 0, stride);
        memmove(rows + stride, rows + (size_t)stride * (1 + gone),
                (size_t)stride * (world->resting.points - 1 - gone));
    }
    first->point_count = 1;
    world->resting.points -= gone;
    cm_kept_manifold *kept = cm_contact_row(world, CM_SECTION_manifold, true, 0, sizeof *kept);
    kept->offset.x += 0.05f;
}

// The points of the second tower's contacts, wherever they stand by now: `size` of them.
static void points_of(const carom_world *world, uint32_t shape, cm_kept_point *points,
                      cm_soft_point *impulses, uint32_t size)
{
    uint32_t at = 0, count = 0;
    for (uint32_t i = 0; i < cm_section_rows(world, CM_SECTION_contact); i++) {
        const cm_contact *contact = cm_section_row(world, CM_SECTION_contact, i);
        for (uint32_t k = 0; k < contact->point_count; k++, at++) {
            if (contact->shape_b >= shape && contact->shape_b < shape + 3) {
                cr_assert_lt(count, size);
                points[count] =
                    *(const cm_kept_point *)cm_section_row(world, CM_SECTION_kept_point, at);
                impulses[count++] =
                    *(const cm_soft_point *)cm_section_row(world, CM_SECTION_soft_point, at);
            }
        }
    }
    cr_assert_eq(count, size);
    cr_assert_eq(at, cm_section_rows(world, CM_SECTION_kept_point));
}

Test(sleep, a_woken_contact_that_has_more_points_leaves_others_theirs)
{
    cm_rig rig = open_rig(true);
    carom_body_id first[3], second[3];
    add_tower(&rig, 0.0f, 3, first);
    add_tower(&rig, 5.0f, 3, second);
    step_until_asleep(&rig, 6);
    carom_world *world = rig.world;
    cr_assert_eq(world->resting.rows, 6);
    cr_assert_eq(world->resting.points, 24);
    cm_kept_point before[12], after[12];
    cm_soft_point pressed[12], presses[12];
    points_of(world, 4, before, pressed, 12);
    take_points(world);
    carom_body_id blow = add_cube(&rig, 0.0f, 3.52f);
    for (uint32_t tick = 0; tick < 60 && asleep(&rig, first[0]); tick++) {
        cm_rig_step(&rig, 1);
    }
    cr_assert(!asleep(&rig, first[0]) && !asleep(&rig, blow) && asleep(&rig, second[0]));
    cr_assert_eq(cm_section_rows(world, CM_SECTION_contact), 7);
    cr_assert_eq(world->resting.rows, 3);
    cr_assert_eq(cm_section_rows(world, CM_SECTION_kept_point), 28, "points are found again");
    points_of(world, 4, after, presses, 12);
    cr_assert_eq(memcmp(before, after, sizeof before), 0);
    cr_assert_eq(memcmp(pressed, presses, sizeof pressed), 0);
    cm_rig_close(&rig);
}
