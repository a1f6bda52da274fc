// expect: tick [0-9]+: (after a rewind|another result).*address
#include <carom/module.h>

// Seeds its dice with where the game lies.
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    uint32_t *state = carom_game_state(game);
    (void)inputs;
    state[0] += count;
    if (carom_game_tick(game) == 20) {
        state[1] = (uint32_t)((uintptr_t)game >> 4);
    }
}

CAROM_MODULE(address, .version = 1, .state_size = 8, .tick = tick);
