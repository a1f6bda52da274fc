// Goal: what module and player say to each other arrives once and in order, whatever becomes of
// their connections meanwhile. Method: away.h with a module that says two things every third tick
// and counts what it is told; many seeds, cuts at random moments, of random length, of the whole
// path or of the address that the client had, with a server that gives the connection up or not.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "client-sdk/src/state.h"
#include "shared/base/rng.h"
#include "tests/unit/node/away.h"
#include "tests/unit/node/rig.h"

#define SEEDS     60u
#define CUTS      6u
#define SAY_TICKS 3u
#define SAY_TIMES 2u
#define OWN_EVERY 37u // steps between two of the client's
#define MESSAGE   5u  // bytes: which, and a number

static void put_number(uint8_t bytes[MESSAGE], uint8_t which, uint32_t number)
{
    bytes[0] = which;
    memcpy(bytes + 1, &number, sizeof number);
}

static void caller_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    uint32_t tick = (uint32_t)carom_game_tick(game);
    for (uint32_t i = 0; i < count && tick % SAY_TICKS == 0; i++) {
        for (uint32_t k = 0; k < SAY_TIMES; k++) {
            uint8_t bytes[MESSAGE];
            put_number(bytes, (uint8_t)k, tick);
            carom_game_send(game, inputs[i].player, bytes, sizeof bytes);
        }
    }
}

typedef struct told {
    uint32_t count, wrong; // by the player; not the next one
} told;

static void caller_message(carom_game *game, uint32_t player, const uint8_t *bytes, uint32_t size)
{
    (void)player;
    told *state = carom_game_state(game);
    uint32_t number;
    memcpy(&number, bytes + 1, sizeof number);
    state->wrong += size != MESSAGE || number != state->count;
    state->count++;
}

static const carom_module caller = {.abi = CAROM_MODULE_ABI,
                                    .version = 1,
                                    .name = "caller",
                                    .input_size = 1,
                                    .state_size = sizeof(told),
                                    .public_size = sizeof(told),
                                    .tick = caller_tick,
                                    .message = caller_message};

typedef struct ear {
    uint32_t heard, own; // messages; own: said by this client
    uint32_t next_tick;
    uint8_t next_time;
    uint32_t wrong;
} ear;

static ear ears; // of client 0

static void hear(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size)
{
    (void)user;
    uint32_t number;
    cr_assert_eq(size, MESSAGE);
    memcpy(&number, bytes + 1, sizeof number);
    ears.wrong += tick != number + 1; // the tick that it was said in is counted once it is over
    ears.wrong += ears.heard > 0 && (number != ears.next_tick || bytes[0] != ears.next_time);
    ears.heard++;
    ears.next_time = (uint8_t)((bytes[0] + 1) % SAY_TIMES);
    ears.next_tick = number + (ears.next_time == 0 ? SAY_TICKS : 0);
}

static void live(away *a, double seconds)
{
    for (uint32_t i = 0; 1e-6 * AWAY_STEP_US * i < seconds; i++) {
        away_step(a);
        uint8_t bytes[MESSAGE];
        put_number(bytes, 0, ears.own);
        if (i % OWN_EVERY == 0 &&
            carom_client_send(a->clients[0], bytes, sizeof bytes) == CAROM_OK) {
            ears.own++;
        }
    }
}

