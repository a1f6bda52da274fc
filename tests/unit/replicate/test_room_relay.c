// Goal: by its relays a client knows the inputs of the other players as the room has them, ticks
// that a rewind made again among them, however many views or acks are lost; nobody is told of
// itself, nor of anybody where the scene says so. Method: a real room whose players' inputs come
// early, late or never, from a seed; a real replica; a client that keeps what it is told.
#include "server/replicate/room_relay.h"

#include <criterion/criterion.h>
#include <string.h>

#include "shared/base/rng.h"
#include "shared/base/vec.h"
#include "shared/scene/scene_json.h"
#include "shared/wire/input_relay.h"

enum { PLAYERS = 4, MANY = 64, TICKS = 400, SIZE = 9 };

static const char scene_text[] =
    "{\"carom\": 1, \"name\": \"small\", \"module\": \"sandbox\","
    " \"bodies\": [{\"name\": \"ground\", \"type\": \"static\","
    "   \"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": 0}}]}]}";

typedef struct bench {
    cm_scene *scene;
    cm_room *room;
    cm_roster roster;
    cm_room_relay relay;
    cm_snapshot snapshot;
    cm_view_config config;
    cm_replica *replica;
    cm_rng rng;
    cm_view_out out;
    uint16_t sequence;
    uint64_t relays, bytes, behind;
    // The client.
    bool known[MANY][TICKS + CM_RELAY_AHEAD_MAX + 1];
    uint8_t inputs[MANY][TICKS + CM_RELAY_AHEAD_MAX + 1][SIZE];
} bench;

static bench b;

static const uint8_t *known_input(void *context, uint32_t player, uint64_t tick)
{
    (void)context;
    return b.known[player][tick] ? b.inputs[player][tick] : NULL;
}

static void take(void *context, uint32_t player, uint64_t tick, const uint8_t *bytes)
{
    (void)context;
    cr_assert(player > 0 && player < MANY, "told of player %u", player);
    b.known[player][tick] = true;
    memcpy(b.inputs[player][tick], bytes, SIZE);
}

static void open_bench(void)
{
    memset(&b, 0, sizeof b);
    cm_rng_seed(&b.rng, 11);
    cm_scene_error error;
    cr_assert_eq(cm_scene_from_json(scene_text, strlen(scene_text), &b.scene, &error), CAROM_OK);
    cm_room_def def = {.scene = b.scene, .seed = 1, .rewind_ms = 133, .max_players = MANY};
    cr_assert_eq(cm_room_create(&def, &b.room), CAROM_OK);
    cr_assert(cm_snapshot_init(&b.snapshot, 1, 0));
    cr_assert_eq(
        cm_view_config_make(cm_vec(-64, -8, -64), cm_vec(64, 56, 64), 1.0f / 512.0f, &b.config),
        CAROM_OK);
    cm_replica_def replica = {
        .rows = 1, .tick_rate = 60, .view_rate = 30, .budget_kbit = 64, .predict = true};
    b.replica = cm_replica_create(&replica);
    cm_replica_begin(b.replica, &b.snapshot, NULL);
    b.relay.is_on = true;
}

static void close_bench(void)
{
    cm_replica_destroy(b.replica);
    cm_snapshot_free(&b.snapshot);
    cm_room_destroy(b.room);
    cm_scene_free(b.scene);
}

static void join(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t player;
        cr_assert_eq(cm_room_join(b.room, 100 + i, NULL, 0, &player), CAROM_OK);
        cm_kept_slot *slot = &b.roster.kept[player];
        slot->kept = true;
        slot->session.client_id = 100 + i;
        slot->session.join_tick = cm_room_tick(b.room) + 1;
    }
}

static void frame(void)
{
    cm_room_frame(b.room);
    while (cm_room_confirm(b.room, false) != NULL) {
    }
    cm_room_relay_frame(&b.relay, b.room);
}

// Whoever has the slot leaves; another comes.
static void rejoin(uint32_t player)
{
    if (b.roster.kept[player].kept) {
        cm_room_leave(b.room, player);
        b.roster.kept[player].kept = false;
        frame();
    }
    join(1);
}

// Each player now and then moves its stick; one input of four is late by up to eight ticks. Inputs
// come before the tick, as in a worker's turn.
static void play(void)
{
    uint64_t now = cm_room_tick(b.room);
    for (uint32_t player = 0; player < PLAYERS; player++) {
        uint8_t input[CAROM_INPUT_MAX] = {0};
        input[8] = (uint8_t)cm_rng_below(&b.rng, 4);
        uint64_t ahead = now + 1 + cm_rng_below(&b.rng, 4);
        uint64_t behind = now - cm_rng_below(&b.rng, now < 8 ? 1 : 8);
        bool is_late = cm_rng_below(&b.rng, 4) == 0;
        uint32_t cost = 0;
        if (cm_rng_below(&b.rng, 3) == 0) {
            (void)cm_room_input(b.room, player, is_late ? behind : ahead, input, 8, &cost);
        }
    }
}

