// Goal: what a player sees stays right where paths and other players make it hard. Method: the runs
// of `carom bench feel`, some seconds each, with the real worker and SDK in virtual time; limits
// are about twice what is measured, and a tenth of what it was before each was mended.
#include <criterion/criterion.h>

#include "tests/unit/tools/feel/feeling.h"

// An input that waited for a lost packet tells nothing of the path: the clock does not run ahead
// for seconds because the path was cut for a moment.
Test(client_feel, a_blackout_is_soon_forgotten)
{
    static const char *const paths[] = {"blackout250", "blackout2000"};
    for (uint32_t i = 0; i < 2; i++) {
        cm_feel_figures f = feeling("alone", paths[i], 1 + i, 20);
        cr_expect_lt(f.recovery_ms_max, 500.0, "%s: %.0f ms", paths[i], f.recovery_ms_max);
        cr_expect_gt(f.recovery_ms_max, 100.0, "%s: there was one", paths[i]);
        cr_expect_lt(f.lead_ticks, 4.0, "%s: %.1f ticks", paths[i], f.lead_ticks);
    }
}
