// expect: tick 0: another result in a process where memory lies elsewhere
#include <carom/module.h>

// Keeps a function's address, to call it later: the same in every game of one process.
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    uint32_t *state = carom_game_state(game);
    (void)inputs;
    (void)count;
    state[0] = (uint32_t)((uintptr_t)&tick >> 12);
}

CAROM_MODULE(code_address, .version = 1, .state_size = 4, .tick = tick);
