// Goal: a relay tells a client the inputs of others as the server has them, tick by tick; what is
// malformed is refused with a reason and nothing of it told; the bytes are the ones recorded in
// tests/protocol/vectors, which a second parser reads as well. Method: a server's table of inputs
// that changes as rewinds change it, told to a client's table by relays of which some are lost.
#include "shared/base/rng.h"
#include "shared/wire/input_relay.h"
#include "tests/unit/wire/vector_text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 5, PLAYERS = 8, TICKS = 700 };

typedef struct table {
    bool known[PLAYERS][TICKS];
    uint8_t inputs[PLAYERS][TICKS][SIZE];
    uint64_t newest;  // ticks after it count as known where `known`, those before always
    vector_text *out; // what is told, as text; NULL: not wanted
    bool first;
    uint32_t told;
} table;

static const uint8_t *input_of(void *context, uint32_t player, uint64_t tick)
{
    const table *t = context;
    bool is_there = player < PLAYERS && tick < TICKS;
    return is_there && t->known[player][tick] ? t->inputs[player][tick] : NULL;
}

static void take(void *context, uint32_t player, uint64_t tick, const uint8_t *bytes)
{
    table *t = context;
    cr_assert(player < PLAYERS && tick < TICKS);
    t->known[player][tick] = true;
    memcpy(t->inputs[player][tick], bytes, SIZE);
    t->told++;
    if (t->out != NULL) {
        vector_put(t->out, "%s[%u, %u, ", t->first ? "" : ", ", player, (unsigned)tick);
        vector_hex(t->out, bytes, SIZE);
        vector_put(t->out, "]");
        t->first = false;
    }
}

// Players hold what they have for a while, then something else.
static void draw(table *t, cm_rng *rng, uint64_t tick)
{
    for (uint32_t player = 0; player < PLAYERS; player++) {
        memcpy(t->inputs[player][tick], t->inputs[player][tick - 1], SIZE);
        if (cm_rng_below(rng, 6) == 0) {
            uint32_t at = cm_rng_below(rng, SIZE);
            t->inputs[player][tick][at] = (uint8_t)cm_rng_next(rng);
        }
        t->known[player][tick] = true;
    }
}

static size_t write(table *server, const cm_input_relay *relay, uint8_t bytes[CM_RELAY_MAX],
                    bool *news)
{
    return cm_input_relay_write(relay, input_of, server, bytes, CM_RELAY_MAX, news);
}

static table server, client;

Test(relay, tells_what_is_new_whatever_is_lost)
{
    cm_rng rng;
    cm_rng_seed(&rng, 77);
    memset(&server, 0, sizeof server);
    memset(&client, 0, sizeof client);
    uint64_t acked = 0;
    for (uint64_t tick = 1; tick + 4 < TICKS; tick++) {
        // Inputs come up to three ticks early; now and then one of the last eight ticks late.
        for (uint64_t t = tick; t <= tick + 3; t++) {
            if (!server.known[0][t]) {
                draw(&server, &rng, t);
            }
        }
        uint64_t first = acked + 1;
        if (tick > 20 && cm_rng_below(&rng, 10) == 0) {
            uint64_t late = tick - cm_rng_below(&rng, 8);
            server.inputs[cm_rng_below(&rng, PLAYERS)][late][1] ^= 0x40;
            acked = acked < late ? acked : late - 1;
            first = acked + 1;
        }
        cm_input_relay relay = {.tick = tick,
                                .back = (uint32_t)(tick - first + 1),
                                .players = 0xfe,
                                .based = acked > 0 ? 0xfe : 0,
                                .input_size = SIZE};
        uint8_t bytes[CM_RELAY_MAX];
        bool news;
        size_t size = write(&server, &relay, bytes, &news);
        cr_assert_gt(size, 0);
        if (cm_rng_below(&rng, 3) == 0) {
            continue; // lost
        }
        cr_assert_eq(cm_input_relay_read(bytes, size, tick, SIZE, input_of, take, &client),
                     CM_PACKET_OK);
        for (uint32_t player = 1; player < PLAYERS; player++) {
            for (uint64_t t = 1; t <= tick + 3; t++) {
                cr_assert(client.known[player][t], "player %u, tick %u of %u", player, (unsigned)t,
                          (unsigned)tick);
                cr_assert_arr_eq(client.inputs[player][t], server.inputs[player][t], SIZE);
            }
        }
        acked = cm_rng_below(&rng, 2) == 0 ? tick : acked;
    }
    cr_assert_eq(client.told > 0 && !client.known[0][1], true, "nobody is told of player 0");
}

