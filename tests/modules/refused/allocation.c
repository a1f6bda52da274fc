// expect: imports malloc
#include <carom/module.h>
#include <stdlib.h>
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    (void)inputs;
    char *memory = malloc(count + 1);
    *(uint32_t *)carom_game_state(game) = memory != NULL;
}
CAROM_MODULE(allocation, .version = 1, .state_size = 4, .tick = tick);
