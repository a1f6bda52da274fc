// What happens when a contract of our own is broken: say which, and stop at once, before a wrong
// state is saved, sent or recorded. A worker that dies here is resumed from its records.
#include "shared/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void cm_assert_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "carom: %s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
