// expect: made for ABI 1, expected
#include <carom/module.h>
CAROM_MODULE_NOTE(abi)
CAROM_API extern const carom_module carom_module_abi;
const carom_module carom_module_abi = {.abi = 1, .name = "abi", .source = CAROM_MODULE_SOURCE};
