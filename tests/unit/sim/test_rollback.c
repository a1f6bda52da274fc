// Goal: a rewind leaves no trace. Method: at every tick of each golden scene (contacts, bodies made
// and destroyed inside the rewound span) save, step 7, restore into another world with other limits
// at another address, step 7 with the same calls, and compare the saved images byte for byte. A
// saved image holds state only, and scratch is filled with other rubbish in one than in the other:
// the same in both would hide what depends on it.
#include "shared/sim/state/image.h"
#include "tests/unit/sim/golden_scenes.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define SPAN 7u

static void advance(cm_rig *rig, const cm_golden_scene *scene, uint32_t tick, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        if (scene->drive) {
            scene->drive(rig->world, tick + i);
        }
        cm_rig_step(rig, 1);
    }
}

static void rewind_scene(const cm_golden_scene *scene, bool portable)
{
    cm_rig one = cm_golden_open(scene, 0), two = cm_golden_open(scene, 5);
    two.rubbish = 1;
    scene->build(&one);
    size_t room = carom_world_save_bound(one.world) + carom_world_encode_size(one.world) * 8;
    uint8_t *start = malloc(room), *first = malloc(room), *second = malloc(room);
    uint64_t touching = 0;
    for (uint32_t tick = 0; tick + SPAN <= scene->ticks; tick++) {
        size_t size = portable ? carom_world_encode(one.world, start, room)
                               : carom_world_save(one.world, start, room);
        cr_assert_gt(size, 0);
        carom_result result = portable ? carom_world_decode(two.world, start, size)
                                       : carom_world_restore(two.world, start, size);
        cr_assert_eq(result, CAROM_OK, "%s tick %u: %s", scene->name, tick,
                     carom_result_text(result));
        advance(&one, scene, tick, SPAN);
        advance(&two, scene, tick, SPAN);
        size_t size_one = carom_world_save(one.world, first, room);
        size_t size_two = carom_world_save(two.world, second, room);
        cr_assert_eq(size_one, size_two, "%s tick %u", scene->name, tick);
        cr_assert_eq(memcmp(first, second, size_one), 0, "%s differs after tick %u", scene->name,
                     tick);
        cr_assert_eq(carom_world_hash(one.world), carom_world_hash(two.world));
        carom_world_stats stats;
        carom_world_stats_get(one.world, &stats);
        touching += stats.touching;
        // Back to the tick after the one rewound.
        cr_assert_eq(portable ? carom_world_decode(one.world, start, size)
                              : carom_world_restore(one.world, start, size),
                     CAROM_OK);
        advance(&one, scene, tick, 1);
    }
    cr_assert_gt(touching, scene->ticks);
    free(start);
    free(first);
    free(second);
    cm_rig_close(&one);
    cm_rig_close(&two);
}

Test(rollback, tipping_box)
{
    rewind_scene(cm_golden_find("tipping_box"), false);
}

Test(rollback, heavy_on_light)
{
    rewind_scene(cm_golden_find("heavy_on_light"), false);
}

Test(rollback, crowd)
{
    rewind_scene(cm_golden_find("crowd"), false);
}

Test(rollback, churn)
{
    rewind_scene(cm_golden_find("churn"), false);
}

Test(rollback, joints)
{
    rewind_scene(cm_golden_find("joints"), false);
}

Test(rollback, solids)
{
    rewind_scene(cm_golden_find("solids"), false);
}

Test(rollback, denormals)
{
    rewind_scene(cm_golden_find("denormals"), false);
}

Test(rollback, billiards)
{
    rewind_scene(cm_golden_find("billiards"), false);
}

Test(rollback, billiards_through_the_portable_form)
{
    rewind_scene(cm_golden_find("billiards"), true);
}

Test(rollback, circles)
{
    rewind_scene(cm_golden_find("circles"), false);
}

Test(rollback, circles_through_the_portable_form)
{
    rewind_scene(cm_golden_find("circles"), true);
}

Test(rollback, mechanism)
{
    rewind_scene(cm_golden_find("mechanism"), false);
}

Test(rollback, mechanism_through_the_portable_form)
{
    rewind_scene(cm_golden_find("mechanism"), true);
}

Test(rollback, touch)
{
    rewind_scene(cm_golden_find("touch"), false);
}

Test(rollback, touch_through_the_portable_form)
{
    rewind_scene(cm_golden_find("touch"), true);
}

Test(rollback, churn_through_the_portable_form)
{
    rewind_scene(cm_golden_find("churn"), true);
}

Test(rollback, joints_through_the_portable_form)
{
    rewind_scene(cm_golden_find("joints"), true);
}

Test(rollback, sleep_rewound_at_every_tick)
{
    rewind_scene(cm_golden_find("sleep"), false);
}

Test(rollback, sleep_rewound_through_the_portable_form)
{
    rewind_scene(cm_golden_find("sleep"), true);
}

// Likewise, only if bodies sleep and wake, in events that a rewind gives again.
Test(rollback, bodies_sleep_and_wake)
{
    const cm_golden_scene *scene = cm_golden_find("sleep");
    cm_rig rig = cm_golden_open(scene, 0);
    uint32_t sleeps = 0, wakes = 0, count;
    scene->build(&rig);
    for (uint32_t tick = 0; tick < scene->ticks; tick++) {
        advance(&rig, scene, tick, 1);
        const carom_sleep_event *events = carom_world_sleep_events(rig.world, &count);
        for (uint32_t i = 0; i < count; i++) {
            sleeps += events[i].asleep;
            wakes += !events[i].asleep;
        }
    }
    cr_assert_geq(wakes, 15, "%u", wakes);
    cr_assert_geq(sleeps, 30, "%u", sleeps);
    cm_rig_close(&rig);
}

// The scene is worth rewinding only if joints break and go in it.
Test(rollback, joints_break_and_go)
{
    const cm_golden_scene *scene = cm_golden_find("joints");
    cm_rig rig = cm_golden_open(scene, 0);
    carom_world_stats before, after;
    scene->build(&rig);
    carom_world_stats_get(rig.world, &before);
    advance(&rig, scene, 0, scene->ticks);
    carom_world_stats_get(rig.world, &after);
    cr_assert_eq(before.joints, 17);
    cr_assert_eq(after.joints_broken, 1);
    cr_assert_eq(after.joints, 14);
    cr_assert_eq(after.bodies_put_to_rest, 0);
    cm_rig_close(&rig);
}

// The scene of the smallest numbers holds numbers without a leading one for most of its life.
Test(rollback, denormals_are_reached)
{
    const cm_golden_scene *scene = cm_golden_find("denormals");
    cm_rig rig = cm_golden_open(scene, 0);
    uint32_t ticks = 0;
    scene->build(&rig);
    for (uint32_t tick = 0; tick < scene->ticks; tick++) {
        bool found = false;
        cm_rig_step(&rig, 1);
        for (uint32_t i = 1; i < rig.world->state.body_slots; i++) {
            const float *words = (const float *)&cm_motions(rig.world)[i];
            for (uint32_t k = 0; k < 13; k++) {
                uint32_t bits;
                memcpy(&bits, &words[k], sizeof bits);
                found = found || ((bits & 0x7f800000u) == 0 && (bits & 0x007fffffu) != 0);
            }
        }
        ticks += found;
    }
    cr_assert_gt(ticks, scene->ticks / 2, "%u", ticks);
    cm_rig_close(&rig);
}
