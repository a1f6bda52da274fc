// Goal: joints are well-behaved things: ids, refusals, what dies with what, what passes through
// what, and what a mirror keeps. Method: each rule once, through the public interface.
#include "tests/unit/sim/rig.h"

#include "shared/sim/state/image.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const carom_vec3 half = {0.5f, 0.5f, 0.5f};

static carom_joint_def ball_between(carom_body_id a, carom_body_id b)
{
    carom_joint_def def = carom_default_joint_def();
    def.body_a = a;
    def.body_b = b;
    return def;
}

Test(joint_life, ids_go_stale_and_slots_are_used_again)
{
    carom_world_def world_def = cm_rig_def(8);
    world_def.limits.joints = 2;
    cm_rig rig = cm_rig_open(&world_def, 0);
    carom_body_id a = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.0f, 0.0f), half);
    carom_body_id b = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(3.0f, 0.0f, 0.0f), half);
    carom_joint_def def = ball_between(a, b);
    carom_joint_id first, second, third;
    cr_assert_eq(carom_joint_create(rig.world, &def, &first), CAROM_OK);
    cr_assert_eq(carom_joint_create(rig.world, &def, &second), CAROM_OK);
    cr_assert_eq(carom_joint_create(rig.world, &def, &third), CAROM_ERROR_LIMIT_JOINTS);
    cr_assert_eq(carom_joint_destroy(rig.world, first), CAROM_OK);
    cr_assert_not(carom_joint_is_valid(rig.world, first));
    cr_assert_eq(carom_joint_destroy(rig.world, first), CAROM_ERROR_STALE_ID);
    carom_joint_state state;
    cr_assert_eq(carom_joint_get(rig.world, first, &state), CAROM_ERROR_STALE_ID);
    cr_assert_eq(carom_joint_set_motor(rig.world, first, 0, 0), CAROM_ERROR_STALE_ID);
    cr_assert_eq(carom_world_joint_at(rig.world, first.index).generation, 0);
    cr_assert_eq(carom_joint_create(rig.world, &def, &third), CAROM_OK);
    cr_assert_eq(third.index, first.index);
    cr_assert_eq(third.generation, first.generation + 1);
    cr_assert_eq(carom_world_joint_slots(rig.world), 2);
    // A body takes its joints with it.
    cr_assert_eq(carom_body_destroy(rig.world, a), CAROM_OK);
    cr_assert_not(carom_joint_is_valid(rig.world, second));
    cr_assert_not(carom_joint_is_valid(rig.world, third));
    cm_rig_step(&rig, 2);
    cm_rig_close(&rig);
}

Test(joint_life, bad_definitions_are_refused_and_leave_no_trace)
{
    carom_world_def world_def = cm_rig_def(8);
    cm_rig rig = cm_rig_open(&world_def, 0);
    carom_body_id a = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.0f, 0.0f), half);
    carom_body_id b = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(3.0f, 0.0f, 0.0f), half);
    carom_body_id fixed = cm_rig_box(&rig, CAROM_BODY_STATIC, cm_vec(6.0f, 0.0f, 0.0f), half);
    uint64_t hash = carom_world_hash(rig.world);
