// A short run of `carom bench feel`, for tests of what a client shows.
#ifndef CM_TEST_UNIT_FEELING_H
#define CM_TEST_UNIT_FEELING_H

#include "server/tools/feel/feel.h"

cm_feel_figures feeling(const char *game, const char *path, uint64_t seed, uint32_t seconds);
// The same of a game or a path that only the test knows.
cm_feel_figures feeling_of(const cm_feel_game *game, const cm_feel_path *path, uint64_t seed,
                           uint32_t seconds);

#endif
