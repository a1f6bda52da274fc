// Goal: a worker has many rooms: who asks for one by name comes into it, each is what it would be
// alone and is recorded by itself, a room can be closed while the others go on, one that is too
// slow takes no tick of the others, and names that are wrong, full or gone have their reasons.
// Method: a worker on the virtual net with SDK clients; a clock to measure with that makes one room
// slow.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "carom/client.h"

#include "client-sdk/src/state.h"
#include "server/node/worker.h"
#include "shared/net/net.h"
#include "tests/unit/node/rig.h"

#define PORT    9430
#define STEP_US 4000u
#define CLIENTS 6u

typedef struct house {
    cm_net *net;
    cm_config config;
    cm_scene *scenes[3];
    cm_worker *worker;
    carom_client *clients[CLIENTS];
    uint64_t clock_us; // that ticks are measured with
    uint32_t asked;    // for a room that is not there
    uint32_t slowed;   // lines of the log that say that room "slow" is slow
    uint32_t others;   // and of other rooms
    uint32_t ends;     // lines about who left an ended match,
    uint32_t alarms;   // those of them that are warnings
} house;

static house h;

static uint64_t measured_us(void *user)
{
    (void)user;
    return h.clock_us;
}

static void keep_log(void *user, int level, const char *json_line)
{
    (void)user;
    if (level == (int)CM_LOG_WARNING && strstr(json_line, "\"room clock\"") != NULL) {
        h.slowed += strstr(json_line, "\"room\":\"slow\"") != NULL;
        h.others += strstr(json_line, "\"room\":\"slow\"") == NULL;
    }
    h.ends += strstr(json_line, "\"the match is over\"") != NULL;
    h.alarms += level == (int)CM_LOG_WARNING && strstr(json_line, "\"the match is over\"") != NULL;
}

// A module whose tick takes 50 ms of that clock.
static void slow_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    (void)game;
    (void)inputs;
    (void)count;
    h.clock_us += 50000;
}

static const carom_module slow = {
    .abi = CAROM_MODULE_ABI, .version = 1, .name = "slow", .input_size = 9, .tick = slow_tick};

static void open_room(const char *name, uint32_t scene, const carom_module *module,
                      uint32_t max_players)
{
    cm_worker_room room = {
        .name = name, .scene = h.scenes[scene], .module = module, .spec.max_players = max_players};
    char error[256] = "";
    cr_assert_eq(cm_worker_open(h.worker, &room, error, sizeof error), CAROM_OK, "%s", error);
}

// As an operator may allow it: three rooms, which close after two empty seconds.
static bool open_for_players(void *user, const char *name)
{
    (void)user;
    char error[256];
    cm_worker_room room = {
        .name = name, .scene = h.scenes[1], .spec = {.max_players = 2, .empty_s = 2}};
    h.asked++;
    return cm_worker_room_at(h.worker, 2) == NULL &&
           cm_worker_open(h.worker, &room, error, sizeof error) == CAROM_OK;
}

static void close_over(void)
{
    for (const char *over; (over = cm_worker_over(h.worker)) != NULL;) {
        cr_assert(cm_worker_close(h.worker, over));
    }
}

// Ends when somebody jumps, and says so before.
static void match_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (inputs[i].bytes[8] != 0) {
            carom_game_send(game, inputs[i].player, "over", 4);
            carom_game_close(game);
        }
    }
}

static const carom_module match = {
    .abi = CAROM_MODULE_ABI, .version = 1, .name = "match", .input_size = 9, .tick = match_tick};

static void make_house(bool for_players)
{
    memset(&h, 0, sizeof h);
    h.net = cm_net_virtual_create(11);
    cm_net_use(h.net);
    for (uint32_t i = 0; i < 3; i++) {
        h.scenes[i] = rig_scene(i + 1);
    }
    cm_config_default(&h.config);
    snprintf(h.config.listen, sizeof h.config.listen, "127.0.0.1:%u", PORT);
    h.config.insecure = true;
    h.config.max_clients = 16;
    h.config.tick_budget_percent = 0; // test_tick_budget.c has those with one
    cm_worker_def def = {.config = &h.config,
                         .seed = 3,
                         .open_room = for_players ? open_for_players : NULL,
                         .random = cm_net_random,
                         .clock_us = measured_us,
                         .log = keep_log,
                         .now_us = cm_net_now_us(h.net)};
    char error[256] = "";
    cr_assert_eq(cm_worker_create(&def, &h.worker, error, sizeof error), CAROM_OK, "%s", error);
}

