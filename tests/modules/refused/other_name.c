// expect: name different modules
#include <carom/module.h>
CAROM_MODULE(other_name, .version = 1, .name = "another");
