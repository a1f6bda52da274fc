// expect: tick [0-9]+: made again it gives another result, in byte 0 of .*did not write
#include <carom/module.h>

// A local of which only a part is written.
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    volatile uint32_t scores[64];
    uint32_t *state = carom_game_state(game);
    for (uint32_t i = 0; i < count; i++) {
        scores[i] = inputs[i].player;
    }
    state[0] ^= scores[63];
}

CAROM_MODULE(uninitialised, .version = 1, .state_size = 4, .tick = tick);