static void open_house(void)
{
    make_house(false);
}

static void open_to_players(void)
{
    make_house(true);
}

static void close_house(void)
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        carom_client_destroy(h.clients[i]);
    }
    cm_worker_destroy(h.worker);
    for (uint32_t i = 0; i < 3; i++) {
        cm_scene_free(h.scenes[i]);
    }
    cm_net_use(NULL);
    cm_net_destroy(h.net);
}

static void dial_with(uint32_t number, const char *room, const carom_module *module)
{
    carom_client_def def = carom_default_client_def();
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    def.room = room;
    def.module = module;
    cr_assert_eq(carom_client_create(&def, &h.clients[number]), CAROM_OK);
    cr_assert_eq(carom_client_connect(h.clients[number], "127.0.0.1", PORT, cm_net_now_us(h.net)),
                 CAROM_OK);
}

static void dial(uint32_t number, const char *room)
{
    dial_with(number, room, NULL);
}

static void run(double seconds)
{
    for (double at = 0.0; at < seconds; at += 1e-6 * STEP_US) {
        cm_net_advance(h.net, STEP_US);
        cm_worker_run_once(h.worker, cm_net_now_us(h.net));
        for (uint32_t i = 0; i < CLIENTS; i++) {
            if (h.clients[i] != NULL) {
                carom_client_update(h.clients[i], cm_net_now_us(h.net));
            }
        }
    }
}

static uint32_t bodies_of(uint32_t number)
{
    uint32_t count = 0;
    const carom_world *world = carom_client_world(h.clients[number]);
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        count += !carom_body_id_is_null(carom_world_body_at(world, slot));
    }
    return count;
}

static carom_client_state state_of(uint32_t number)
{
    return carom_client_get_state(h.clients[number]);
}

Test(many_rooms, names_lead_where_they_say, .init = open_house, .fini = close_house)
{
    open_room("one", 0, NULL, 0);
    open_room("nine", 2, NULL, 2);
    dial(0, NULL);
    dial(1, "one");
    dial(2, "nine");
    dial(3, "two");
    dial(4, "nine");
    run(2.0);
    dial(5, "nine"); // the third
    run(2.0);
    cr_expect_eq(state_of(0), CAROM_CLIENT_PLAYING);
    cr_expect_eq(bodies_of(0), 1 + 1 + 2, "ground, cube, two players");
    cr_expect_eq(bodies_of(1), bodies_of(0));
    cr_expect_eq(bodies_of(2), 1 + 9 + 2);
    cr_expect_eq(carom_client_get_reason(h.clients[3]), CAROM_REASON_ROOM_UNKNOWN);
    cr_expect_eq(carom_client_get_reason(h.clients[5]), CAROM_REASON_ROOM_FULL);
    cm_worker_stats all, one;
    cm_worker_stats_get(h.worker, &all);
    cm_worker_room_stats_get(h.worker, 1, &one);
    cr_expect_eq(all.rooms, 2);
    cr_expect_eq(all.players, 4);
    cr_expect_eq(one.players, 2);
    cr_expect_gt(all.views, one.views);
}

