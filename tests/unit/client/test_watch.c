// Goal: a client is told what appears, vanishes, is put elsewhere or changes its owner, each once,
// and draws nothing on the way between two places; the module's state is there as predicted, beside
// the view's. Method: a worker and SDK clients over a lossy path, and rules that do all of it by
// the tick; what was told, added up, is held against what is drawn in every frame.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/vec.h"
#include "tests/unit/node/away.h"
#include "tests/unit/node/rig.h"

#define HERE   (-6.0f) // m: x of the two places of the jumper
#define THERE  10.0f
#define BODIES 64u
#define FLIP   60u // ticks
#define HOLD   1u

typedef struct plaza {
    carom_body_id jumper, walker, ball, cubes[AWAY_CLIENTS];
    uint32_t owner; // of the ball
    uint32_t held;  // ticks that player 0 held the button
} plaza;

static carom_body_id put_ball(carom_game *game, float x, float z)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    carom_body_id id = {0, 0};
    body.position = cm_vec(x, 0.4f, z);
    shape.radius = 0.4f;
    cr_assert_eq(carom_body_create(carom_game_world(game), &body, &shape, 1, &id), CAROM_OK);
    return id;
}

static void start(carom_game *game)
{
    plaza *s = carom_game_state(game);
    s->jumper = put_ball(game, HERE, 8.0f);
    s->ball = put_ball(game, 4.0f, 4.0f);
}

static bool join(carom_game *game, uint32_t player, const uint8_t *data, uint32_t size)
{
    plaza *s = carom_game_state(game);
    (void)data;
    (void)size;
    s->cubes[player] = put_ball(game, 3.0f * (float)player, -9.0f);
    return true;
}

static void leave(carom_game *game, uint32_t player)
{
    plaza *s = carom_game_state(game);
    (void)carom_body_destroy(carom_game_world(game), s->cubes[player]);
}

static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    plaza *s = carom_game_state(game);
    uint64_t at = carom_game_tick(game) + 1;
    const carom_vec3 none = {0};
    if (at % FLIP == 0) {
        const carom_vec3 place = {at / FLIP % 2 ? THERE : HERE, 0.4f, 8.0f}, rolls = {0, 0, 2};
        (void)carom_body_set_pose(carom_game_world(game), s->jumper, place, carom_quat_identity());
        (void)carom_body_set_velocity(carom_game_world(game), s->jumper, rolls, none);
    }
    if (at % 50 == 10) {
        s->walker = put_ball(game, 0.0f, 12.0f);
    } else if (at % 50 == 25 || at % 50 == 40) {
        (void)carom_body_destroy(carom_game_world(game), s->walker);
    }
    if (at % 50 == 25) { // in the same slot
        s->walker = put_ball(game, 0.0f, 12.0f);
    }
    s->owner = (uint32_t)(at / 70 % 2);
    for (uint32_t i = 0; i < count; i++) {
        s->held += inputs[i].player == 0 && (inputs[i].bytes[8] & HOLD) != 0;
    }
}

static carom_body_id player_body(const carom_game *game, uint32_t player)
{
    const plaza *s = carom_game_state(game);
    return player == s->owner ? s->ball : s->cubes[player];
}

static const carom_module module = {.abi = CAROM_MODULE_ABI,
                                    .version = 1,
                                    .name = "plaza",
                                    .input_size = RIG_INPUT_SIZE,
                                    .state_size = sizeof(plaza),
                                    .public_size = sizeof(plaza),
                                    .start = start,
                                    .join = join,
                                    .leave = leave,
                                    .tick = tick,
                                    .player_body = player_body};

// What was told, added up.
static struct {
    uint32_t count, told[5];
    carom_client_body_change rows[BODIES];
} drawn;
static away town;

static void on_change(void *user, const carom_client_body_change *change)
{
    uint32_t at = 0;
    (void)user;
    drawn.told[change->kind]++;
    while (at < drawn.count && !carom_body_id_equal(drawn.rows[at].body, change->body)) {
        at++;
    }
    if (change->kind == CAROM_BODY_APPEARED) {
        cr_assert_eq(at, drawn.count, "slot %u appeared twice", change->body.index);
        drawn.count++;
    } else {
        cr_assert_lt(at, drawn.count, "slot %u was never there", change->body.index);
    }
    if (change->kind == CAROM_BODY_VANISHED) {
        cr_assert_eq(drawn.rows[at].owner, change->owner);
        drawn.rows[at] = drawn.rows[--drawn.count];
        return;
    }
    bool changed = change->kind >= CAROM_BODY_CHANGED_OWNER;
    cr_assert_eq(changed,
                 change->kind != CAROM_BODY_APPEARED && drawn.rows[at].owner != change->owner);
    drawn.rows[at] = *change;
}

