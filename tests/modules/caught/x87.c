// expect: tick [0-9]+: in message: it leaves the x87 control word changed, from 037f to 027f
#include <carom/module.h>

// Sets another precision for long double.
static void message(carom_game *game, uint32_t player, const uint8_t *bytes, uint32_t size)
{
    uint16_t control = 0x027f;
    (void)game;
    (void)player;
    (void)bytes;
    (void)size;
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("fldcw %0" : : "m"(control));
#endif
}

CAROM_MODULE(x87, .version = 1, .state_size = 4, .message = message);