// Inputs that come too late are refused in the room of who sent them, and what goes out is counted
// where it goes.
Test(many_rooms, each_has_its_own_numbers, .init = open_house, .fini = close_house)
{
    open_room("late", 0, NULL, 0);
    open_room("good", 1, NULL, 0);
    open_room("empty", 2, NULL, 0);
    dial(0, "late");
    uint16_t port = cm_net_last_port(h.net);
    dial(1, "good");
    run(2.0);
    for (uint32_t i = 0; i < 40; i++) { // of what rests there are few views, and few inputs
        uint8_t input[CAROM_INPUT_MAX];
        rig_input(input, i % 2 ? 1.0f : -1.0f, 0.0f, 0);
        cr_assert_eq(carom_client_set_input(h.clients[0], input, RIG_INPUT_SIZE), CAROM_OK);
        run(0.1);
        if (i == 20) {
            cm_net_link_port(h.net, port, &(cm_link_def){.latency_us = 400000});
        }
    }
    cm_worker_stats all, rooms[3];
    cm_worker_stats_get(h.worker, &all);
    for (uint32_t i = 0; i < 3; i++) {
        cm_worker_room_stats_get(h.worker, i, &rooms[i]);
    }
    cr_expect_gt(all.refused_inputs, 0);
    cr_expect_eq(rooms[0].refused_inputs, all.refused_inputs);
    cr_expect_eq(rooms[1].refused_inputs, 0);
    cr_expect_gt(rooms[1].kbit_per_client, 0.0);
    cr_expect_eq(rooms[2].kbit_per_client, 0.0);
}

// What an operator is told of a path: the share of view packets that does not arrive.
Test(many_rooms, a_lossy_path_is_seen, .init = open_house, .fini = close_house)
{
    uint8_t input[CAROM_INPUT_MAX];
    open_room("one", 2, NULL, 0);
    dial(0, NULL);
    uint16_t lossy = cm_net_last_port(h.net);
    dial(1, NULL);
    run(1.5);
    cm_net_link_port(h.net, lossy, &(cm_link_def){.latency_us = 40000, .loss = 0.2f});
    for (uint32_t second = 0; second < 20; second++) {
        rig_input(input, second % 2 == 0 ? 1.0f : -1.0f, 0.0f, 0);
        cr_assert_eq(carom_client_set_input(h.clients[1], input, RIG_INPUT_SIZE), CAROM_OK);
        run(1.0);
    }
    cm_hosted_player players[2];
    cr_assert_eq(cm_hosted_room_players(cm_worker_room_at(h.worker, 0), players, 2), 2);
    cr_expect_gt(players[0].loss, 0.1f, "%g", (double)players[0].loss);
    cr_expect_lt(players[0].loss, 0.3f, "%g", (double)players[0].loss);
    cr_expect_lt(players[1].loss, 0.03f, "%g", (double)players[1].loss);
}

// No name is the first room that there was, and no other one in its place.
Test(many_rooms, no_name_is_the_default_room_while_it_is_there, .init = open_house,
     .fini = close_house)
{
    open_room("first", 0, NULL, 0);
    open_room("second", 1, NULL, 0);
    cr_assert(cm_worker_close(h.worker, "first"));
    dial(0, NULL);
    run(1.0);
    cr_expect_eq(carom_client_get_reason(h.clients[0]), CAROM_REASON_ROOM_UNKNOWN);
    open_room("first", 2, NULL, 0);
    dial(1, NULL);
    run(1.0);
    cr_expect_eq(state_of(1), CAROM_CLIENT_PLAYING);
    cr_expect_eq(bodies_of(1), 1 + 9 + 1);
}

Test(many_rooms, one_closes_and_the_others_go_on, .init = open_house, .fini = close_house)
{
    open_room("left", 0, NULL, 0);
    open_room("right", 1, NULL, 0);
    dial(0, "left");
    dial(1, "right");
    run(1.0);
    cr_assert_eq(state_of(0), CAROM_CLIENT_PLAYING);
    cr_assert(cm_worker_close(h.worker, "left"));
    cr_expect_not(cm_worker_close(h.worker, "left"));
    cr_expect_null(cm_worker_room_at(h.worker, 1));
    run(1.0);
    cr_expect_eq(state_of(0), CAROM_CLIENT_IDLE);
    cr_expect_eq(carom_client_get_reason(h.clients[0]), CAROM_REASON_ROOM_ENDED);
    cr_expect_eq(state_of(1), CAROM_CLIENT_PLAYING);
    dial(2, "left");
    run(1.0);
    cr_expect_eq(carom_client_get_reason(h.clients[2]), CAROM_REASON_ROOM_UNKNOWN);
    open_room("left", 2, NULL, 0); // the name is free, the clock began long ago
    dial(3, "left");
    run(1.0);
    cr_expect_eq(state_of(3), CAROM_CLIENT_PLAYING);
    cr_expect_eq(bodies_of(3), 1 + 9 + 1);
    cm_worker_stats stats;
    cm_worker_room_stats_get(h.worker, 1, &stats);
    cr_expect_geq(stats.tick, 58);
    cr_expect_leq(stats.tick, 61);
    cr_expect_eq(stats.ticks_behind, 0);
}