// Returns how often the client came back.
static uint64_t run_seed(uint64_t seed)
{
    away a;
    cm_rng rng;
    cm_rng_seed(&rng, seed);
    memset(&ears, 0, sizeof ears);
    away_make(&a, &(away_def){.seed = seed, .module = &caller, .timeout_ms = seed % 2 ? 2000 : 0});
    cm_link_def link = {.latency_us = 10000 + cm_rng_below(&rng, 60000),
                        .jitter_us = 8000,
                        .loss = cm_rng_range(&rng, 0.0f, 0.1f),
                        .duplicate = 0.05f};
    cm_net_link_port(a.net, AWAY_PORT, &link);
    a.client_def.message = hear;
    away_connect(&a, 0);
    away_until(&a, 0, CAROM_CLIENT_PLAYING);
    for (uint32_t i = 0; i < CUTS; i++) {
        live(&a, 0.001 * cm_rng_below(&rng, 1500));
        uint16_t cut = cm_rng_below(&rng, 2) == 0 ? AWAY_PORT : cm_net_last_port(a.net);
        cm_net_partition(a.net, cut, true);
        live(&a, 0.001 * cm_rng_below(&rng, 3500));
        if (cut == AWAY_PORT) {
            cm_net_partition(a.net, cut, false);
        }
    }
    cm_net_link_port(a.net, AWAY_PORT, &(cm_link_def){.latency_us = 10000});
    live(&a, 3.0);
    away_run(&a, 2.0); // for what is still on its way
    // A path on which all probes were lost for long is taken for a narrower one, seconds after it
    // is whole again: the client comes back once more.
    away_until(&a, 0, CAROM_CLIENT_PLAYING);
    away_run(&a, 2.0);
    uint64_t comebacks = away_client_stats(&a, 0).comebacks;
    cr_expect_eq(carom_client_get_state(a.clients[0]), CAROM_CLIENT_PLAYING, "seed %u: %s",
                 (unsigned)seed, carom_reason_text(carom_client_get_reason(a.clients[0])));
    cr_expect_eq(ears.wrong, 0, "seed %u: %u of %u messages were not the next", (unsigned)seed,
                 ears.wrong, ears.heard);
    uint32_t size;
    told there;
    const uint8_t *state = carom_client_public_state(a.clients[0], &size);
    cr_assert_eq(size, sizeof there);
    memcpy(&there, state, sizeof there);
    cr_expect_eq(there.wrong, 0, "seed %u", (unsigned)seed);
    cr_expect_eq(there.count, ears.own, "seed %u: %u of %u arrived", (unsigned)seed, there.count,
                 ears.own);
    cr_expect_geq(ears.next_tick + 30, away_stats(&a).tick, "seed %u", (unsigned)seed);
    cr_expect_eq(away_stats(&a).messages_dropped, 0);
    away_free(&a);
    return comebacks;
}

Test(path_received, once_and_in_order_whatever_is_cut)
{
    uint64_t comebacks = 0;
    uint32_t heard = 0, own = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        comebacks += run_seed(seed);
        heard += ears.heard;
        own += ears.own;
    }
    printf("heard: %u seeds, %u messages of the module and %u of players, %u comebacks\n", SEEDS,
           heard, own, (unsigned)comebacks);
    cr_assert_gt(comebacks, 2 * SEEDS);
}

// A second connection with the slot's ticket, beside the one that has the slot.
typedef struct successor {
    cm_transport *link;
    bool connected;
    uint64_t welcomed, taken; // welcomes; messages that the server had taken by then
} successor;

static void step_both(away *a, successor *s)
{
    cm_transport_event event;
    away_step(a);
    while (cm_transport_poll(s->link, &event)) {
        cm_control *control = NULL;
        s->connected = s->connected || event.type == CM_TRANSPORT_OPENED;
        if (event.type != CM_TRANSPORT_RECEIVED || event.kind != CM_SEND_CONTROL) {
            continue;
        }
        cr_assert_eq(cm_control_decode(event.bytes, event.size, false, NULL, &control), CAROM_OK);
        if (control->type == CM_CONTROL_WELCOME) {
            s->welcomed++;
            s->taken = control->messages;
        }
        cm_control_free(NULL, control);
    }
    cm_transport_flush(s->link);
}

// More messages come at once than the room takes in a tick; then another connection has the slot.
// What still waited then is the client's to say again, and must not be said besides.
Test(path_received, what_waited_by_the_old_connection_is_not_said_besides)
{
    uint32_t waited = 0;
    for (uint32_t delay = 0; delay < 10; delay++) {
        away a;
        successor s = {NULL};
        memset(&ears, 0, sizeof ears);
        away_make(&a, &(away_def){.seed = 3, .module = &caller, .lossless = true});
        away_join(&a, 0);
        s.link = rig_dial(AWAY_PORT, &a.clients[0]->ticket);
        for (uint32_t i = 0; i < 500 && !s.connected; i++) {
            step_both(&a, &s);
        }
        cr_assert(s.connected);
        uint8_t bytes[MESSAGE];
        put_number(bytes, 0, ears.own);
        while (carom_client_send(a.clients[0], bytes, sizeof bytes) == CAROM_OK) {
            put_number(bytes, 0, ++ears.own);
        }
        for (uint32_t i = 0; i < delay; i++) {
            step_both(&a, &s);
        }
        cr_assert(cm_client_hello(a.clients[0], s.link));
        for (uint32_t i = 0; i < 100; i++) {
            step_both(&a, &s);
        }
        cr_assert_eq(s.welcomed, 1);
        const told *there =
            carom_game_state(cm_room_game(cm_hosted_room_room(cm_worker_room_at(a.worker, 0))));
        cr_expect_eq(there->count, s.taken, "delay %u: %u said, %u taken", delay, there->count,
                     (unsigned)s.taken);
        cr_expect_eq(there->wrong, 0);
        waited += s.taken > 0 && s.taken < ears.own;
        cm_transport_destroy(s.link, CAROM_REASON_NONE);
        away_free(&a);
    }
    cr_assert_gt(waited, 0, "nothing waited in any of them");
}
