// expect: no source hash
// flags: -UCAROM_MODULE_SOURCE
#include <carom/module.h>
CAROM_MODULE(no_source, .version = 1);