// Two who name the same one meet in it; it closes when it was empty for long enough, not before,
// and may be opened again; names that cannot be one are refused without a question.
Test(many_rooms, players_open_rooms_by_name, .init = open_to_players, .fini = close_house)
{
    open_room("lobby", 0, NULL, 0);
    dial(0, "duel-1");
    dial(1, "duel-1");
    dial(2, "a b");
    run(1.5);
    cr_expect_eq(state_of(0), CAROM_CLIENT_PLAYING);
    cr_expect_eq(state_of(1), CAROM_CLIENT_PLAYING);
    cr_expect_eq(bodies_of(0), 1 + 4 + 2);
    cr_expect_eq(h.asked, 1);
    cr_expect_eq(carom_client_get_reason(h.clients[2]), CAROM_REASON_ROOM_UNKNOWN);
    dial(3, "duel-1");
    dial(4, "duel-2");
    dial(5, "duel-3"); // one more than there may be
    run(1.5);
    cr_expect_eq(carom_client_get_reason(h.clients[3]), CAROM_REASON_ROOM_FULL);
    cr_expect_eq(state_of(4), CAROM_CLIENT_PLAYING);
    cr_expect_eq(carom_client_get_reason(h.clients[5]), CAROM_REASON_SERVER_FULL);
    carom_client_disconnect(h.clients[4], cm_net_now_us(h.net));
    run(1.5);
    cr_expect_null(cm_worker_over(h.worker), "two seconds, not one and a half");
    run(1.0);
    cr_expect_str_eq(cm_worker_over(h.worker), "duel-2");
    close_over();
    cr_expect_null(cm_worker_room_at(h.worker, 2));
    cr_expect_eq(state_of(0), CAROM_CLIENT_PLAYING);
    for (uint32_t i = 3; i < 5; i++) {
        carom_client_destroy(h.clients[i]);
        h.clients[i] = NULL;
    }
    dial(3, "duel-2");
    run(1.5);
    cr_expect_eq(state_of(3), CAROM_CLIENT_PLAYING);
    cr_expect_eq(h.asked, 4);
}

// The first room is where players who name none come, but for rooms of players.
Test(many_rooms, a_room_of_players_is_no_default, .init = open_to_players, .fini = close_house)
{
    dial(0, "duel");
    run(1.5);
    cr_expect_eq(state_of(0), CAROM_CLIENT_PLAYING);
    dial(1, NULL);
    run(1.0);
    cr_expect_eq(carom_client_get_reason(h.clients[1]), CAROM_REASON_ROOM_UNKNOWN);
}

static uint32_t heard;

static void hear(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size)
{
    (void)user;
    (void)tick;
    (void)bytes;
    heard += size == 4;
}

