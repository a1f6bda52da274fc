// expect: hash-style=sysv
// flags: -Wl,--hash-style=gnu
#include <carom/module.h>
CAROM_MODULE(gnu_hash, .version = 1);