#define REFUSED(change, result)                                                                    \
    do {                                                                                           \
        carom_joint_def def = ball_between(a, b);                                                  \
        change;                                                                                    \
        cr_assert_eq(carom_joint_create(rig.world, &def, NULL), result, #change);                  \
        cr_assert_eq(carom_world_hash(rig.world), hash, #change);                                  \
    } while (0)
    REFUSED(def.body_b.generation++, CAROM_ERROR_STALE_ID);
    REFUSED(def.body_a.generation++, CAROM_ERROR_STALE_ID);
    REFUSED(def.body_b = ((carom_body_id){0, 0}), CAROM_ERROR_STALE_ID);
    REFUSED(def.body_b = a, CAROM_ERROR_ARGUMENT);
    REFUSED((def.body_a = ((carom_body_id){0, 0}), def.body_b = fixed), CAROM_ERROR_ARGUMENT);
    REFUSED(def.type = (carom_joint_type)7, CAROM_ERROR_ARGUMENT);
    REFUSED(def.spring = (carom_spring_type)3, CAROM_ERROR_ARGUMENT);
    REFUSED(def.axis = cm_vec(0.0f, 0.0f, 0.0f), CAROM_ERROR_ARGUMENT);
    REFUSED(def.axis.x = NAN, CAROM_ERROR_NOT_FINITE);
    REFUSED(def.anchor.x = INFINITY, CAROM_ERROR_NOT_FINITE);
    REFUSED(def.anchor.x = 1.0e8f, CAROM_ERROR_ARGUMENT);
    REFUSED((def.type = CAROM_JOINT_STEERING, def.steering_axis = def.axis), CAROM_ERROR_ARGUMENT);
    REFUSED((def.type = CAROM_JOINT_STEERING, def.axis.z = NAN), CAROM_ERROR_NOT_FINITE);
    REFUSED(def.has_limits = true, CAROM_ERROR_ARGUMENT); // of a ball
    REFUSED((def.type = CAROM_JOINT_FIXED, def.has_motor = true), CAROM_ERROR_ARGUMENT);
    REFUSED((def.type = CAROM_JOINT_HINGE, def.has_limits = true, def.lower = 1.0f),
            CAROM_ERROR_ARGUMENT);
    REFUSED((def.type = CAROM_JOINT_HINGE, def.has_limits = true, def.upper = NAN),
            CAROM_ERROR_NOT_FINITE);
    REFUSED((def.type = CAROM_JOINT_DISTANCE, def.has_limits = true, def.lower = -1.0f),
            CAROM_ERROR_ARGUMENT);
    REFUSED((def.has_motor = true, def.motor_max = -1.0f), CAROM_ERROR_ARGUMENT);
    REFUSED((def.has_motor = true, def.motor_velocity = NAN), CAROM_ERROR_NOT_FINITE);
    REFUSED((def.spring = CAROM_SPRING_HERTZ, def.spring_hertz = -1.0f), CAROM_ERROR_ARGUMENT);
    REFUSED(def.break_force = -1.0f, CAROM_ERROR_ARGUMENT);
    REFUSED(def.break_torque = NAN, CAROM_ERROR_NOT_FINITE);
    REFUSED(def.friction = -1.0f, CAROM_ERROR_ARGUMENT);
    REFUSED((def.type = CAROM_JOINT_FIXED, def.friction = 0.1f), CAROM_ERROR_ARGUMENT);
#undef REFUSED
    cr_assert_eq(carom_joint_create(rig.world, NULL, NULL), CAROM_ERROR_ARGUMENT);
    carom_joint_def def = ball_between(a, b);
    carom_joint_id id;
    cr_assert_eq(carom_joint_create(rig.world, &def, &id), CAROM_OK);
    hash = carom_world_hash(rig.world);
    cr_assert_eq(carom_joint_set_limits(rig.world, id, 0.0f, 1.0f), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_joint_set_motor(rig.world, id, NAN, 1.0f), CAROM_ERROR_NOT_FINITE);
    cr_assert_eq(carom_joint_set_drive(rig.world, id, half, half, 1.0f, 1.0f),
                 CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_world_hash(rig.world), hash);
    cm_rig_close(&rig);
}

Test(joint_life, joined_bodies_pass_through_each_other_unless_told)
{
    for (uint32_t collide = 0; collide < 2; collide++) {
        carom_world_def world_def = cm_rig_def(16);
        world_def.gravity = cm_vec(0.0f, 0.0f, 0.0f);
        cm_rig rig = cm_rig_open(&world_def, 0);
        carom_body_id hub = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.0f, 0.0f), half);
        carom_body_id free = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.9f, 0.0f, 0.0f), half);
        for (uint32_t i = 0; i < 4; i++) {
            carom_body_id arm =
                cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(-0.3f, 0.1f * (float)i, 0.0f), half);
            carom_joint_def def = ball_between(hub, arm);
            def.collide = collide == 1;
            def.type = CAROM_JOINT_FIXED;
            cr_assert_eq(carom_joint_create(rig.world, &def, NULL), CAROM_OK);
        }
        cm_rig_step(&rig, 1);
        const cm_contact *contacts = cm_contacts(rig.world);
        uint32_t of_hub = 0, of_both = 0;
        for (uint32_t i = 0; i < rig.world->state.contact_count; i++) {
            uint32_t a = cm_shapes(rig.world)[contacts[i].shape_a].body;
            uint32_t b = cm_shapes(rig.world)[contacts[i].shape_b].body;
            of_hub += a == hub.index && b != free.index;
            of_both += a == hub.index && b == free.index;
        }
        cr_assert_eq(of_hub, collide ? 4 : 0);
        cr_assert_eq(of_both, 1, "a body without a joint collides");
        cm_rig_close(&rig);
    }
}

