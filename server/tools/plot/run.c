// Stepping for drawings. A run is stepped once for pictures, traces and the time of a step; a map
// needs a run for each of its cells, up to the end of the tick in which the first contact begins.
//
// A map sets both coefficients of every shape so that any two surfaces combine to the cell's value
// under the scene's rule; rules for pairs are put aside.
#include "server/tools/plot/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAP_TICKS  600u // default limit for the first contact, replaced by --ticks
#define TURN       6.283185307179586
#define COST_START 5u // one in so many steps at the start is not timed

typedef struct lines {
    uint32_t slot[CM_PLOT_LINES_MAX];
} lines;

static carom_result fail(const cm_plot_run *run, carom_result result, cm_plot_error *error)
{
    snprintf(error->message, sizeof error->message, "%s: %s", run->label,
             carom_result_text(result));
    return result;
}

carom_result cm_plot_check_data(const cm_plot_run *runs, uint32_t count,
                                const cm_plot_request *request, cm_plot_error *error)
{
    for (uint32_t t = 0; t < request->trace_count; t++) {
        const cm_trace *trace = request->traces[t];
        bool any = trace->kind == CM_TRACE_MAP || trace->kind == CM_TRACE_COST;
        for (uint32_t r = 0; r < count; r++) {
            for (uint32_t line = 0; line < runs[r].line_count[t]; line++) {
                any = any || runs[r].series[t][line].count > 0;
            }
        }
        if (!any) {
            snprintf(error->message, sizeof error->message,
                     "--trace %s: nothing to draw, expected a scene with %s", trace->name,
                     cm_trace_needs(trace));
            return CAROM_ERROR_ARGUMENT;
        }
    }
    return CAROM_OK;
}

bool cm_plot_has_trace(const cm_plot_request *request, cm_trace_kind kind)
{
    for (uint32_t t = 0; t < request->trace_count; t++) {
        if (request->traces[t]->kind == kind) {
            return true;
        }
    }
    return false;
}

static bool can_move(const carom_world *world, uint32_t slot)
{
    carom_body_state state;
    return carom_body_get(world, carom_world_body_at(world, slot), &state) == CAROM_OK &&
           state.type != CAROM_BODY_STATIC;
}

// True if the body of a slot is among the requested names.
static bool is_named(const cm_offline *offline, uint32_t slot, const char *names)
{
    char name[CM_NAME_MAX];
    cm_offline_body_name(offline, slot, name, sizeof name);
    size_t length = strlen(name);
    for (const char *at = names;; at++) {
        size_t part = strcspn(at, ",");
        if (part == length && memcmp(at, name, length) == 0) {
            return true;
        }
        at += part;
        if (*at == '\0') {
            return false;
        }
    }
}

static carom_result check_names(const cm_offline *offline, const char *names, cm_plot_error *error)
{
    for (const char *at = names; at != NULL;) {
        char name[CM_NAME_MAX];
        size_t part = strcspn(at, ",");
        bool found = false;
        snprintf(name, sizeof name, "%.*s", (int)(part < sizeof name ? part : sizeof name - 1), at);
        for (uint32_t s = 0; s < carom_world_body_slots(offline->world) && !found; s++) {
            found = is_named(offline, s, name);
        }
        if (!found) {
            snprintf(error->message, sizeof error->message, "--body: no body '%s' in the scene",
                     name);
            return CAROM_ERROR_ARGUMENT;
        }
        at = at[part] == ',' ? at + part + 1 : NULL;
    }
    return CAROM_OK;
}

// True if the body of a slot is to be drawn or summed.
static bool is_wanted(const cm_offline *offline, uint32_t slot, const cm_plot_request *request)
{
    return request->bodies != NULL ? is_named(offline, slot, request->bodies)
                                   : can_move(offline->world, slot);
}

static void name_line(cm_plot_run *run, const cm_offline *offline, uint32_t t, uint32_t line,
                      uint32_t slot, const cm_trace *trace)
{
    cm_series *series = &run->series[t][line];
    char name[CM_NAME_MAX];
    if (trace->kind == CM_TRACE_WORLD) {
        snprintf(series->label, sizeof series->label, "%s", run->label);
        series->color = run->index;
        series->dash = run->index;
        return;
    }
    if (trace->kind == CM_TRACE_JOINT) {
        cm_offline_joint_name(offline, slot, name, sizeof name);
    } else {
        cm_offline_body_name(offline, slot, name, sizeof name);
    }
    if (run->of == 1) {
        snprintf(series->label, sizeof series->label, "%.100s", name);
    } else {
        snprintf(series->label, sizeof series->label, "%.80s, %.80s", name, run->label);
    }
    series->color = line;
    series->dash = run->index;
}

