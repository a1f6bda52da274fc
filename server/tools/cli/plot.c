// `carom plot SCENE…`: pictures of scenes at ticks and charts of their traces, as one SVG file.
//
// Scenes times solvers make the runs; each is stepped once (server/plot/run.h), then all is drawn
// on one page: pictures at one scale, then charts two a row, then maps. Nothing of the file depends
// on the machine but the chart of costs.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/tools/cli/cli.h"
#include "server/tools/cli/load.h"
#include "server/tools/cli/options.h"
#include "server/tools/plot/picture.h"
#include "server/tools/plot/run.h"

#define TICKS_MAX    1e6
#define TRACE_TICKS  600
#define PICTURE_TICK 1 // of a picture, beside tick 0, where nothing else is asked for
#define EDGE         24.0
#define TITLE        44.0
#define CHART_WIDTH  640.0
#define GAP          16.0

typedef struct plot_options {
    const char *scenes[CM_PLOT_RUNS_MAX];
    uint32_t scene_count;
    const char *at, *trace, *solver, *body, *inputs, *db, *out, *view, *arrows, *names;
    int64_t ticks, grid;
    bool has_ticks;
} plot_options;

typedef struct plot {
    plot_options options;
    cm_plot_request request;
    cm_scene *scenes[CM_PLOT_RUNS_MAX];
    int solvers[CM_PLOT_RUNS_MAX]; // -1: the scene's
    uint32_t solver_count;
    cm_inputs inputs;
    cm_plot_run *runs;
    uint32_t run_count;
} plot;

static int read_options(int argc, char **argv, plot_options *o)
{
    *o = (plot_options){.view = "auto", .arrows = "on", .names = "on", .grid = 11};
    const cm_option options[] = {
        {"at", CM_OPTION_TEXT, &o->at, 0, 0, NULL, NULL},
        {"ticks", CM_OPTION_INT, &o->ticks, 0, TICKS_MAX, NULL, &o->has_ticks},
        {"trace", CM_OPTION_TEXT, &o->trace, 0, 0, NULL, NULL},
        {"solver", CM_OPTION_TEXT, &o->solver, 0, 0, NULL, NULL},
        {"body", CM_OPTION_TEXT, &o->body, 0, 0, NULL, NULL},
        {"view", CM_OPTION_CHOICE, &o->view, 0, 0, "auto|xy|xz|zy|screen|oblique", NULL},
        {"arrows", CM_OPTION_CHOICE, &o->arrows, 0, 0, "on|off", NULL},
        {"names", CM_OPTION_CHOICE, &o->names, 0, 0, "on|off", NULL},
        {"grid", CM_OPTION_INT, &o->grid, 2, 41, NULL, NULL},
        {"inputs", CM_OPTION_TEXT, &o->inputs, 0, 0, NULL, NULL},
        {"db", CM_OPTION_TEXT, &o->db, 0, 0, NULL, NULL},
        {"out", CM_OPTION_TEXT, &o->out, 0, 0, NULL, NULL},
    };
    int status = cm_options_parse(argc, argv, options, sizeof options / sizeof options[0],
                                  o->scenes, CM_PLOT_RUNS_MAX, &o->scene_count);
    if (status == CM_STATUS_DONE && o->scene_count == 0) {
        cm_cli_error("plot: no scene given, expected a file, or a name with --db");
        return CM_STATUS_USAGE;
    }
    if (status == CM_STATUS_DONE && o->inputs != NULL && o->scene_count > 1) {
        cm_cli_error("plot: --inputs: expected one scene, %u are given", (unsigned)o->scene_count);
        return CM_STATUS_USAGE;
    }
    return status;
}