Test(joint_life, a_body_sent_again_keeps_its_joints)
{
    carom_world_def world_def = cm_rig_def(8);
    cm_rig rig = cm_rig_open(&world_def, 0);
    carom_body_id a = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.0f, 0.0f), half);
    carom_body_id b = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(3.0f, 0.0f, 0.0f), half);
    carom_joint_def def = ball_between(a, b);
    carom_joint_id id;
    cr_assert_eq(carom_joint_create(rig.world, &def, &id), CAROM_OK);
    uint8_t bytes[1024];
    size_t size = carom_world_encode_body(rig.world, a, bytes, sizeof bytes);
    cr_assert_gt(size, 0);
    uint64_t hash = carom_world_hash(rig.world);
    cr_assert_eq(carom_world_decode_body(rig.world, bytes, size, NULL), CAROM_OK);
    cr_assert(carom_joint_is_valid(rig.world, id));
    cr_assert_eq(carom_world_hash(rig.world), hash);
    // Another body in its place is not held by its joints.
    cr_assert_eq(carom_body_destroy(rig.world, a), CAROM_OK);
    cr_assert_eq(carom_joint_create(rig.world, &def, &id), CAROM_ERROR_STALE_ID);
    carom_body_id next = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.0f, 0.0f), half);
    cr_assert_eq(next.index, a.index);
    def.body_a = next;
    cr_assert_eq(carom_joint_create(rig.world, &def, &id), CAROM_OK);
    cr_assert_eq(carom_world_decode_body(rig.world, bytes, size, NULL), CAROM_OK);
    cr_assert_not(carom_joint_is_valid(rig.world, id));
    cm_rig_close(&rig);
}

// Bodies that cannot be pushed, teleports far away, enormous masses: never NaN, and joints hold
// again after.
Test(joint_life, extremes_stay_finite)
{
    carom_world_def world_def = cm_rig_def(32);
    cm_rig rig = cm_rig_open(&world_def, 0);
    carom_body_id ids[CAROM_JOINT_MOTOR + 2];
    ids[0] = cm_rig_box(&rig, CAROM_BODY_KINEMATIC, cm_vec(0.0f, 0.0f, 0.0f), half);
    for (uint32_t type = 0; type <= CAROM_JOINT_MOTOR; type++) {
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        body.position = cm_vec(0.0f, -2.0f * (float)(type + 1), 0.0f);
        body.has_mass = true;
        body.mass = type % 2 ? 1.0e9f : 1.0e-6f;
        shape.type = CAROM_SHAPE_BOX;
        shape.half_extents = half;
        ids[type + 1] = cm_rig_body(&rig, &body, &shape);
        carom_joint_def def = ball_between(ids[type], ids[type + 1]);
        def.type = (carom_joint_type)type;
        def.anchor = def.anchor_b = body.position;
        def.axis = cm_vec(1.0f, 0.0f, 0.0f);
        cr_assert_eq(carom_joint_create(rig.world, &def, NULL), CAROM_OK);
    }
    for (uint32_t tick = 0; tick < 200; tick++) {
        if (tick == 50) {
            carom_body_set_pose(rig.world, ids[3], cm_vec(9.0e6f, 0.0f, -9.0e6f),
                                cm_rig_turn_z(3.1f));
            carom_body_set_velocity(rig.world, ids[5], cm_vec(1.0e6f, 0.0f, 0.0f),
                                    cm_vec(0.0f, 1.0e6f, 0.0f));
        }
        if (tick == 100) {
            carom_body_set_type(rig.world, ids[2], CAROM_BODY_STATIC);
            carom_body_set_type(rig.world, ids[1], CAROM_BODY_STATIC);
        }
        cm_rig_step(&rig, 1);
        for (uint32_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
            carom_body_state state = cm_rig_get(&rig, ids[i]);
            cr_assert(cm_vec_is_finite(state.position) && cm_vec_is_finite(state.linear_velocity) &&
                      cm_vec_is_finite(state.angular_velocity));
        }
        for (uint32_t slot = 0; slot < carom_world_joint_slots(rig.world); slot++) {
            carom_joint_state state;
            carom_joint_id id = carom_world_joint_at(rig.world, slot);
            cr_assert_eq(carom_joint_get(rig.world, id, &state), CAROM_OK);
            cr_assert(cm_is_finite(state.value) && cm_is_finite(state.force));
        }
    }
    cm_rig_close(&rig);
}

static double height(const cm_rig *rig, carom_body_id body)
{
    return (double)cm_rig_get(rig, body).position.y;
}

