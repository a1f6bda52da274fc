// One page: all that was asked for of all runs, as one SVG file.
#ifndef CM_SERVER_TOOLS_PLOT_PAGE_H
#define CM_SERVER_TOOLS_PLOT_PAGE_H

#include "server/tools/plot/outline.h"
#include "server/tools/plot/run.h"

typedef struct cm_page {
    const cm_plot_request *request;
    const cm_plot_run *runs; // by scene, then by solver
    uint32_t run_count, scene_count, solver_count;
    cm_view_kind view;
    bool arrows, names;
} cm_page;

// Opens, draws and closes `svg`; the caller frees it.
void cm_page_draw(cm_svg *svg, const cm_page *page);

#endif
