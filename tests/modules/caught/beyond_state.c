// expect: tick [0-9]+: in tick: it writes outside of its state, at byte 4 of 4
#include <carom/module.h>

// Writes behind its state, where nothing is saved.
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    volatile uint32_t *state = carom_game_state(game);
    (void)inputs;
    (void)count;
    state[1]++;
    state[0] = state[1];
}

CAROM_MODULE(beyond_state, .version = 1, .state_size = 4, .tick = tick);