static int read_ats(plot *p)
{
    cm_plot_request *request = &p->request;
    for (const char *at = p->options.at; at != NULL;) {
        char text[32];
        int64_t tick;
        size_t part = strcspn(at, ",");
        snprintf(text, sizeof text, "%.*s", (int)(part < 31 ? part : 31), at);
        if (!cm_parse_int(text, 0, (int64_t)TICKS_MAX, &tick) ||
            (request->at_count > 0 && request->at[request->at_count - 1] >= (uint64_t)tick)) {
            cm_cli_error("plot: --at: '%s', expected ticks from 0 to %.0f in ascending order, with "
                         "commas between",
                         text, TICKS_MAX);
            return CM_STATUS_USAGE;
        }
        if (request->at_count == CM_PLOT_AT_MAX) {
            cm_cli_error("plot: --at: expected at most %u ticks", CM_PLOT_AT_MAX);
            return CM_STATUS_USAGE;
        }
        request->at[request->at_count++] = (uint64_t)tick;
        at = at[part] == ',' ? at + part + 1 : NULL;
    }
    return CM_STATUS_DONE;
}

static int read_traces(plot *p)
{
    cm_plot_request *request = &p->request;
    for (const char *at = p->options.trace; at != NULL;) {
        char names[1024];
        size_t part = strcspn(at, ",");
        const cm_trace *trace = cm_trace_find(at, part);
        if (trace == NULL) {
            cm_trace_names(names, sizeof names);
            cm_cli_error("plot: --trace: '%.*s', expected one of %s", (int)(part < 64 ? part : 64),
                         at, names);
            return CM_STATUS_USAGE;
        }
        if (request->trace_count == CM_PLOT_TRACES_MAX) {
            cm_cli_error("plot: --trace: expected at most %u names", CM_PLOT_TRACES_MAX);
            return CM_STATUS_USAGE;
        }
        request->traces[request->trace_count++] = trace;
        at = at[part] == ',' ? at + part + 1 : NULL;
    }
    return CM_STATUS_DONE;
}

static int read_solvers(plot *p)
{
    p->solvers[0] = -1;
    p->solver_count = p->options.solver == NULL ? 1 : 0;
    for (const char *at = p->options.solver; at != NULL;) {
        char name[32];
        size_t part = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)(part < 31 ? part : 31), at);
        int solver = strcmp(name, "scene") == 0 ? -1 : cm_offline_solver(name);
        if (solver == CM_SOLVER_UNKNOWN) {
            cm_cli_error("plot: --solver: '%s', expected soft, impulse, lcp, volume or scene, with "
                         "commas between",
                         name);
            return CM_STATUS_USAGE;
        }
        if ((p->solver_count + 1) * p->options.scene_count > CM_PLOT_RUNS_MAX) {
            cm_cli_error("plot: expected at most %u scenes times solvers", CM_PLOT_RUNS_MAX);
            return CM_STATUS_USAGE;
        }
        p->solvers[p->solver_count++] = solver;
        at = at[part] == ',' ? at + part + 1 : NULL;
    }
    return CM_STATUS_DONE;
}

static bool has_trace(const plot *p, cm_trace_kind kind)
{
    for (uint32_t t = 0; t < p->request.trace_count; ++t) {
        if (p->request.traces[t]->kind == kind) {
            return true;
        }
    }
    return false;
}

// How far to run, and what to show where nothing was asked for: before, and after one tick.
static int settle_request(plot *p)
{
    cm_plot_request *r = &p->request;
    bool only_map = r->trace_count == 1 && has_trace(p, CM_TRACE_MAP);
    r->ticks = p->options.has_ticks ? (uint64_t)p->options.ticks
                                    : (r->trace_count > 0 && !only_map ? TRACE_TICKS : 0);
    if (r->at_count == 0 && r->trace_count == 0) {
        uint64_t last = p->options.has_ticks ? r->ticks : PICTURE_TICK;
        r->at[r->at_count++] = 0;
        if (last > 0) {
            r->at[r->at_count++] = last;
        }
    }
    uint64_t last = r->at_count > 0 ? r->at[r->at_count - 1] : 0;
    if (p->options.has_ticks && last > r->ticks) {
        cm_cli_error("plot: --at: tick %llu, expected at most --ticks %llu",
                     (unsigned long long)last, (unsigned long long)r->ticks);
        return CM_STATUS_USAGE;
    }
    r->ticks = last > r->ticks ? last : r->ticks;
    r->map_size = (uint32_t)p->options.grid;
    r->bodies = p->options.body;
    r->inputs = p->options.inputs != NULL ? &p->inputs : NULL;
    return CM_STATUS_DONE;
}

