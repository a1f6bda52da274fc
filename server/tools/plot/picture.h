// Pictures of moments side by side, all at one scale: bodies, arrows with numbers, names, a scale
// bar, and one legend below that tells the arrows' scales.
#ifndef CM_SERVER_TOOLS_PLOT_PICTURE_H
#define CM_SERVER_TOOLS_PLOT_PICTURE_H

#include "server/tools/plot/moment.h"
#include "server/tools/plot/outline.h"

typedef struct cm_picture {
    const cm_moment *moment;
    const char *title; // "soft"; tick and time are added
} cm_picture;

typedef struct cm_picture_set {
    const cm_picture *pictures;
    uint32_t count, columns;
    cm_view_kind view;
    bool at_least_radius; // velocity arrows of spheres are at least a radius long
    bool arrows, names;
} cm_picture_set;

#define CM_PICTURE_WIDTH  480.0
#define CM_PICTURE_HEIGHT 400.0
#define CM_PICTURE_LEGEND 46.0 // px below all

double cm_pictures_width(const cm_picture_set *set);
double cm_pictures_height(const cm_picture_set *set);
// Returns where the widest row or the legend ends on the right.
double cm_pictures_draw(cm_svg *svg, const cm_picture_set *set, double x, double y);

#endif
