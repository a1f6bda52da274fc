// expect: imports carom_world_restore: the host restores
#include <carom/module.h>
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    (void)inputs;
    (void)carom_world_restore(carom_game_world(game), carom_game_state(game), count);
}
CAROM_MODULE(restore, .version = 1, .state_size = 4, .tick = tick);
