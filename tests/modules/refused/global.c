// expect: data that stay writable
#include <carom/module.h>
static uint32_t ticks; // of all rooms, and never rewound
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    (void)inputs;
    ticks += count + 1;
    *(uint32_t *)carom_game_state(game) = ticks;
}
CAROM_MODULE(global, .version = 1, .state_size = 4, .tick = tick);
