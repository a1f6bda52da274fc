// See rewind.h.
#include "tests/unit/sim/rewind.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define SPAN 7u

void cm_rewind_advance(cm_rig *rig, const cm_golden_scene *scene, uint32_t tick, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        if (scene->drive != NULL) {
            scene->drive(rig->world, tick + i);
        }
        cm_rig_step(rig, 1);
    }
}

static void count_events(const carom_world *world, cm_rewind_count *count)
{
    uint32_t events;
    carom_world_stats stats;
    carom_world_stats_get(world, &stats);
    count->touching += stats.touching;
    count->dropped = stats.log_counts[CAROM_LOG_CONTACTS_CUT];
    count->joints_broken = stats.joints_broken;
    const carom_contact_event *contacts = carom_world_contact_events(world, &events);
    for (uint32_t i = 0; i < events; i++) {
        count->begins += contacts[i].begin;
        count->ends += !contacts[i].begin;
    }
    const carom_sleep_event *sleeps = carom_world_sleep_events(world, &events);
    for (uint32_t i = 0; i < events; i++) {
        count->sleeps += sleeps[i].asleep;
        count->wakes += !sleeps[i].asleep;
    }
}

static void put_back(carom_world *world, const uint8_t *start, size_t size, bool portable,
                     const char *name, uint32_t tick)
{
    carom_result result =
        portable ? carom_world_decode(world, start, size) : carom_world_restore(world, start, size);
    cr_assert_eq(result, CAROM_OK, "%s tick %u: %s", name, tick, carom_result_text(result));
}

cm_rewind_count cm_rewind_scene(const cm_golden_scene *scene, bool portable)
{
    cm_rig one = cm_golden_open(scene, 0), two = cm_golden_open(scene, 5);
    cm_rewind_count count = {0};
    two.rubbish = 1;
    scene->build(&one);
    size_t room = carom_world_save_bound(one.world) + carom_world_encode_size(one.world) * 8;
    uint8_t *start = malloc(room), *first = malloc(room), *second = malloc(room);
    for (uint32_t tick = 0; tick + SPAN <= scene->ticks; tick++) {
        size_t size = portable ? carom_world_encode(one.world, start, room)
                               : carom_world_save(one.world, start, room);
        cr_assert_gt(size, 0);
        put_back(two.world, start, size, portable, scene->name, tick);
        cm_rewind_advance(&one, scene, tick, SPAN);
        cm_rewind_advance(&two, scene, tick, SPAN);
        size_t size_one = carom_world_save(one.world, first, room);
        size_t size_two = carom_world_save(two.world, second, room);
        cr_assert_eq(size_one, size_two, "%s tick %u", scene->name, tick);
        cr_assert_eq(memcmp(first, second, size_one), 0, "%s differs after tick %u", scene->name,
                     tick);
        cr_assert_eq(carom_world_hash(one.world), carom_world_hash(two.world));
        // Back to the tick after the one rewound.
        put_back(one.world, start, size, portable, scene->name, tick);
        cm_rewind_advance(&one, scene, tick, 1);
        count_events(one.world, &count);
    }
    free(start);
    free(first);
    free(second);
    cm_rig_close(&one);
    cm_rig_close(&two);
    return count;
}
