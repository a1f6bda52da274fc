// expect: built without -fno-fast-math
// flags: -UCAROM_MODULE_FLAGS '-DCAROM_MODULE_FLAGS="-O3"' -funsafe-math-optimizations

// Its sums are taken in whatever order the compiler likes, which another one does not.
#include <carom/module.h>
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    float sum = 0.0f;
    for (uint32_t i = 0; i < count; i++) {
        sum += 1.0f / (float)inputs[i].bytes[0];
    }
    *(float *)carom_game_state(game) = sum;
}
CAROM_MODULE(float_order, .version = 1, .input_size = 1, .state_size = 4, .tick = tick);
