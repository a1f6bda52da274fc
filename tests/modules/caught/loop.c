// expect: tick [0-9]+: in tick: it takes more than 2 s of processor time
#include <carom/module.h>

// Counts down from what a player sent.
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    volatile uint32_t *state = carom_game_state(game);
    for (uint32_t i = 0; i < count; i++) {
        for (uint64_t n = inputs[i].bytes[0]; n > 200 && state[0] != 1; n++) {
            state[0] = 0;
        }
    }
}

CAROM_MODULE(loop, .version = 1, .input_size = 1, .state_size = 4, .tick = tick);
