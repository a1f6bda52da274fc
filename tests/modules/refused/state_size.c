// expect: state_size: expected a multiple of 4
#include <carom/module.h>
CAROM_MODULE(state_size, .version = 1, .state_size = 6);
