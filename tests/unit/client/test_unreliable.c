// Goal: a message that need not arrive reaches the module once or never, in the tick in which it
// comes, holds up none that must, and is recorded; one of the module reaches a client once or
// never, as its tick is first made. Method: a worker and an SDK client over a path that loses and
// doubles; numbered messages of both kinds; the recording played again; packets that nobody sends.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "carom/client_more.h"
#include "client-sdk/src/state.h"
#include "server/record/replay/playback.h"
#include "shared/room/event_list.h"
#include "shared/wire/message_packet.h"
#include "tests/unit/node/away.h"
#include "tests/unit/node/rig.h"

#define SENT  400u
#define FLOOD 400u
#define MAYBE 1u // kinds
#define SURE  2u

typedef struct heard {
    uint32_t maybe, sure, twice, out_of_order, most_in_a_tick, in_tick, tick;
    uint32_t ticks;               // in which there were any
    uint32_t seen[SENT / 32 + 1]; // a bit a number
} heard;

static void message(carom_game *game, uint32_t player, const uint8_t *bytes, uint32_t size)
{
    heard *s = carom_game_state(game);
    uint32_t number = 0, tick = (uint32_t)carom_game_tick(game);
    (void)player;
    s->in_tick = tick == s->tick ? s->in_tick + 1 : 1;
    s->ticks += s->in_tick == 1;
    s->tick = tick;
    s->most_in_a_tick = s->in_tick > s->most_in_a_tick ? s->in_tick : s->most_in_a_tick;
    memcpy(&number, bytes + 1, size >= 5 ? sizeof number : 0);
    if (size >= 5 && bytes[0] == SURE) {
        s->out_of_order += number != s->sure;
        s->sure++;
    } else if (size >= 5 && number < SENT) {
        s->twice += s->seen[number / 32] >> number % 32 & 1u;
        s->seen[number / 32] |= 1u << number % 32;
        s->maybe++;
    }
}

// Tells each player the number of the tick.
static void speak(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    static const uint8_t large[CAROM_UNRELIABLE_MAX + 1];
    uint32_t tick = (uint32_t)carom_game_tick(game) + 1;
    for (uint32_t i = 0; i < count; i++) {
        (void)carom_game_send_unreliable(game, inputs[i].player, &tick, sizeof tick);
        cr_assert_eq(
            carom_game_send_unreliable(game, inputs[i].player, large, CAROM_UNRELIABLE_MAX + 1),
            CAROM_ERROR_ARGUMENT);
    }
}

// What a client heard of it, by tick.
typedef struct told {
    uint32_t came, twice, wrong, first, last, seen[64];
} told;

static void hear(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size)
{
    told *t = user;
    uint32_t said = 0;
    memcpy(&said, bytes, size == sizeof said ? sizeof said : 0);
    t->wrong += said != tick || tick >= 32 * 64;
    t->twice += t->seen[tick / 32 % 64] >> tick % 32 & 1u;
    t->seen[tick / 32 % 64] |= 1u << tick % 32;
    t->first = t->came == 0 ? (uint32_t)tick : t->first;
    t->last = tick > t->last ? (uint32_t)tick : t->last;
    t->came++;
}

static const carom_module speaker = {.abi = CAROM_MODULE_ABI,
                                     .version = 1,
                                     .name = "speaker",
                                     .input_size = RIG_INPUT_SIZE,
                                     .tick = speak};

static const carom_module module = {.abi = CAROM_MODULE_ABI,
                                    .version = 1,
                                    .name = "heard",
                                    .input_size = RIG_INPUT_SIZE,
                                    .state_size = sizeof(heard),
                                    .public_size = sizeof(heard),
                                    .message = message};

static away town;

static void say_by(uint32_t client, uint32_t kind, uint32_t number)
{
    uint8_t bytes[5] = {(uint8_t)kind};
    memcpy(bytes + 1, &number, sizeof number);
    carom_result result =
        kind == SURE ? carom_client_send(town.clients[client], bytes, sizeof bytes)
                     : carom_client_send_unreliable(town.clients[client], bytes, sizeof bytes);
    cr_assert_eq(result, CAROM_OK);
}

static void say(uint32_t kind, uint32_t number)
{
    say_by(0, kind, number);
}

