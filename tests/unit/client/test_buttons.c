// Goal: no edge of a button is lost between an update and the next, or between two ticks, and none
// is made up. Method: the edges by themselves; then a worker and an SDK client whose player presses
// faster than ticks and frames; rules that count edges on the server.
#include <criterion/criterion.h>
#include <string.h>

#include "client-sdk/src/buttons.h"
#include "shared/base/rng.h"
#include "shared/game/modules.h"
#include "tests/unit/node/away.h"
#include "tests/unit/node/rig.h"

#define FIRE 1u
#define JUMP 2u
#define AXIS 4u // of no button

typedef struct counts {
    uint32_t before, fires, jumps, axes, both;
} counts;

static bool check_input(const uint8_t *bytes)
{
    return (bytes[8] & (FIRE | JUMP)) != (FIRE | JUMP);
}

static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    counts *s = carom_game_state(game);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t now = inputs[i].bytes[8], pressed = now & ~s->before;
        s->fires += (pressed & FIRE) != 0;
        s->jumps += (pressed & JUMP) != 0;
        s->axes += (pressed & AXIS) != 0;
        s->both += (now & (FIRE | JUMP)) == (FIRE | JUMP);
        s->before = now;
    }
}

static const carom_module module = {.abi = CAROM_MODULE_ABI,
                                    .version = 1,
                                    .name = "counts",
                                    .input_size = RIG_INPUT_SIZE,
                                    .state_size = sizeof(counts),
                                    .public_size = sizeof(counts),
                                    .tick = tick,
                                    .buttons = {[8] = FIRE | JUMP}};

// The states of bit 0 in so many ticks.
static const char *ticks_of(cm_buttons *buttons, uint8_t newest, uint32_t ticks)
{
    static char text[16];
    for (uint32_t i = 0; i < ticks; i++) {
        uint8_t input[CAROM_INPUT_MAX] = {[8] = newest};
        cm_buttons_next(buttons, &module, input);
        text[i] = (input[8] & FIRE) != 0 ? '1' : '0';
        cr_expect_eq(input[8] & AXIS, newest & AXIS, "what is no button is as it was set last");
    }
    text[ticks] = '\0';
    return text;
}

static void set(cm_buttons *buttons, uint8_t *newest, uint8_t now)
{
    const uint8_t before[CAROM_INPUT_MAX] = {[8] = *newest}, after[CAROM_INPUT_MAX] = {[8] = now};
    cm_buttons_note(buttons, &module, before, after);
    *newest = now;
}

Test(client_buttons, each_edge_has_a_tick)
{
    cm_buttons buttons = {0};
    uint8_t newest = 0;
    set(&buttons, &newest, FIRE);
    cr_expect_str_eq(ticks_of(&buttons, newest, 3), "111");
    set(&buttons, &newest, AXIS); // released
    set(&buttons, &newest, FIRE | AXIS);
    cr_expect_str_eq(ticks_of(&buttons, newest, 3), "011");
    set(&buttons, &newest, 0);
    cr_expect_str_eq(ticks_of(&buttons, newest, 2), "00");
    for (uint32_t i = 0; i < 2; i++) {
        set(&buttons, &newest, FIRE);
        set(&buttons, &newest, 0);
    }
    cr_expect_str_eq(ticks_of(&buttons, newest, 6), "101000");
    cr_expect_eq(buttons.count, 0);
}

Test(client_buttons, more_than_wait_are_left_out_in_pairs)
{
    cm_buttons buttons = {0};
    uint8_t newest = 0;
    for (uint32_t i = 0; i < 101; i++) {
        set(&buttons, &newest, newest ^ FIRE);
        cr_expect_leq(buttons.count, CM_EDGES_MAX);
    }
    cr_expect_eq(newest, FIRE);
    cr_expect_str_eq(ticks_of(&buttons, newest, 6), "101111", "it ends as it is");
    cr_expect_eq(buttons.count, 0);
}

// Two buttons that the player never holds at once.
Test(client_buttons, what_the_module_refuses_is_not_made_up)
{
    carom_module strict = module;
    cm_buttons buttons = {0};
    strict.check_input = check_input;
    const uint8_t none[CAROM_INPUT_MAX] = {0}, fire[CAROM_INPUT_MAX] = {[8] = FIRE};
    const uint8_t jump[CAROM_INPUT_MAX] = {[8] = JUMP};
    cm_buttons_note(&buttons, &strict, none, fire);
    cm_buttons_note(&buttons, &strict, fire, jump);
    for (uint32_t i = 0; i < 4; i++) {
        uint8_t input[CAROM_INPUT_MAX] = {[8] = JUMP};
        cm_buttons_next(&buttons, &strict, input);
        cr_expect(check_input(input));
        cr_expect_eq(input[8], JUMP, "both went down in one tick");
    }
    cr_expect_eq(buttons.count, 0);
}

Test(client_buttons, bits_beyond_the_input_are_refused)
{
    carom_module wrong = module;
    carom_error error;
    wrong.buttons[RIG_INPUT_SIZE] = 1;
    cr_expect_not(carom_module_is_valid(&wrong, &error));
    cr_expect_str_eq(error.field, "buttons");
    carom_client_def def = carom_default_client_def();
    carom_client *client;
    def.module = &wrong;
    def.error = &error;
    cr_expect_eq(carom_client_create(&def, &client), CAROM_ERROR_ARGUMENT);
    cr_expect_str_eq(error.field, "module.buttons");
}

// Presses of both buttons, `fast` ones between two updates that are `steps` of 4 ms apart.
static void press(away *town, uint32_t steps, bool fast, uint32_t presses)
{
    cm_rng rng;
    cm_rng_seed(&rng, 5);
    for (uint32_t i = 0; i < presses; i++) {
        uint8_t input[CAROM_INPUT_MAX];
        for (uint32_t k = 0; k < 2; k++) {
            rig_input(input, cm_rng_range(&rng, -1.0f, 1.0f), 0.0f, k == 0 ? FIRE | JUMP : 0);
            cr_assert_eq(carom_client_set_input(town->clients[0], input, RIG_INPUT_SIZE), CAROM_OK);
            if (!fast) {
                away_run(town, 0.004 * (1 + cm_rng_below(&rng, 3)));
            }
        }
        for (uint32_t step = 0; step < 10 + cm_rng_below(&rng, 4); step++) {
            carom_client *client = town->clients[0];
            town->clients[0] = step % steps == 0 ? client : NULL; // has no update
            away_step(town);
            town->clients[0] = client;
        }
    }
    away_run(town, 1.0);
}

Test(client_buttons, none_is_lost_between_frames)
{
    static away town;
    uint32_t size, presses = 200, before = 0;
    away_make(&town, &(away_def){.seed = 91, .lossless = true, .module = &module});
    away_join(&town, 0);
    for (uint32_t i = 0; i < 4; i++) {
        press(&town, i < 2 ? 1 : 12, i % 2 != 0, presses); // 250 and 20 frames a second
        const counts *s = carom_client_public_state(town.clients[0], &size);
        cr_assert_eq(size, sizeof *s);
        cr_expect_eq(s->fires - before, presses, "%u: %u", i, s->fires - before);
        cr_expect_eq(s->jumps, s->fires);
        before = s->fires;
    }
    away_free(&town);
}
