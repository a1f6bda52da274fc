// expect: tick [0-9]+: made again it gives another result, in byte 4 of .*clock
#include <carom/module.h>

// Reads the processor's counter, which no import shows.
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    uint32_t *state = carom_game_state(game);
    (void)inputs;
    state[0] += count;
#if defined(__x86_64__) || defined(__i386__)
    state[1] = (uint32_t)__builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t now;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    state[1] = (uint32_t)now;
#endif
}

CAROM_MODULE(clock, .version = 1, .state_size = 8, .tick = tick);
