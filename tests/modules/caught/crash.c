// expect: tick [0-9]+: in [a-z]+: it crashes
#include <carom/module.h>

// A message of no bytes has no address.
static void message(carom_game *game, uint32_t player, const uint8_t *bytes, uint32_t size)
{
    const volatile uint8_t *first = bytes;
    uint32_t *state = carom_game_state(game);
    (void)player;
    (void)size;
    state[0] += first[0];
}

CAROM_MODULE(crash, .version = 1, .state_size = 4, .message = message);
