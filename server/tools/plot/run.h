// The runs that one drawing compares: scenes by solvers, each stepped once, with pictures and
// samples taken on the way.
#ifndef CM_SERVER_TOOLS_PLOT_RUN_H
#define CM_SERVER_TOOLS_PLOT_RUN_H

#include "server/tools/plot/chart.h"
#include "server/tools/plot/moment.h"
#include "server/tools/plot/trace.h"

#define CM_PLOT_RUNS_MAX   16u
#define CM_PLOT_AT_MAX     6u
#define CM_PLOT_TRACES_MAX 8u
#define CM_PLOT_LINES_MAX  8u // bodies or joints of a run that have a line

typedef struct cm_plot_request {
    uint64_t at[CM_PLOT_AT_MAX]; // ticks, ascending
    uint32_t at_count;
    uint64_t ticks; // to run; at least the last of `at`
    const cm_trace *traces[CM_PLOT_TRACES_MAX];
    uint32_t trace_count;
    const char *bodies; // names with commas between; NULL: those that can move
    uint32_t map_size;  // values of friction, and of restitution
    const cm_inputs *inputs;
} cm_plot_request;

bool cm_plot_has_trace(const cm_plot_request *request, cm_trace_kind kind);

typedef struct cm_plot_run {
    const cm_scene *scene;
    int solver; // -1: the scene's
    char label[CM_LABEL_MAX];
    uint32_t index, of; // among the runs
    // Found by cm_plot_run_go:
    cm_moment moments[CM_PLOT_AT_MAX];
    cm_series series[CM_PLOT_TRACES_MAX][CM_PLOT_LINES_MAX];
    uint32_t line_count[CM_PLOT_TRACES_MAX];
    uint32_t line_total[CM_PLOT_TRACES_MAX]; // that there would be
    double *map;                             // map_size x map_size, row: restitution
    uint32_t movable;
    double step_us; // median, thread CPU time
} cm_plot_run;

typedef struct cm_plot_error {
    char message[512]; // what is wrong, what was expected
} cm_plot_error;

// Any result but CAROM_OK has an error; CAROM_ERROR_ARGUMENT where the request does not suit the
// scene.
carom_result cm_plot_run_go(cm_plot_run *run, const cm_plot_request *request, cm_plot_error *error);
// That every trace asked for has a value in some run; CAROM_ERROR_ARGUMENT with an error.
carom_result cm_plot_check_data(const cm_plot_run *runs, uint32_t count,
                                const cm_plot_request *request, cm_plot_error *error);
void cm_plot_run_free(cm_plot_run *run);

#endif
