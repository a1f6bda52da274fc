// Goal: a rewind leaves no trace. Method: every golden scene (contacts, bodies made and destroyed
// inside the rewound span) is rewound at every tick, see rewind.h. The other solvers and models:
// test_rollback_solvers.c.
#include "shared/sim/state/image.h"
#include "tests/unit/counts.h"
#include "tests/unit/sim/rewind.h"

#include <criterion/criterion.h>
#include <string.h>

static void rewind_golden(const char *name, bool portable)
{
    cm_golden_scene scene = *cm_golden_find(name);
    scene.ticks = test_count(scene.ticks / 2, scene.ticks);
    cr_assert_gt(cm_rewind_scene(&scene, portable).touching, scene.ticks);
}

Test(rollback, tipping_box)
{
    rewind_golden("tipping_box", false);
}

Test(rollback, heavy_on_light)
{
    rewind_golden("heavy_on_light", false);
}

Test(rollback, crowd)
{
    rewind_golden("crowd", false);
}

Test(rollback, churn)
{
    rewind_golden("churn", false);
}

Test(rollback, joints)
{
    rewind_golden("joints", false);
}

Test(rollback, solids)
{
    rewind_golden("solids", false);
}

Test(rollback, denormals)
{
    rewind_golden("denormals", false);
}

Test(rollback, billiards)
{
    rewind_golden("billiards", false);
}

Test(rollback, billiards_through_the_portable_form)
{
    rewind_golden("billiards", true);
}

Test(rollback, circles)
{
    rewind_golden("circles", false);
}

Test(rollback, circles_through_the_portable_form)
{
    rewind_golden("circles", true);
}

Test(rollback, mechanism)
{
    rewind_golden("mechanism", false);
}

Test(rollback, mechanism_through_the_portable_form)
{
    rewind_golden("mechanism", true);
}

Test(rollback, touch)
{
    rewind_golden("touch", false);
}

Test(rollback, touch_through_the_portable_form)
{
    rewind_golden("touch", true);
}

Test(rollback, churn_through_the_portable_form)
{
    rewind_golden("churn", true);
}

Test(rollback, joints_through_the_portable_form)
{
    rewind_golden("joints", true);
}

Test(rollback, sleep_rewound_at_every_tick)
{
    rewind_golden("sleep", false);
}

Test(rollback, sleep_rewound_through_the_portable_form)
{
    rewind_golden("sleep", true);
}

// Likewise, only if bodies sleep and wake, in events that a rewind gives again.
Test(rollback, bodies_sleep_and_wake)
{
    const cm_golden_scene *scene = cm_golden_find("sleep");
    cm_rig rig = cm_golden_open(scene, 0);
    uint32_t sleeps = 0, wakes = 0, count;
    scene->build(&rig);
    for (uint32_t tick = 0; tick < scene->ticks; tick++) {
        cm_rewind_advance(&rig, scene, tick, 1);
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
    cm_rewind_advance(&rig, scene, 0, scene->ticks);
    carom_world_stats_get(rig.world, &after);
    cr_assert_eq(before.joints, 17);
    cr_assert_eq(after.joints_broken, 1);
    cr_assert_eq(after.joints, 14);
    cr_assert_eq(after.log_counts[CAROM_LOG_BODY_PUT_TO_REST], 0);
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
