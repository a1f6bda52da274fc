// Frames for the codec's tests, integers from a seed: the same on every machine.
#ifndef TESTS_UNIT_CODEC_FRAMES_H
#define TESTS_UNIT_CODEC_FRAMES_H

#include "shared/base/rng.h"
#include "shared/codec/codec.h"

// Anything that a cube can be, its extremes more often than chance would have it.
static inline cm_cube any_cube(cm_rng *rng)
{
    cm_cube cube = {.largest = (int16_t)cm_rng_below(rng, 4),
                    .touched = (int16_t)cm_rng_below(rng, 2)};
    for (int i = 0; i < 3; i++) {
        const int32_t low = i < 2 ? -CM_CUBE_SIDE : 0, high = i < 2 ? CM_CUBE_SIDE : CM_CUBE_HEIGHT;
        uint32_t kind = cm_rng_below(rng, 4);
        cube.turn[i] = (int16_t)(kind == 0   ? 0
                                 : kind == 1 ? CM_CUBE_TURN
                                             : (int32_t)cm_rng_below(rng, CM_CUBE_TURN + 1));
        kind = cm_rng_below(rng, 4);
        cube.at[i] =
            (int16_t)(kind == 0   ? low
                      : kind == 1 ? high
                                  : low + (int32_t)cm_rng_below(rng, (uint32_t)(high - low + 1)));
    }
    return cube;
}

// The next frame: one cube of `rare` becomes any cube, one of `often` takes a small step.
static inline void next_frame(cm_rng *rng, const cm_cube *from, cm_cube *to, uint32_t rare,
                              uint32_t often)
{
    for (uint32_t i = 0; i < CM_CODEC_CUBES; i++) {
        to[i] = from[i];
        if (cm_rng_below(rng, rare) == 0) {
            to[i] = any_cube(rng);
        } else if (cm_rng_below(rng, often) == 0) {
            for (int k = 0; k < 3; k++) {
                int32_t turn = to[i].turn[k] + (int32_t)cm_rng_below(rng, 7) - 3;
                int32_t at = to[i].at[k] + (int32_t)cm_rng_below(rng, 41) - 20;
                to[i].turn[k] = (int16_t)(turn < 0 ? 0 : turn > CM_CUBE_TURN ? CM_CUBE_TURN : turn);
                to[i].at[k] = (int16_t)(at < 0 ? 0 : at > CM_CUBE_HEIGHT ? CM_CUBE_HEIGHT : at);
            }
        }
    }
}

#endif
