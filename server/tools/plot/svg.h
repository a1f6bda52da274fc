// Writes SVG 1.1 into memory: numbers with at most two decimals, text escaped, so that the same
// drawing gives the same bytes everywhere. Lengths are pixels, y grows downward.
#ifndef CM_SERVER_TOOLS_PLOT_SVG_H
#define CM_SERVER_TOOLS_PLOT_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cm_svg {
    FILE *out;  // NULL: closed, or no memory
    char *text; // once closed; freed with cm_svg_free
    size_t size;
    bool failed; // memory ran out once: the text is not whole
} cm_svg;

typedef struct cm_point {
    double x, y;
} cm_point;

void cm_svg_open(cm_svg *svg, double width, double height, const char *title);
void cm_svg_close(cm_svg *svg);
void cm_svg_free(cm_svg *svg);

// A group with attributes as they stand in the file, and its end. NULL: none.
void cm_svg_group(cm_svg *svg, const char *attributes);
void cm_svg_group_end(cm_svg *svg);
// Defines a clipping rectangle for the group `clip-path="url(#ID)"`.
void cm_svg_clip(cm_svg *svg, const char *id, double x, double y, double width, double height);

// `style` holds attributes as they stand in the file: fill="…" stroke="…".
void cm_svg_line(cm_svg *svg, double x0, double y0, double x1, double y1, const char *style);
void cm_svg_rect(cm_svg *svg, double x, double y, double width, double height, const char *style);
void cm_svg_circle(cm_svg *svg, double x, double y, double radius, const char *style);
void cm_svg_polyline(cm_svg *svg, const cm_point *points, uint32_t count, bool closed,
                     const char *style);
// An arc about a centre from one angle over another (rad, counter-clockwise on the page), with a
// head at its end.
void cm_svg_arc_arrow(cm_svg *svg, double x, double y, double radius, double from, double sweep,
                      const char *color);
// An arrow with its head inside its length; a short one is all head.
void cm_svg_arrow(cm_svg *svg, double x0, double y0, double x1, double y1, const char *color);
// The text is escaped; `anchor` is start, middle or end. (x, y) is on the baseline.
void cm_svg_text(cm_svg *svg, double x, double y, double size, const char *anchor,
                 const char *style, const char *text);
// Turned by a quarter to the left, for the axis on the left.
void cm_svg_text_up(cm_svg *svg, double x, double y, double size, const char *text);

// About how wide a text is: no font is measured, so this errs on the wide side.
double cm_text_width(const char *text, double size);

#endif
