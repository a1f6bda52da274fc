// How inputs came: what is put in for a tick comes out for it, each player once, and counts add up.
#include <criterion/criterion.h>

#include "server/room/input_timing.h"

Test(arrivals, a_ring_of_ticks)
{
    cm_arrival out[CAROM_PLAYERS_MAX];
    cm_arrivals *arrivals = cm_arrivals_create(8);
    cm_arrivals_open(arrivals, 5);
    cm_arrivals_open(arrivals, 2);
    cm_arrivals_put(arrivals, 5, 10, -40000, true, 3);
    cm_arrivals_put(arrivals, 2, 10, 17, false, 0);
    cm_arrivals_put(arrivals, 5, 11, 99999, false, 0);
    cr_assert_eq(cm_arrivals_of(arrivals, 10, out), 2);
    cr_assert_eq(out[0].player, 2);
    cr_assert_eq(out[0].lead, 17);
    cr_assert_not(out[0].rewound);
    cr_assert_eq(out[1].player, 5);
    cr_assert_eq(out[1].lead, INT16_MIN);
    cr_assert(out[1].rewound);
    cr_assert_eq(cm_arrivals_of(arrivals, 11, out), 1);
    cr_assert_eq(out[0].lead, INT16_MAX);
    cr_assert_eq(cm_arrivals_of(arrivals, 12, out), 0);
    cm_arrivals_put(arrivals, 2, 18, 1, false, 0); // the slot of tick 10
    cr_assert_eq(cm_arrivals_of(arrivals, 10, out), 0);
    cr_assert_eq(cm_arrivals_of(arrivals, 18, out), 1);
    cm_arrivals_destroy(arrivals);
}

Test(arrivals, counts_of_a_player)
{
    cm_player_statistics out[CAROM_PLAYERS_MAX];
    cm_arrivals *arrivals = cm_arrivals_create(8);
    cr_assert_eq(cm_arrivals_statistics(arrivals, out), 0);
    cm_arrivals_open(arrivals, 7);
    cm_arrivals_put(arrivals, 7, 1, 3, false, 0);
    cm_arrivals_put(arrivals, 7, 2, -3, true, 4);
    cm_arrivals_refused(arrivals, 7);
    cr_assert_eq(cm_arrivals_statistics(arrivals, out), 1);
    cr_assert_eq(out[0].player, 7);
    cr_assert_eq(out[0].inputs, 2);
    cr_assert_eq(out[0].late, 1);
    cr_assert_eq(out[0].rewound_ticks, 4);
    cr_assert_eq(out[0].refused, 1);
    cm_arrivals_open(arrivals, 7); // somebody else
    cr_assert_eq(cm_arrivals_statistics(arrivals, out), 1);
    cr_assert_eq(out[0].inputs, 0);
    cm_arrivals_destroy(arrivals);
}
