// Measures the cost of a recording: on the tick's thread, on disk, and for verifying it.
#ifndef CM_SERVER_TOOLS_BENCH_RECORDING_H
#define CM_SERVER_TOOLS_BENCH_RECORDING_H

#include "carom/types.h"

typedef struct cm_recording_cost {
    uint32_t bodies, players;
    double tick_us;              // of the tick's thread, handing over; mean, keyframes included
    double input_bytes_per_tick; // on disk, packed
    double arrival_bytes_per_tick;
    double keyframe_bytes_per_hour; // as often as in this match
    double file_bytes_per_tick;
    double verify_x_realtime; // seconds of the match for a second of one core
    double verify_s[2];       // by the clock on the wall, with one job and with two
} cm_recording_cost;

// A sandbox match of 256 cubes and 8 players whose inputs change in every tick, `seconds` long, a
// keyframe every 10 s, recorded in `folder` (made, and left empty) and verified.
carom_result cm_recording_measure(const char *folder, uint32_t seconds, cm_recording_cost *cost);

#endif
