// Greedy placement: the first of up to 24 places that is free (a line leads to those further away).
// Typical: 20 texts a picture; above CM_LABELS_MAX all places count as taken.
#include "server/tools/plot/label.h"

#include <math.h>
#include <string.h>

#define NEAR_RINGS 3 // of 8 places each, RING px apart
#define FAR_RINGS  9
#define RING       9.0

void cm_labels_open(cm_labels *labels, double left, double top, double right, double bottom)
{
    labels->frame[0] = left;
    labels->frame[1] = top;
    labels->frame[2] = right;
    labels->frame[3] = bottom;
    labels->count = 0;
    labels->left_out = 0;
}

void cm_labels_take(cm_labels *labels, double left, double top, double right, double bottom)
{
    if (labels->count < CM_LABELS_MAX) {
        double *box = labels->taken[labels->count++];
        box[0] = left;
        box[1] = top;
        box[2] = right;
        box[3] = bottom;
    }
}

// True if the box is free, or overlaps only `own` (may be NULL).
static bool is_free(const cm_labels *labels, const double box[4], const double *own)
{
    const double *f = labels->frame;
    if (labels->count >= CM_LABELS_MAX || box[0] < f[0] || box[1] < f[1] || box[2] > f[2] ||
        box[3] > f[3]) {
        return false;
    }
    for (uint32_t i = 0; i < labels->count; i++) {
        const double *t = labels->taken[i];
        bool mine = own != NULL && memcmp(t, own, sizeof labels->taken[i]) == 0;
        if (!mine && box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3]) {
            return false;
        }
    }
    return true;
}

void cm_labels_take_line(cm_labels *labels, cm_point from, cm_point to)
{
    double length = hypot(to.x - from.x, to.y - from.y);
    uint32_t steps = (uint32_t)(length / 8.0) + 1;
    for (uint32_t i = 0; i <= steps; i++) {
        double x = from.x + (to.x - from.x) * i / steps, y = from.y + (to.y - from.y) * i / steps;
        cm_labels_take(labels, x - 2.0, y - 2.0, x + 2.0, y + 2.0);
    }
}

// The rectangle of a text of a width about a point.
static void box_of(double x, double y, double width, double size, double box[4])
{
    box[0] = x - 0.5 * width - 1.0;
    box[1] = y - 0.5 * size - 1.0;
    box[2] = x + 0.5 * width + 1.0;
    box[3] = y + 0.5 * size + 1.0;
}

static void write_at(cm_labels *labels, cm_svg *svg, const double box[4], double size,
                     const char *style, const char *text)
{
    cm_labels_take(labels, box[0], box[1], box[2], box[3]);
    cm_svg_text(svg, 0.5 * (box[0] + box[2]), 0.5 * (box[1] + box[3]) + 0.36 * size, size, "middle",
                style, text);
}

// A free place about a point, from one ring to another; false where there is none.
static bool find_place(const cm_labels *labels, cm_point at, cm_point away, double width,
                       double size, int first, int end, double box[4])
{
    double angle = hypot(away.x, away.y) > 0.0 ? atan2(away.y, away.x) : 0.0;
    for (int ring = first; ring < end; ring++) {
        for (int i = 0; i < 8; i++) {
            // 0, +45, -45, +90, … degrees from the hint.
            double turn = angle + 0.7853981633974483 * ((i + 1) / 2) * (i % 2 ? 1.0 : -1.0);
            double far = 5.0 + RING * ring, c = cos(turn), s = sin(turn);
            box_of(at.x + c * (far + 0.5 * width), at.y + s * (far + 0.5 * size), width, size, box);
            if (is_free(labels, box, NULL)) {
                return true;
            }
        }
    }
    return false;
}

void cm_labels_put(cm_labels *labels, cm_svg *svg, cm_point at, double dx, double dy, double size,
                   const char *style, const char *text)
{
    double box[4];
    if (find_place(labels, at, (cm_point){dx, dy}, cm_text_width(text, size), size, 0, NEAR_RINGS,
                   box)) {
        write_at(labels, svg, box, size, style, text);
    } else {
        labels->left_out++;
    }
}

void cm_labels_put_far(cm_labels *labels, cm_svg *svg, const double own[4], double size,
                       const char *style, const char *text)
{
    const cm_point middle = {0.5 * (own[0] + own[2]), 0.5 * (own[1] + own[3])};
    const cm_point below = {middle.x, own[3]}, down = {0.0, 1.0};
    double box[4], width = cm_text_width(text, size);
    if (find_place(labels, below, down, width, size, 0, NEAR_RINGS, box)) {
        write_at(labels, svg, box, size, style, text);
        return;
    }
    box_of(middle.x, middle.y, width, size, box);
    bool fits = box[0] >= own[0] && box[1] >= own[1] && box[2] <= own[2] && box[3] <= own[3];
    if (fits && is_free(labels, box, own)) {
        write_at(labels, svg, box, size, style, text);
        return;
    }
    if (!find_place(labels, middle, down, width, size, NEAR_RINGS, FAR_RINGS, box)) {
        labels->left_out++;
        return;
    }
    cm_svg_line(svg, middle.x, middle.y, fmin(fmax(middle.x, box[0]), box[2]),
                fmin(fmax(middle.y, box[1]), box[3]),
                "class=\"leader\" stroke=\"#888888\" stroke-width=\"0.8\"");
    write_at(labels, svg, box, size, style, text);
}
