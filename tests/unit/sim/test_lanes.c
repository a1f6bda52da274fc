// Goal: the number of lanes changes no bit. Method: the golden worlds stepped with one, four,
// eight and sixteen lanes (where the processor has them) beside each other, hashes compared every
// tick; a heap on one body, whose contacts outnumber the colours; a hub, whose joints do; contacts
// of which neither body can be pushed; a block of bodies of the soft solver that lanes fill
// beside one that they do not; and a tree of joints by itself, which goes joint by joint, beside
// the same one among others, which goes in a lane.
#include "tests/unit/counts.h"
#include "tests/unit/sim/golden_scenes.h"

#include "shared/base/processor.h"
#include "shared/base/rng.h"
#include "shared/sim/body/locks.h"
#include "shared/sim/state/image.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define WIDTHS  4u
#define HEAP    60u
#define UNMOVED 9u
#define SPOKES  154u // of seven types: 22 balls, 132 others
#define BALLS   80u
#define JOINTS  256u

// A width that this processor does not have is computed by the next narrower one: nothing is
// compared there, and that is said.
static void say_what_is_not_compared(void)
{
    if (cm_processor_lanes() < 16) {
        fprintf(stderr, "lanes: this processor has %u: wider ones are not compared\n",
                (unsigned)cm_processor_lanes());
    }
}

static void compare_widths(const cm_golden_scene *scene)
{
    static const uint32_t widths[WIDTHS] = {1, 4, 8, 16};
    cm_rig rigs[WIDTHS];
    for (uint32_t i = 0; i < WIDTHS; i++) {
        rigs[i] = cm_golden_open(scene, i);
        rigs[i].world->lanes = widths[i];
        scene->build(&rigs[i]);
    }
    uint32_t ticks = test_count((scene->ticks + 2) / 3, scene->ticks);
    for (uint32_t tick = 0; tick < ticks; tick++) {
        for (uint32_t i = 0; i < WIDTHS && widths[i] <= cm_processor_lanes(); i++) {
            if (scene->drive != NULL) {
                scene->drive(rigs[i].world, tick);
            }
            cm_rig_step(&rigs[i], 1);
            cr_assert_eq(carom_world_hash(rigs[i].world), carom_world_hash(rigs[0].world),
                         "%s tick %u: %u lanes differ from one", scene->name, tick, widths[i]);
        }
    }
    for (uint32_t i = 0; i < WIDTHS; i++) {
        cm_rig_close(&rigs[i]);
    }
}

Test(lanes, any_width_gives_the_same_bits)
{
    for (uint32_t i = 0; i < CM_GOLDEN_SCENES; i++) {
        compare_widths(&cm_golden_scenes[i]);
    }
    say_what_is_not_compared();
}

// Body i of eight far apart: round and long ones, forced, turned and damped, or left alone.
static carom_body_id add_flier(cm_rig *rig, uint32_t i, bool is_plain, uint32_t locks)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    float x = (float)(i + 1);
    body.position = cm_vec(20.0f * x, 3.0f, -x);
    body.orientation = cm_quat_normalize((carom_quat){0.1f * x, 0.3f, -0.05f * x, 1.0f});
    body.linear_velocity = cm_vec(1.0f, -x, 0.3f);
    body.angular_velocity = cm_vec(0.2f * x, 3.0f, -1.0f);
    body.gravity_scale = 0.1f * x;
    body.axis_locks = locks;
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(0.5f, is_plain || i % 3 == 0 ? 0.5f : 0.1f * x, 0.5f);
    if (!is_plain) {
        body.force = cm_vec(x, 2.0f, -3.0f * x);
        body.torque = i % 2 == 0 ? cm_vec(0.4f, -x, 0.2f) : body.torque;
        body.linear_damping = i % 4 == 1 ? 0.3f : 0.0f;
        body.angular_damping = i % 4 == 2 ? 0.2f : 0.0f;
    }
    return cm_rig_body(rig, &body, &shape);
}

static void push(cm_rig *rig, carom_body_id body, uint32_t i, bool is_plain)
{
    carom_vec3 none = {0.0f, 0.0f, 0.0f};
    carom_vec3 torque = is_plain ? none : cm_vec(0.0f, 30.0f, (float)i);
    carom_body_apply_force(rig->world, body, cm_vec(500.0f, 70.0f, (float)i), torque);
}

Test(lanes, a_block_at_once_is_its_bodies_one_by_one)
{
    for (int is_plain = 0; is_plain < 2; is_plain++) {
        carom_world_def def = cm_rig_def(8);
        cm_rig at_once = cm_rig_open(&def, 0), one_by_one = cm_rig_open(&def, 0);
        cm_rig *rigs[2] = {&at_once, &one_by_one};
        for (uint32_t k = 0; k < 2; k++) {
            carom_body_id bodies[8];
            for (uint32_t i = 0; i < 8; i++) {
                // One body with a locked axis, and no lanes are filled.
                uint32_t locks = k == 1 && i == 7 ? CAROM_LOCK_X : 0;
                bodies[i] = add_flier(rigs[k], i, is_plain, locks);
            }
            for (uint32_t tick = 0; tick < 30; tick++) {
                for (uint32_t i = 0; i < 8; i++) {
                    push(rigs[k], bodies[i], i, is_plain);
                }
                cm_rig_step(rigs[k], 1);
            }
        }
        for (uint32_t i = 0; i < 7; i++) {
            cr_assert_eq(memcmp(&cm_motions(at_once.world)[i], &cm_motions(one_by_one.world)[i],
                                sizeof(cm_motion)),
                         0, "body %u, plain %d", i, is_plain);
        }
        cm_rig_close(&at_once);
        cm_rig_close(&one_by_one);
    }
}