static const heard *state(void)
{
    uint32_t size;
    const heard *s = carom_client_public_state(town.clients[0], &size);
    cr_assert_eq(size, sizeof *s);
    return s;
}

Test(client_unreliable, once_or_never_and_recorded)
{
    const cm_link_def bad = {
        .latency_us = 30000, .jitter_us = 15000, .loss = 0.1f, .duplicate = 0.1f};
    away_make(&town, &(away_def){.seed = 101, .record = true, .module = &module});
    away_join(&town, 0);
    cm_net_link_port(town.net, AWAY_PORT, &bad);
    for (uint32_t i = 0; i < SENT; i++) {
        say(MAYBE, i);
        if (i % 20 == 0) {
            say(SURE, i / 20);
        }
        away_run(&town, 0.02);
        cm_store_pump(town.store);
    }
    away_run(&town, 2.0);
    const heard live = *state();
    printf("unreliable: %u of %u came, %u reliable ones\n", live.maybe, SENT, live.sure);
    cr_expect_gt(live.maybe, SENT * 8 / 10);
    cr_expect_lt(live.maybe, SENT, "some are lost for good");
    cr_expect_eq(live.twice, 0);
    cr_expect_eq(live.sure, SENT / 20);
    cr_expect_eq(live.out_of_order, 0);
    cm_match_error error = {0};
    cm_playback *playback;
    cm_match_info info;
    cm_match_file *file = away_recording(&town);
    cm_match_info_get(file, &info);
    cr_assert_eq(cm_playback_apply(file, &module, &playback, &error), CAROM_OK, "%s",
                 error.message);
    for (uint64_t tick = 1; tick <= info.ticks; tick++) {
        cr_assert_eq(cm_playback_next(playback, &error), CAROM_OK, "%s", error.message);
    }
    const heard *again = carom_game_state(cm_playback_game(playback));
    cr_expect_eq(again->maybe, live.maybe, "the recording has them");
    cm_playback_close(playback);
    away_free(&town);
}

// More at once than a tick has place for: the rest never comes, and the reliable one does.
Test(client_unreliable, none_waits_for_another_tick)
{
    away_make(&town, &(away_def){.seed = 102, .lossless = true, .module = &module});
    for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
        away_join(&town, i);
    }
    for (uint32_t turn = 0; turn < 5; turn++) {
        for (uint32_t i = 0; i < FLOOD; i++) {
            say_by(i % AWAY_CLIENTS, MAYBE, (turn * FLOOD + i) % SENT);
        }
        say(SURE, turn);
        away_run(&town, 0.5);
    }
    const heard *s = state();
    printf("unreliable: %u of %u came at once, %u in a tick, in %u ticks\n", s->maybe, 5 * FLOOD,
           s->most_in_a_tick, s->ticks);
    cr_expect_eq(carom_client_get_state(town.clients[0]), CAROM_CLIENT_PLAYING);
    cr_expect_leq(s->most_in_a_tick, CM_EVENTS_MAX);
    cr_expect_geq(s->maybe, 5 * 60);
    cr_expect_leq(s->maybe, 5 * s->most_in_a_tick, "what one tick has no place for never comes");
    cr_expect_lt(s->maybe, 5 * FLOOD);
    cr_expect_eq(s->maybe + away_stats(&town).messages_left_out, 5 * FLOOD, "each is counted");
    cr_expect_eq(s->sure, 5);
    cr_expect_eq(s->out_of_order, 0);
    away_free(&town);
}

