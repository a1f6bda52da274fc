// `carom plot SCENE…`: pictures of scenes at ticks and charts of their traces, as one SVG file.
//
// Scenes times solvers make the runs; each is stepped once (plot/run.h), then all is drawn on one
// page (plot/page.h). Nothing of the file depends on the machine but the chart of costs.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/cli/cli.h"
#include "server/cli/load.h"
#include "server/tools/plot/page.h"

#define TICKS_MAX    1e6
#define GRID         11
#define TRACE_TICKS  600
#define PICTURE_TICK 1 // of a picture, beside tick 0, where nothing else is asked for

typedef struct plot_options {
    const char *scenes[CM_PLOT_RUNS_MAX];
    uint32_t scene_count;
    const char *at, *trace, *solver, *body, *inputs, *db, *out, *view, *arrows, *names;
    int64_t ticks, grid;
    bool has_ticks;
    cm_option_texts modules;
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
    *o = (plot_options){.view = "auto", .arrows = "on", .names = "on", .grid = GRID};
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
        {"module", CM_OPTION_TEXTS, &o->modules, 0, 0, NULL, NULL},
        {"out", CM_OPTION_TEXT, &o->out, 0, 0, NULL, NULL},
    };
    int status = cm_cli_options(argc, argv, options, sizeof options / sizeof options[0], o->scenes,
                                CM_PLOT_RUNS_MAX, &o->scene_count);
    if (status == CM_STATUS_DONE && o->scene_count == 0) {
        return cm_cli_usage("plot: no scene given, expected a file, or a name with --db");
    }
    if (status == CM_STATUS_DONE && o->inputs != NULL && o->scene_count > 1) {
        return cm_cli_usage("plot: --inputs: expected one scene, %u are given",
                            (unsigned)o->scene_count);
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
            return cm_cli_usage(
                "plot: --at: '%s', expected ticks from 0 to %.0f in ascending order, with "
                "commas between",
                text, TICKS_MAX);
        }
        if (request->at_count == CM_PLOT_AT_MAX) {
            return cm_cli_usage("plot: --at: expected at most %u ticks", CM_PLOT_AT_MAX);
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
            return cm_cli_usage("plot: --trace: '%.*s', expected one of %s",
                                (int)(part < 64 ? part : 64), at, names);
        }
        if (request->trace_count == CM_PLOT_TRACES_MAX) {
            return cm_cli_usage("plot: --trace: expected at most %u names", CM_PLOT_TRACES_MAX);
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
            return cm_cli_usage(
                "plot: --solver: '%s', expected soft, impulse, lcp, volume or scene, with "
                "commas between",
                name);
        }
        if ((p->solver_count + 1) * p->options.scene_count > CM_PLOT_RUNS_MAX) {
            return cm_cli_usage("plot: expected at most %u scenes times solvers", CM_PLOT_RUNS_MAX);
        }
        p->solvers[p->solver_count++] = solver;
        at = at[part] == ',' ? at + part + 1 : NULL;
    }
    return CM_STATUS_DONE;
}

// Sets the number of ticks to run, and the default pictures: before the first tick, and after it.
static int settle_request(plot *p)
{
    cm_plot_request *r = &p->request;
    bool only_map = r->trace_count == 1 && cm_plot_has_trace(r, CM_TRACE_MAP);
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
        return cm_cli_usage("plot: --at: tick %llu, expected at most --ticks %llu",
                            (unsigned long long)last, (unsigned long long)r->ticks);
    }
    r->ticks = last > r->ticks ? last : r->ticks;
    r->map_size = (uint32_t)p->options.grid;
    r->bodies = p->options.body;
    r->inputs = p->options.inputs != NULL ? &p->inputs : NULL;
    return CM_STATUS_DONE;
}