// By its module, in a tick that is settled: no later one begins, and its last word arrives.
Test(many_rooms, a_module_ends_its_match, .init = open_house, .fini = close_house)
{
    uint8_t input[CAROM_INPUT_MAX];
    carom_client_def def = carom_default_client_def();
    open_room("match", 0, &match, 0);
    open_room("other", 1, NULL, 0);
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    def.room = "match";
    def.module = &match;
    def.message = hear;
    def.reconnect = false;
    cr_assert_eq(carom_client_create(&def, &h.clients[0]), CAROM_OK);
    cr_assert_eq(carom_client_connect(h.clients[0], "127.0.0.1", PORT, cm_net_now_us(h.net)),
                 CAROM_OK);
    run(1.0);
    cr_assert_eq(state_of(0), CAROM_CLIENT_PLAYING);
    cr_assert_null(cm_worker_over(h.worker));
    rig_input(input, 0.0f, 0.0f, 1);
    cr_assert_eq(carom_client_set_input(h.clients[0], input, RIG_INPUT_SIZE), CAROM_OK);
    heard = 0;
    for (uint32_t i = 0; i < 200 && cm_worker_over(h.worker) == NULL; i++) {
        run(1e-6 * STEP_US);
    }
    cr_assert_str_eq(cm_worker_over(h.worker), "match");
    uint64_t tick = cm_room_tick(cm_hosted_room_room(cm_worker_room_at(h.worker, 0)));
    dial(1, "match");
    run(0.5);
    cr_expect_eq(carom_client_get_reason(h.clients[1]), CAROM_REASON_ROOM_ENDED);
    cr_expect_eq(cm_room_tick(cm_hosted_room_room(cm_worker_room_at(h.worker, 0))), tick);
    close_over();
    run(0.5);
    cr_expect_geq(heard, 1, "and of ticks that were made before it was settled");
    cr_expect_leq(heard, 10);
    cr_expect_eq(state_of(0), CAROM_CLIENT_IDLE);
    cr_expect_eq(carom_client_get_reason(h.clients[0]), CAROM_REASON_ROOM_ENDED);
    cr_expect_geq(h.ends, 1);
    cr_expect_eq(h.alarms, 0, "a match's end is no fault");
    cr_expect_eq(cm_worker_room_at(h.worker, 1), NULL);
}

Test(many_rooms, a_room_that_cannot_be_opened_leaves_nothing, .init = open_house,
     .fini = close_house)
{
    char error[256] = "", name[64];
    static const char *const bad[] = {"a b", "a,b", "n2345678901234567890123456789012"};
    cm_worker_room room = {.scene = h.scenes[0]};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        room.name = bad[i];
        cr_expect_eq(cm_worker_open(h.worker, &room, error, sizeof error), CAROM_ERROR_ARGUMENT);
    }
    open_room("twice", 0, NULL, 0);
    room.name = "twice";
    cr_expect_eq(cm_worker_open(h.worker, &room, error, sizeof error), CAROM_ERROR_ARGUMENT);
    for (uint32_t i = 1; i < CM_WORKER_ROOMS_MAX; i++) {
        snprintf(name, sizeof name, "room%u", (unsigned)i);
        open_room(name, 0, NULL, 1);
    }
    room.name = "more";
    cr_expect_eq(cm_worker_open(h.worker, &room, error, sizeof error), CAROM_ERROR_FULL);
    cr_expect_not_null(strstr(error, "256"), "%s", error);
}

// Ticks that are due after a turn and were not made.
static uint32_t debt_of(uint32_t room, uint64_t now)
{
    uint64_t due = cm_hosted_room_due(cm_worker_room_at(h.worker, room));
    return now < due ? 0 : (uint32_t)((now - due) * 60 / 1000000) + 1;
}