// Opens the lines of a trace in this run.
static void open_lines(cm_plot_run *run, const cm_offline *offline, const cm_plot_request *request,
                       uint32_t t, lines *of)
{
    const cm_trace *trace = request->traces[t];
    uint32_t slots = trace->kind == CM_TRACE_JOINT ? carom_world_joint_slots(offline->world)
                                                   : carom_world_body_slots(offline->world);
    slots = trace->kind == CM_TRACE_WORLD ? 1 : slots;
    if (trace->kind == CM_TRACE_MAP || trace->kind == CM_TRACE_COST) {
        return;
    }
    for (uint32_t slot = 0; slot < slots; slot++) {
        if ((trace->kind == CM_TRACE_BODY || trace->kind == CM_TRACE_PATH) &&
            !is_wanted(offline, slot, request)) {
            continue;
        }
        if (run->line_total[t]++ < CM_PLOT_LINES_MAX) {
            uint32_t line = run->line_count[t]++;
            of->slot[line] = slot;
            name_line(run, offline, t, line, slot, trace);
        }
    }
    for (uint32_t line = 0; line < run->line_count[t] && run->line_count[t] == 1; line++) {
        run->series[t][line].color = run->index;
    }
}

// The angle of a joint that goes on turning, from the one that ends at pi: a step turns by less
// than half a turn. The whole turn of a ball or a fixed joint has no sense to go on in.
static double unwrap(const cm_offline *offline, const cm_trace *trace, uint32_t slot,
                     const cm_series *series, double value)
{
    carom_joint_state s;
    if (!cm_trace_is_angle(trace) || series->count == 0 ||
        carom_joint_get(offline->world, carom_world_joint_at(offline->world, slot), &s) !=
            CAROM_OK ||
        !s.is_angle || (s.type != CAROM_JOINT_HINGE && s.type != CAROM_JOINT_STEERING)) {
        return value;
    }
    double turns = (series->y[series->count - 1] - value) / TURN;
    return value + TURN * floor(turns + 0.5);
}

static bool sample(cm_plot_run *run, const cm_offline *offline, const cm_plot_request *request,
                   const lines *of, const bool *bodies)
{
    double time = (double)carom_world_tick(offline->world) / carom_world_tick_rate(offline->world);
    bool ok = true;
    for (uint32_t t = 0; t < request->trace_count; t++) {
        const cm_trace *trace = request->traces[t];
        for (uint32_t line = 0; line < run->line_count[t]; line++) {
            double point[2] = {time, 0.0};
            if (trace->kind == CM_TRACE_PATH) {
                cm_trace_point(trace, offline, of[t].slot[line], point);
            } else {
                point[1] = unwrap(offline, trace, of[t].slot[line], &run->series[t][line],
                                  cm_trace_value(trace, offline, of[t].slot[line], bodies));
            }
            ok = cm_series_add(&run->series[t][line], point[0], point[1]) && ok;
        }
    }
    return ok;
}

static double thread_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double *p = a, *q = b;
    return *p < *q ? -1 : *p > *q;
}

typedef struct stepping {
    cm_offline offline;
    cm_before before;
    lines lines[CM_PLOT_TRACES_MAX];
    bool *bodies; // those that sums are over; NULL: all
    double *times;
    uint32_t next_at;
} stepping;

static carom_result step_once(cm_plot_run *run, const cm_plot_request *request, stepping *s,
                              uint64_t tick)
{
    bool shown = s->next_at < request->at_count && request->at[s->next_at] == tick;
    if (tick > 0) {
        carom_result result = shown ? cm_before_take(&s->offline, &s->before) : CAROM_OK;
        if (result != CAROM_OK) {
            return result;
        }
        double start = thread_us();
        cm_offline_step(&s->offline);
        s->times[tick - 1] = thread_us() - start;
    }
    if (!sample(run, &s->offline, request, s->lines, s->bodies)) {
        return CAROM_ERROR_MEMORY;
    }
    if (shown) {
        return cm_moment_take(&s->offline, tick > 0 ? &s->before : NULL,
                              &run->moments[s->next_at++]);
    }
    return CAROM_OK;
}

static carom_result step_all(cm_plot_run *run, const cm_plot_request *request, stepping *s,
                             cm_plot_error *error)
{
    uint32_t slots = carom_world_body_slots(s->offline.world);
    if (request->bodies != NULL) {
        carom_result result = check_names(&s->offline, request->bodies, error);
        if (result != CAROM_OK) {
            return result;
        }
        // Bodies that join later are not among the named ones.
        s->bodies = calloc(carom_world_limits(s->offline.world).bodies + 1, sizeof *s->bodies);
        for (uint32_t i = 0; i < slots && s->bodies != NULL; i++) {
            s->bodies[i] = is_named(&s->offline, i, request->bodies);
        }
    }
    s->times = calloc(request->ticks + 1, sizeof *s->times);
    if (s->times == NULL || (request->bodies != NULL && s->bodies == NULL)) {
        return fail(run, CAROM_ERROR_MEMORY, error);
    }
    for (uint32_t slot = 0; slot < slots; slot++) {
        run->movable += can_move(s->offline.world, slot);
    }
    for (uint32_t t = 0; t < request->trace_count; t++) {
        open_lines(run, &s->offline, request, t, &s->lines[t]);
    }
    for (uint64_t tick = 0; tick <= request->ticks; tick++) {
        carom_result result = step_once(run, request, s, tick);
        if (result != CAROM_OK) {
            return fail(run, result, error);
        }
    }
    uint64_t skip = request->ticks / COST_START, timed = request->ticks - skip;
    qsort(s->times + skip, timed, sizeof *s->times, by_value);
    run->step_us = timed > 0 ? s->times[skip + timed / 2] : 0.0;
    return CAROM_OK;
}

