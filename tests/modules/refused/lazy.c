// expect: binds its imports late
// flags: -Wl,-z,lazy
#include <carom/module.h>
CAROM_MODULE(lazy, .version = 1);
