// Goal: a scene is refused at its third fault and not before, whatever else fails; what a worker
// was in the middle of is told by its match. Method: by hand.
#include <criterion/criterion.h>
#include <stdio.h>

#include "server/node/quarantine.h"
#include "server/node/crash_marker.h"
#include "shared/game/game_host.h"

Test(quarantine, refuses_at_the_third_fault)
{
    static cm_quarantine quarantine;
    for (uint32_t i = 1; i <= CM_QUARANTINE_FAULTS; i++) {
        cr_expect(!cm_quarantine_has(&quarantine, "bad"));
        cr_expect_eq(cm_quarantine_fault(&quarantine, "bad"), i);
    }
    cr_expect(cm_quarantine_has(&quarantine, "bad"));
    cr_expect(!cm_quarantine_has(&quarantine, "worse"));
    for (uint32_t i = 0; i < 3 * CM_QUARANTINE_SCENES; i++) {
        char scene[32];
        snprintf(scene, sizeof scene, "scene %u", i);
        cm_quarantine_fault(&quarantine, scene);
    }
    cr_expect_eq(quarantine.count, CM_QUARANTINE_SCENES);
    cr_expect(cm_quarantine_has(&quarantine, "bad"), "those with fewer faults are forgotten");
    cm_quarantine_add(&quarantine, "worse");
    cr_expect(cm_quarantine_has(&quarantine, "worse"));
}

Test(crash_marker, tell_whose_callback_it_was)
{
    uint32_t callback;
    int descriptor;
    cm_crash_marker *seen = cm_crash_marker_create(&descriptor);
    cr_assert_not_null(seen);
    cm_crash_marker *crash_marker = cm_crash_marker_open(descriptor); // as its process does
    cr_assert_not_null(crash_marker);
    uint32_t first = cm_crash_marker_read(crash_marker, "a", "one");
    uint32_t second = cm_crash_marker_read(crash_marker, "b", "two");
    cr_expect_null(cm_crash_marker_called(seen, &callback));
    crash_marker->mark = second | CM_CALLBACK_CONTACT;
    const cm_crash_marker_room *room = cm_crash_marker_called(seen, &callback);
    cr_expect_str_eq(room->name, "b");
    cr_expect_str_eq(room->scene, "two");
    cr_expect_str_eq(cm_game_callback_name((cm_game_callback)callback), "contact");
    cm_crash_marker_release(crash_marker, first);
    cr_expect_eq(cm_crash_marker_read(crash_marker, "c", "one"), first);
    uint32_t taken = 2;
    while (cm_crash_marker_read(crash_marker, "d", "one") != 0) {
        taken++;
    }
    cr_expect_eq(taken, CM_CRASH_MARKER_ROOMS);
    cm_crash_marker_destroy(crash_marker);
    cm_crash_marker_destroy(seen);
}