// The value that every surface needs so that two of them combine to `wanted`.
static float surface_value(uint32_t rule, double wanted)
{
    return (float)(rule == CAROM_COMBINE_PRODUCT ? sqrt(wanted) : wanted);
}

// Every surface gets what two of them combine to these coefficients with, and no rule stands
// before.
static carom_result set_surfaces(const cm_plot_run *run, carom_world *world, double friction,
                                 double restitution)
{
    carom_world_def def;
    carom_world_stats stats;
    cm_scene_world_def(run->scene, &def);
    carom_world_stats_get(world, &stats);
    carom_shape_id *shapes = calloc(stats.shapes + 1, sizeof *shapes);
    if (shapes == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    carom_world_clear_pair_rules(world);
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        uint32_t count =
            carom_body_shapes(world, carom_world_body_at(world, slot), shapes, stats.shapes);
        for (uint32_t i = 0; i < count; i++) {
            // Cannot fail: the shape lives, the coefficients are 0 to 1.
            (void)carom_shape_set_surface(world, shapes[i],
                                          surface_value(def.friction_combine, friction),
                                          surface_value(def.restitution_combine, restitution));
        }
    }
    free(shapes);
    return CAROM_OK;
}

static carom_result run_cell(const cm_plot_run *run, const cm_plot_request *request,
                             double friction, double restitution, double *energy, bool *touched)
{
    cm_offline offline;
    uint64_t ticks = request->ticks > 0 ? request->ticks : MAP_TICKS;
    carom_result result =
        cm_offline_create_with(run->scene, request->inputs, run->solver, &offline);
    if (result != CAROM_OK) {
        return result;
    }
    result = set_surfaces(run, offline.world, friction, restitution);
    if (result != CAROM_OK) {
        cm_offline_destroy(&offline);
        return result;
    }
    *touched = false;
    for (uint64_t tick = 0; tick < ticks && !*touched; tick++) {
        uint32_t count = 0;
        cm_offline_step(&offline);
        const carom_contact_event *events = carom_world_contact_events(offline.world, &count);
        for (uint32_t i = 0; i < count; i++) {
            *touched = *touched || (events[i].begin && !events[i].sensor);
        }
    }
    *energy = cm_trace_kinetic_energy(&offline);
    cm_offline_destroy(&offline);
    return CAROM_OK;
}

static carom_result run_map(cm_plot_run *run, const cm_plot_request *request, cm_plot_error *error)
{
    uint32_t n = request->map_size;
    bool any = false;
    run->map = calloc((size_t)n * n, sizeof *run->map);
    if (run->map == NULL) {
        return fail(run, CAROM_ERROR_MEMORY, error);
    }
    for (uint32_t row = 0; row < n; row++) {
        for (uint32_t column = 0; column < n; column++) {
            bool touched = false;
            carom_result result =
                run_cell(run, request, (double)column / (n - 1), (double)row / (n - 1),
                         &run->map[row * n + column], &touched);
            if (result != CAROM_OK) {
                return fail(run, result, error);
            }
            any = any || touched;
        }
    }
    if (!any) {
        snprintf(error->message, sizeof error->message,
                 "--trace energy_map: %s: nothing touches, expected a scene with a collision",
                 run->label);
        return CAROM_ERROR_ARGUMENT;
    }
    return CAROM_OK;
}

carom_result cm_plot_run_go(cm_plot_run *run, const cm_plot_request *request, cm_plot_error *error)
{
    stepping s;
    memset(&s, 0, sizeof s);
    bool other = request->at_count > 0;
    for (uint32_t t = 0; t < request->trace_count; t++) {
        other = other || request->traces[t]->kind != CM_TRACE_MAP;
    }
    carom_result result = CAROM_OK;
    if (cm_plot_has_trace(request, CM_TRACE_MAP)) {
        result = run_map(run, request, error);
    }
    if (result != CAROM_OK || !other) {
        return result;
    }
    result = cm_offline_create_with(run->scene, request->inputs, run->solver, &s.offline);
    if (result != CAROM_OK) {
        return fail(run, result, error);
    }
    result = step_all(run, request, &s, error);
    cm_before_free(&s.before);
    free(s.bodies);
    free(s.times);
    cm_offline_destroy(&s.offline);
    return result;
}

void cm_plot_run_free(cm_plot_run *run)
{
    for (uint32_t i = 0; i < CM_PLOT_AT_MAX; i++) {
        cm_moment_free(&run->moments[i]);
    }
    for (uint32_t t = 0; t < CM_PLOT_TRACES_MAX; t++) {
        for (uint32_t line = 0; line < CM_PLOT_LINES_MAX; line++) {
            cm_series_free(&run->series[t][line]);
        }
    }
    free(run->map);
    run->map = NULL;
}
