// Charts: lines over axes with ticks and units, a legend below, and heat maps.
#ifndef CM_SERVER_TOOLS_PLOT_CHART_H
#define CM_SERVER_TOOLS_PLOT_CHART_H

#include "server/tools/plot/svg.h"

#define CM_LABEL_MAX 192

typedef struct cm_series {
    char label[CM_LABEL_MAX];
    double *x, *y; // by realloc
    uint32_t count, capacity;
    uint32_t color, dash; // of the palette; taken modulo its size
    bool markers;
} cm_series;

// False where memory ran out. A value that is not finite is left out.
bool cm_series_add(cm_series *series, double x, double y);
void cm_series_free(cm_series *series);

typedef struct cm_chart {
    const char *title, *x_title, *y_title; // with units
    const cm_series *series;
    uint32_t series_count;
    bool equal;     // one unit is as long upward as sideways
    bool from_zero; // y begins at 0
} cm_chart;

// The chart's height at a given width: a plot of fixed height, with the legend below.
double cm_chart_height(const cm_chart *chart, double width);
void cm_chart_draw(cm_svg *svg, const cm_chart *chart, double x, double y, double width);

// A value for each cell of a grid over 0 to 1 by 0 to 1: values[row * size + column], column along
// x, row 0 below.
typedef struct cm_heat {
    const char *title, *x_title, *y_title, *unit;
    const double *values;
    uint32_t size;    // cells a side, 2 or more
    double low, high; // of the colours: the same for maps that are compared
} cm_heat;

#define CM_HEAT_WIDTH  520.0
#define CM_HEAT_HEIGHT 476.0
void cm_heat_draw(cm_svg *svg, const cm_heat *heat, double x, double y);

// Colours of series and bodies, well apart also for the colour-blind.
const char *cm_palette(uint32_t index);

#endif
