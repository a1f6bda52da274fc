// Places for small texts in a picture, so that none lies over another or leaves the frame.
#ifndef CM_SERVER_TOOLS_PLOT_LABEL_H
#define CM_SERVER_TOOLS_PLOT_LABEL_H

#include "server/tools/plot/svg.h"

#define CM_LABELS_MAX 2048u

typedef struct cm_labels {
    double frame[4];                // left, top, right, bottom
    double taken[CM_LABELS_MAX][4]; // likewise
    uint32_t count;
    uint32_t left_out; // texts for which there was no place
} cm_labels;

void cm_labels_open(cm_labels *labels, double left, double top, double right, double bottom);
// Keeps a rectangle free of texts.
void cm_labels_take(cm_labels *labels, double left, double top, double right, double bottom);
// Likewise a line, as small rectangles along it.
void cm_labels_take_line(cm_labels *labels, cm_point from, cm_point to);
// Writes a text beside a point, at the first free place: away along (dx, dy), a hint of any length,
// then around. Nothing is written where no place is free.
void cm_labels_put(cm_labels *labels, cm_svg *svg, cm_point at, double dx, double dy, double size,
                   const char *style, const char *text);
// Likewise below a thing, then around it, in it, and further away with a thin line from its middle.
// `own` is the rectangle, taken before, of what the text belongs to: it may lie in it.
void cm_labels_put_far(cm_labels *labels, cm_svg *svg, const double own[4], double size,
                       const char *style, const char *text);

#endif
