// Goal: the number of lanes changes no bit. Method: the golden worlds stepped with one, four and
// eight lanes (where the processor has them) beside each other, hashes compared every tick; a heap
// on one body, whose contacts outnumber the colours; and a hub, whose joints do.
#include "tests/unit/sim/golden_scenes.h"

#include "shared/sim/state/image.h"

#include <criterion/criterion.h>

#define WIDTHS 3u
#define HEAP   60u
#define SPOKES 154u // of seven types: 22 balls, 132 others
#define BALLS  80u
#define JOINTS 256u

static bool has_width(uint32_t lanes)
{
#if defined(__x86_64__) || defined(__i386__)
    return lanes < 8 || __builtin_cpu_supports("avx2");
#else
    return lanes < 8;
#endif
}

static void compare_widths(const cm_golden_scene *scene)
{
    static const uint32_t widths[WIDTHS] = {1, 4, 8};
    cm_rig rigs[WIDTHS];
    for (uint32_t i = 0; i < WIDTHS; i++) {
        rigs[i] = cm_golden_open(scene, i);
        rigs[i].world->lanes = widths[i];
        scene->build(&rigs[i]);
    }
    for (uint32_t tick = 0; tick < scene->ticks; tick++) {
        for (uint32_t i = 0; i < WIDTHS && has_width(widths[i]); i++) {
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
