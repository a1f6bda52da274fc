// A cube as a frame has it: what the codec codes, exactly these integers.
//
//   FIELD        RANGE            UNIT
//   largest      0 to 3           which of x, y, z, w was left out of the quaternion
//   turn         0 to 511         the other three in order, 255.5 is 0, 361.3 steps to 1
//   at           +-16383, +-16383, 0 to 8191   x, y, z (z up), 1/512 m
//   touched      0 or 1           touches the player's cube, or did since it last came to rest
#ifndef CM_CODEC_CUBE_H
#define CM_CODEC_CUBE_H

#include <stdbool.h>
#include <stdint.h>

#define CM_CODEC_CUBES 901u // in a frame; cube 0 is the player's
#define CM_CUBE_TURN   511
#define CM_CUBE_SIDE   16383
#define CM_CUBE_HEIGHT 8191

typedef struct cm_cube {
    int16_t largest;
    int16_t turn[3];
    int16_t at[3];
    int16_t touched;
} cm_cube;

_Static_assert(sizeof(cm_cube) == 16, "no padding: cubes are compared as bytes");

#endif