Test(relay, players_who_only_hold_take_a_few_bits)
{
    memset(&server, 0, sizeof server);
    memset(server.known, 1, sizeof server.known);
    cm_input_relay relay = {
        .tick = 600, .back = 12, .players = 0x7f, .based = 0x7f, .input_size = SIZE};
    uint8_t bytes[CM_RELAY_MAX];
    bool news = true;
    size_t size = write(&server, &relay, bytes, &news);
    cr_assert_not(news);
    cr_assert_leq(size, 7);
    server.inputs[3][600][0] = 1;
    (void)write(&server, &relay, bytes, &news);
    cr_assert(news);
    relay.players = 0;
    cr_assert_eq(write(&server, &relay, bytes, &news), 0);
    relay.players = 0x7f;
    cr_assert_eq(cm_input_relay_write(&relay, input_of, &server, bytes, 4, &news), 0);
}

Test(relay, a_player_without_its_baseline_is_left_out)
{
    memset(&server, 0, sizeof server);
    memset(server.known, 1, sizeof server.known);
    memset(&client, 0, sizeof client);
    memset(server.inputs[2][599], 7, SIZE);
    memset(server.inputs[2][600], 7, SIZE);
    memset(client.known[1], 1, sizeof client.known[1]);
    cm_input_relay relay = {.tick = 600, .back = 1, .players = 6, .based = 6, .input_size = SIZE};
    uint8_t bytes[CM_RELAY_MAX];
    bool news;
    size_t size = write(&server, &relay, bytes, &news);
    cr_assert_eq(cm_input_relay_read(bytes, size, 600, SIZE, input_of, take, &client),
                 CM_PACKET_OK);
    cr_assert(client.known[1][600] && !client.known[2][600]);
}

// Vectors ----------------------------------------------------------------------------------------

static void put_relay(vector_text *out, const char *name, uint64_t tick, const uint8_t *bytes,
                      size_t size)
{
    uint32_t before = client.told;
    vector_text told = {.first = true};
    client.out = &told;
    client.first = true;
    cm_packet_reason reason = cm_input_relay_read(bytes, size, tick, SIZE, input_of, take, &client);
    client.out = NULL;
    vector_next(out);
    vector_put(out, "{\"name\": \"%s\", \"reason\": \"%s\", \"tick\": %u, \"hex\": ", name,
               vector_reason(reason), (unsigned)tick);
    vector_hex(out, bytes, size);
    cr_assert_eq(client.told > before, told.size > 0);
    if (reason == CM_PACKET_OK) {
        vector_put(out, ", \"told\": [");
        for (size_t at = 0; at < told.size; at += 64) { // of long texts a piece at a time
            vector_put(out, "%.64s", told.text + at);
        }
        vector_put(out, "]");
    }
    vector_put(out, "}");
    free(told.text);
}

Test(vectors, relays)
{
    cm_rng rng;
    cm_rng_seed(&rng, 105);
    memset(&server, 0, sizeof server);
    memset(&client, 0, sizeof client);
    for (uint64_t tick = 1; tick < 60; tick++) {
        draw(&server, &rng, tick);
    }
    memset(server.known[4] + 42, 0, 18); // nothing of player 4 came early
    const cm_input_relay relays[] = {
        {.tick = 20, .back = 3, .players = 1, .input_size = SIZE},
        {.tick = 30, .back = 10, .players = 0x81, .based = 1, .input_size = SIZE},
        {.tick = 40, .back = 0, .players = 2, .input_size = SIZE},
        {.tick = 41, .back = 41, .players = 0x12, .input_size = SIZE},
        {.tick = 42, .back = 1, .players = 0x12, .based = 0x12, .input_size = SIZE},
    };
    for (uint64_t tick = 46; tick < TICKS; tick++) {
        for (uint32_t player = 0; player < PLAYERS; player++) {
            server.known[player][tick] = false;
        }
    }
    vector_text out = {.first = true};
    vector_put(&out, "{\"input_size\": %d, \"vectors\": [", SIZE);
    uint8_t bytes[CM_RELAY_MAX + 1] = {0};
    size_t size = 0;
    bool news;
    for (size_t i = 0; i < sizeof relays / sizeof relays[0]; i++) {
        size = write(&server, &relays[i], bytes, &news);
        char name[32];
        snprintf(name, sizeof name, "relay %u", (unsigned)i);
        put_relay(&out, name, relays[i].tick, bytes, size);
    }
    put_relay(&out, "before tick 0", 0, bytes, size);
    put_relay(&out, "cut in its slots", 42, bytes, 1);
    put_relay(&out, "cut in its inputs", 42, bytes, size - 1);
    bytes[size] = 0;
    put_relay(&out, "a byte left over", 42, bytes, size + 1);
    const uint8_t no_player[] = {0, 0, 0}, nothing[] = {1, 0xa0, 0, 0}, padding[] = {1, 0xa0, 9};
    put_relay(&out, "the last slot is not told of", 9, no_player, sizeof no_player);
    put_relay(&out, "a change of nothing", 9, nothing, sizeof nothing);
    put_relay(&out, "padding is not zero", 9, padding, sizeof padding);
    vector_put(&out, "\n]}\n");
    vector_finish(&out, "relays");
}
