// The end of a process whose assertion failed: it prints the condition and stops at once, before a
// wrong state is saved, sent or recorded. The rooms of a worker that dies here are resumed from
// their records.
#include "shared/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void cm_assert_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "carom: %s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
