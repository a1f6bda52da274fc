// How inputs came: what is put in for a tick comes out for it, each player once, and counts add up.
#include <criterion/criterion.h>

#include "server/room/input_timing.h"

Test(input_timing, a_ring_of_ticks)
{
    cm_arrival out[CAROM_PLAYERS_MAX];
    cm_input_timing *timing = cm_input_timing_create(8);
    cm_input_timing_put(timing, 5, 10, -40000, true);
    cm_input_timing_put(timing, 2, 10, 17, false);
    cm_input_timing_put(timing, 5, 11, 99999, false);
    cr_assert_eq(cm_input_timing_of(timing, 10, out), 2);
    cr_assert_eq(out[0].player, 2);
    cr_assert_eq(out[0].lead, 17);
    cr_assert_not(out[0].rewound);
    cr_assert_eq(out[1].player, 5);
    cr_assert_eq(out[1].lead, INT16_MIN);
    cr_assert(out[1].rewound);
    cr_assert_eq(cm_input_timing_of(timing, 11, out), 1);
    cr_assert_eq(out[0].lead, INT16_MAX);
    cr_assert_eq(cm_input_timing_of(timing, 12, out), 0);
    cm_input_timing_put(timing, 2, 18, 1, false); // the slot of tick 10
    cr_assert_eq(cm_input_timing_of(timing, 10, out), 0);
    cr_assert_eq(cm_input_timing_of(timing, 18, out), 1);
    cm_input_timing_destroy(timing);
}

Test(input_timing, counts_of_a_player)
{
    cm_player_statistics out[CAROM_PLAYERS_MAX];
    cm_input_counts counts = {.known = 0};
    cr_assert_eq(cm_input_counts_list(&counts, out), 0);
    cm_input_counts_open(&counts, 7);
    cm_sink_input input = {.player = 7, .tick = 1, .verdict = CM_INPUT_ON_TIME};
    cm_input_counts_add(&counts, &input);
    input.verdict = CM_INPUT_LATE;
    input.cost = 4;
    cm_input_counts_add(&counts, &input);
    input.verdict = CM_INPUT_BUDGET;
    input.cost = 0;
    cm_input_counts_add(&counts, &input);
    cr_assert_eq(cm_input_counts_list(&counts, out), 1);
    cr_assert_eq(out[0].player, 7);
    cr_assert_eq(out[0].inputs, 2);
    cr_assert_eq(out[0].late, 1);
    cr_assert_eq(out[0].rewound_ticks, 4);
    cr_assert_eq(out[0].refused, 1);
    cm_input_counts_open(&counts, 7); // somebody else
    cr_assert_eq(cm_input_counts_list(&counts, out), 1);
    cr_assert_eq(out[0].inputs, 0);
}