// What the client knows of the last `back` ticks, all that a rewind may change, is what the room
// has.
static void compare(uint64_t tick, uint64_t back)
{
    for (uint32_t player = 1; player < PLAYERS; player++) {
        uint64_t joined = b.roster.kept[player].session.join_tick;
        for (uint64_t t = tick > back ? tick - back : 1; t <= tick; t++) {
            const uint8_t *right = cm_room_input_at(b.room, player, t);
            cr_assert_not_null(right);
            if (t >= joined && b.roster.kept[player].kept) {
                cr_assert(b.known[player][t], "player %u, %u of %u", player, (unsigned)t,
                          (unsigned)tick);
                cr_assert_arr_eq(b.inputs[player][t], right, SIZE, "player %u, %u of %u", player,
                                 (unsigned)t, (unsigned)tick);
            }
        }
    }
}

// `lost`: of so many relays one, and then one ack of two; 0: none.
static void view(uint32_t lost)
{
    cm_view_header header = {.tick = (uint32_t)cm_room_tick(b.room), .input_lead = CM_LEAD_UNKNOWN};
    b.snapshot.tick = header.tick;
    cm_room_relay_view(&b.relay, b.room, &b.roster, 0, b.replica, &header);
    cm_replica_view(b.replica, &b.snapshot, &b.config, &header, (carom_body_id){0, 0},
                    CM_PACKET_MAX, &b.out);
    b.sequence = (uint16_t)(b.sequence + b.out.count);
    b.relays += header.relay_size > 0;
    b.bytes += header.relay_size;
    bool is_lost = lost > 0 && cm_rng_below(&b.rng, lost) == 0;
    if (b.out.count == 0 || header.relay_size == 0 || is_lost) {
        return;
    }
    cr_assert_eq(cm_input_relay_read(header.relay, header.relay_size, header.tick, SIZE,
                                     known_input, take, NULL),
                 CM_PACKET_OK);
    compare(header.tick, 9);
    if (lost == 0 || cm_rng_below(&b.rng, 2) == 0) {
        cm_replica_ack(b.replica, b.sequence, 0);
    }
}

Test(room_relay, a_client_knows_what_the_room_has)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        open_bench();
        cm_rng_seed(&b.rng, seed);
        join(PLAYERS - 1);
        for (uint32_t i = 0; i < TICKS; i++) {
            if (i == 120 || i == 300) {
                rejoin(PLAYERS - 1);
            }
            play();
            frame();
            if (i % 2 == 0) {
                view(i < 110 ? 1 : 3); // for so long none arrives: then it begins anew
            }
        }
        cm_room_stats stats;
        cm_room_stats_get(b.room, &stats);
        cr_expect_gt(stats.rewinds, 50);
        cr_expect_gt(b.relays, 150);
        cr_expect_lt(b.bytes, 120 * b.relays);
        cr_expect_eq(b.relay.left_out, 0);
        close_bench();
    }
}

Test(room_relay, a_scene_may_keep_inputs_secret)
{
    open_bench();
    join(PLAYERS);
    b.relay.is_on = false;
    for (uint32_t i = 0; i < 60; i++) {
        play();
        frame();
        view(0);
    }
    cr_expect_eq(b.relays, 0);
    cm_scene_replication replication;
    cm_scene_replication_get(b.scene, &replication);
    cr_expect(replication.relay, "unless the scene says otherwise");
    close_bench();
}

// Who only holds costs nothing; after a long silence of acks the relay begins anew.
Test(room_relay, who_holds_costs_nothing)
{
    open_bench();
    join(PLAYERS);
    for (uint32_t i = 0; i < 20; i++) {
        frame();
        view(0);
    }
    uint64_t before = b.relays;
    for (uint32_t i = 0; i < 120; i++) {
        frame();
        view(0);
    }
    cr_expect_leq(b.relays - before, 4);
    close_bench();
}

// A full room: of those whom a view has room for the client knows all, the others are counted.
Test(room_relay, of_many_players_the_first_are_told)
{
    open_bench();
    join(MANY);
    for (uint32_t i = 0; i < 60; i++) {
        for (uint32_t player = 0; player < MANY && i > 0; player++) {
            uint8_t input[CAROM_INPUT_MAX] = {0};
            uint32_t cost;
            input[8] = (uint8_t)cm_rng_below(&b.rng, 4);
            (void)cm_room_input(b.room, player, cm_room_tick(b.room) + 1, input, 8, &cost);
        }
        frame();
        view(0);
    }
    cr_expect_gt(b.relays, 50);
    cr_expect_gt(b.relay.left_out, 0);
    uint32_t first = 0, last = 0;
    for (uint32_t tick = 20; tick <= 60; tick++) {
        first += b.known[3][tick];
        last += b.known[MANY - 1][tick];
    }
    cr_expect_geq(first, 40);
    cr_expect_lt(2 * last, first, "%u", last);
    close_bench();
}
