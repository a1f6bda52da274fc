// Recordings of cubes as files: what `carom bench codec` reads.
//
//   OFFSET  SIZE             CONTENT
//   0       32 x 901 a frame  little-endian int32: largest, a, b, c, x, y, z, interacting
// Plain, or packed by xz.
#ifndef CM_TOOLS_CUBE_FILE_H
#define CM_TOOLS_CUBE_FILE_H

#include <stdint.h>

#include "shared/codec/cube.h"

#define CM_CUBE_FILE_FRAMES_MAX 100000u

typedef struct cm_cube_file {
    cm_cube *cubes; // CM_CODEC_CUBES to a frame; the caller's to free
    uint32_t frames;
    const char *wrong; // why it was refused; NULL: it was not
    uint64_t at;       // the byte of the unpacked file where
} cm_cube_file;

cm_cube_file cm_cube_file_read(const char *path);

#endif
