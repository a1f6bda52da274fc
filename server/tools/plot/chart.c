// Line charts. A line of a million samples is thinned to what the page can show: within each half
// pixel of x the first, lowest, highest and last sample stay, so that no peak is lost; of paths,
// what moved less than a third of a pixel goes.
#include "server/tools/plot/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/tools/plot/ticks.h"

#define PLOT_HEIGHT 300.0 // px, the area inside the axes
#define LEFT        78.0
#define RIGHT       18.0
#define TOP         34.0
#define BOTTOM      50.0
#define LEGEND_ROW  20.0
#define LEGEND_MARK 34.0
#define THIN_PIXELS 0.33

static const char *const COLORS[] = {"#0072b2", "#d55e00", "#009e73", "#b0559b",
                                     "#8a6d00", "#3a9bd9", "#000000", "#7a7a7a"};
static const char *const DASHES[] = {"", " stroke-dasharray=\"7 4\"", " stroke-dasharray=\"2 3\"",
                                     " stroke-dasharray=\"10 3 2 3\""};

typedef struct frame {
    double x, y, width, height;          // px, the area inside the axes
    double x_low, x_high, y_low, y_high; // data
} frame;

const char *cm_palette(uint32_t index)
{
    return COLORS[index % (sizeof COLORS / sizeof COLORS[0])];
}

bool cm_series_add(cm_series *series, double x, double y)
{
    if (!isfinite(x) || !isfinite(y)) {
        return true;
    }
    if (series->count == series->capacity) {
        uint32_t wanted = series->capacity * 2 + 64;
        double *grown_x = realloc(series->x, wanted * sizeof *grown_x);
        series->x = grown_x != NULL ? grown_x : series->x;
        double *grown_y = grown_x == NULL ? NULL : realloc(series->y, wanted * sizeof *grown_y);
        series->y = grown_y != NULL ? grown_y : series->y;
        if (grown_y == NULL) {
            return false;
        }
        series->capacity = wanted;
    }
    series->x[series->count] = x;
    series->y[series->count++] = y;
    return true;
}

void cm_series_free(cm_series *series)
{
    free(series->x);
    free(series->y);
    memset(series, 0, sizeof *series);
}

static void style_of(const cm_series *series, char *style, size_t size)
{
    snprintf(style, size, "stroke=\"%s\" stroke-width=\"1.8\" stroke-linejoin=\"round\"%s",
             cm_palette(series->color), DASHES[series->dash % 4]);
}

// Walks the entries of the legend: where entry i stands, in rows of `width`. The row it ends in.
static uint32_t legend_place(const cm_chart *chart, double width, uint32_t i, double *at)
{
    uint32_t row = 0;
    double x = 0.0;
    for (uint32_t k = 0;; k++) {
        double entry = LEGEND_MARK + cm_text_width(chart->series[k].label, 12.0) + 14.0;
        if (x > 0.0 && x + entry > width) {
            row++;
            x = 0.0;
        }
        if (k == i) {
            *at = x;
            return row;
        }
        x += entry;
    }
}

static double legend_height(const cm_chart *chart, double width)
{
    double x;
    if (chart->series_count == 0) {
        return 0.0;
    }
    return LEGEND_ROW * (legend_place(chart, width, chart->series_count - 1, &x) + 1);
}

double cm_chart_height(const cm_chart *chart, double width)
{
    return TOP + PLOT_HEIGHT + BOTTOM + legend_height(chart, width - LEFT - RIGHT) + 8.0;
}

static void find_ranges(const cm_chart *chart, frame *f)
{
    bool any = false;
    f->x_low = f->y_low = 0.0;
    f->x_high = f->y_high = 1.0;
    for (uint32_t s = 0; s < chart->series_count; s++) {
        const cm_series *series = &chart->series[s];
        for (uint32_t i = 0; i < series->count; i++) {
            double x = series->x[i], y = series->y[i];
            f->x_low = any ? fmin(f->x_low, x) : x;
            f->x_high = any ? fmax(f->x_high, x) : x;
            f->y_low = any ? fmin(f->y_low, y) : y;
            f->y_high = any ? fmax(f->y_high, y) : y;
            any = true;
        }
    }
    if (chart->from_zero) {
        f->y_low = fmin(f->y_low, 0.0);
    }
    cm_axis_range(&f->y_low, &f->y_high);
    if (chart->equal || chart->from_zero) {
        cm_axis_range(&f->x_low, &f->x_high);
    } else if (f->x_high <= f->x_low) {
        f->x_high = f->x_low + 1.0;
    }
    if (chart->equal) {
        double x_unit = (f->x_high - f->x_low) / f->width;
        double y_unit = (f->y_high - f->y_low) / f->height, unit = fmax(x_unit, y_unit);
        double x_middle = 0.5 * (f->x_low + f->x_high), y_middle = 0.5 * (f->y_low + f->y_high);
        f->x_low = x_middle - 0.5 * unit * f->width;
        f->x_high = x_middle + 0.5 * unit * f->width;
        f->y_low = y_middle - 0.5 * unit * f->height;
        f->y_high = y_middle + 0.5 * unit * f->height;
    }
}

static cm_point place(const frame *f, double x, double y)
{
    return (cm_point){f->x + f->width * (x - f->x_low) / (f->x_high - f->x_low),
                      f->y + f->height * (f->y_high - y) / (f->y_high - f->y_low)};
}

