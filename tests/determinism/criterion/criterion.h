// Stands in for Criterion where the golden scenes are built for machines that have no Criterion: a
// failed assertion ends the program.
#ifndef CM_TESTS_DETERMINISM_CRITERION_H
#define CM_TESTS_DETERMINISM_CRITERION_H

#include <stdio.h>
#include <stdlib.h>

#define cr_assert(condition, ...)                                                                  \
    ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: failed\n", __FILE__, __LINE__), exit(1)))
#define cr_assert_gt(a, b, ...)    cr_assert((a) > (b))
#define cr_assert_eq(a, b, ...)    cr_assert((a) == (b))
#define cr_assert_not_null(a, ...) cr_assert((a) != NULL)

#endif
