// Lays out and draws the page: pictures at one scale, then charts two a row, then maps.
#include "server/tools/plot/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/tools/plot/picture.h"

#define EDGE        24.0
#define TITLE       44.0
#define CHART_WIDTH 640.0
#define GAP         16.0

static bool is_planar(const cm_page *p)
{
    bool planar = true;
    for (uint32_t r = 0; r < p->run_count; r++) {
        carom_world_def def;
        cm_scene_world_def(p->runs[r].scene, &def);
        planar = planar && def.planar;
    }
    return planar;
}

// True if all motion is in x and y: such scenes are viewed along z.
static bool is_flat(const cm_page *p)
{
    for (uint32_t r = 0; r < p->run_count; r++) {
        for (uint32_t a = 0; a < p->request->at_count; a++) {
            const cm_moment *moment = &p->runs[r].moments[a];
            for (uint32_t b = 0; b < moment->body_count; b++) {
                const carom_body_state *s = &moment->bodies[b].state;
                const float off[] = {s->center_of_mass.z,   s->linear_velocity.z,
                                     s->angular_velocity.x, s->angular_velocity.y,
                                     s->orientation.x,      s->orientation.y};
                for (size_t k = 0; k < sizeof off / sizeof off[0]; k++) {
                    if (s->type != CAROM_BODY_STATIC && fabsf(off[k]) > 1e-4f) {
                        return false;
                    }
                }
            }
        }
    }
    return true;
}

static bool has_circles(const cm_page *p)
{
    for (uint32_t r = 0; r < p->run_count; r++) {
        if (cm_offline_is_circle(p->runs[r].scene, p->runs[r].solver)) {
            return true;
        }
    }
    return false;
}

static cm_view_kind choose_view(const cm_page *p)
{
    return p->view != CM_VIEW_AUTO      ? p->view
           : has_circles(p)             ? CM_VIEW_SCREEN
           : is_planar(p) || is_flat(p) ? CM_VIEW_XY
                                        : CM_VIEW_OBLIQUE;
}

// The lines of all runs of one chart, behind one another.
static cm_series *gather(const cm_page *p, uint32_t t, uint32_t *count)
{
    cm_series *all = calloc((size_t)p->run_count * CM_PLOT_LINES_MAX + 1, sizeof *all);
    *count = 0;
    for (uint32_t r = 0; r < p->run_count && all != NULL; r++) {
        const cm_plot_run *run = &p->runs[r];
        memcpy(all + *count, run->series[t], run->line_count[t] * sizeof *all);
        *count += run->line_count[t];
    }
    return all;
}

// One line a solver, over the scenes: bodies that can move, microseconds a step.
static cm_series *gather_costs(const cm_page *p, uint32_t *count)
{
    cm_series *all = calloc(p->solver_count, sizeof *all);
    *count = p->solver_count;
    for (uint32_t k = 0; k < p->solver_count && all != NULL; k++) {
        snprintf(all[k].label, sizeof all[k].label, "%s",
                 p->runs[k].solver < 0 ? "the scene's solver"
                                       : cm_offline_solver_name(p->runs[k].solver));
        all[k].color = all[k].dash = k;
        all[k].markers = true;
        for (uint32_t i = 0; i < p->scene_count; i++) {
            const cm_plot_run *run = &p->runs[i * p->solver_count + k];
            cm_series_add(&all[k], run->movable, run->step_us);
        }
        for (uint32_t i = 1; i < all[k].count; i++) { // by bodies: few, so by insertion
            for (uint32_t j = i; j > 0 && all[k].x[j - 1] > all[k].x[j]; j--) {
                double x = all[k].x[j], y = all[k].y[j];
                all[k].x[j] = all[k].x[j - 1];
                all[k].y[j] = all[k].y[j - 1];
                all[k].x[j - 1] = x;
                all[k].y[j - 1] = y;
            }
        }
    }
    return all;
}

typedef struct place {
    double x, y;   // where the next chart or map stands
    double bottom; // of the row so far
    double right;  // px, the page's width so far
} place;

// Room for the next chart: beside the last one, or in a new row. `columns` a row.
static void take_place(place *at, double width, double height, double limit, double *x, double *y)
{
    if (at->x > EDGE && at->x + width > limit) {
        at->x = EDGE;
        at->y = at->bottom;
    }
    *x = at->x;
    *y = at->y;
    at->x += width + GAP;
    at->bottom = fmax(at->bottom, at->y + height + GAP);
    at->right = fmax(at->right, *x + width + EDGE);
}

