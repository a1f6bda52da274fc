// expect: tick [0-9]+: in join: it crashes \(Segmentation fault\)
#include <carom/module.h>

// Reads far behind its state, where in a server other memory of the game lies.
static bool join(carom_game *game, uint32_t player, const uint8_t *user_data, uint32_t size)
{
    volatile uint32_t *state = carom_game_state(game);
    (void)user_data;
    (void)size;
    state[0] += state[4096 + player] != 0;
    return true;
}

CAROM_MODULE(far_from_state, .version = 1, .state_size = 8, .join = join);
