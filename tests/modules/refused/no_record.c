// expect: no record of how it was built
// flags: -UCAROM_MODULE_FLAGS
#include <carom/module.h>
CAROM_MODULE(no_record, .version = 1);
