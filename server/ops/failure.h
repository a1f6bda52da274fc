// A failure: a result for the program and a text for people. The function that fails fills it in
// and returns it; only the command line prints it.
#ifndef CM_SERVER_OPS_FAILURE_H
#define CM_SERVER_OPS_FAILURE_H

#include "carom/types.h"

#define CM_FAILURE_TEXT_MAX 1536u

typedef struct cm_failure {
    char text[CM_FAILURE_TEXT_MAX]; // "": no text, or it was already printed
} cm_failure;

// Fills in the text, and returns `result`: `return cm_fail(failure, CAROM_ERROR_IO, "…")`.
carom_result cm_fail(cm_failure *failure, carom_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// True if the request itself is at fault, rather than the machine or a file.
bool cm_failure_is_usage(carom_result result);

#endif
