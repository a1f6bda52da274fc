// Round numbers for axes, scale bars and legends: 1, 2 or 5 times a power of ten.
#ifndef CM_SERVER_TOOLS_PLOT_TICKS_H
#define CM_SERVER_TOOLS_PLOT_TICKS_H

#include <stddef.h>
#include <stdint.h>

typedef struct cm_ticks {
    double step;
    double first; // the lowest multiple of step that is not below the axis
    uint32_t count;
} cm_ticks;

// The largest round number that is at most `most` (above 0), or a hair above it.
double cm_round_below(double most);
// Ticks for an axis from low to high (above low), about `wanted` of them.
cm_ticks cm_ticks_for(double low, double high, uint32_t wanted);
// Tick i as text: all ticks of an axis have the same decimals.
void cm_tick_text(const cm_ticks *ticks, uint32_t i, char *text, size_t size);
// Widens a range of data to a range of an axis: with a margin, never empty, never so narrow that
// rounding noise would fill it.
void cm_axis_range(double *low, double *high);

#endif
