// Frames of cubes as few bytes: each coded against frames that both ends hold. A packet stands
// alone: it names the frames that it was coded against, and nothing else is remembered between two.
//
// Integers alone, so that every build writes and reads the same bytes.
#ifndef CM_CODEC_CODEC_H
#define CM_CODEC_CODEC_H

#include <stddef.h>

#include "shared/codec/cube.h"

#define CM_CODEC_AGES      64
#define CM_CODEC_BYTES_MAX 32768

typedef enum cm_codec_mode { CM_CODEC_FAST, CM_CODEC_BEST, CM_CODEC_MODES } cm_codec_mode;

// Frames that both ends hold, by how many frames older they are than the one that is coded; NULL
// where there is none. [0] is not looked at.
typedef struct cm_codec_held {
    const cm_cube *by_age[CM_CODEC_AGES];
} cm_codec_held;

typedef enum cm_codec_reason {
    CM_CODEC_OK,
    CM_CODEC_SHORT,   // ends within its head
    CM_CODEC_LONG,    // goes on behind its end
    CM_CODEC_HEADER,  // no such mode or ages
    CM_CODEC_MISSING, // coded against a frame that is not held
    CM_CODEC_RANGE,   // a cube outside its ranges
    CM_CODEC_REASONS
} cm_codec_reason;

const char *cm_codec_reason_text(cm_codec_reason reason);

// The cubes of a frame (CM_CODEC_CUBES, in their ranges) against the newest frame held, or alone if
// none is. Returns the bytes written, at most CM_CODEC_BYTES_MAX; 0 if they do not fit.
size_t cm_codec_encode(cm_codec_mode mode, const cm_codec_held *held, const cm_cube *cubes,
                       uint8_t *bytes, size_t size);
// The same cubes. `cubes` is no frame that is held, and is undefined where the result is not OK.
cm_codec_reason cm_codec_decode(const cm_codec_held *held, const uint8_t *bytes, size_t size,
                                cm_cube *cubes);

#endif
