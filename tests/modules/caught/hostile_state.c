// expect: tick [0-9]+: in tick: it (crashes|writes outside of).*a stranger may send
#include <carom/module.h>

// Trusts an index that stands in its state.
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    uint32_t *state = carom_game_state(game);
    (void)inputs;
    state[1 + state[0]] += count;
    state[0] = (state[0] + 1) % 3u;
}

CAROM_MODULE(hostile_state, .version = 1, .state_size = 16, .tick = tick);