// One wide plate bears more bodies than there are colours, so some contacts find none.
static void build_heap(cm_rig *rig)
{
    cm_rig_plane(rig);
    cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.5f, 0.0f), cm_vec(4.0f, 0.5f, 4.0f));
    for (uint32_t i = 0; i < HEAP; i++) {
        cm_rig_box(rig, CAROM_BODY_DYNAMIC,
                   cm_vec(0.8f * (float)(i % 8) - 2.8f, 1.3f, 0.8f * (float)(i / 8) - 2.8f),
                   cm_vec(0.3f, 0.3f, 0.3f));
    }
}

Test(lanes, contacts_without_a_colour_are_solved_too)
{
    const cm_golden_scene heap = {"heap", HEAP + 2, 60, build_heap, NULL, NULL};
    compare_widths(&heap);
    carom_world_def def = cm_rig_def(HEAP + 2);
    cm_rig rig = cm_rig_open(&def, 0);
    build_heap(&rig);
    cm_rig_step(&rig, 240);
    for (uint32_t slot = 2; slot < HEAP + 2; slot++) {
        carom_body_state state;
        carom_body_get(rig.world, carom_world_body_at(rig.world, slot), &state);
        cr_assert_float_eq(state.position.y, 1.3f, 0.01f, "body %u at %g", slot,
                           (double)state.position.y);
    }
    cm_rig_close(&rig);
}

// A ball that moves by itself, at rest by zeros that have a sign, and bodies without a free axis
// in it: none can be pushed, so what contacts make of the zeros would show which came last.
static void build_unmoved(cm_rig *rig)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    cm_rng rng;
    cm_rng_seed(&rng, 7);
    shape.type = CAROM_SHAPE_SPHERE;
    body.type = CAROM_BODY_KINEMATIC;
    body.linear_velocity = body.angular_velocity = cm_vec(-0.0f, -0.0f, -0.0f);
    shape.radius = 2.0f;
    cm_rig_body(rig, &body, &shape);
    body = carom_default_body_def();
    body.axis_locks = CM_LOCKS_ALL;
    shape.radius = 0.2f;
    for (uint32_t i = 0; i < UNMOVED; i++) {
        carom_vec3 at;
        at.z = cm_rng_range(&rng, -1.0f, 1.0f);
        at.y = cm_rng_range(&rng, -1.0f, 1.0f);
        at.x = cm_rng_range(&rng, -1.0f, 1.0f);
        body.position = cm_scale(2.1f, cm_normalize(at));
        cm_rig_body(rig, &body, &shape);
    }
}

Test(lanes, what_cannot_be_pushed_keeps_its_zeros)
{
    const cm_golden_scene unmoved = {"unmoved", UNMOVED + 1, 3, build_unmoved, NULL, NULL};
    compare_widths(&unmoved);
    cm_rig rig = cm_golden_open(&unmoved, 0);
    build_unmoved(&rig);
    cm_motion before = cm_motions(rig.world)[0];
    cm_rig_step(&rig, 3);
    cr_assert_geq(rig.world->state.contact_count, UNMOVED);
    cr_assert_eq(memcmp(&cm_motions(rig.world)[0], &before, sizeof before), 0);
    cm_rig_close(&rig);
}

// A wheel hub that bears joints of all types, more of plain balls and more of others than there are
// colours, all held to where they are; only the hub itself falls, with what hangs from it.
static carom_joint_def spoke(carom_body_id hub, carom_body_id rim, carom_vec3 at, uint32_t i)
{
    carom_joint_def def = carom_default_joint_def();
    def.type = i < SPOKES ? (carom_joint_type)(i % 7) : CAROM_JOINT_BALL;
    def.body_a = i % 2 ? hub : rim;
    def.body_b = i % 2 ? rim : hub;
    def.anchor = at;
    def.anchor_b = cm_scale(0.5f, at);
    def.axis = cm_vec(0.0f, 0.0f, 1.0f);
    def.spring =
        i % 3 == 0 && def.type != CAROM_JOINT_MOTOR ? CAROM_SPRING_HERTZ : CAROM_SPRING_NONE;
    def.spring = i < SPOKES ? def.spring : CAROM_SPRING_NONE;
    def.spring_hertz = 4.0f;
    def.spring_damping_ratio = 0.7f;
    return def;
}

