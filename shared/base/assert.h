// CM_ASSERT: on in release servers too. It guards our own contracts only, cheaply; untrusted data
// is checked and refused with a result, never asserted. Each assertion has one condition, so that
// the message names the one that failed.
#ifndef CM_BASE_ASSERT_H
#define CM_BASE_ASSERT_H

// Prints file, line and condition to standard error and aborts.
_Noreturn void cm_assert_failed(const char *file, int line, const char *condition);

#define CM_ASSERT(condition)                                                                       \
    ((condition) ? (void)0 : cm_assert_failed(__FILE__, __LINE__, #condition))

#endif
