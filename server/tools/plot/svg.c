// The SVG writer. Every element is one line of the file; a picture of 100 bodies is some 60 KB.
//
// Numbers are rounded to hundredths of a pixel and printed from an integer, so neither the locale
// nor a minus before zero gets into the file. It is a stream of the C library into memory; where
// that fails, `failed` is set at the end: the caller asks once.
#include "server/tools/plot/svg.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_LENGTH 9.0 // px, of an arrow
#define HEAD_HALF   3.6
#define FONT        "Helvetica, Arial, 'DejaVu Sans', sans-serif"
#define PIXELS_MAX  1e7 // further out than this nothing is seen

#define NUMBER_MAX  32

__attribute__((format(printf, 2, 3))) static void put(cm_svg *svg, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (svg->out != NULL) {
        vfprintf(svg->out, format, arguments);
    }
    va_end(arguments);
}

static const char *number(double value, char text[NUMBER_MAX])
{
    double bounded = isfinite(value) ? fmax(-PIXELS_MAX, fmin(PIXELS_MAX, value)) : 0.0;
    long long hundredths = llround(bounded * 100.0);
    long long size = hundredths < 0 ? -hundredths : hundredths;
    int length = snprintf(text, NUMBER_MAX, "%s%lld.%02lld", hundredths < 0 ? "-" : "", size / 100,
                          size % 100);
    length -= size % 100 == 0 ? 3 : size % 10 == 0 ? 1 : 0;
    text[length] = '\0';
    return text;
}

static void put_attribute(cm_svg *svg, const char *name, double value)
{
    char text[NUMBER_MAX];
    put(svg, " %s=\"%s\"", name, number(value, text));
}

// Control characters, which XML cannot hold, become question marks; so does broken UTF-8's start,
// which cannot come from a checked scene.
static void put_escaped(cm_svg *svg, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        const char *name = *c == '&'   ? "&amp;"
                           : *c == '<' ? "&lt;"
                           : *c == '>' ? "&gt;"
                           : *c == '"' ? "&quot;"
                                       : NULL;
        if (name != NULL) {
            put(svg, "%s", name);
        } else {
            put(svg, "%c", (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c);
        }
    }
}

// An element with up to four numbers. `style` NULL: none.
static void element(cm_svg *svg, const char *name, const char *const keys[4],
                    const double values[4], const char *style)
{
    put(svg, "<%s", name);
    for (int i = 0; i < 4 && keys[i] != NULL; i++) {
        put_attribute(svg, keys[i], values[i]);
    }
    put(svg, "%s%s/>\n", style != NULL ? " " : "", style != NULL ? style : "");
}

void cm_svg_open(cm_svg *svg, double width, double height, const char *title)
{
    char w[NUMBER_MAX], h[NUMBER_MAX];
    *svg = (cm_svg){0};
    svg->out = open_memstream(&svg->text, &svg->size);
    put(svg,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%s\" height=\"%s\" "
        "viewBox=\"0 0 %s %s\" font-family=\"" FONT "\" fill=\"#222222\">\n<title>",
        number(width, w), number(height, h), w, h);
    put_escaped(svg, title);
    put(svg, "</title>\n");
    cm_svg_rect(svg, 0.0, 0.0, width, height, "fill=\"#ffffff\"");
}

void cm_svg_close(cm_svg *svg)
{
    put(svg, "</svg>\n");
    svg->failed = svg->out == NULL || fclose(svg->out) != 0 || svg->failed;
    svg->out = NULL;
}

void cm_svg_free(cm_svg *svg)
{
    free(svg->text);
    *svg = (cm_svg){0};
}

void cm_svg_group(cm_svg *svg, const char *attributes)
{
    put(svg, "<g%s%s>\n", attributes != NULL ? " " : "", attributes != NULL ? attributes : "");
}

void cm_svg_group_end(cm_svg *svg)
{
    put(svg, "</g>\n");
}

void cm_svg_clip(cm_svg *svg, const char *id, double x, double y, double width, double height)
{
    put(svg, "<clipPath id=\"%s\">", id);
    cm_svg_rect(svg, x, y, width, height, NULL);
    put(svg, "</clipPath>\n");
}

void cm_svg_line(cm_svg *svg, double x0, double y0, double x1, double y1, const char *style)
{
    static const char *const keys[4] = {"x1", "y1", "x2", "y2"};
    element(svg, "line", keys, (const double[4]){x0, y0, x1, y1}, style);
}