// A weight hangs, is let go, falls like any other, is brought back and hangs again: the joint is
// the same one, with its limits, its motor and its angle from the first pose.
Test(joint_life, a_detached_joint_holds_nothing_and_keeps_all_it_has)
{
    for (int solver = CAROM_SOLVER_SOFT; solver <= CAROM_SOLVER_LCP; solver += 2) {
        carom_world_def world_def = cm_rig_def(8);
        world_def.solver.type = (carom_solver_type)solver;
        cm_rig rig = cm_rig_open(&world_def, 0);
        carom_body_id a = cm_rig_box(&rig, CAROM_BODY_STATIC, cm_vec(0.0f, 3.0f, 0.0f), half);
        carom_body_id b = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 2.2f, 0.0f), half);
        carom_joint_def def = ball_between(a, b);
        def.type = CAROM_JOINT_HINGE;
        def.anchor = cm_vec(0.0f, 2.6f, 0.0f);
        def.axis = cm_vec(0.0f, 0.0f, 1.0f);
        def.has_limits = true;
        def.lower = -0.1f;
        def.upper = 0.5f;
        carom_joint_id id;
        carom_joint_state s;
        cr_assert_eq(carom_joint_create(rig.world, &def, &id), CAROM_OK);
        cm_rig_step(&rig, 200);
        cr_assert_float_eq(height(&rig, b), 2.2, 2e-3);
        cr_assert(cm_rig_get(&rig, b).asleep, "solver %d", solver);
        cr_assert_eq(carom_joint_detach(rig.world, id), CAROM_OK);
        uint64_t hash = carom_world_hash(rig.world);
        cr_assert_eq(carom_joint_detach(rig.world, id), CAROM_OK);
        cr_assert_eq(carom_world_hash(rig.world), hash); // twice is once
        cr_assert_eq(carom_joint_get(rig.world, id, &s), CAROM_OK);
        cr_assert_not(s.attached);
        cr_assert_eq(s.force, 0.0f);
        // They overlap by 0.2 m, and nothing keeps them from colliding now.
        cm_rig_step(&rig, 30);
        cr_assert_lt(height(&rig, b), 2.2 - 0.5 * 9.81 * 0.5 * 0.5 + 0.1, "solver %d", solver);
        cr_assert_eq(carom_joint_get(rig.world, id, &s), CAROM_OK);
        cr_assert_gt(s.error, 1.0f);
        carom_body_set_pose(rig.world, b, cm_vec(0.0f, 2.2f, 0.0f), cm_rig_turn_z(0.3f));
        carom_body_set_velocity(rig.world, b, cm_vec(0.0f, 0.0f, 0.0f), cm_vec(0.0f, 0.0f, 0.0f));
        cr_assert_eq(carom_joint_attach(rig.world, id, a, b), CAROM_OK);
        cr_assert_eq(carom_joint_get(rig.world, id, &s), CAROM_OK);
        cr_assert(s.attached);
        cr_assert_float_eq(s.value, 0.3f, 1e-5f); // of the first pose
        for (int i = 0; i < 300; i++) {
            cm_rig_step(&rig, 1);
            cr_assert_eq(carom_joint_get(rig.world, id, &s), CAROM_OK);
            cr_assert(s.value > -0.16f && s.value < 0.5f, "solver %d: %f", solver, (double)s.value);
        }
        cr_assert_lt(s.error, 5e-3f);
        // A detached joint goes with its bodies, too.
        cr_assert_eq(carom_joint_detach(rig.world, id), CAROM_OK);
        cr_assert_eq(carom_body_destroy(rig.world, b), CAROM_OK);
        cr_assert_not(carom_joint_is_valid(rig.world, id));
        cr_assert_eq(carom_joint_attach(rig.world, id, a, b), CAROM_ERROR_STALE_ID);
        cm_rig_close(&rig);
    }
}

