// Why something could not be done: a result for the program and a text for people. Whoever finds it
// fills it in and returns it; the command line alone prints it.
#ifndef CM_SERVER_OPS_FAILURE_H
#define CM_SERVER_OPS_FAILURE_H

#include "carom/types.h"

#define CM_FAILURE_TEXT_MAX 1536u

typedef struct cm_failure {
    char text[CM_FAILURE_TEXT_MAX]; // "": there is nothing to say, or it was said
} cm_failure;

// Fills in the text, and returns `result`: `return cm_fail(failure, CAROM_ERROR_IO, "…")`.
carom_result cm_fail(cm_failure *failure, carom_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Whether a failure is the fault of what was asked for, rather than of the machine or a file.
bool cm_failure_is_usage(carom_result result);

#endif
