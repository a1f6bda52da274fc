// The SVG writer. Every element is one line of the file; a picture of 100 bodies is some 60 KB.
//
// Numbers are rounded to hundredths of a pixel and printed from an integer, so neither the locale
// nor a minus before zero gets into the file. Elements are appended to one growing buffer; where
// memory runs out, `failed` is set and the rest is dropped: the caller asks once, at the end.
#include "server/tools/plot/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_LENGTH 9.0 // px, of an arrow
#define HEAD_HALF   3.6
#define FONT        "Helvetica, Arial, 'DejaVu Sans', sans-serif"
#define PIXELS_MAX  1e7 // further out than this nothing is seen

static void put(cm_svg *svg, const char *text)
{
    size_t length = strlen(text);
    if (svg->failed) {
        return;
    }
    if (svg->size + length + 1 > svg->capacity) {
        size_t wanted = (svg->size + length + 1) * 2;
        char *grown = realloc(svg->text, wanted);
        if (grown == NULL) {
            svg->failed = true;
            return;
        }
        svg->text = grown;
        svg->capacity = wanted;
    }
    memcpy(svg->text + svg->size, text, length + 1);
    svg->size += length;
}

static void put_number(cm_svg *svg, double value)
{
    char text[32];
    double bounded = isfinite(value) ? fmax(-PIXELS_MAX, fmin(PIXELS_MAX, value)) : 0.0;
    long long hundredths = llround(bounded * 100.0);
    long long size = hundredths < 0 ? -hundredths : hundredths;
    const char *sign = hundredths < 0 ? "-" : "";
    if (size % 100 == 0) {
        snprintf(text, sizeof text, "%s%lld", sign, size / 100);
    } else if (size % 10 == 0) {
        snprintf(text, sizeof text, "%s%lld.%lld", sign, size / 100, size % 100 / 10);
    } else {
        snprintf(text, sizeof text, "%s%lld.%02lld", sign, size / 100, size % 100);
    }
    put(svg, text);
}

static void put_attribute(cm_svg *svg, const char *name, double value)
{
    put(svg, " ");
    put(svg, name);
    put(svg, "=\"");
    put_number(svg, value);
    put(svg, "\"");
}

// Control characters, which XML cannot hold, become question marks; so does broken UTF-8's start,
// which cannot come from a checked scene.
static void put_escaped(cm_svg *svg, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        char one[2] = {(unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c, '\0'};
        switch (*c) {
        case '&':
            put(svg, "&amp;");
            break;
        case '<':
            put(svg, "&lt;");
            break;
        case '>':
            put(svg, "&gt;");
            break;
        case '"':
            put(svg, "&quot;");
            break;
        default:
            put(svg, one);
        }
    }
}

static void put_style(cm_svg *svg, const char *style)
{
    if (style != NULL && style[0] != '\0') {
        put(svg, " ");
        put(svg, style);
    }
    put(svg, "/>\n");
}

void cm_svg_open(cm_svg *svg, double width, double height, const char *title)
{
    *svg = (cm_svg){NULL, 0, 0, false};
    put(svg, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
             "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\"");
    put_attribute(svg, "width", width);
    put_attribute(svg, "height", height);
    put(svg, " viewBox=\"0 0 ");
    put_number(svg, width);
    put(svg, " ");
    put_number(svg, height);
    put(svg, "\" font-family=\"" FONT "\" fill=\"#222222\">\n<title>");
    put_escaped(svg, title);
    put(svg, "</title>\n");
    cm_svg_rect(svg, 0.0, 0.0, width, height, "fill=\"#ffffff\"");
}

void cm_svg_close(cm_svg *svg)
{
    put(svg, "</svg>\n");
}

void cm_svg_free(cm_svg *svg)
{
    free(svg->text);
    *svg = (cm_svg){NULL, 0, 0, false};
}

void cm_svg_group(cm_svg *svg, const char *attributes)
{
    put(svg, "<g");
    if (attributes != NULL) {
        put(svg, " ");
        put(svg, attributes);
    }
    put(svg, ">\n");
}

void cm_svg_group_end(cm_svg *svg)
{
    put(svg, "</g>\n");
}

void cm_svg_clip(cm_svg *svg, const char *id, double x, double y, double width, double height)
{
    put(svg, "<clipPath id=\"");
    put(svg, id);
    put(svg, "\">");
    cm_svg_rect(svg, x, y, width, height, NULL);
    put(svg, "</clipPath>\n");
}

void cm_svg_line(cm_svg *svg, double x0, double y0, double x1, double y1, const char *style)
{
    put(svg, "<line");
    put_attribute(svg, "x1", x0);
    put_attribute(svg, "y1", y0);
    put_attribute(svg, "x2", x1);
    put_attribute(svg, "y2", y1);
    put_style(svg, style);
}

void cm_svg_rect(cm_svg *svg, double x, double y, double width, double height, const char *style)
{
    put(svg, "<rect");
    put_attribute(svg, "x", x);
    put_attribute(svg, "y", y);
    put_attribute(svg, "width", width);
    put_attribute(svg, "height", height);
    put_style(svg, style);
}

void cm_svg_circle(cm_svg *svg, double x, double y, double radius, const char *style)
{
    put(svg, "<circle");
    put_attribute(svg, "cx", x);
    put_attribute(svg, "cy", y);
    put_attribute(svg, "r", radius);
    put_style(svg, style);
}

void cm_svg_polyline(cm_svg *svg, const cm_point *points, uint32_t count, bool closed,
                     const char *style)
{
    put(svg, closed ? "<polygon points=\"" : "<polyline fill=\"none\" points=\"");
    for (uint32_t i = 0; i < count; i++) {
        put(svg, i == 0 ? "" : " ");
        put_number(svg, points[i].x);
        put(svg, ",");
        put_number(svg, points[i].y);
    }
    put(svg, "\"");
    put_style(svg, style);
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
    put(svg, " text-anchor=\"");
    put(svg, anchor);
    put(svg, "\"");
    if (style != NULL) {
        put(svg, " ");
        put(svg, style);
    }
    put(svg, ">");
    put_escaped(svg, text);
    put(svg, "</text>\n");
}

void cm_svg_text_up(cm_svg *svg, double x, double y, double size, const char *text)
{
    put(svg, "<text text-anchor=\"middle\"");
    put_attribute(svg, "font-size", size);
    put(svg, " transform=\"translate(");
    put_number(svg, x);
    put(svg, " ");
    put_number(svg, y);
    put(svg, ") rotate(-90)\">");
    put_escaped(svg, text);
    put(svg, "</text>\n");
}

double cm_text_width(const char *text, double size)
{
    return 0.58 * size * (double)strlen(text);
}
