// Goal: a room whose ticks take too much of the others' time rests until the others have 59 of 60
// ticks again, and is what it was when its ticks are short again; one that is alone, or within its
// share, never rests; who can do better than to slow it is asked first. Method: the budget by hand;
// a worker in virtual time, with a module whose tick takes as long as the test says.
#include "server/node/tick_budget.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "server/node/worker.h"
#include "shared/net/net.h"
#include "tests/unit/node/rig.h"

#define STEP_US 1000u
#define SECOND  1000000u

Test(tick_budget, is_a_mean_of_ten_seconds)
{
    cm_tick_budget budget;
    cm_tick_budget_init(&budget, 50, 50); // 20 ms, of which it may take 10
    for (uint32_t second = 1; second <= 40; second++) {
        for (uint32_t i = 0; i < 50; i++) {
            bool long_one = second > 20 && i % 2 == 0;
            cm_tick_budget_spend(&budget, 0, long_one ? 30000 : 9000); // 19.5 ms in the mean
        }
        cm_tick_budget_second(&budget, SECOND);
        // From second 21 on 10.5 ms more, of which the mean sees a tenth with each second.
        cr_expect_eq(cm_tick_budget_is_over(&budget), second >= 21, "second %u: %u", second,
                     budget.mean_permille);
    }
    cr_expect_eq(budget.mean_permille, 975);
    cm_tick_budget_second(&budget, SECOND); // without a tick: nothing is known of it
    cr_expect_eq(budget.mean_permille, 975);
}

// Ten seconds' worth of it need not be waited for.
Test(tick_budget, a_gross_excess_is_seen_earlier)
{
    cm_tick_budget budget;
    cm_tick_budget_init(&budget, 50, 50);
    for (uint32_t second = 1; second <= 6; second++) {
        cm_tick_budget_spend(&budget, 0, 990000);
        cm_tick_budget_second(&budget, SECOND);
        cr_expect_eq(cm_tick_budget_is_over(&budget), second == 6, "%u", second);
    }
    cm_tick_budget_init(&budget, 50, 50);
    cm_tick_budget_spend(&budget, 0, 990000); // one hiccup is none
    for (uint32_t second = 1; second <= 30; second++) {
        for (uint32_t i = 0; i < 50; i++) {
            cm_tick_budget_spend(&budget, 0, 1000);
        }
        cm_tick_budget_second(&budget, SECOND);
        cr_expect_not(cm_tick_budget_is_over(&budget), "%u", second);
    }
}

// A worker that is held up counts fewer seconds, of more time.
Test(tick_budget, ten_seconds_are_ten_however_they_are_counted)
{
    cm_tick_budget budget;
    cm_tick_budget_init(&budget, 50, 50);
    for (uint32_t i = 1; i <= 20; i++) {
        cm_tick_budget_spend(&budget, 0, 11000); // too long, and so few that their sum is small
        cm_tick_budget_second(&budget, 3 * SECOND / 2);
        cr_expect_eq(cm_tick_budget_is_over(&budget), i >= 7, "%u", i);
    }
}

// A worker -----------------------------------------------------------------------------------

typedef struct house {
    cm_net *net;
    cm_config config;
    cm_scene *scene;
    cm_worker *worker;
    uint64_t spent_us, cost_us; // of all ticks; of one of the slow room
    uint32_t asked, slowed, freed;
    bool sees_to_it;
} house;

static house h;

static uint64_t spent_us(void *user)
{
    (void)user;
    return h.spent_us;
}

static void slow_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    (void)game;
    (void)inputs;
    (void)count;
    h.spent_us += h.cost_us;
}

static const carom_module slow = {
    .abi = CAROM_MODULE_ABI, .version = 1, .name = "slow", .input_size = 9, .tick = slow_tick};

static void keep_log(void *user, int level, const char *json_line)
{
    (void)user;
    (void)level;
    bool is_slow = strstr(json_line, "\"room\":\"slow\"") != NULL;
    h.slowed += is_slow && strstr(json_line, "\"room slowed\"") != NULL;
    h.freed += is_slow && strstr(json_line, "\"room no longer slowed\"") != NULL;
}

static bool over_budget(void *user, const char *name)
{
    (void)user;
    cr_expect_str_eq(name, "slow");
    h.asked++;
    return h.sees_to_it;
}

static void open_room(const char *name, const carom_module *module)
{
    char error[256] = "";
    cm_worker_room room = {.name = name, .scene = h.scene, .module = module};
    cr_assert_eq(cm_worker_open(h.worker, &room, error, sizeof error), CAROM_OK, "%s", error);
}