static int load_scenes(plot *p)
{
    for (uint32_t i = 0; i < p->options.scene_count; ++i) {
        const char *name = p->options.scenes[i];
        int status = cm_cli_load_scene(name, p->options.db, &p->scenes[i]);
        if (status != CM_STATUS_DONE) {
            return status;
        }
        const char *module = cm_scene_module(p->scenes[i]);
        if (module[0] != '\0' && cm_module_find(module) == NULL) {
            cm_cli_module_error(name, p->options.db, p->scenes[i]);
            return CM_STATUS_USAGE;
        }
        if (p->options.inputs != NULL) {
            status = cm_inputs_read(p->options.inputs, p->scenes[i],
                                    module[0] != '\0' ? cm_module_find(module) : NULL, &p->inputs);
        }
        if (status != CM_STATUS_DONE) {
            return status;
        }
    }
    return CM_STATUS_DONE;
}

static void label_run(const plot *p, cm_plot_run *run, uint32_t scene, int solver)
{
    carom_world_def def;
    cm_scene_world_def(p->scenes[scene], &def);
    const char *name = cm_scene_name(p->scenes[scene]);
    const char *solver_name = cm_offline_solver_name(solver < 0 ? (int)def.solver.type : solver);
    if (p->options.scene_count == 1) {
        snprintf(run->label, sizeof run->label, "%s", solver_name);
    } else if (p->solver_count == 1) {
        snprintf(run->label, sizeof run->label, "%.128s", name);
    } else {
        snprintf(run->label, sizeof run->label, "%.128s, %s", name, solver_name);
    }
}

static int run_all(plot *p)
{
    p->runs = calloc((size_t)p->options.scene_count * p->solver_count, sizeof *p->runs);
    if (p->runs == NULL) {
        cm_cli_error("plot: %s", carom_result_text(CAROM_ERROR_MEMORY));
        return CM_STATUS_FAILED;
    }
    for (uint32_t i = 0; i < p->options.scene_count; ++i) {
        for (uint32_t k = 0; k < p->solver_count; ++k) {
            cm_plot_run *run = &p->runs[p->run_count];
            run->scene = p->scenes[i];
            run->solver = p->solvers[k];
            run->index = p->run_count++;
            run->of = p->options.scene_count * p->solver_count;
            label_run(p, run, i, run->solver);
            int status = cm_plot_run_go(run, &p->request);
            if (status != CM_STATUS_DONE) {
                return status;
            }
        }
    }
    return CM_STATUS_DONE;
}

// Whether all motion is in x and y: those scenes are seen along z.
static bool is_flat(const plot *p)
{
    for (uint32_t r = 0; r < p->run_count; ++r) {
        for (uint32_t a = 0; a < p->request.at_count; ++a) {
            const cm_moment *moment = &p->runs[r].moments[a];
            for (uint32_t b = 0; b < moment->body_count; ++b) {
                const carom_body_state *s = &moment->bodies[b].state;
                const float off[] = {s->center_of_mass.z,   s->linear_velocity.z,
                                     s->angular_velocity.x, s->angular_velocity.y,
                                     s->orientation.x,      s->orientation.y};
                for (size_t k = 0; k < sizeof off / sizeof off[0]; ++k) {
                    if (s->type != CAROM_BODY_STATIC && fabsf(off[k]) > 1e-4f) {
                        return false;
                    }
                }
            }
        }
    }
    return true;
}

static bool has_circles(const plot *p)
{
    for (uint32_t r = 0; r < p->run_count; ++r) {
        if (cm_offline_is_circle(p->runs[r].scene, p->runs[r].solver)) {
            return true;
        }
    }
    return false;
}

