// expect: two descriptors
#include <carom/module.h>
CAROM_MODULE(two, .version = 1);
CAROM_API extern const carom_module carom_module_three;
const carom_module carom_module_three = {.abi = CAROM_MODULE_ABI, .name = "three"};