void cm_svg_rect(cm_svg *svg, double x, double y, double width, double height, const char *style)
{
    static const char *const keys[4] = {"x", "y", "width", "height"};
    element(svg, "rect", keys, (const double[4]){x, y, width, height}, style);
}

void cm_svg_circle(cm_svg *svg, double x, double y, double radius, const char *style)
{
    static const char *const keys[4] = {"cx", "cy", "r"};
    element(svg, "circle", keys, (const double[4]){x, y, radius}, style);
}

void cm_svg_polyline(cm_svg *svg, const cm_point *points, uint32_t count, bool closed,
                     const char *style)
{
    char x[NUMBER_MAX], y[NUMBER_MAX];
    put(svg, closed ? "<polygon points=\"" : "<polyline fill=\"none\" points=\"");
    for (uint32_t i = 0; i < count; i++) {
        put(svg, "%s%s,%s", i == 0 ? "" : " ", number(points[i].x, x), number(points[i].y, y));
    }
    put(svg, "\" %s/>\n", style);
}

static void put_head(cm_svg *svg, double x, double y, double dx, double dy, double length,
                     const char *color)
{
    char style[64];
    double half = HEAD_HALF * length / HEAD_LENGTH;
    cm_point head[3] = {{x, y},
                        {x - dx * length - dy * half, y - dy * length + dx * half},
                        {x - dx * length + dy * half, y - dy * length - dx * half}};
    snprintf(style, sizeof style, "fill=\"%s\"", color);
    cm_svg_polyline(svg, head, 3, true, style);
}

void cm_svg_arrow(cm_svg *svg, double x0, double y0, double x1, double y1, const char *color)
{
    char style[64];
    double dx = x1 - x0, dy = y1 - y0, length = sqrt(dx * dx + dy * dy);
    if (length < 0.5) {
        return;
    }
    dx /= length;
    dy /= length;
    double head = fmin(HEAD_LENGTH, length);
    snprintf(style, sizeof style, "stroke=\"%s\" stroke-width=\"2\"", color);
    if (length > head) {
        cm_svg_line(svg, x0, y0, x1 - dx * head * 0.8, y1 - dy * head * 0.8, style);
    }
    put_head(svg, x1, y1, dx, dy, head, color);
}

void cm_svg_arc_arrow(cm_svg *svg, double x, double y, double radius, double from, double sweep,
                      const char *color)
{
    enum { STEPS = 24 };
    cm_point points[STEPS + 1];
    char style[64];
    double sign = sweep < 0.0 ? -1.0 : 1.0, head = fmin(HEAD_LENGTH, fabs(sweep) * radius);
    double line = sweep - sign * 0.8 * head / radius;
    for (int i = 0; i <= STEPS; i++) {
        double angle = from + line * i / STEPS;
        points[i] = (cm_point){x + radius * cos(angle), y - radius * sin(angle)};
    }
    snprintf(style, sizeof style, "stroke=\"%s\" stroke-width=\"2\"", color);
    if (line * sign > 0.0) {
        cm_svg_polyline(svg, points, STEPS + 1, false, style);
    }
    // The head follows the chord of the arc it covers.
    double end = from + sweep, middle = end - sign * 0.5 * head / radius;
    put_head(svg, x + radius * cos(end), y - radius * sin(end), -sign * sin(middle),
             -sign * cos(middle), head, color);
}

void cm_svg_text(cm_svg *svg, double x, double y, double size, const char *anchor,
                 const char *style, const char *text)
{
    put(svg, "<text");
    put_attribute(svg, "x", x);
    put_attribute(svg, "y", y);
    put_attribute(svg, "font-size", size);
    put(svg, " text-anchor=\"%s\"%s%s>", anchor, style != NULL ? " " : "",
        style != NULL ? style : "");
    put_escaped(svg, text);
    put(svg, "</text>\n");
}

void cm_svg_text_up(cm_svg *svg, double x, double y, double size, const char *text)
{
    char right[NUMBER_MAX], down[NUMBER_MAX];
    put(svg, "<text text-anchor=\"middle\"");
    put_attribute(svg, "font-size", size);
    put(svg, " transform=\"translate(%s %s) rotate(-90)\">", number(x, right), number(y, down));
    put_escaped(svg, text);
    put(svg, "</text>\n");
}

double cm_text_width(const char *text, double size)
{
    return 0.58 * size * (double)strlen(text);
}