static void draw_axes(cm_svg *svg, const cm_chart *chart, const frame *f)
{
    const char *grid = "stroke=\"#e3e3e3\" stroke-width=\"1\"";
    char text[32];
    cm_ticks ticks = cm_ticks_for(f->x_low, f->x_high, 7);
    for (uint32_t i = 0; i < ticks.count; i++) {
        double x = place(f, ticks.first + ticks.step * i, f->y_low).x;
        cm_svg_line(svg, x, f->y, x, f->y + f->height, grid);
        cm_svg_line(svg, x, f->y + f->height, x, f->y + f->height + 4.0, "stroke=\"#555555\"");
        cm_tick_text(&ticks, i, text, sizeof text);
        cm_svg_text(svg, x, f->y + f->height + 17.0, 11.0, "middle", NULL, text);
    }
    ticks = cm_ticks_for(f->y_low, f->y_high, 6);
    for (uint32_t i = 0; i < ticks.count; i++) {
        double y = place(f, f->x_low, ticks.first + ticks.step * i).y;
        cm_svg_line(svg, f->x, y, f->x + f->width, y, grid);
        cm_svg_line(svg, f->x - 4.0, y, f->x, y, "stroke=\"#555555\"");
        cm_tick_text(&ticks, i, text, sizeof text);
        cm_svg_text(svg, f->x - 7.0, y + 4.0, 11.0, "end", NULL, text);
    }
    cm_svg_rect(svg, f->x, f->y, f->width, f->height, "fill=\"none\" stroke=\"#555555\"");
    cm_svg_text(svg, f->x + 0.5 * f->width, f->y + f->height + 37.0, 12.0, "middle", NULL,
                chart->x_title);
    cm_svg_text_up(svg, f->x - LEFT + 16.0, f->y + 0.5 * f->height, 12.0, chart->y_title);
}

// Samples in ascending x: of each half pixel the first, the lowest, the highest and the last.
static uint32_t thin_columns(const frame *f, const cm_series *series, cm_point *points)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < series->count;) {
        long long column = llround(2.0 * place(f, series->x[i], 0.0).x);
        uint32_t low = i, high = i, end = i;
        while (end < series->count && llround(2.0 * place(f, series->x[end], 0.0).x) == column) {
            low = series->y[end] < series->y[low] ? end : low;
            high = series->y[end] > series->y[high] ? end : high;
            end++;
        }
        uint32_t keep[4] = {i, low < high ? low : high, low < high ? high : low, end - 1};
        for (int k = 0; k < 4; k++) {
            if (k == 0 || keep[k] != keep[k - 1]) {
                points[count++] = place(f, series->x[keep[k]], series->y[keep[k]]);
            }
        }
        i = end;
    }
    return count;
}

static uint32_t thin_path(const frame *f, const cm_series *series, cm_point *points)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < series->count; i++) {
        cm_point p = place(f, series->x[i], series->y[i]);
        if (count == 0 || i + 1 == series->count ||
            hypot(p.x - points[count - 1].x, p.y - points[count - 1].y) >= THIN_PIXELS) {
            points[count++] = p;
        }
    }
    return count;
}

static void draw_series(cm_svg *svg, const cm_chart *chart, const frame *f, const cm_series *series)
{
    char style[160], fill[64];
    cm_point *points = malloc(((size_t)series->count * 4 + 1) * sizeof *points);
    if (points == NULL) {
        svg->failed = true;
        return;
    }
    uint32_t count = chart->equal ? thin_path(f, series, points) : thin_columns(f, series, points);
    style_of(series, style, sizeof style);
    if (count > 1) {
        cm_svg_polyline(svg, points, count, false, style);
    }
    snprintf(fill, sizeof fill, "fill=\"%s\"", cm_palette(series->color));
    for (uint32_t i = 0; i < count && (series->markers || count == 1); i++) {
        cm_svg_circle(svg, points[i].x, points[i].y, 3.2, fill);
    }
    if (chart->equal && count > 1) { // a path shows where it begins
        cm_svg_circle(svg, points[0].x, points[0].y, 3.2, fill);
    }
    free(points);
}

void cm_chart_draw(cm_svg *svg, const cm_chart *chart, double x, double y, double width)
{
    frame f = {.x = x + LEFT, .y = y + TOP, .width = width - LEFT - RIGHT, .height = PLOT_HEIGHT};
    find_ranges(chart, &f);
    cm_svg_group(svg, "class=\"chart\"");
    cm_svg_text(svg, f.x, y + 22.0, 14.0, "start", "font-weight=\"bold\"", chart->title);
    draw_axes(svg, chart, &f);
    for (uint32_t i = 0; i < chart->series_count; i++) {
        draw_series(svg, chart, &f, &chart->series[i]);
    }
    for (uint32_t i = 0; i < chart->series_count; i++) {
        char style[160];
        double at, top = f.y + f.height + BOTTOM;
        double row = top + LEGEND_ROW * legend_place(chart, f.width, i, &at) + 10.0;
        style_of(&chart->series[i], style, sizeof style);
        cm_svg_line(svg, f.x + at, row - 4.0, f.x + at + LEGEND_MARK - 8.0, row - 4.0, style);
        cm_svg_text(svg, f.x + at + LEGEND_MARK - 2.0, row, 12.0, "start", NULL,
                    chart->series[i].label);
    }
    cm_svg_group_end(svg);
}