// Three times its budget: 50 ms a tick of 16.7. The others keep their ticks; its own clock slows,
// owes four ticks at the most, and says so in the log, in its numbers and to its players.
Test(many_rooms, a_slow_room_slows_alone, .init = open_house, .fini = close_house)
{
    open_room("quick", 0, NULL, 0);
    open_room("slow", 1, &slow, 0);
    open_room("other", 2, NULL, 0);
    dial(0, "quick");
    dial_with(1, "slow", &slow);
    uint64_t begin = cm_net_now_us(h.net), busy = 0;
    uint32_t debt = 0, debt_others = 0;
    cm_worker_stats stats;
    for (uint64_t now = begin; now < begin + 10000000u; now = cm_net_now_us(h.net)) {
        // What its ticks took passes for everybody.
        cm_net_advance(h.net, STEP_US + (uint32_t)(h.clock_us - busy));
        busy = h.clock_us;
        now = cm_net_now_us(h.net);
        cm_worker_run_once(h.worker, now);
        debt = debt_of(1, now) > debt ? debt_of(1, now) : debt;
        debt_others = debt_of(0, now) > debt_others ? debt_of(0, now) : debt_others;
        debt_others = debt_of(2, now) > debt_others ? debt_of(2, now) : debt_others;
        carom_client_update(h.clients[0], now);
        carom_client_update(h.clients[1], now);
    }
    for (uint32_t i = 0; i < 3; i += 2) {
        cm_worker_room_stats_get(h.worker, i, &stats);
        cr_expect_geq(stats.tick, 595, "room %u is at %d", i, (int)stats.tick);
        cr_expect_eq(stats.ticks_behind, 0);
    }
    cr_expect_eq(debt_others, 0);
    cr_expect_leq(debt, 4);
    cr_expect_geq(debt, 1, "it was slow");
    cm_worker_room_stats_get(h.worker, 1, &stats);
    cr_expect_leq(stats.tick, 200);
    cr_expect_geq(stats.tick, 150);
    cr_expect_gt(stats.ticks_behind, 390);
    cr_expect_geq(h.slowed, 1);
    cr_expect_eq(h.others, 0);
    cr_expect_eq(state_of(0), CAROM_CLIENT_PLAYING);
    cr_expect_eq(state_of(1), CAROM_CLIENT_PLAYING);
    cr_expect_eq(h.clients[0]->clock.rate_permille, 1000);
    cr_expect_leq(h.clients[1]->clock.rate_permille, 400, "%u", h.clients[1]->clock.rate_permille);
    cr_expect_geq(h.clients[1]->clock.rate_permille, 250);
}

// Whoever comes into a room that runs slowly hears of it with the welcome, not with the next change
// of its rate.
Test(many_rooms, who_joins_a_slow_room_is_told, .init = open_house, .fini = close_house)
{
    open_room("slow", 1, &slow, 0);
    uint64_t begin = cm_net_now_us(h.net), busy = 0;
    uint32_t joined = 0;
    for (uint64_t now = begin; now < begin + 20000000u && joined < CLIENTS;) {
        cm_net_advance(h.net, STEP_US + (uint32_t)(h.clock_us - busy));
        busy = h.clock_us;
        now = cm_net_now_us(h.net);
        cm_worker_run_once(h.worker, now);
        if (now < begin + 3000000u) {
            continue; // until its clock was judged
        }
        if (h.clients[joined] == NULL) {
            dial_with(joined, "slow", &slow);
        }
        carom_client_update(h.clients[joined], now);
        if (state_of(joined) == CAROM_CLIENT_PLAYING) {
            cr_expect_leq(h.clients[joined]->clock.rate_permille, 400, "client %u: %u", joined,
                          h.clients[joined]->clock.rate_permille);
            joined++;
        }
    }
    cr_expect_eq(joined, CLIENTS);
}

// The list -------------------------------------------------------------------------------------

static carom_client_room_row listed[CAROM_CLIENT_ROOMS_MAX];
static uint32_t listed_count, lists;
static bool leaves_at_the_list;
static char last_name[CAROM_ROOM_NAME_MAX + 1];

static void take_list(void *user, const carom_client_room_row *rows, uint32_t count)
{
    (void)user;
    lists++;
    listed_count = count;
    memcpy(listed, rows, count * sizeof *rows);
    if (leaves_at_the_list) {
        carom_client_disconnect(h.clients[0], cm_net_now_us(h.net));
    }
    snprintf(last_name, sizeof last_name, "%s", rows[count - 1].name); // its texts go
    for (uint32_t i = 0; i < count; i++) {
        cr_assert_eq(strncmp(rows[i].name, i < 66 ? "room" : "away", 4), 0);
        cr_assert_str_eq(rows[i].module, "sandbox");
    }
}

