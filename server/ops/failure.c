// A few in a process's life.
#include "server/ops/failure.h"

#include <stdarg.h>
#include <stdio.h>

carom_result cm_fail(cm_failure *failure, carom_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure->text, sizeof failure->text, format, arguments);
    va_end(arguments);
    return result;
}

bool cm_failure_is_usage(carom_result result)
{
    return result == CAROM_ERROR_NOT_FOUND || result == CAROM_ERROR_ARGUMENT ||
           result == CAROM_ERROR_LIMIT_SIZE || result == CAROM_ERROR_NOT_BUILT;
}
