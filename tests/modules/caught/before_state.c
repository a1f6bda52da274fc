// expect: tick [0-9]+: in tick: it writes outside of its state, at byte -4 of 8
#include <carom/module.h>

// Writes the word before its state, and never reads it.
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    volatile uint32_t *state = carom_game_state(game);
    (void)inputs;
    state[-1] = count;
    state[0]++;
}

CAROM_MODULE(before_state, .version = 1, .state_size = 8, .tick = tick);
