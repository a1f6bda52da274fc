// expect: exports no descriptor
#include <carom/module.h>
CAROM_API extern const int *const another;
static const int unused = 1;
const int *const another = &unused;
CAROM_MODULE_NOTE(none)
