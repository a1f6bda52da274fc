// Goal: what the module's state says is predicted right where it can be, and shown soon. Method: a
// worker and two SDK clients over a path that is given; rules whose words follow from the tick
// alone, so that every prediction of them is right, while the bodies are pushed at random, so that
// every view corrects. An event carries the words that its tick was made with.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "client-sdk/src/state.h"
#include "shared/base/vec.h"
#include "tests/unit/node/away.h"
#include "tests/unit/node/rig.h"

#define SECOND 60u // ticks

typedef struct clerk {
    uint32_t phase; // whole seconds
    carom_body_id ball[2];
    carom_joint_id rope;
    uint32_t ticks; // hidden
} clerk;

static bool has_rope; // that comes and goes with every second

static bool join(carom_game *game, uint32_t player, const uint8_t *data, uint32_t size)
{
    clerk *s = carom_game_state(game);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    (void)data;
    (void)size;
    body.position = cm_vec(2.0f * (float)player, 0.5f, 8.0f);
    shape.radius = 0.5f;
    return player < 2 && carom_body_create(carom_game_world(game), &body, &shape, 1,
                                           &s->ball[player]) == CAROM_OK;
}

static void change_rope(carom_game *game, clerk *s, bool comes)
{
    carom_world *world = carom_game_world(game);
    if (comes) {
        carom_joint_def def = carom_default_joint_def();
        def.type = CAROM_JOINT_DISTANCE;
        def.body_b = s->ball[0];
        def.has_limits = true;
        def.upper = 1000.0f;
        (void)carom_joint_create(world, &def, &s->rope);
    } else {
        (void)carom_joint_destroy(world, s->rope);
    }
}

static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    clerk *s = carom_game_state(game);
    uint32_t now = (uint32_t)carom_game_tick(game), part = now % SECOND;
    (void)inputs;
    (void)count;
    for (uint32_t i = 0; i < 2; i++) { // nobody can predict it
        float push = (float)(carom_game_random(game) % 8000) - 4000.0f;
        (void)carom_body_apply_force(carom_game_world(game), s->ball[i], cm_vec(0, 0, push),
                                     cm_vec(0, 0, 0));
    }
    s->ticks++;
    if (part == 0) {
        s->phase = now / SECOND;
        if (has_rope) {
            change_rope(game, s, s->phase % 2 == 0);
        }
    }
    if (part >= 16 && part <= 50 && part % 2 == 0) {
        const carom_event event = {.kind = 1, .key = s->phase, .subjects = {now, s->ticks}};
        (void)carom_game_emit(game, &event);
    }
}

static carom_body_id player_body(const carom_game *game, uint32_t player)
{
    const clerk *s = carom_game_state(game);
    return player < 2 ? s->ball[player] : (carom_body_id){0, 0};
}

static carom_module module_of(void)
{
    return (carom_module){.abi = CAROM_MODULE_ABI,
                          .version = 1,
                          .name = "clerk",
                          .input_size = RIG_INPUT_SIZE,
                          .state_size = sizeof(clerk),
                          .public_size = sizeof(clerk) - sizeof(uint32_t),
                          .join = join,
                          .tick = tick,
                          .player_body = player_body};
}

static struct {
    uint32_t predicted, cancelled, wrong_ticks, wrong_phase;
} told;

static void note(void *user, carom_event_phase phase, const carom_event *event,
                 uint64_t predicted_tick)
{
    (void)user;
    (void)predicted_tick;
    told.cancelled += phase == CAROM_EVENT_CANCELLED;
    if (phase == CAROM_EVENT_PREDICTED) {
        told.predicted++;
        told.wrong_ticks += event->subjects[1] != event->subjects[0] + 1;
        told.wrong_phase += event->key != event->subjects[0] / SECOND;
    }
}

static void open_town(away *town, const carom_module *module, const cm_link_def *path)
{
    memset(&told, 0, sizeof told);
    away_make(town, &(away_def){.seed = 17, .side = 1, .lossless = true, .module = module});
    cm_net_link_port(town->net, AWAY_PORT, path);
    town->client_def.event = note;
    away_join(town, 0);
    town->client_def.event = NULL;
}

static const cm_link_def lan = {.latency_us = 300, .jitter_us = 100};

// A body, or a joint, that the server makes is no reason to forget what only the client knows.
Test(client_module_state, hidden_words_run_on_when_bodies_and_joints_come)
{
    static away town;
    for (int rope = 0; rope < 2; rope++) {
        const carom_module module = module_of();
        has_rope = rope != 0;
        open_town(&town, &module, &lan);
        away_run(&town, 2.5);
        if (!has_rope) {
            away_join(&town, 1);
        }
        away_run(&town, 3.0);
        printf("hidden words, %s: %u of %u predicted events wrong, %u cancelled\n",
               has_rope ? "a joint each second" : "a second player", told.wrong_ticks,
               told.predicted, told.cancelled);
        cr_expect_gt(told.predicted, 90);
        cr_expect_gt(away_client_stats(&town, 0).reconciles, 100, "views correct");
        cr_expect_eq(told.wrong_ticks, 0);
        away_free(&town);
    }
    has_rope = false;
}

// Ticks of the own clock from a phase's tick to the update that shows it: all of them, and the
// most.
typedef struct delays {
    uint32_t shown;
    double most, sum;
} delays;

