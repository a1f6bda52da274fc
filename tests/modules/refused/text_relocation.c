// expect: (expected -fPIC|relocation|a segment)
// flags: -fno-pic -mcmodel=large -Wl,-z,notext
#include <carom/module.h>
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    (void)inputs;
    (void)count;
    (void)carom_game_tick(game);
}
CAROM_MODULE(text_relocation, .version = 1, .tick = tick);
