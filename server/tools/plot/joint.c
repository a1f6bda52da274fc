// Joints of a picture: a dashed line from each body's centre of mass to the anchor on it, a small
// ring at each anchor, and a bar along the axis of those that have one. The two anchors of most
// joints coincide; a distance joint has a line between them.
#include <math.h>

#include "server/tools/plot/canvas.h"

#define ARM                                                                                        \
    "stroke=\"#1b6e4a\" stroke-width=\"1.2\" stroke-dasharray=\"4 3\" stroke-opacity=\"0.8\""
#define LINE   "stroke=\"#1b6e4a\" stroke-width=\"1.6\""
#define ANCHOR "class=\"anchor\" fill=\"#ffffff\" stroke=\"#1b6e4a\" stroke-width=\"1.4\""
#define AXIS   13.0 // px to each side
#define RADIUS 3.2  // px

static cm_point place(const cm_canvas *c, carom_vec3 at)
{
    return cm_camera_place(&c->camera, cm_d3_from(at));
}

static bool has_axis(carom_joint_type type)
{
    return type == CAROM_JOINT_HINGE || type == CAROM_JOINT_PRISMATIC ||
           type == CAROM_JOINT_STEERING;
}

static void draw_axis(const cm_canvas *c, cm_svg *svg, cm_point at, carom_vec3 axis)
{
    cm_point flat = cm_camera_flat(&c->camera, cm_d3_from(axis));
    if (hypot(flat.x, flat.y) > 0.1) {
        cm_svg_line(svg, at.x - AXIS * flat.x, at.y + AXIS * flat.y, at.x + AXIS * flat.x,
                    at.y - AXIS * flat.y, LINE);
    }
}

void cm_joints_draw(const cm_canvas *c, cm_svg *svg, const cm_moment *moment)
{
    for (uint32_t i = 0; i < moment->joint_count; i++) {
        const cm_moment_joint *joint = &moment->joints[i];
        cm_point a = place(c, joint->state.anchor_a), b = place(c, joint->state.anchor_b);
        cm_point from = place(c, joint->center_a), to = place(c, joint->center_b);
        cm_svg_group(svg, "class=\"joint\"");
        if (joint->has_a) {
            cm_svg_line(svg, from.x, from.y, a.x, a.y, ARM);
        }
        cm_svg_line(svg, b.x, b.y, to.x, to.y, ARM);
        cm_svg_line(svg, a.x, a.y, b.x, b.y, LINE);
        if (has_axis(joint->state.type)) {
            draw_axis(c, svg, a, joint->state.axis);
        }
        cm_svg_circle(svg, a.x, a.y, RADIUS, ANCHOR);
        if (hypot(a.x - b.x, a.y - b.y) > RADIUS) {
            cm_svg_circle(svg, b.x, b.y, RADIUS, ANCHOR);
        }
        cm_svg_group_end(svg);
    }
}

double cm_joints_legend(const cm_canvas *c, cm_svg *svg, double x, double y)
{
    bool any = false;
    for (uint32_t i = 0; i < c->set->count; i++) {
        any = any || c->set->pictures[i].moment->joint_count > 0;
    }
    if (!any) {
        return x;
    }
    const char *text = "joint: anchor, axis, bodies";
    cm_svg_line(svg, x, y + 14.0, x + 44.0, y + 14.0, ARM);
    cm_svg_line(svg, x + 22.0 - AXIS, y + 20.0, x + 22.0 + AXIS, y + 8.0, LINE);
    cm_svg_circle(svg, x + 22.0, y + 14.0, RADIUS, ANCHOR);
    cm_svg_text(svg, x + 52.0, y + 18.0, 12.0, "start", "class=\"legend\"", text);
    return x + 52.0 + cm_text_width(text, 12.0) + 18.0;
}