static uint32_t owner_of(const plaza *s, carom_body_id body)
{
    for (uint32_t player = 0; player < 2; player++) {
        if (carom_body_id_equal(player == s->owner ? s->ball : s->cubes[player], body)) {
            return player;
        }
    }
    return CAROM_NO_PLAYER;
}

// The frame as it is drawn; where the jumper was drawn somewhere new, it counts.
static void look(const carom_client *client, uint32_t *jumps)
{
    static bool there;
    carom_client_transform rows[BODIES];
    uint32_t size, count = carom_client_transforms(client, rows, BODIES);
    const plaza *s = carom_client_predicted_state(client, &size);
    cr_assert_eq(count, drawn.count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = 0;
        while (at < drawn.count && !carom_body_id_equal(drawn.rows[at].body, rows[i].body)) {
            at++;
        }
        cr_assert_lt(at, drawn.count, "slot %u was not told", rows[i].body.index);
        cr_assert_eq(drawn.rows[at].owner, owner_of(s, rows[i].body));
        if (carom_body_id_equal(rows[i].body, s->jumper)) {
            float x = rows[i].position.x;
            cr_assert(cm_abs(x - HERE) < 0.3f || cm_abs(x - THERE) < 0.3f, "on the way: %g", x);
            *jumps += there != (x > 0.0f);
            there = x > 0.0f;
        }
    }
}

static void watch(bool exact, bool predict, uint64_t seed)
{
    uint32_t jumps = 0;
    memset(&drawn, 0, sizeof drawn);
    away_make(&town, &(away_def){.seed = seed, .exact = exact, .module = &module});
    away_join(&town, 1);
    town.client_def.body_changed = on_change;
    town.client_def.predict = predict;
    away_join(&town, 0);
    look(town.clients[0], &jumps);
    jumps = 0;
    memset(drawn.told, 0, sizeof drawn.told);
    for (uint32_t i = 0; i < 2500; i++) { // 10 s
        away_step(&town);
        look(town.clients[0], &jumps);
    }
    printf(
        "watch: exact %d, predict %d: %u appeared, %u vanished, %u teleported, %u other owners\n",
        exact, predict, drawn.told[CAROM_BODY_APPEARED], drawn.told[CAROM_BODY_VANISHED],
        drawn.told[CAROM_BODY_TELEPORTED], drawn.told[CAROM_BODY_CHANGED_OWNER]);
    cr_expect_geq(drawn.told[CAROM_BODY_APPEARED], 22);
    cr_expect_geq(drawn.told[CAROM_BODY_VANISHED], 22);
    cr_expect_eq(drawn.told[CAROM_BODY_TELEPORTED], jumps);
    cr_expect_geq(jumps, 9);
    cr_expect_leq(jumps, 11, "none is told back and forth");
    cr_expect_geq(drawn.told[CAROM_BODY_CHANGED_OWNER], 8 * 3, "the ball and two cubes");
    carom_client_disconnect(town.clients[0], cm_net_now_us(town.net));
    away_run(&town, 0.5);
    cr_expect_eq(drawn.count, 0, "the end lets all vanish");
    away_free(&town);
}

Test(client_watch, predicted)
{
    watch(false, true, 71);
}

Test(client_watch, interpolated)
{
    watch(false, false, 72);
}

Test(client_watch, with_exact_sync)
{
    watch(true, true, 73);
}

static uint32_t held(bool predicted)
{
    uint32_t size;
    const carom_client *client = town.clients[0];
    const plaza *state = predicted ? carom_client_predicted_state(client, &size)
                                   : carom_client_public_state(client, &size);
    cr_assert_eq(size, sizeof *state);
    return state->held;
}

Test(client_watch, the_state_is_there_as_predicted)
{
    uint32_t size, ahead = 0;
    away_make(&town, &(away_def){.seed = 74, .module = &module});
    away_connect(&town, 0);
    cr_expect_null(carom_client_predicted_state(town.clients[0], &size));
    cr_expect_eq(size, 0);
    away_run(&town, 1.5);
    uint8_t input[CAROM_INPUT_MAX];
    rig_input(input, 0.0f, 0.0f, HOLD);
    cr_assert_eq(carom_client_set_input(town.clients[0], input, RIG_INPUT_SIZE), CAROM_OK);
    for (uint32_t i = 0; i < 250; i++) {
        away_step(&town);
        uint32_t seen = held(false);
        uint32_t predicted = held(true);
        cr_assert_geq(predicted, seen);
        ahead = predicted - seen > ahead ? predicted - seen : ahead;
    }
    cr_expect_geq(ahead, 3, "a round trip and a view: %u ticks", ahead);
    rig_input(input, 0.0f, 0.0f, 0);
    cr_assert_eq(carom_client_set_input(town.clients[0], input, RIG_INPUT_SIZE), CAROM_OK);
    away_run(&town, 1.0);
    uint32_t seen = held(false);
    cr_expect_eq(held(true), seen);
    cr_expect_geq(seen, 55);
    away_free(&town);
}
