// expect: wants an executable stack
// flags: -Wl,-z,execstack
#include <carom/module.h>
CAROM_MODULE(exec_stack, .version = 1);
