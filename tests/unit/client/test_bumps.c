// Goal: what hangs on the last bits of a contact is told once, where the module names a tolerance.
// Method: a worker and two SDK clients on a LAN, and at 60 ms with loss, who drive through cubes
// with the same inputs; rules that tell each bump, with a tolerance and without one; the same
// matches by count.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/rng.h"
#include "shared/base/vec.h"
#include "tests/unit/node/away.h"
#include "tests/unit/node/rig.h"

#define BUMP      1u
#define TOLERANCE 8u // ticks

typedef struct yard {
    carom_body_id carts[AWAY_CLIENTS];
} yard;

static bool join(carom_game *game, uint32_t player, const uint8_t *data, uint32_t size)
{
    yard *s = carom_game_state(game);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    (void)data;
    (void)size;
    body.position = cm_vec(3.0f * (float)player, 0.5f, 0.75f);
    shape.radius = 0.5f;
    return carom_body_create(carom_game_world(game), &body, &shape, 1, &s->carts[player]) ==
           CAROM_OK;
}

// What was pushed away rolls back.
static void gather(carom_world *world)
{
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        carom_body_id id = carom_world_body_at(world, slot);
        carom_body_state body;
        if (carom_body_get(world, id, &body) == CAROM_OK && body.type == CAROM_BODY_DYNAMIC) {
            carom_vec3 home = cm_scale(-0.5f, body.position);
            home.y = 1.0f;
            (void)carom_body_set_velocity(world, id, home, cm_vec(0.0f, 0.0f, 0.0f));
        }
    }
}

static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    const yard *s = carom_game_state(game);
    if (carom_game_tick(game) % 120 == 0) {
        gather(carom_game_world(game));
    }
    for (uint32_t i = 0; i < count; i++) {
        carom_vec3 push = {0};
        carom_body_state cart;
        memcpy(&push.x, inputs[i].bytes, 4); // of a little-endian machine alone
        memcpy(&push.z, inputs[i].bytes + 4, 4);
        carom_body_id id = s->carts[inputs[i].player];
        if (carom_body_get(carom_game_world(game), id, &cart) == CAROM_OK) {
            push = cm_sub(cm_scale(6.0f, push), cart.linear_velocity);
            push = cm_mul_add(push, -0.5f, cart.position); // stays among them
            push.y = 0.0f;
            push = cm_scale(4.0f * cart.mass, push);
            (void)carom_body_apply_force(carom_game_world(game), id, push, cart.center_of_mass);
        }
    }
}

static void contact(carom_game *game, const carom_contact_event *c)
{
    const yard *s = carom_game_state(game);
    for (uint32_t player = 0; player < 2; player++) {
        carom_body_id other;
        carom_body_state with;
        if (c->begin && carom_contact_other(c, s->carts[player], &other) &&
            carom_body_get(carom_game_world(game), other, &with) == CAROM_OK &&
            with.type == CAROM_BODY_DYNAMIC) {
            const carom_event bump = {.kind = BUMP, .subjects = {player, carom_event_body(other)}};
            (void)carom_game_emit(game, &bump);
        }
    }
}

static carom_body_id player_body(const carom_game *game, uint32_t player)
{
    const yard *s = carom_game_state(game);
    return s->carts[player];
}

static uint32_t tolerance(uint32_t kind)
{
    return kind == BUMP ? TOLERANCE : 0;
}

static struct {
    uint32_t predicted, confirmed, cancelled, both, moved;
} told;

static void note(void *user, carom_event_phase phase, const carom_event *event,
                 uint64_t predicted_tick)
{
    (void)user;
    told.predicted += phase == CAROM_EVENT_PREDICTED;
    told.confirmed += phase == CAROM_EVENT_CONFIRMED;
    told.cancelled += phase == CAROM_EVENT_CANCELLED;
    told.both += phase == CAROM_EVENT_CONFIRMED && predicted_tick != 0;
    told.moved +=
        phase == CAROM_EVENT_CONFIRMED && predicted_tick != 0 && predicted_tick != event->tick;
    cr_expect(phase == CAROM_EVENT_CONFIRMED || predicted_tick == event->tick);
}

static const cm_link_def lan = {.latency_us = 300, .jitter_us = 100};
static const cm_link_def r60 = {.latency_us = 30000, .jitter_us = 5000, .loss = 0.01f};

static void play(const cm_link_def *path, bool tolerant)
{
    static away town;
    carom_module module = {.abi = CAROM_MODULE_ABI,
                           .version = 1,
                           .name = "yard",
                           .input_size = RIG_INPUT_SIZE,
                           .state_size = sizeof(yard),
                           .public_size = sizeof(yard),
                           .join = join,
                           .tick = tick,
                           .contact = contact,
                           .player_body = player_body,
                           .event_tolerance = tolerant ? tolerance : NULL};
    cm_rng rng;
    cm_rng_seed(&rng, 81);
    memset(&told, 0, sizeof told);
    away_make(&town, &(away_def){.seed = 81, .side = 8, .lossless = true, .module = &module});
    cm_net_link_port(town.net, AWAY_PORT, path);
    town.client_def.event = note;
    away_join(&town, 0);
    town.client_def.event = NULL;
    away_join(&town, 1);
    for (uint32_t i = 0; i < 400; i++) {
        for (uint32_t player = 0; player < 2; player++) {
            uint8_t input[CAROM_INPUT_MAX];
            float x = cm_rng_range(&rng, -1.0f, 1.0f), z = cm_rng_range(&rng, -1.0f, 1.0f);
            rig_input(input, x, z, 0);
            (void)carom_client_set_input(town.clients[player], input, RIG_INPUT_SIZE);
        }
        away_run(&town, 0.2);
    }
    carom_client_disconnect(town.clients[0], cm_net_now_us(town.net));
    away_run(&town, 1.0);
    printf(
        "bumps: tolerance %u: %u predicted, %u of them cancelled; %u confirmed, %u as predicted, "
        "%u of these in another tick\n",
        tolerant ? TOLERANCE : 0, told.predicted, told.cancelled, told.confirmed, told.both,
        told.moved);
    cr_expect_eq(told.predicted, told.both + told.cancelled, "each is judged once");
    away_free(&town);
}

Test(client_bumps, within_a_tolerance_are_told_once)
{
    play(&lan, false);
    uint32_t without = told.cancelled;
    cr_expect_eq(told.moved, 0);
    cr_expect_gt(without, 20, "a LAN alone does not make them agree");
    play(&lan, true);
    cr_expect_gt(told.moved, 20);
    cr_expect_lt(3 * told.cancelled, without, "%u of %u", told.cancelled, without);
    play(&r60, false);
    without = told.cancelled;
    play(&r60, true);
    cr_expect_lt(2 * told.cancelled, without, "%u of %u", told.cancelled, without);
}