// Room 0 is the slow one, room 1 (if there is one) quick.
static void open_house(uint64_t cost_us, int64_t percent, bool others)
{
    memset(&h, 0, sizeof h);
    h.cost_us = cost_us;
    h.net = cm_net_virtual_create(5);
    cm_net_use(h.net);
    h.scene = rig_scene(1);
    cm_config_default(&h.config);
    h.config.insecure = true;
    h.config.tick_budget_percent = percent;
    cm_worker_def def = {.config = &h.config,
                         .seed = 3,
                         .random = cm_net_random,
                         .over_budget = over_budget,
                         .clock_us = spent_us,
                         .log = keep_log,
                         .now_us = cm_net_now_us(h.net)};
    char error[256] = "";
    cr_assert_eq(cm_worker_create(&def, &h.worker, error, sizeof error), CAROM_OK, "%s", error);
    open_room("slow", &slow);
    if (others) {
        open_room("quick", NULL);
    }
}

static void close_house(void)
{
    cm_worker_destroy(h.worker);
    cm_scene_free(h.scene);
    cm_net_destroy(h.net);
    cm_net_use(NULL);
}

static uint64_t tick_of(uint32_t room)
{
    return cm_room_tick(cm_hosted_room_room(cm_worker_room_at(h.worker, room)));
}

// What ticks take passes for everybody.
static void run(uint32_t seconds)
{
    static uint64_t seen;
    uint64_t end = cm_net_now_us(h.net) + seconds * UINT64_C(1000000);
    seen = h.spent_us;
    while (cm_net_now_us(h.net) < end) {
        cm_net_advance(h.net, STEP_US + (uint32_t)(h.spent_us - seen));
        seen = h.spent_us;
        cm_worker_run_once(h.worker, cm_net_now_us(h.net));
    }
}

static bool is_slowed(void)
{
    cm_hosted_room_stats stats;
    cm_hosted_room_counts_get(cm_worker_room_at(h.worker, 0), &stats);
    return stats.is_slowed;
}

// Just under what ends a worker: the room beside it had 10 ticks a second for as long as it ran.
Test(tick_budget, others_have_their_ticks_from_the_twelfth_second_on)
{
    open_house(980000, 50, true);
    run(12);
    cr_expect_gt(h.asked, 0);
    cr_expect_eq(h.slowed, 1);
    uint64_t quick = tick_of(1), own = tick_of(0);
    run(600);
    cr_expect_geq(tick_of(1) - quick, 59 * 600, "%u", (unsigned)(tick_of(1) - quick));
    cr_expect_geq(tick_of(0) - own, 7, "it goes on");
    cr_expect_leq(tick_of(0) - own, 10);
    cr_expect_eq(h.slowed, 1, "it is said once");
    h.cost_us = 100; // it is well again
    run(80);
    cr_expect_not(is_slowed());
    cr_expect_eq(h.freed, 1);
    own = tick_of(0);
    quick = tick_of(1);
    run(10);
    cr_expect_geq(tick_of(0) - own, 599);
    cr_expect_geq(tick_of(1) - quick, 599);
    close_house();
}

// What the others make good for takes none of their ticks: the room has its share.
Test(tick_budget, a_slow_room_has_its_share)
{
    open_house(50000, 50, true);
    run(12);
    cr_expect(is_slowed());
    uint64_t quick = tick_of(1), own = tick_of(0);
    run(60);
    cr_expect_geq(tick_of(1) - quick, 59 * 60);
    cr_expect_geq(tick_of(0) - own, 9 * 60, "ten a second are its half");
    cr_expect_leq(tick_of(0) - own, 10 * 60);
    close_house();
}

Test(tick_budget, who_harms_nobody_is_left_alone)
{
    static const struct {
        uint64_t cost_us;
        int64_t percent;
        bool others, over;
    } rooms[] = {{8000, 50, true, false},    {8800, 50, true, true},   {8800, 60, true, false},
                 {400000, 50, false, false}, {400000, 0, true, false}, {17500, 100, true, true}};
    for (uint32_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        open_house(rooms[i].cost_us, rooms[i].percent, rooms[i].others);
        run(30);
        cr_expect_eq(is_slowed(), rooms[i].over, "%u", i);
        cr_expect_eq(h.asked > 0, rooms[i].over, "%u", i);
        close_house();
    }
}

// It is asked for as long as it is over, and slowed when that is the answer.
Test(tick_budget, who_can_move_it_is_asked_first)
{
    open_house(30000, 50, true);
    h.sees_to_it = true;
    run(15);
    cr_expect_geq(h.asked, 5);
    cr_expect_not(is_slowed());
    cr_expect_eq(h.slowed, 0);
    cm_worker_slow(h.worker, "quick"); // which is not over
    cm_worker_slow(h.worker, "slow");
    cr_expect(is_slowed());
    cr_expect_eq(h.slowed, 1);
    cr_assert(cm_worker_close(h.worker, "quick")); // nobody is beside it any more
    run(3);
    cr_expect_not(is_slowed());
    close_house();
}
