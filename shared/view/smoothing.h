// A jump that a correction causes is worn off, for the eye alone: evenly within a time, so that
// no frame's part of it is larger than another's. One that comes while another is worn off has its
// share of the time that is left. What other players steer takes longer: it jumps further, each
// time that one of them changes its mind, and eyes follow it.
#ifndef CM_VIEW_SMOOTHING_H
#define CM_VIEW_SMOOTHING_H

#include <stdbool.h>

#define CM_SMOOTHING_S      0.04f // unless the client says otherwise
#define CM_SMOOTHING_OTHERS 2.25f // times that: of a body that another player steers

// Time until all is gone: of an offset as large as `before`, with `left_s` to go, a jump made
// another.
static inline float cm_smoothing_left(float smoothing_s, bool others, float before, float left_s,
                                      float jump)
{
    float whole_s = others ? CM_SMOOTHING_OTHERS * smoothing_s : smoothing_s;
    return before > 0.0f ? (before * left_s + jump * whole_s) / (before + jump) : whole_s;
}

// The part of an offset that is left after `seconds`.
static inline float cm_smoothing_keep(float left_s, float seconds)
{
    return seconds < left_s ? 1.0f - seconds / left_s : 0.0f;
}

#endif