static cm_view_kind choose_view(const plot *p)
{
    static const char *const NAMES[] = {[CM_VIEW_XY] = "xy",
                                        [CM_VIEW_SCREEN] = "screen",
                                        [CM_VIEW_XZ] = "xz",
                                        [CM_VIEW_ZY] = "zy",
                                        [CM_VIEW_OBLIQUE] = "oblique"};
    for (uint32_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; ++i) {
        if (strcmp(p->options.view, NAMES[i]) == 0) {
            return (cm_view_kind)i;
        }
    }
    return has_circles(p) ? CM_VIEW_SCREEN : is_flat(p) ? CM_VIEW_XY : CM_VIEW_OBLIQUE;
}

// The lines of all runs of one chart, behind one another.
static cm_series *gather(const plot *p, uint32_t t, uint32_t *count)
{
    cm_series *all = calloc((size_t)p->run_count * CM_PLOT_LINES_MAX + 1, sizeof *all);
    *count = 0;
    for (uint32_t r = 0; r < p->run_count && all != NULL; ++r) {
        const cm_plot_run *run = &p->runs[r];
        memcpy(all + *count, run->series[t], run->line_count[t] * sizeof *all);
        *count += run->line_count[t];
    }
    return all;
}

// One line a solver, over the scenes: bodies that can move, microseconds a step.
static cm_series *gather_costs(const plot *p, uint32_t *count)
{
    cm_series *all = calloc(p->solver_count, sizeof *all);
    *count = p->solver_count;
    for (uint32_t k = 0; k < p->solver_count && all != NULL; ++k) {
        snprintf(all[k].label, sizeof all[k].label, "%s",
                 p->solvers[k] < 0 ? "the scene's solver" : cm_offline_solver_name(p->solvers[k]));
        all[k].color = all[k].dash = k;
        all[k].markers = true;
        for (uint32_t i = 0; i < p->options.scene_count; ++i) {
            const cm_plot_run *run = &p->runs[i * p->solver_count + k];
            cm_series_add(&all[k], run->movable, run->step_us);
        }
        for (uint32_t i = 1; i < all[k].count; ++i) { // by bodies: few, so by insertion
            for (uint32_t j = i; j > 0 && all[k].x[j - 1] > all[k].x[j]; --j) {
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

typedef struct page {
    double x, y;   // where the next chart or map stands
    double bottom; // of the row so far
    double right;  // px, the page's width so far
} page;

// Room for the next chart: beside the last one, or in a new row. `columns` a row.
static void take_place(page *at, double width, double height, double limit, double *x, double *y)
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

static void draw_chart(const plot *p, cm_svg *svg, uint32_t t, page *at, double limit)
{
    const cm_trace *trace = p->request.traces[t];
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
    for (uint32_t i = 0; i < count && cost; ++i) {
        cm_series_free(&series[i]);
    }
    free(series);
}

static void draw_maps(const plot *p, cm_svg *svg, page *at, double limit)
{
    uint32_t cells = p->request.map_size * p->request.map_size;
    double low = INFINITY, high = -INFINITY;
    for (uint32_t r = 0; r < p->run_count; ++r) {
        for (uint32_t i = 0; i < cells; ++i) {
            low = fmin(low, p->runs[r].map[i]);
            high = fmax(high, p->runs[r].map[i]);
        }
    }
    for (uint32_t r = 0; r < p->run_count; ++r) {
        char title[CM_LABEL_MAX + 64];
        double x, y;
        snprintf(title, sizeof title, "kinetic energy after contact: %s", p->runs[r].label);
        const cm_heat heat = {title,          "friction",          "restitution", "J",
                              p->runs[r].map, p->request.map_size, low,           high};
        take_place(at, CM_HEAT_WIDTH, CM_HEAT_HEIGHT, limit, &x, &y);
        cm_heat_draw(svg, &heat, x, y);
    }
}

// Draws everything; called twice: once to learn the page's size.
static void draw_page(const plot *p, cm_svg *svg, double *width, double *height)
{
    const cm_plot_request *r = &p->request;
    cm_picture pictures[CM_PLOT_RUNS_MAX * CM_PLOT_AT_MAX];
    char title[256];
    page at = {EDGE, TITLE, TITLE, 0.0};
    cm_picture_set set = {.pictures = pictures,
                          .view = choose_view(p),
                          .at_least_radius = has_circles(p),
                          .arrows = strcmp(p->options.arrows, "on") == 0,
                          .names = strcmp(p->options.names, "on") == 0};
    for (uint32_t i = 0; i < p->run_count; ++i) {
        for (uint32_t a = 0; a < r->at_count; ++a) {
            pictures[set.count++] = (cm_picture){&p->runs[i].moments[a], p->runs[i].label};
        }
    }
    set.columns = p->run_count > 1 && r->at_count > 1 ? r->at_count : (set.count == 4 ? 2 : 3);
    snprintf(title, sizeof title, "%.200s%s", cm_scene_name(p->scenes[0]),
             p->options.scene_count > 1 ? " and others" : "");
    cm_svg_open(svg, *width, *height, title);
    cm_svg_text(svg, EDGE, 29.0, 18.0, "start", "font-weight=\"bold\"", title);
    if (set.count > 0) {
        cm_pictures_draw(svg, &set, EDGE, TITLE);
        at.right = cm_pictures_width(&set) + 2.0 * EDGE;
        at.y = at.bottom = TITLE + cm_pictures_height(&set) + GAP;
    }
    double limit = fmax(at.right, EDGE + 2.0 * CHART_WIDTH + GAP + 1.0);
    for (uint32_t t = 0; t < r->trace_count; ++t) {
        if (r->traces[t]->kind != CM_TRACE_MAP) {
            draw_chart(p, svg, t, &at, limit);
        }
    }
    if (has_trace(p, CM_TRACE_MAP)) {
        at.x = EDGE;
        at.y = at.bottom;
        draw_maps(p, svg, &at, fmax(limit, EDGE + 3.0 * CM_HEAT_WIDTH));
    }
    cm_svg_close(svg);
    *width = fmax(at.right, 2.0 * EDGE + cm_text_width(title, 18.0));
    *height = at.bottom + 8.0;
}

static int write_out(const plot *p, const cm_svg *svg)
{
    if (svg->failed) {
        cm_cli_error("plot: %s", carom_result_text(CAROM_ERROR_MEMORY));
        return CM_STATUS_FAILED;
    }
    if (p->options.out == NULL) {
        fwrite(svg->text, 1, svg->size, stdout);
        return cm_cli_finish(CM_STATUS_DONE);
    }
    FILE *file = fopen(p->options.out, "wb");
    bool ok = file != NULL && fwrite(svg->text, 1, svg->size, file) == svg->size;
    if (file == NULL || (fclose(file) != 0) || !ok) {
        cm_cli_error("plot: %s: cannot be written", p->options.out);
        return CM_STATUS_FAILED;
    }
    return CM_STATUS_DONE;
}

static int draw(const plot *p)
{
    cm_svg svg;
    double width = 100.0, height = 100.0;
    draw_page(p, &svg, &width, &height);
    cm_svg_free(&svg);
    draw_page(p, &svg, &width, &height);
    int status = write_out(p, &svg);
    cm_svg_free(&svg);
    return status;
}

int cm_cli_plot(int argc, char **argv)
{
    plot p;
    memset(&p, 0, sizeof p);
    int status = read_options(argc, argv, &p.options);
    int (*const steps[])(plot *) = {read_ats,       read_traces, read_solvers,
                                    settle_request, load_scenes, run_all};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == CM_STATUS_DONE; ++i) {
        status = steps[i](&p);
    }
    if (status == CM_STATUS_DONE) {
        status = draw(&p);
    }
    for (uint32_t i = 0; i < p.run_count; ++i) {
        cm_plot_run_free(&p.runs[i]);
    }
    for (uint32_t i = 0; i < p.options.scene_count; ++i) {
        if (p.scenes[i] != NULL) {
            cm_scene_free(p.scenes[i]);
        }
    }
    cm_inputs_free(&p.inputs);
    free(p.runs);
    return status;
}
