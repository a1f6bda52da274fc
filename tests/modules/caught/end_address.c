// expect: tick [0-9]+: (after a rewind|another result).*address
#include <carom/module.h>

// The trial's last tick is a match's last one, too.
static void end(carom_game *game)
{
    uint32_t *state = carom_game_state(game);
    state[0] = (uint32_t)((uintptr_t)game >> 4);
}

CAROM_MODULE(end_address, .version = 1, .state_size = 4, .end = end);
