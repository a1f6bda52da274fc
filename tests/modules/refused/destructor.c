// expect: destructors
#include <carom/module.h>
__attribute__((destructor)) static void end(void)
{
    __asm__ volatile("");
}
CAROM_MODULE(destructor, .version = 1);
