// expect: tick [0-9]+: in tick: it (crashes|writes outside of).*a stranger may send
#include <carom/module.h>

// Checks its index against the wrong end: only a word just out of range is let through.
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    uint32_t *state = carom_game_state(game);
    (void)inputs;
    if (state[0] <= 64) {
        state[1 + state[0]] += count;
    }
    state[0] = (state[0] + 1) % 64u;
}

CAROM_MODULE(rare_index, .version = 1, .state_size = 260, .tick = tick);
