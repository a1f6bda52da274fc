// Greedy placement: the first of up to 25 places that is free. Typical: 20 texts a picture; above
// CM_LABELS_MAX all places count as taken.
#include "server/tools/plot/label.h"

#include <math.h>

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

static bool is_free(const cm_labels *labels, const double box[4])
{
    const double *f = labels->frame;
    if (labels->count >= CM_LABELS_MAX || box[0] < f[0] || box[1] < f[1] || box[2] > f[2] ||
        box[3] > f[3]) {
        return false;
    }
    for (uint32_t i = 0; i < labels->count; ++i) {
        const double *t = labels->taken[i];
        if (box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3]) {
            return false;
        }
    }
    return true;
}

void cm_labels_put(cm_labels *labels, cm_svg *svg, cm_point at, double dx, double dy, double size,
                   const char *style, const char *text)
{
    double length = hypot(dx, dy), width = cm_text_width(text, size), angle = 0.0;
    if (length > 0.0) {
        angle = atan2(dy, dx);
    }
    for (int ring = 0; ring < 3; ++ring) {
        for (int i = 0; i < 8; ++i) {
            // 0, +45, -45, +90, … degrees from the hint.
            double turn = angle + 0.7853981633974483 * ((i + 1) / 2) * (i % 2 ? 1.0 : -1.0);
            double far = 5.0 + 9.0 * ring, c = cos(turn), s = sin(turn);
            double x = at.x + c * (far + 0.5 * width), y = at.y + s * (far + 0.5 * size);
            double box[4] = {x - 0.5 * width - 1.0, y - 0.5 * size - 1.0, x + 0.5 * width + 1.0,
                             y + 0.5 * size + 1.0};
            if (is_free(labels, box)) {
                cm_labels_take(labels, box[0], box[1], box[2], box[3]);
                cm_svg_text(svg, x, y + 0.36 * size, size, "middle", style, text);
                return;
            }
        }
    }
    ++labels->left_out;
}
