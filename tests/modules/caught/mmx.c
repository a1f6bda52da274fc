// expect: tick [0-9]+: in tick: it leaves the x87 registers in use
#include <carom/module.h>

// Forgets that MMX and x87 share registers.
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    (void)game;
    (void)inputs;
    (void)count;
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("pxor %%mm0, %%mm0" : : : "mm0");
#endif
}

CAROM_MODULE(mmx, .version = 1, .state_size = 4, .tick = tick);