// A trailer's hitch: unhooked from one, hooked to another; and what may not be.
Test(joint_life, a_joint_is_attached_to_another_body)
{
    carom_world_def world_def = cm_rig_def(8);
    world_def.gravity = cm_vec(0.0f, 0.0f, 0.0f);
    cm_rig rig = cm_rig_open(&world_def, 0);
    carom_body_id a = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.0f, 0.0f), half);
    carom_body_id b = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(1.5f, 0.0f, 0.0f), half);
    carom_body_id c = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 5.0f, 0.0f), half);
    carom_body_id fixed = cm_rig_box(&rig, CAROM_BODY_STATIC, cm_vec(9.0f, 0.0f, 0.0f), half);
    carom_body_id post = cm_rig_box(&rig, CAROM_BODY_STATIC, cm_vec(9.0f, 9.0f, 0.0f), half);
    const carom_body_id world = {0, 0}, gone = {b.index, b.generation + 1};
    carom_joint_def def = ball_between(a, b);
    def.anchor = cm_vec(0.75f, 0.0f, 0.0f);
    carom_joint_id id;
    cr_assert_eq(carom_joint_create(rig.world, &def, &id), CAROM_OK);
    cm_rig_step(&rig, 5);
    uint64_t hash = carom_world_hash(rig.world);
    cr_assert_eq(carom_joint_attach(rig.world, id, a, b), CAROM_OK); // as it is
    cr_assert_eq(carom_joint_attach(rig.world, id, world, b), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_joint_attach(rig.world, id, a, a), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_joint_attach(rig.world, id, a, gone), CAROM_ERROR_STALE_ID);
    cr_assert_eq(carom_joint_attach(rig.world, id, a, world), CAROM_ERROR_STALE_ID);
    cr_assert_eq(carom_joint_attach(rig.world, id, fixed, post), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_world_hash(rig.world), hash);
    // c stands where a stood: its hitch is where a's was.
    carom_body_set_pose(rig.world, a, cm_vec(0.0f, -5.0f, 0.0f), cm_rig_turn_z(0.0f));
    carom_body_set_pose(rig.world, c, cm_vec(0.0f, 0.0f, 0.0f), cm_rig_turn_z(0.0f));
    cr_assert_eq(carom_joint_attach(rig.world, id, c, b), CAROM_OK);
    carom_body_set_velocity(rig.world, c, cm_vec(-1.0f, 0.0f, 0.0f), cm_vec(0.0f, 0.0f, 0.0f));
    cm_rig_step(&rig, 60);
    cr_assert_float_eq(cm_rig_get(&rig, b).linear_velocity.x, -0.5f, 1e-3f); // equal masses
    cr_assert_float_eq(cm_rig_get(&rig, a).linear_velocity.x, 0.0f, 1e-3f);
    carom_joint_state s;
    cr_assert_eq(carom_joint_get(rig.world, id, &s), CAROM_OK);
    cr_assert_eq(s.body_a.index, c.index);
    cr_assert_lt(s.error, 1e-3f);
    cm_rig_close(&rig);
}

// Thrown at each other, joined at the point of their contact event: one body from then on, with the
// momentum of both.
Test(joint_life, two_bodies_are_joined_where_they_touch)
{
    for (int solver = CAROM_SOLVER_SOFT; solver <= CAROM_SOLVER_LCP; solver += 2) {
        carom_world_def world_def = cm_rig_def(8);
        world_def.gravity = cm_vec(0.0f, 0.0f, 0.0f);
        world_def.solver.type = (carom_solver_type)solver;
        cm_rig rig = cm_rig_open(&world_def, 0);
        carom_body_id a = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(-1.0f, 0.0f, 0.0f), half);
        carom_body_id b = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(1.0f, 0.3f, 0.0f), half);
        carom_body_set_velocity(rig.world, a, cm_vec(3.0f, 0.0f, 0.0f), cm_vec(0.0f, 0.0f, 0.0f));
        bool joined = false;
        for (int i = 0; i < 120; i++) {
            cm_rig_step(&rig, 1);
            uint32_t count;
            const carom_contact_event *events = carom_world_contact_events(rig.world, &count);
            for (uint32_t k = 0; k < count && !joined; k++) {
                carom_joint_def def = ball_between(events[k].body_a, events[k].body_b);
                def.type = CAROM_JOINT_FIXED;
                def.anchor = events[k].point;
                joined = carom_joint_create(rig.world, &def, NULL) == CAROM_OK;
            }
        }
        cr_assert(joined, "solver %d", solver);
        carom_body_state sa = cm_rig_get(&rig, a), sb = cm_rig_get(&rig, b);
        cr_assert_float_eq(sa.linear_velocity.x + sb.linear_velocity.x, 3.0f, 1e-3f);
        cr_assert_float_eq(sa.angular_velocity.z, sb.angular_velocity.z, 1e-3f, "solver %d",
                           solver);
        cr_assert_gt(fabsf(sa.angular_velocity.z), 0.1f); // they met off their centres
        cm_rig_close(&rig);
    }
}
