// expect: tick [0-9]+: (after a rewind|another result).*address
#include <carom/module.h>

// Adds up in an order that follows from addresses: another sum elsewhere.
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    float *state = carom_game_state(game);
    const float terms[3] = {1.0f, 2.0f, 4.0f};
    uint32_t first = (uint32_t)((uintptr_t)game >> 6) % 3u;
    (void)inputs;
    (void)count;
    for (uint32_t i = 0; i < 3; i++) {
        state[0] = 0.5f * state[0] + terms[(first + i) % 3u];
    }
    state[0] += 0.25f;
}

CAROM_MODULE(address_order, .version = 1, .state_size = 4, .tick = tick);
