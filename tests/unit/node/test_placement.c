// Goal: rooms go to whoever has the most free, nobody takes one above its limit; a worker that
// crashes often is started ever later, and at once again after a quiet time; where rooms are is
// known by name. Method: the pure parts of the supervisor, by hand.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "server/node/room_directory.h"
#include "server/node/placement.h"
#include "server/supervisor/respawn.h"

Test(placement, goes_to_the_freest)
{
    cm_worker_load loads[3] = {{.permille = 300, .measured = 2, .rooms = 2, .rooms_max = 8},
                               {.permille = 200, .measured = 1, .rooms = 1, .rooms_max = 8},
                               {.permille = 200, .measured = 1, .rooms = 1, .rooms_max = 8}};
    cr_expect_eq(cm_placement_choose(loads, 3), 1, "the first of equals");
    loads[1].rooms += 1; // one that has not been measured
    cr_expect_eq(cm_placement_choose(loads, 3), 2);
    loads[2].closed = true;
    cr_expect_eq(cm_placement_choose(loads, 3), 1);
    cm_worker_load fresh[3] = {{.rooms = 2, .measured = 2, .rooms_max = 8},
                               {.rooms = 1, .measured = 1, .rooms_max = 8},
                               {.rooms = 1, .measured = 1, .rooms_max = 8}};
    cr_expect_eq(cm_placement_choose(fresh, 3), 1, "of equals that with the fewest rooms");
    loads[1].rooms = 8;
    cr_expect_eq(cm_placement_choose(loads, 3), 0, "as many as it takes");
}

Test(placement, refuses_above_its_budget)
{
    cm_worker_load load = {
        .permille = CM_PLACEMENT_MOST - 1, .measured = 1, .rooms = 1, .rooms_max = 8};
    cr_expect_eq(cm_placement_choose(&load, 1), 0);
    load.permille++;
    cr_expect_eq(cm_placement_choose(&load, 1), CM_PLACEMENT_NONE);
    load = (cm_worker_load){.rooms_max = 256};
    uint32_t taken = 0;
    for (; cm_placement_choose(&load, 1) == 0; taken++) {
        load.rooms++;
    }
    cr_expect_eq(taken, CM_PLACEMENT_MOST / CM_PLACEMENT_GUESS, "before any was measured");
}

// How long it waits after a crash.
static uint64_t pause_at(cm_respawn *respawn, uint64_t now)
{
    return cm_respawn_crashed(respawn, now) - now;
}

Test(respawn, pauses_from_the_third_crash_on)
{
    cm_respawn respawn = {0};
    uint64_t now = 1000000, pause = 0;
    cr_expect_eq(pause_at(&respawn, now), 0);
    cr_expect_eq(pause_at(&respawn, now + 1000000), 0);
    cr_expect_eq(pause_at(&respawn, now + 2000000), CM_RESPAWN_FIRST_US);
    cr_expect_eq(pause_at(&respawn, now + 3000000), 2 * CM_RESPAWN_FIRST_US);
    now += 3000000;
    for (int i = 0; i < 20; i++) {
        now += pause + 1;
        pause = pause_at(&respawn, now);
    }
    cr_expect_eq(pause, CM_RESPAWN_MOST_US);
    now += pause + CM_RESPAWN_WINDOW_US;
    cr_expect_eq(pause_at(&respawn, now), 0, "forgotten");
    cr_expect_eq(pause_at(&respawn, now + 1), 0);
    cr_expect_gt(pause_at(&respawn, now + 2), 0);
}

// The calm begins when the worker is back, not when it died: one that lives for a moment after each
// pause would else start at once again.
Test(respawn, a_pause_is_no_calm)
{
    for (uint64_t calm = CM_RESPAWN_WINDOW_US - 1; calm <= CM_RESPAWN_WINDOW_US; calm++) {
        cm_respawn respawn = {0};
        uint64_t now = 1000000, pause = 0;
        for (int i = 0; i < 10; i++) {
            now += pause;
            pause = pause_at(&respawn, now);
        }
        cr_assert_eq(pause, CM_RESPAWN_MOST_US);
        now += pause + calm;
        cr_expect_eq(pause_at(&respawn, now), calm < CM_RESPAWN_WINDOW_US ? CM_RESPAWN_MOST_US : 0);
    }
}

Test(respawn, forgets_crashes_far_apart)
{
    cm_respawn respawn = {0};
    for (uint64_t now = 1; now < 100 * CM_RESPAWN_WINDOW_US; now += CM_RESPAWN_WINDOW_US / 2 + 1) {
        cr_expect_eq(cm_respawn_crashed(&respawn, now), now);
    }
}

Test(directory, are_found_by_name)
{
    cm_room_directory directory = {0};
    cm_directory_entry entry = {0};
    for (uint32_t i = 0; i < 40; i++) {
        snprintf(entry.room.name, sizeof entry.room.name, "room%u", i);
        entry.room.port = (uint16_t)(1000 + i);
        entry.room.is_default = i == 7;
        cr_assert(cm_room_directory_put(&directory, &entry));
    }
    cr_expect_eq(cm_room_directory_find(&directory, "room39")->room.port, 1039);
    cr_expect_null(cm_room_directory_find(&directory, "room40"));
    cr_expect_str_eq(cm_room_directory_default(&directory)->room.name, "room7");
    entry.room.port = 5; // room39, elsewhere now
    cr_assert(cm_room_directory_put(&directory, &entry));
    cr_expect_eq(directory.count, 40);
    cr_expect_eq(cm_room_directory_find(&directory, "room39")->room.port, 5);
    cm_room_directory_remove(&directory, "room7");
    cr_expect_null(cm_room_directory_default(&directory));
    cr_expect_eq(directory.count, 39);
    cm_room_directory_free(&directory);
}