// Before joining: the list comes after the cookie, and the client joins then, or leaves. From one
// address an answer every two seconds: the second client's comes two seconds after the first's.
Test(many_rooms, the_list_before_joining, .init = open_house, .fini = close_house)
{
    char name[16];
    for (uint32_t i = 0; i < 66; i++) {
        snprintf(name, sizeof name, "room%u", (unsigned)i);
        open_room(name, 0, NULL, 0);
    }
    carom_client_def def = carom_default_client_def();
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    def.room = "room1";
    def.rooms = take_list;
    for (uint32_t i = 0; i < 2; i++) {
        cr_assert_eq(carom_client_create(&def, &h.clients[i]), CAROM_OK);
        cr_assert_eq(carom_client_connect(h.clients[i], "127.0.0.1", PORT, cm_net_now_us(h.net)),
                     CAROM_OK);
        cr_assert_eq(carom_client_ask_rooms(h.clients[i]), CAROM_OK);
    }
    leaves_at_the_list = true;
    run(0.5);
    cr_expect_eq(lists, 1);
    cr_expect_eq(listed_count, 66);
    cr_expect_eq(listed[1].port, PORT);
    uint32_t left = state_of(0) == CAROM_CLIENT_IDLE ? 0 : 1;
    cr_expect_eq(carom_client_get_reason(h.clients[0]), CAROM_REASON_LEFT);
    cr_expect_eq(state_of(1), CAROM_CLIENT_CONNECTING);
    cr_expect_eq(left, 0);
    leaves_at_the_list = false;
    run(1.3);
    cr_expect_eq(lists, 1, "two seconds have not passed");
    run(2.0);
    cr_expect_eq(lists, 2);
    cr_expect_eq(state_of(1), CAROM_CLIENT_PLAYING);
}

// All of them, in parts, those of other workers too; not more often than every two seconds, however
// often it is asked.
Test(many_rooms, players_see_the_list, .init = open_house, .fini = close_house)
{
    char name[16];
    for (uint32_t i = 0; i < 66; i++) {
        snprintf(name, sizeof name, "room%u", (unsigned)i);
        open_room(name, 0, NULL, i == 1 ? 5 : 0);
    }
    cm_room_directory directory = {0};
    cm_directory_entry entry = {.room = {.name = "away",
                                         .scene = "hall",
                                         .module = "sandbox",
                                         .players = 3,
                                         .max_players = 9,
                                         .port = 9431}};
    cr_assert(cm_room_directory_put(&directory, &entry));
    cm_worker_set_directory(h.worker, &directory);
    carom_client_def def = carom_default_client_def();
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    def.room = "room1";
    def.rooms = take_list;
    cr_assert_eq(carom_client_create(&def, &h.clients[0]), CAROM_OK);
    cr_assert_eq(carom_client_ask_rooms(h.clients[0]), CAROM_ERROR_STATE);
    cr_assert_eq(carom_client_connect(h.clients[0], "127.0.0.1", PORT, cm_net_now_us(h.net)),
                 CAROM_OK);
    run(1.5);
    for (uint32_t i = 0; i < 8; i++) {
        cr_assert_eq(carom_client_ask_rooms(h.clients[0]), CAROM_OK);
    }
    run(1.0);
    cr_expect_eq(lists, 1);
    cr_expect_eq(listed_count, 67);
    cr_expect_str_eq(last_name, "away");
    cr_expect_eq(listed[66].port, 9431);
    cr_expect_eq(listed[66].players, 3);
    cr_expect_eq(listed[66].max_players, 9);
    cr_expect_eq(listed[1].players, 1);
    cr_expect_eq(listed[1].max_players, 5);
    cr_expect_eq(listed[0].players, 0);
    cr_expect_eq(listed[0].port, PORT);
    run(1.5);
    cr_assert_eq(carom_client_ask_rooms(h.clients[0]), CAROM_OK);
    run(0.5);
    cr_expect_eq(lists, 2);
    for (uint32_t i = 0; i < 1000; i++) {
        (void)carom_client_ask_rooms(h.clients[0]);
        if (i % 10 == 0) {
            run(0.01);
        }
    }
    run(1.0);
    cr_expect_eq(lists, 2);
    cr_expect_eq(carom_client_get_reason(h.clients[0]), CAROM_REASON_FLOOD);
    cm_worker_set_directory(h.worker, NULL);
    cm_room_directory_free(&directory);
}
