// Drawing bodies on the page: a camera without perspective, and shapes as filled outlines.
#ifndef CM_SERVER_TOOLS_PLOT_OUTLINE_H
#define CM_SERVER_TOOLS_PLOT_OUTLINE_H

#include <math.h>

#include "carom/world.h"
#include "server/tools/plot/svg.h"
#include "shared/base/dvec.h"

typedef enum cm_view_kind {
    CM_VIEW_AUTO,    // for a page to choose: no camera has it
    CM_VIEW_XY,      // x right, y up
    CM_VIEW_SCREEN,  // x right, y down: the axes of the article on circles
    CM_VIEW_XZ,      // from above: x right, z down the page
    CM_VIEW_ZY,      // from the side: z to the left, y up
    CM_VIEW_OBLIQUE, // from the right, above and in front
} cm_view_kind;

typedef struct cm_camera {
    cm_view_kind kind;
    cm_d3 right, up, toward; // unit vectors; toward the eye
    double scale;            // px a metre
    double x, y;             // px, where the world's origin is
} cm_camera;

void cm_camera_set(cm_camera *camera, cm_view_kind kind);
// Metres to the right and up, before scale and place.
cm_point cm_camera_flat(const cm_camera *camera, cm_d3 at);
cm_point cm_camera_place(const cm_camera *camera, cm_d3 at);
// The nearness to the eye, m.
double cm_camera_depth(const cm_camera *camera, cm_d3 at);

// Flat metres, or pixels. Empty where left is beyond right.
typedef struct cm_box {
    double left, low, right, high;
} cm_box;

#define CM_BOX_EMPTY ((cm_box){INFINITY, INFINITY, -INFINITY, -INFINITY})

void cm_box_grow(cm_box *box, cm_point point);

// A shape at a body's pose. Planes are half-spaces and have no box.
typedef struct cm_outline {
    const carom_shape_def *shape;
    cm_d3 center;
    cm_dmat axis; // columns: the shape's x, y, z in the world
} cm_outline;

void cm_outline_set(cm_outline *outline, const carom_shape_def *shape, carom_vec3 position,
                    carom_quat orientation);
// Grows a box by the shape.
void cm_outline_grow(const cm_outline *outline, const cm_camera *camera, cm_box *box);
// Draws it; `fill` is a colour as r, g, b. A plane is not drawn here (plane.c).
void cm_outline_draw(cm_svg *svg, const cm_outline *outline, const cm_camera *camera,
                     const int fill[3]);

cm_d3 cm_turn(carom_quat q, cm_d3 v);

#endif
