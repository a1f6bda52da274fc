// Where fuzzed bodies with a history were (shared/game/past.h): noted, gone back, encoded, damaged.
#ifndef CM_TESTS_FUZZ_RANDOM_PAST_H
#define CM_TESTS_FUZZ_RANDOM_PAST_H

#include <stddef.h>

#include "carom/world.h"
#include "shared/base/rng.h"

typedef struct cm_past_counts {
    uint64_t poses, damaged, taken; // noted; encodings that were damaged, and still accepted
} cm_past_counts;

// Plays in `world`, from an image of `used` bytes on; its images have at most `size`.
// NULL, or what is wrong.
const char *cm_random_past(carom_world *world, const void *image, size_t used, size_t size,
                           cm_rng *rng, void (*step)(carom_world *world), cm_past_counts *counts);

#endif
