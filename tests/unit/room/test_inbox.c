// Goal: the first input for a tick and player wins; late, early and repeated ones are told apart;
// what a late one costs is what it adds to the rewind that is already due. Method: an inbox with a
// real game for what is held, tick by tick.
#include "shared/room/inbox.h"

#include <criterion/criterion.h>
#include <string.h>

#include "shared/base/memory.h"
#include "tests/unit/node/rig.h"

#define PAST   8u
#define FUTURE 60u

typedef struct bench {
    cm_scene *scene;
    carom_game *game;
    cm_inbox *inbox;
    uint64_t tick;
} bench;

static void step(bench *b)
{
    carom_player_input inputs[CAROM_PLAYERS_MAX];
    b->tick++;
    uint32_t count = cm_inbox_gather(b->inbox, b->tick, b->game, 0, inputs);
    cm_tick_input input = {NULL, 0, inputs, count};
    cm_game_tick(b->game, &input);
    cm_inbox_stepped(b->inbox, b->tick, b->game);
}

// Player 0 joined with tick 1; the game is at tick 20.
static void open_bench(bench *b)
{
    memset(b, 0, sizeof *b);
    b->scene = rig_scene(2);
    cr_assert_eq(cm_game_create(b->scene, &carom_module_sandbox, 1, NULL, &b->game), CAROM_OK);
    b->inbox = cm_inbox_create(&cm_by_malloc, PAST, FUTURE, RIG_INPUT_SIZE);
    cm_game_event join = {CM_EVENT_JOIN, 0, 7, NULL, 0};
    cm_tick_input input = {&join, 1, NULL, 0};
    cm_game_tick(b->game, &input);
    b->tick = 1;
    cm_inbox_open(b->inbox, 0, 1);
    while (b->tick < 20) {
        step(b);
    }
}

static void close_bench(bench *b)
{
    cm_inbox_destroy(b->inbox);
    cm_game_destroy(b->game);
    cm_scene_free(b->scene);
}

static cm_input_verdict offer(bench *b, uint64_t tick, float x, uint32_t *cost)
{
    uint8_t bytes[CAROM_INPUT_MAX];
    rig_input(bytes, x, 0, 0);
    cm_input_verdict verdict =
        cm_inbox_check(b->inbox, b->tick, b->tick - PAST, 0, tick, bytes, cost);
    if (verdict <= CM_INPUT_LATE) {
        cm_inbox_put(b->inbox, b->tick, 0, tick, bytes);
    }
    return verdict;
}

Test(inbox, verdicts)
{
    bench b;
    open_bench(&b);
    uint32_t cost = 9;
    cr_assert_eq(offer(&b, 21, 1, &cost), CM_INPUT_ON_TIME);
    cr_assert_eq(cost, 0);
    cr_assert_eq(offer(&b, 21, 0.5f, &cost), CM_INPUT_DUPLICATE, "the first one wins");
    cr_assert_eq(offer(&b, 20 + FUTURE, 1, &cost), CM_INPUT_ON_TIME);
    cr_assert_eq(offer(&b, 21 + FUTURE, 1, &cost), CM_INPUT_TOO_FAR);
    cr_assert_eq(offer(&b, UINT64_MAX, 1, &cost), CM_INPUT_TOO_FAR);
    cr_assert_eq(offer(&b, 12, 1, &cost), CM_INPUT_TOO_OLD, "12 is confirmed");
    cr_assert_eq(offer(&b, 0, 1, &cost), CM_INPUT_TOO_OLD);
    cr_assert_eq(cm_inbox_earliest_late(b.inbox), CM_NO_TICK);
    close_bench(&b);
}

Test(inbox, a_late_input_costs_what_it_adds)
{
    bench b;
    open_bench(&b);
    uint32_t cost = 0;
    cr_assert_eq(offer(&b, 18, 1, &cost), CM_INPUT_LATE);
    cr_assert_eq(cost, 3, "18, 19 and 20 are stepped again");
    cr_assert_eq(offer(&b, 19, 0.5f, &cost), CM_INPUT_LATE);
    cr_assert_eq(cost, 0, "that is due already");
    cr_assert_eq(offer(&b, 14, 1, &cost), CM_INPUT_LATE);
    cr_assert_eq(cost, 4);
    cr_assert_eq(cm_inbox_earliest_late(b.inbox), 14);
    cr_assert_eq(cm_inbox_pop_late(b.inbox), 14);
    cr_assert_eq(cm_inbox_earliest_late(b.inbox), CM_NO_TICK);
    close_bench(&b);
}

Test(inbox, a_late_input_equal_to_the_held_one_needs_no_rewind)
{
    bench b;
    open_bench(&b);
    uint32_t cost = 9;
    cr_assert_eq(offer(&b, 18, 0, &cost), CM_INPUT_LATE_EQUAL, "zeros were held");
    cr_assert_eq(cost, 0);
    cr_assert_eq(cm_inbox_earliest_late(b.inbox), CM_NO_TICK);
    cr_assert_eq(offer(&b, 18, 1, &cost), CM_INPUT_DUPLICATE, "it has come all the same");
    close_bench(&b);
}

Test(inbox, only_changes_are_gathered)
{
    bench b;
    open_bench(&b);
    uint32_t cost;
    carom_player_input inputs[CAROM_PLAYERS_MAX];
    offer(&b, 21, 1, &cost);
    offer(&b, 22, 1, &cost);
    offer(&b, 23, 0, &cost);
    cr_assert_eq(cm_inbox_gather(b.inbox, 21, b.game, 0, inputs), 1);
    cr_assert_eq(cm_inbox_gather(b.inbox, 21, b.game, 1, inputs), 0, "the player leaves");
    step(&b);
    cr_assert_eq(cm_inbox_gather(b.inbox, 22, b.game, 0, inputs), 0);
    step(&b);
    cr_assert_eq(cm_inbox_gather(b.inbox, 23, b.game, 0, inputs), 1);
    close_bench(&b);
}

Test(inbox, settled_goes_up_to_the_first_gap)
{
    bench b;
    open_bench(&b);
    uint32_t cost;
    uint64_t confirmed = b.tick - PAST;
    cr_assert_eq(cm_inbox_settled(b.inbox, 0, confirmed), confirmed);
    offer(&b, confirmed + 1, 0, &cost);
    offer(&b, confirmed + 2, 0, &cost);
    offer(&b, confirmed + 4, 0, &cost);
    cr_assert_eq(cm_inbox_settled(b.inbox, 0, confirmed), confirmed + 2);
    cr_assert_eq(cm_inbox_settled(b.inbox, 0, confirmed + 3), confirmed + 4);
    close_bench(&b);
}

Test(inbox, a_new_player_of_a_slot_gets_nothing_of_the_old_one)
{
    bench b;
    open_bench(&b);
    uint32_t cost;
    carom_player_input inputs[CAROM_PLAYERS_MAX];
    offer(&b, 25, 1, &cost);
    cm_inbox_close(b.inbox, 0, b.tick);
    cr_assert_eq(offer(&b, 26, 1, &cost), CM_INPUT_TOO_OLD, "nobody is there");
    cm_inbox_open(b.inbox, 0, 21);
    cr_assert_eq(offer(&b, 21, 1, &cost), CM_INPUT_TOO_OLD, "the tick of its join");
    while (b.tick < 24) {
        step(&b);
    }
    cr_assert_eq(cm_inbox_gather(b.inbox, 25, b.game, 0, inputs), 0);
    close_bench(&b);
}
