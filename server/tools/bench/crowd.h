// Recordings of a crowd: a player's large cube is driven through a field of small cubes, as in the
// `sandbox`, and every cube is quantised at 60 Hz as a view is. They train the codec of
// shared/codec, and are the default input of its tests and of `carom bench codec`.
#ifndef CM_TOOLS_CROWD_H
#define CM_TOOLS_CROWD_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/codec/cube.h"

typedef struct cm_crowd cm_crowd;

// A crowd of CM_CODEC_CUBES cubes; the seed draws sizes, friction, gravity, solver and how the
// player drives. NULL without memory.
cm_crowd *cm_crowd_new(uint64_t seed);
void cm_crowd_free(cm_crowd *crowd);
// The cubes as they are, then one tick of 1/60 s.
void cm_crowd_frame(cm_crowd *crowd, cm_cube cubes[CM_CODEC_CUBES]);

#endif
