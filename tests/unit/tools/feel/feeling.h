// A short run of `carom bench feel`, for tests of what a client shows.
#ifndef CM_TEST_UNIT_FEELING_H
#define CM_TEST_UNIT_FEELING_H

#include "server/tools/feel/feel.h"

cm_feel_figures feeling(const char *game, const char *path, uint64_t seed, uint32_t seconds);

#endif
