// expect: stay writable
// flags: -Wl,-z,norelro
#include <carom/module.h>
CAROM_MODULE(no_relro, .version = 1);
