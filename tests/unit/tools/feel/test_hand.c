// Goal: a hand that touches over a path feels what it would feel alone. Method: the hand of
// `carom bench hand` in virtual time, each path, against its own local run: force and torque, work
// over closed paths, a wall's stiffness; nothing of it by a clock: that no update does much is
// counted in steps.
#include "server/tools/feel/hand.h"

#include <criterion/criterion.h>
#include <string.h>

static cm_hand_figures hand(const char *path, bool sync_inputs)
{
    cm_config config;
    cm_config_default(&config);
    cm_hand_options options = {
        .path = cm_hand_paths, .config = &config, .seed = 1, .sync_inputs = sync_inputs};
    while (strcmp(options.path->name, path) != 0) {
        options.path++;
    }
    cm_hand_figures f;
    char error[256];
    cr_assert_eq(cm_hand_measure(&options, &f, error, sizeof error), CAROM_OK, "%s", error);
    return f;
}

static void check(const char *path, bool sync_inputs, double percent)
{
    cm_hand_figures f = hand(path, sync_inputs);
    cr_expect_leq(f.worst.force_p99_percent, percent, "%g", f.worst.force_p99_percent);
    cr_expect_leq(f.worst.force_rms_percent, percent, "%g", f.worst.force_rms_percent);
    cr_expect_leq(f.worst.torque_p99_percent, percent, "%g", f.worst.torque_p99_percent);
    cr_expect_gt(f.worst.peak_n, 50.0);
    for (uint32_t i = 0; i < CM_HAND_STROKES; i++) {
        cr_expect_gt(f.strokes[i].peak_n, 5.0, "stroke %u touches nothing", i);
        cr_expect_leq(f.strokes[i].work_j, 1.0e-4, "stroke %u: %g J", i, f.strokes[i].work_j);
    }
    cr_expect_float_eq(f.wall_alone_n_m, 250.0, 1.0, "%g", f.wall_alone_n_m);
    cr_expect_leq(f.wall_percent, 1.0, "%g", f.wall_percent);
    cr_expect_leq(f.wall_off_mm, 0.5, "%g", f.wall_off_mm);
    cr_expect_eq(f.local_percent, 100.0);
    cr_expect_leq(f.steps_max, 20, "%llu", (unsigned long long)f.steps_max);
    cr_expect_leq(f.late_percent, 0.1, "%g", f.late_percent);
}

Test(hand, perfect)
{
    check("perfect", false, 2.0);
}

Test(hand, at_5_ms)
{
    check("5ms", false, 5.0);
}

Test(hand, at_20_ms)
{
    check("20ms", false, 10.0);
}

Test(hand, at_20_ms_with_inputs)
{
    check("20ms", true, 10.0);
}