static void build_hub(cm_rig *rig)
{
    carom_body_id hub = cm_rig_sphere(rig, cm_vec(0.0f, 0.0f, 0.0f), 1.0f);
    for (uint32_t i = 0; i < SPOKES + BALLS; i++) {
        float along = 0.1f * (float)(i % 16) - 0.75f, high = 0.2f * (float)(i / 16) - 1.5f;
        carom_vec3 at = cm_vec(3.0f, high, along);
        carom_body_id rim = cm_rig_sphere(rig, at, 0.04f);
        carom_joint_def def = spoke(hub, rim, at, i);
        cr_assert_eq(carom_joint_create(rig->world, &def, NULL), CAROM_OK, "spoke %u", i);
    }
}

static void more_joints(carom_world_def *def)
{
    def->limits.joints = JOINTS;
}

Test(lanes, joints_without_a_colour_are_solved_too)
{
    const cm_golden_scene hub = {"hub", SPOKES + BALLS + 1, 60, build_hub, NULL, more_joints};
    compare_widths(&hub);
    cm_rig rig = cm_golden_open(&hub, 0);
    build_hub(&rig);
    cm_rig_step(&rig, 60);
    for (uint32_t slot = SPOKES; slot < SPOKES + BALLS; slot++) {
        carom_joint_state state;
        cr_assert_eq(carom_joint_get(rig.world, carom_world_joint_at(rig.world, slot), &state),
                     CAROM_OK);
        cr_assert_lt(state.error, 0.02f, "ball %u: %g", slot, (double)state.error);
    }
    cm_rig_close(&rig);
}

// A branching tree of all types that trees have, with a spring, a motor and limits that are
// reached; some of its bodies are round.
static carom_body_id build_tree(cm_rig *rig)
{
    static const carom_joint_type types[] = {CAROM_JOINT_HINGE,     CAROM_JOINT_BALL,
                                             CAROM_JOINT_PRISMATIC, CAROM_JOINT_HINGE,
                                             CAROM_JOINT_FIXED,     CAROM_JOINT_HINGE};
    carom_body_id none = {0}, last = none, first = none;
    for (uint32_t i = 0; i < 14; i++) {
        carom_body_def body = carom_default_body_def();
        body.position = cm_vec(0.5f * (float)i, i % 3 == 0 ? 0.1f : 0.0f, 0.02f * (float)i);
        carom_shape_def shape = carom_default_shape_def();
        shape.type = i % 4 < 2 ? CAROM_SHAPE_BOX : CAROM_SHAPE_SPHERE;
        shape.half_extents = cm_vec(0.25f, 0.05f, 0.1f);
        shape.radius = 0.1f;
        shape.mask = 0;
        carom_body_id id = cm_rig_body(rig, &body, &shape);
        carom_joint_def def = carom_default_joint_def();
        def.type = types[i % 6];
        def.body_a = i == 0 ? none : (i % 5 == 4 ? first : last);
        def.body_b = id;
        def.anchor = cm_vec(0.5f * (float)i - 0.25f, 0.0f, 0.0f);
        def.axis = cm_vec(0.0f, 0.0f, 1.0f);
        def.has_limits = def.type == CAROM_JOINT_HINGE || def.type == CAROM_JOINT_PRISMATIC;
        def.lower = -0.1f;
        def.upper = 0.2f;
        def.has_motor = i == 3;
        def.motor_velocity = 1.0f;
        def.motor_max = 2.0f;
        def.spring = i == 5 ? CAROM_SPRING_HERTZ : CAROM_SPRING_NONE;
        def.spring_hertz = 3.0f;
        cr_assert_eq(carom_joint_create(rig->world, &def, NULL), CAROM_OK, "joint %u", i);
        first = i == 0 ? id : first;
        last = id;
    }
    return last;
}

Test(lanes, a_tree_by_itself_is_as_among_others)
{
    const uint32_t copies[] = {1, 2, 3, 9};
    cm_rig rigs[4];
    carom_body_id last[4];
    for (uint32_t i = 0; i < 4; i++) {
        carom_world_def def = cm_rig_def(9 * 14);
        def.limits.joints = 9 * 14;
        rigs[i] = cm_rig_open(&def, i);
        rigs[i].rubbish = i;
        last[i] = build_tree(&rigs[i]);
        for (uint32_t k = 1; k < copies[i]; k++) {
            build_tree(&rigs[i]);
        }
    }
    for (uint32_t tick = 0; tick < 240; tick++) {
        for (uint32_t i = 0; i < 4; i++) {
            cm_rig_step(&rigs[i], 1);
            for (uint32_t slot = 0; slot < 14; slot++) {
                cr_assert_arr_eq(&cm_motions(rigs[i].world)[slot], &cm_motions(rigs[0].world)[slot],
                                 sizeof(cm_motion), "%u trees, tick %u, body %u", copies[i], tick,
                                 slot);
            }
        }
    }
    cr_expect_gt(cm_length(cm_rig_get(&rigs[0], last[0]).linear_velocity), 0.01f,
                 "it still swings");
    for (uint32_t i = 0; i < 4; i++) {
        cm_rig_close(&rigs[i]);
    }
}
