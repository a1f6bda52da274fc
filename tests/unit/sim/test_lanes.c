// Goal: the number of lanes changes no bit. Method: the golden worlds stepped with one, four and
// eight lanes (where the processor has them) beside each other, hashes compared every tick; and a
// heap on one body, whose contacts outnumber the colours.
#include "tests/unit/sim/golden_scenes.h"

#include "shared/sim/image.h"

#include <criterion/criterion.h>

#define WIDTHS 3u
#define HEAP   60u

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
            if (scene->drive) {
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
    static const cm_golden_scene heap = {"heap", HEAP + 2, 60, build_heap, NULL, NULL};
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
