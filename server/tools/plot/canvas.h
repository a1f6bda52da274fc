// The state shared by the parts of one picture: the camera, the frame, and the free space for
// texts. Private to picture.c and the files that draw one kind of thing each.
#ifndef CM_SERVER_TOOLS_PLOT_CANVAS_H
#define CM_SERVER_TOOLS_PLOT_CANVAS_H

#include "server/tools/plot/label.h"
#include "server/tools/plot/picture.h"

#define CM_MANY_BODIES      40u // that can move: above it only the strongest arrows, and no names
#define CM_STRONGEST_ARROWS 12u // of each kind

enum { CM_ARROW_VELOCITY, CM_ARROW_TURNING, CM_ARROW_IMPULSE, CM_ARROW_KINDS };

typedef struct cm_canvas {
    const cm_picture_set *set;
    cm_camera camera;
    double longest[CM_ARROW_KINDS]; // of each kind, over all pictures; 0: none is drawn
    cm_d3 about;                    // of planes' patches
    double reach;
    cm_box box;       // flat metres that are shown
    cm_labels labels; // of the picture being drawn
} cm_canvas;

// Text over a drawing.
#define CM_HALO                                                                                    \
    "paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\""

uint32_t cm_movable_count(const cm_moment *moment);

// Arrows: velocity, angular velocity, impulse.
void cm_arrows_measure(cm_canvas *canvas);
void cm_arrows_draw(cm_canvas *canvas, cm_svg *svg, const cm_moment *moment);
// From (x, y) to the right; returns where it ends.
double cm_arrows_legend(const cm_canvas *canvas, cm_svg *svg, double x, double y);

// Joints: anchors, axes, and lines to the bodies that they hold.
void cm_joints_draw(const cm_canvas *canvas, cm_svg *svg, const cm_moment *moment);
double cm_joints_legend(const cm_canvas *canvas, cm_svg *svg, double x, double y);

// Half-spaces, before everything else. Each one's patch ends where another half-space begins.
void cm_planes_draw(const cm_canvas *canvas, cm_svg *svg, const cm_moment *moment);

#endif
