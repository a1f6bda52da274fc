// Heat maps: a cell for each value with the value in it, and a bar that tells the colours.
//
// The colours go from dark blue over green to light yellow in even steps of lightness, so that the
// map reads in grey as well.
#include <math.h>
#include <stdio.h>

#include "server/tools/plot/chart.h"
#include "server/tools/plot/ticks.h"

#define SIDE      368.0 // px, of the map
#define LEFT      64.0
#define TOP       58.0
#define BAR_WIDTH 16.0
#define BAR_STEPS 40

static const double COLORS[][3] = {{58, 60, 120},  {52, 104, 142}, {42, 148, 138},
                                   {94, 190, 102}, {190, 220, 70}, {250, 236, 120}};

// Style of a cell, and whether dark text reads on it.
static bool cell_style(double value, const cm_heat *heat, char *style, size_t size)
{
    int last = (int)(sizeof COLORS / sizeof COLORS[0]) - 1;
    double span = heat->high - heat->low;
    double at = span > 0.0 ? (value - heat->low) / span * last : 0.0;
    at = fmin(fmax(at, 0.0), (double)last);
    int i = at >= last ? last - 1 : (int)at;
    double t = at - i, c[3];
    for (int k = 0; k < 3; k++) {
        c[k] = COLORS[i][k] + t * (COLORS[i + 1][k] - COLORS[i][k]);
    }
    snprintf(style, size, "fill=\"#%02x%02x%02x\"", (unsigned)lround(c[0]), (unsigned)lround(c[1]),
             (unsigned)lround(c[2]));
    return at > 2.4;
}

static void draw_cells(cm_svg *svg, const cm_heat *heat, double x, double y)
{
    double side = SIDE / heat->size;
    for (uint32_t row = 0; row < heat->size; row++) {
        for (uint32_t column = 0; column < heat->size; column++) {
            char style[32], text[32];
            double value = heat->values[row * heat->size + column];
            double left = x + side * column, top = y + SIDE - side * (row + 1);
            bool dark = cell_style(value, heat, style, sizeof style);
            cm_svg_rect(svg, left, top, side, side, style);
            if (side >= 30.0) {
                snprintf(text, sizeof text, "%.3g", value);
                double font = fmin(12.0, 1.6 * side / 6.0);
                cm_svg_text(svg, left + 0.5 * side, top + 0.5 * side + 0.35 * font, font, "middle",
                            dark ? "fill=\"#222222\"" : "fill=\"#ffffff\"", text);
            }
        }
    }
    cm_svg_rect(svg, x, y, SIDE, SIDE, "fill=\"none\" stroke=\"#555555\"");
}

static void draw_axes(cm_svg *svg, const cm_heat *heat, double x, double y)
{
    double side = SIDE / heat->size;
    for (uint32_t i = 0; i <= 4; i++) {
        char text[16];
        double at = 0.25 * i, along = side * 0.5 + at * (SIDE - side);
        snprintf(text, sizeof text, "%g", at);
        cm_svg_line(svg, x + along, y + SIDE, x + along, y + SIDE + 4.0, "stroke=\"#555555\"");
        cm_svg_text(svg, x + along, y + SIDE + 17.0, 11.0, "middle", NULL, text);
        cm_svg_line(svg, x - 4.0, y + SIDE - along, x, y + SIDE - along, "stroke=\"#555555\"");
        cm_svg_text(svg, x - 7.0, y + SIDE - along + 4.0, 11.0, "end", NULL, text);
    }
    cm_svg_text(svg, x + 0.5 * SIDE, y + SIDE + 37.0, 12.0, "middle", NULL, heat->x_title);
    cm_svg_text_up(svg, x - 44.0, y + 0.5 * SIDE, 12.0, heat->y_title);
}

static void draw_bar(cm_svg *svg, const cm_heat *heat, double x, double y)
{
    double low = heat->low, high = heat->high, step = SIDE / BAR_STEPS;
    for (int i = 0; i < BAR_STEPS; i++) {
        char style[32];
        cell_style(low + (high - low) * (i + 0.5) / BAR_STEPS, heat, style, sizeof style);
        cm_svg_rect(svg, x, y + SIDE - step * (i + 1), BAR_WIDTH, step + 0.3, style);
    }
    cm_svg_rect(svg, x, y, BAR_WIDTH, SIDE, "fill=\"none\" stroke=\"#555555\"");
    cm_svg_text(svg, x + 0.5 * BAR_WIDTH, y - 7.0, 11.0, "middle", NULL, heat->unit);
    if (high <= low) {
        return;
    }
    cm_ticks ticks = cm_ticks_for(low, high, 6);
    for (uint32_t i = 0; i < ticks.count; i++) {
        char text[32];
        double at = y + SIDE - SIDE * (ticks.first + ticks.step * i - low) / (high - low);
        cm_svg_line(svg, x + BAR_WIDTH, at, x + BAR_WIDTH + 4.0, at, "stroke=\"#555555\"");
        cm_tick_text(&ticks, i, text, sizeof text);
        cm_svg_text(svg, x + BAR_WIDTH + 7.0, at + 4.0, 11.0, "start", NULL, text);
    }
}

void cm_heat_draw(cm_svg *svg, const cm_heat *heat, double x, double y)
{
    cm_svg_group(svg, "class=\"heat\"");
    cm_svg_text(svg, x + LEFT, y + 22.0, 14.0, "start", "font-weight=\"bold\"", heat->title);
    draw_cells(svg, heat, x + LEFT, y + TOP);
    draw_axes(svg, heat, x + LEFT, y + TOP);
    draw_bar(svg, heat, x + LEFT + SIDE + 16.0, y + TOP);
    cm_svg_group_end(svg);
}