static void draw_chart(const cm_page *p, cm_svg *svg, uint32_t t, place *at, double limit)
{
    const cm_trace *trace = p->request->traces[t];
    bool cost = trace->kind == CM_TRACE_COST, path = trace->kind == CM_TRACE_PATH;
    char title[256];
    uint32_t count = 0;
    double x, y;
    cm_series *series = cost ? gather_costs(p, &count) : gather(p, t, &count);
    if (series == NULL) {
        svg->failed = true;
        return;
    }
    const cm_plot_run *first = &p->runs[0];
    int used = snprintf(title, sizeof title, "%s", trace->title);
    if (cm_trace_is_sum(trace)) {
        bool all = p->request->bodies == NULL;
        used += snprintf(title + used, sizeof title - (size_t)used, ", summed over %.100s",
                         all ? "all dynamic bodies" : p->request->bodies);
    }
    if (first->line_total[t] > first->line_count[t]) {
        snprintf(title + used, sizeof title - (size_t)used, " (first %u of %u)",
                 (unsigned)first->line_count[t], (unsigned)first->line_total[t]);
    }
    const cm_chart chart = {.title = title,
                            .x_title = cost   ? "bodies that can move"
                                       : path ? "x, m"
                                              : "time, s",
                            .y_title = trace->y_title,
                            .series = series,
                            .series_count = count,
                            .equal = path,
                            .from_zero = cost};
    take_place(at, CHART_WIDTH, cm_chart_height(&chart, CHART_WIDTH), limit, &x, &y);
    cm_chart_draw(svg, &chart, x, y, CHART_WIDTH);
    for (uint32_t i = 0; i < count && cost; i++) {
        cm_series_free(&series[i]);
    }
    free(series);
}

static void draw_maps(const cm_page *p, cm_svg *svg, place *at, double limit)
{
    uint32_t cells = p->request->map_size * p->request->map_size;
    double low = INFINITY, high = -INFINITY;
    for (uint32_t r = 0; r < p->run_count; r++) {
        for (uint32_t i = 0; i < cells; i++) {
            low = fmin(low, p->runs[r].map[i]);
            high = fmax(high, p->runs[r].map[i]);
        }
    }
    for (uint32_t r = 0; r < p->run_count; r++) {
        char title[CM_LABEL_MAX + 64];
        double x, y;
        snprintf(title, sizeof title, "kinetic energy after contact: %s", p->runs[r].label);
        const cm_heat heat = {title,          "friction",           "restitution", "J",
                              p->runs[r].map, p->request->map_size, low,           high};
        take_place(at, CM_HEAT_WIDTH, CM_HEAT_HEIGHT, limit, &x, &y);
        cm_heat_draw(svg, &heat, x, y);
    }
}

// Draws everything; called twice: once to learn the page's size.
static void draw_all(const cm_page *p, cm_svg *svg, double *width, double *height)
{
    const cm_plot_request *r = p->request;
    cm_picture pictures[CM_PLOT_RUNS_MAX * CM_PLOT_AT_MAX];
    char title[256];
    place at = {EDGE, TITLE, TITLE, 0.0};
    cm_picture_set set = {.pictures = pictures,
                          .view = choose_view(p),
                          .at_least_radius = has_circles(p),
                          .arrows = p->arrows,
                          .names = p->names};
    for (uint32_t i = 0; i < p->run_count; i++) {
        for (uint32_t a = 0; a < r->at_count; a++) {
            pictures[set.count++] = (cm_picture){&p->runs[i].moments[a], p->runs[i].label};
        }
    }
    set.columns = p->run_count > 1 && r->at_count > 1 ? r->at_count : (set.count == 4 ? 2 : 3);
    snprintf(title, sizeof title, "%.200s%s", cm_scene_name(p->runs[0].scene),
             p->scene_count > 1 ? " and others" : "");
    cm_svg_open(svg, *width, *height, title);
    cm_svg_text(svg, EDGE, 29.0, 18.0, "start", "font-weight=\"bold\"", title);
    if (set.count > 0) {
        at.right = cm_pictures_draw(svg, &set, EDGE, TITLE) + EDGE;
        at.y = at.bottom = TITLE + cm_pictures_height(&set) + GAP;
    }
    double limit = fmax(at.right, EDGE + 2.0 * CHART_WIDTH + GAP + 1.0);
    for (uint32_t t = 0; t < r->trace_count; t++) {
        if (r->traces[t]->kind != CM_TRACE_MAP) {
            draw_chart(p, svg, t, &at, limit);
        }
    }
    if (cm_plot_has_trace(p->request, CM_TRACE_MAP)) {
        at.x = EDGE;
        at.y = at.bottom;
        draw_maps(p, svg, &at, fmax(limit, EDGE + 3.0 * CM_HEAT_WIDTH));
    }
    cm_svg_close(svg);
    *width = fmax(at.right, 2.0 * EDGE + cm_text_width(title, 18.0));
    *height = at.bottom + 8.0;
}

void cm_page_draw(cm_svg *svg, const cm_page *page)
{
    double width = 100.0, height = 100.0;
    draw_all(page, svg, &width, &height);
    cm_svg_free(svg);
    draw_all(page, svg, &width, &height);
}
