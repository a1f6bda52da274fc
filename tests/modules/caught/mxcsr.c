// expect: tick [0-9]+: in tick: it leaves (MXCSR|the floating-point control register) changed
#include <carom/module.h>

// Turns denormals off and leaves it at that.
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    (void)game;
    (void)inputs;
    (void)count;
#if defined(__x86_64__) || defined(__i386__)
    uint32_t control = 0x9fc0;
    __asm__ volatile("ldmxcsr %0" : : "m"(control));
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(UINT64_C(1) << 24));
#endif
}

CAROM_MODULE(mxcsr, .version = 1, .state_size = 4, .tick = tick);