static int load_scenes(plot *p)
{
    int loaded = cm_cli_load_modules(&p->options.modules);
    if (loaded != CM_STATUS_DONE) {
        return loaded;
    }
    for (uint32_t i = 0; i < p->options.scene_count; i++) {
        const char *name = p->options.scenes[i];
        int status = cm_cli_load_scene(name, p->options.db, p->solvers[0], &p->scenes[i]);
        for (uint32_t k = 1; k < p->solver_count && status == CM_STATUS_DONE; k++) {
            status = cm_cli_suit_scene(name, p->options.db, p->solvers[k], p->scenes[i]);
        }
        if (status != CM_STATUS_DONE) {
            return status;
        }
        const char *module = cm_scene_module(p->scenes[i]);
        if (module[0] != '\0' && cm_module_find(module) == NULL) {
            cm_cli_module_error(name, p->options.db, p->scenes[i]);
            return CM_STATUS_USAGE;
        }
        if (p->options.inputs != NULL) {
            status =
                cm_cli_load_inputs(p->options.inputs, p->scenes[i],
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
        return cm_cli_failed("plot: %s", carom_result_text(CAROM_ERROR_MEMORY));
    }
    cm_plot_error error;
    for (uint32_t i = 0; i < p->options.scene_count; i++) {
        for (uint32_t k = 0; k < p->solver_count; k++) {
            cm_plot_run *run = &p->runs[p->run_count];
            run->scene = p->scenes[i];
            run->solver = p->solvers[k];
            run->index = p->run_count++;
            run->of = p->options.scene_count * p->solver_count;
            label_run(p, run, i, run->solver);
            carom_result result = cm_plot_run_go(run, &p->request, &error);
            if (result != CAROM_OK) {
                cm_cli_error("plot: %s", error.message);
                bool refused = result == CAROM_ERROR_ARGUMENT || result == CAROM_ERROR_NOT_BUILT;
                return refused ? CM_STATUS_USAGE : CM_STATUS_FAILED;
            }
        }
    }
    if (cm_plot_check_data(p->runs, p->run_count, &p->request, &error) != CAROM_OK) {
        return cm_cli_usage("plot: %s", error.message);
    }
    return CM_STATUS_DONE;
}

static int write_out(const plot *p, const cm_svg *svg)
{
    if (svg->failed) {
        return cm_cli_failed("plot: %s", carom_result_text(CAROM_ERROR_MEMORY));
    }
    if (p->options.out == NULL) {
        fwrite(svg->text, 1, svg->size, stdout);
        return cm_cli_finish(CM_STATUS_DONE);
    }
    FILE *file = fopen(p->options.out, "wb");
    bool ok = file != NULL && fwrite(svg->text, 1, svg->size, file) == svg->size;
    if (file == NULL || (fclose(file) != 0) || !ok) {
        return cm_cli_failed("plot: %s: cannot be written: %s", p->options.out, strerror(errno));
    }
    return CM_STATUS_DONE;
}

static cm_view_kind view_of(const char *name)
{
    static const char *const NAMES[] = {
        [CM_VIEW_AUTO] = "auto", [CM_VIEW_XY] = "xy", [CM_VIEW_SCREEN] = "screen",
        [CM_VIEW_XZ] = "xz",     [CM_VIEW_ZY] = "zy", [CM_VIEW_OBLIQUE] = "oblique"};
    uint32_t i = 0;
    while (strcmp(NAMES[i], name) != 0) { // the options know the choices
        i++;
    }
    return (cm_view_kind)i;
}

static int draw(const plot *p)
{
    cm_svg svg;
    const cm_page page = {.request = &p->request,
                          .runs = p->runs,
                          .run_count = p->run_count,
                          .scene_count = p->options.scene_count,
                          .solver_count = p->solver_count,
                          .view = view_of(p->options.view),
                          .arrows = strcmp(p->options.arrows, "on") == 0,
                          .names = strcmp(p->options.names, "on") == 0};
    cm_page_draw(&svg, &page);
    int status = write_out(p, &svg);
    cm_svg_free(&svg);
    return status;
}

static int run_command(int argc, char **argv)
{
    plot p;
    memset(&p, 0, sizeof p);
    int status = read_options(argc, argv, &p.options);
    int (*const steps[])(plot *) = {read_ats,       read_traces, read_solvers,
                                    settle_request, load_scenes, run_all};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == CM_STATUS_DONE; i++) {
        status = steps[i](&p);
    }
    if (status == CM_STATUS_DONE) {
        status = draw(&p);
    }
    for (uint32_t i = 0; i < p.run_count; i++) {
        cm_plot_run_free(&p.runs[i]);
    }
    for (uint32_t i = 0; i < p.options.scene_count; i++) {
        if (p.scenes[i] != NULL) {
            cm_scene_free(p.scenes[i]);
        }
    }
    cm_inputs_free(&p.inputs);
    free(p.runs);
    return status;
}

// clang-format off
const cm_command cm_plot_command = {
    "plot", run_command,
    "draws scenes and their traces\n"
    "usage: carom plot SCENE... [options]\n"
    "\n"
    "Draws one SVG file: pictures of bodies at ticks, charts of traces over time, maps. Every\n"
    "scene is run with every solver named, and all is shown side by side at one scale. Without\n"
    "--at and --trace: tick 0, and the last one.\n"
    "\n"
    "  --at T[,T...]        pictures at these ticks, in ascending order\n"
    "  --ticks N            ticks to run (what --at needs; " CM_HELP(TRACE_TICKS) " for traces; " CM_HELP(PICTURE_TICK) ")\n"
    "  --trace NAME[,...]   charts; of the world: energy, kinetic_energy, potential_energy,\n"
    "                       momentum_x, _y, _z, angular_momentum (about z, each body about its\n"
    "                       centre), angular_momentum_x, _y, angular_momentum_of_origin, contacts,\n"
    "                       penetration, joint_error; of bodies: x, y, z, height, vx, vy, vz,\n"
    "                       speed, wx, wy, wz, angular_speed, path (y over x),\n"
    "                       path_xz (z over x), contact_force, contact_torque (of\n"
    "                       report_force and pointers);\n"
    "                       of joints: joint (angle or position), joint_rate, joint_force,\n"
    "                       joint_torque; energy_map: kinetic energy after the tick of the first\n"
    "                       contact over friction and restitution, as a heat map; cost: thread CPU\n"
    "                       time of a step over the number of bodies of the scenes given\n"
    "  --body NAME[,...]    the bodies that traces follow and sum up (those that can move; at most\n"
    "                       eight have lines)\n"
    "  --solver NAME[,...]  instead of the scene's: soft, impulse, lcp, volume; scene: its own\n"
    "  --view V             auto, xy, xz (from above), zy, screen (y down), oblique; auto is xy\n"
    "                       where all motion is in that plane, screen for circles, else oblique\n"
    "  --arrows on|off      velocity, angular velocity, and the impulse of contacts and joints in\n"
    "                       the tick; the number is the magnitude, with the sign of x + y + z\n"
    "  --names on|off       names of bodies that can move\n"
    "  --grid N             values of friction, and of restitution, in a map (" CM_HELP(GRID) ")\n"
    "  --inputs FILE        as for carom sim\n"
    "  --out FILE           instead of stdout\n"
    "  --db FILE            SCENE is a name in this database\n"
    "  --module FILE.so     a game module that the scene may name; may be repeated\n"
    "\n"
    "The same input gives the same bytes, but for the chart of costs.\n",
    NULL};
// clang-format on
