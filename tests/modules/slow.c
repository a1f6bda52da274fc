// For the tests of a server that is busy: each tick counts to `work` thousands, which changes
// nothing.
#include <carom/module.h>

typedef struct slow_state {
    uint32_t work;
} slow_state;

static const char *slow_configure(carom_game *game, const carom_setting *settings, uint32_t count)
{
    slow_state *state = carom_game_state(game);
    for (uint32_t i = 0; i < count; i++) {
        state->work = (uint32_t)settings[i].value;
    }
    return NULL;
}

static void slow_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    const slow_state *state = carom_game_state(game);
    (void)inputs;
    (void)count;
    for (uint32_t i = 0; i < state->work; i++) {
        for (volatile uint32_t k = 0; k < 1000; k++) {
        }
    }
}

CAROM_MODULE(slow, .version = 1, .state_size = sizeof(slow_state), .configure = slow_configure,
             .tick = slow_tick);
