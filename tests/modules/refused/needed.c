// expect: (needs a library|imports sinf)
// flags: -Wl,--no-as-needed -lm -lc
#include <carom/module.h>
CAROM_MODULE(needed, .version = 1);