static delays watch(away *town, double seconds)
{
    delays d = {0};
    uint32_t size, last = 0;
    for (double at = 0.0; at < seconds; at += 1e-6 * AWAY_STEP_US) {
        away_step(town);
        const clerk *s = carom_client_public_state(town->clients[0], &size);
        double delay = away_client_stats(town, 0).predicted_at - (double)(SECOND * s->phase);
        if (last > 0 && s->phase != last) {
            d.shown++;
            d.sum += delay;
            d.most = delay > d.most ? delay : d.most;
        }
        last = s->phase;
    }
    return d;
}

// 100 ms each way: a view that is lost is an interval lost, not a round trip; and what a change of
// the world begins anew is not the state of an earlier tick.
Test(client_module_state, lost_views_delay_the_state_by_a_view_and_mislead_no_prediction)
{
    static away town;
    const carom_module module = module_of();
    has_rope = true;
    for (uint32_t percent = 0; percent <= 40; percent += 20) {
        const cm_link_def path = {.latency_us = 100000, .loss = 0.01f * (float)percent};
        const cm_link_def good = {.latency_us = 100000};
        open_town(&town, &module, &good);
        cm_net_link_port(town.net, AWAY_PORT, &path);
        delays d = watch(&town, 40.0);
        printf("public state, %u%% loss: shown after %.1f ticks, %.1f at the most of %u; "
               "%u of %u predicted events wrong\n",
               percent, d.sum / d.shown, d.most, d.shown, told.wrong_phase + told.wrong_ticks,
               told.predicted);
        cr_expect_gt(d.shown, 30);
        cr_expect_lt(d.sum / d.shown, percent == 40 ? 20.0 : 18.0);
        cr_expect_lt(d.most, percent == 0 ? 20.0 : 34.0);
        cr_expect_eq(told.wrong_phase + told.wrong_ticks, 0);
        away_free(&town);
    }
    has_rope = false;
}

// Views overtake each other: the state of an older one takes nothing back.
Test(client_module_state, an_overtaken_view_takes_nothing_back)
{
    static away town;
    const carom_module module = module_of();
    open_town(&town, &module, &lan);
    away_run(&town, 1.0);
    cm_mirror *mirror = town.clients[0]->mirror;
    const uint32_t tick = (uint32_t)mirror->newest_tick;
    for (uint32_t i = 0; i < 2; i++) { // the second was sent before the first
        cm_view_header header = {.epoch = mirror->epoch,
                                 .sequence = (uint16_t)(mirror->ack_sequence + (i == 0 ? 2 : -1)),
                                 .tick = tick + 2 - i,
                                 .has_public = true,
                                 .present = 1,
                                 .public_number = (uint8_t)(100 - i),
                                 .public_size = module.public_size};
        memset(header.public_state, i == 0 ? 0x66 : 0x55, sizeof header.public_state);
        uint8_t bytes[CM_PACKET_MAX];
        cm_view_writer writer;
        cm_view_writer_begin(&writer, &header, bytes, sizeof bytes);
        cm_view_header back;
        uint32_t size;
        cr_expect_eq(cm_mirror_view(mirror, bytes, cm_view_writer_end(&writer), &back),
                     CM_PACKET_OK);
        const clerk *now = carom_client_public_state(town.clients[0], &size);
        cr_expect_eq(now->phase, 0x66666666u, "view %u", i);
        cr_expect_eq(mirror->public_tick, tick + 2);
    }
    away_free(&town);
}

// States of another size, against one that is not there, or as no difference at all: refused, and
// the state stays.
Test(client_module_state, what_is_no_state_is_refused)
{
    static away town;
    const carom_module module = module_of();
    open_town(&town, &module, &lan);
    away_run(&town, 1.0);
    carom_client *client = town.clients[0];
    const cm_mirror *mirror = client->mirror;
    const uint32_t right = module.public_size;
    const struct {
        uint32_t size, back;
        cm_packet_reason reason;
    } cases[] = {{right - 1, 0, CM_PACKET_RANGE}, {right + 1, 0, CM_PACKET_RANGE},
                 {1, 9, CM_PACKET_BASELINE},      {right, 1, CM_PACKET_RANGE},
                 {0, 1, CM_PACKET_RANGE},         {right, 0, CM_PACKET_OK}};
    uint32_t size;
    clerk before = *(const clerk *)carom_client_public_state(client, &size);
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cm_view_header header = {.epoch = mirror->epoch,
                                 .sequence = (uint16_t)(mirror->ack_sequence + 1),
                                 .tick = (uint32_t)mirror->newest_tick,
                                 .has_public = true,
                                 .present = 1,
                                 .public_size = cases[i].size,
                                 .public_back = (uint8_t)cases[i].back};
        for (uint32_t k = 0; k < CM_STATES_KEPT && cases[i].back == 1; k++) {
            header.public_number =
                mirror->states[k].used ? mirror->states[k].number + 1u : header.public_number;
        }
        header.public_number += cases[i].back == 9 ? 77 : 0;
        memset(header.public_state, 0x55, sizeof header.public_state);
        uint8_t bytes[CM_PACKET_MAX];
        cm_view_writer writer;
        cm_view_writer_begin(&writer, &header, bytes, sizeof bytes);
        cm_view_header back;
        cr_expect_eq(cm_mirror_view(client->mirror, bytes, cm_view_writer_end(&writer), &back),
                     cases[i].reason, "%u", i);
        const clerk *now = carom_client_public_state(client, &size);
        cr_expect_eq(now->phase, cases[i].reason == CM_PACKET_OK ? 0x55555555u : before.phase);
    }
    away_free(&town);
}
