// Runs the codec over a recording and measures bytes and time, and bytes under packet loss.
#ifndef CM_TOOLS_CODEC_RUN_H
#define CM_TOOLS_CODEC_RUN_H

#include "server/tools/bench/cube_file.h"
#include "shared/codec/codec.h"

#define CM_CODEC_RUN_FROM 6u // first frame that is coded, against the one that is so much older
#define CM_CODEC_RUN_LOSS 5u // percent

typedef struct cm_codec_run {
    uint32_t frames;                       // coded
    double bytes_per_frame;                // frame n against frame n - 6 and older ones
    double encode_us, decode_us;           // thread CPU time: median of frames' shortest
    double encode_us_mean, decode_us_mean; // mean of the same
    uint32_t lost;                         // packets that did not arrive
    double lossy_bytes_per_frame;          // each against what arrived, 6 frames old or older
    uint32_t wrong_frame;                  // first that did not come back the same; 0: none
} cm_codec_run;

// Codes every frame `runs` times. False without memory.
bool cm_codec_run_measure(const cm_cube_file *file, cm_codec_mode mode, uint32_t runs,
                          cm_codec_run *run);

#endif