Test(client_unreliable, what_is_no_message_is_refused_and_counted)
{
    static const struct {
        size_t size;
        uint8_t epoch;
        cm_packet_reason reason;
    } wrong[] = {{1, 0, CM_PACKET_SHORT},
                 {CM_MESSAGE_PACKET + 1, 0, CM_PACKET_LONG},
                 {7, 1, CM_PACKET_STALE}};
    uint8_t bytes[CAROM_CLIENT_UNRELIABLE_MAX + 1] = {0};
    away_make(&town, &(away_def){.seed = 103, .lossless = true, .module = &module});
    cr_expect_eq(carom_client_send_unreliable(NULL, bytes, 1), CAROM_ERROR_ARGUMENT);
    away_connect(&town, 0);
    carom_client *client = town.clients[0];
    cr_expect_eq(carom_client_send_unreliable(client, bytes, 1), CAROM_ERROR_STATE);
    away_run(&town, 1.5);
    cr_expect_eq(carom_client_send_unreliable(client, bytes, sizeof bytes), CAROM_ERROR_ARGUMENT);
    cr_expect_eq(carom_client_send_unreliable(client, NULL, 1), CAROM_ERROR_ARGUMENT);
    for (uint32_t i = 0; i < 3; i++) {
        uint8_t packet[CM_MESSAGE_PACKET + 1] = {CM_PACKET_MESSAGE};
        packet[1] = (uint8_t)(client->mirror->epoch + wrong[i].epoch);
        cr_assert(cm_transport_send(client->link, CM_CONNECTION_ONLY, CM_SEND_PACKET, packet,
                                    wrong[i].size));
        away_run(&town, 0.5);
        cm_worker_stats stats = away_stats(&town);
        cr_expect_eq(stats.packet_reasons[wrong[i].reason], 1, "case %u", i);
    }
    cr_expect_eq(state()->most_in_a_tick, 0, "the module heard none of them");
    cr_expect_eq(carom_client_send_unreliable(client, NULL, 0), CAROM_OK);
    cr_expect_eq(carom_client_send_unreliable(client, bytes, sizeof bytes - 1), CAROM_OK);
    away_run(&town, 0.5);
    cr_expect_geq(state()->most_in_a_tick, 1);
    cr_expect_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING);
    away_free(&town);
}

// Inputs that come late make the room rewind, and the ticks that are made again say nothing.
Test(client_unreliable, down_once_or_never)
{
    cm_link_def bad = {.jitter_us = 10000, .loss = 0.1f, .duplicate = 0.1f};
    static told heard_by;
    away_make(&town, &(away_def){.seed = 107, .record = true, .module = &speaker});
    town.client_def.user = &heard_by;
    town.client_def.unreliable = hear;
    away_join(&town, 0);
    for (uint32_t i = 0; i < 400; i++) {
        bad.latency_us = i / 20 % 2 == 0 ? 15000 : 75000; // longer all at once: inputs are late
        cm_net_link_port(town.net, AWAY_PORT, &bad);
        away_drive(&town, 0, i % 2 == 0 ? 1.0f : -1.0f); // each changes what was assumed
        away_run(&town, 0.025);
        cm_store_pump(town.store);
    }
    cm_worker_stats stats = away_stats(&town);
    uint32_t ticks = heard_by.last - heard_by.first + 1;
    printf("unreliable: %u of %u ticks were heard, %llu were made again\n", heard_by.came, ticks,
           (unsigned long long)stats.rewound_ticks);
    cr_expect_gt(stats.rewound_ticks, 8);
    cr_expect_gt(heard_by.came, ticks * 8 / 10);
    cr_expect_lt(heard_by.came, ticks, "some are lost for good");
    cr_expect_eq(heard_by.twice, 0);
    cr_expect_eq(heard_by.wrong, 0);
    cr_expect_eq(stats.messages_dropped, 0);
    away_free(&town);
}

// A server is not trusted: what is no message is counted, and nothing else happens.
Test(client_unreliable, down_what_is_no_message_is_counted)
{
    static told heard_by;
    uint8_t packet[CM_MESSAGE_PACKET + 1] = {CM_PACKET_TOLD};
    away_make(&town, &(away_def){.seed = 105, .lossless = true});
    town.client_def.user = &heard_by;
    town.client_def.unreliable = hear;
    away_join(&town, 0);
    carom_client *client = town.clients[0];
    uint64_t refused = away_client_stats(&town, 0).packets_refused;
    cm_client_packet(client, packet, 5);
    cm_client_packet(client, packet, sizeof packet);
    cm_client_packet(client, packet, 0);
    cr_expect_eq(client->stats.packets_refused, refused + 3);
    packet[1] = (uint8_t)(client->mirror->epoch + 1);
    cm_client_packet(client, packet, 10);
    cr_expect_eq(heard_by.came, 0, "of another epoch");
    packet[1] = client->mirror->epoch;
    cm_client_packet(client, packet, 10);
    cr_expect_eq(heard_by.came, 1);
    cr_expect_eq(client->stats.packets_refused, refused + 3);
    away_run(&town, 0.5);
    cr_expect_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING);
    away_free(&town);
}
