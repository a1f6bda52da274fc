// expect: constructors
#include <carom/module.h>
__attribute__((constructor)) static void begin(void)
{
    __asm__ volatile("");
}
CAROM_MODULE(constructor, .version = 1);
