// Goal: bodies are shown where they were at a past moment. Method: values put in by hand, poses
// asked for between, before and after them.
#include <criterion/criterion.h>
#include <stdlib.h>

#include "client-sdk/src/interp.h"
#include "shared/base/memory.h"

static const carom_body_id body = {2, 1};

static void add(cm_interp *interp, uint32_t tick, float x, bool at_rest)
{
    cm_view_pose pose = {.position = {x, 0, 0}, .orientation = {0, 0, 0, 1}, .at_rest = at_rest};
    cm_interp_add(interp, body, tick, &pose, 2.0);
}

static float at(const cm_interp *interp, double tick)
{
    carom_client_pose pose;
    cr_assert(cm_interp_pose(interp, body, tick, 60.0, &pose));
    return pose.position.x;
}

Test(client_interp, between_values_in_any_order)
{
    cm_interp interp;
    cr_assert(cm_interp_init(&interp, &cm_by_malloc, 4));
    carom_client_pose pose;
    cr_assert_not(cm_interp_pose(&interp, body, 5.0, 60.0, &pose));
    add(&interp, 10, 0.0f, false);
    add(&interp, 14, 2.0f, false);
    add(&interp, 12, 0.5f, false); // came late
    cr_assert_float_eq(at(&interp, 11.0), 0.25f, 1.0e-6f);
    cr_assert_float_eq(at(&interp, 13.0), 1.25f, 1.0e-6f);
    cr_assert_float_eq(at(&interp, 5.0), 0.0f, 1.0e-6f);
    // Beyond the newest value it goes on for a tenth of a second, no further.
    cr_assert_float_eq(at(&interp, 16.0), 3.5f, 1.0e-4f);
    cr_assert_float_eq(at(&interp, 200.0), 2.0f + 0.1f * 45.0f, 1.0e-3f);
    cm_interp_free(&interp);
}

Test(client_interp, a_body_at_rest_stays_until_one_view_before_it_moved)
{
    cm_interp interp;
    cr_assert(cm_interp_init(&interp, &cm_by_malloc, 4));
    add(&interp, 10, 1.0f, true);
    add(&interp, 100, 3.0f, false);
    cr_assert_float_eq(at(&interp, 50.0), 1.0f, 1.0e-6f);
    cr_assert_float_eq(at(&interp, 98.0), 1.0f, 1.0e-6f);
    cr_assert_float_eq(at(&interp, 99.0), 2.0f, 1.0e-6f);
    cm_interp_free(&interp);
}

Test(client_interp, another_body_in_the_slot_starts_anew)
{
    cm_interp interp;
    cr_assert(cm_interp_init(&interp, &cm_by_malloc, 4));
    for (uint32_t tick = 1; tick < 40; tick++) {
        add(&interp, tick, (float)tick, false);
    }
    cr_assert_float_eq(at(&interp, 38.5), 38.5f, 1.0e-5f);
    carom_body_id next = {2, 2};
    cm_view_pose pose = {.position = {-7, 0, 0}, .orientation = {0, 0, 0, 1}, .at_rest = true};
    cm_interp_add(&interp, next, 41, &pose, 2.0);
    carom_client_pose shown;
    cr_assert_not(cm_interp_pose(&interp, body, 40.0, 60.0, &shown));
    cr_assert(cm_interp_pose(&interp, next, 40.0, 60.0, &shown));
    cr_assert_eq(shown.position.x, -7.0f);
    cm_interp_free(&interp);
}

// A place that is farther than its speed explains is not drawn on the way; one that is as far, and
// explained, is; and nothing is known where only two values are and neither tells a velocity.
Test(client_interp, a_jump_is_not_drawn_on_the_way)
{
    cm_interp interp;
    cr_assert(cm_interp_init(&interp, &cm_by_malloc, 4));
    add(&interp, 10, 0.0f, true);
    add(&interp, 12, 8.0f, true);
    cr_assert_eq(at(&interp, 11.9), 0.0f);
    cr_assert_eq(at(&interp, 12.0), 8.0f);
    add(&interp, 14, 8.1f, false);
    add(&interp, 16, 20.0f, false); // and its velocity is not that of the jump
    cr_assert_float_eq(at(&interp, 13.0), 8.05f, 1.0e-5f);
    cr_assert_eq(at(&interp, 15.0), 8.1f);
    cr_assert_eq(at(&interp, 18.0), 20.0f);
    cm_interp_free(&interp);
    cr_assert(cm_interp_init(&interp, &cm_by_malloc, 4));
    for (uint32_t i = 0; i < 6; i++) { // 120 m/s
        add(&interp, 10 + 2 * i, 4.0f * (float)i, false);
        cr_assert_float_eq(at(&interp, 9.0 + 2 * i), i > 0 ? 4.0f * (float)i - 2.0f : 0.0f,
                           1.0e-4f);
    }
    interp.snap_m = 0.0f;
    add(&interp, 22, 27.0f, false); // 7 m instead of 4
    cr_assert_eq(at(&interp, 21.0), 20.0f);
    cm_interp_free(&interp);
}
