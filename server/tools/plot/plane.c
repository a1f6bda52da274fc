// Half-spaces of a picture. Seen along its face one is the region below a line, else a patch with a
// grid about what moves. They are drawn before all else, the farthest first, and each patch ends
// where another half-space begins: so walls of a bin do not lie over one another, nor over what
// stands before them. One that is seen from behind is an outline.
#include <math.h>
#include <stdlib.h>

#include "server/tools/plot/canvas.h"

#define PLANES_MAX  64u
#define CORNERS_MAX (PLANES_MAX + 4u)
#define GRID        8

typedef struct half_space {
    cm_d3 normal; // solid where normal . x < offset
    double offset;
    cm_d3 middle, u, v;
    double seen; // cosine between the normal and the direction of the eye
    double depth;
} half_space;

typedef struct polygon {
    uint32_t count;
    cm_d3 at[CORNERS_MAX];
} polygon;

static void set(half_space *p, const cm_outline *o, const cm_canvas *c)
{
    p->normal = cm_dmat_mul(&o->axis, cm_d3_from(o->shape->normal));
    p->offset = (double)o->shape->offset + cm_d3_dot(p->normal, o->center);
    p->seen = cm_d3_dot(p->normal, c->camera.toward);
    const cm_d3 other = fabs(p->normal.x) < 0.9 ? cm_d3_of(1, 0, 0) : cm_d3_of(0, 1, 0);
    p->u = cm_d3_unit(cm_d3_cross(fabs(p->seen) < 0.999 ? c->camera.toward : other, p->normal));
    p->v = cm_d3_cross(p->normal, p->u);
    p->middle = cm_d3_mad(c->about, p->offset - cm_d3_dot(p->normal, c->about), p->normal);
    p->depth = cm_camera_depth(&c->camera, p->middle);
}

// Keeps of a polygon what lies outside a half-space (Sutherland and Hodgman, CACM 17, 1974).
static void clip(polygon *shape, const half_space *by)
{
    polygon kept = {.count = 0};
    for (uint32_t i = 0; i < shape->count; i++) {
        cm_d3 a = shape->at[i], b = shape->at[(i + 1) % shape->count];
        double da = cm_d3_dot(by->normal, a) - by->offset;
        double db = cm_d3_dot(by->normal, b) - by->offset;
        if (da >= 0.0 && kept.count < CORNERS_MAX) {
            kept.at[kept.count++] = a;
        }
        if ((da >= 0.0) != (db >= 0.0) && kept.count < CORNERS_MAX) {
            kept.at[kept.count++] = cm_d3_mad(a, da / (da - db), cm_d3_sub(b, a));
        }
    }
    *shape = kept;
}

// Draws a polygon, or of two corners a line, where no half-space of `all` but `own` covers it.
static void draw_clipped(const cm_canvas *c, cm_svg *svg, polygon *shape, const half_space *all,
                         uint32_t count, uint32_t own, const char *style)
{
    cm_point points[CORNERS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        // The same half-space twice, or one that faces this one, leaves nothing: it stays whole.
        if (i != own && fabs(cm_d3_dot(all[i].normal, all[own].normal)) < 0.999) {
            clip(shape, &all[i]);
        }
    }
    for (uint32_t i = 0; i < shape->count; i++) {
        points[i] = cm_camera_place(&c->camera, shape->at[i]);
    }
    if (shape->count >= 2) {
        cm_svg_polyline(svg, points, shape->count, shape->count > 2, style);
    }
}

static cm_d3 corner(const half_space *p, double a, double b)
{
    return cm_d3_mad(cm_d3_mad(p->middle, a, p->u), b, p->v);
}

static void draw_patch(const cm_canvas *c, cm_svg *svg, const half_space *all, uint32_t count,
                       uint32_t own)
{
    const half_space *p = &all[own];
    double r = c->reach;
    polygon patch = {.count = 4};
    for (int i = 0; i < 4; i++) {
        patch.at[i] = corner(p, i == 0 || i == 3 ? -r : r, i < 2 ? -r : r);
    }
    draw_clipped(c, svg, &patch, all, count, own,
                 p->seen > 0.0 ? "class=\"plane\" fill=\"#f3f1ec\" stroke=\"#b9b2a5\""
                               : "class=\"plane\" fill=\"none\" stroke=\"#d8d3c8\"");
    for (int i = 1; i < GRID && p->seen > 0.0; i++) {
        double t = r * (2.0 * i / GRID - 1.0);
        for (int way = 0; way < 2; way++) {
            polygon line = {.count = 2};
            line.at[0] = corner(p, way ? t : -r, way ? -r : t);
            line.at[1] = corner(p, way ? t : r, way ? r : t);
            draw_clipped(c, svg, &line, all, count, own, "stroke=\"#dfdacf\"");
        }
    }
}

static void draw_edge_on(const cm_canvas *c, cm_svg *svg, const half_space *p)
{
    cm_point region[4];
    for (int i = 0; i < 4; i++) {
        double a = i == 0 || i == 3 ? -4.0 : 4.0, deep = i < 2 ? 0.0 : -4.0 * c->reach;
        cm_d3 along = cm_d3_mad(p->middle, a * c->reach, p->u);
        region[i] = cm_camera_place(&c->camera, cm_d3_mad(along, deep, p->normal));
    }
    cm_svg_polyline(svg, region, 4, true, "class=\"plane\" fill=\"#e9e7e2\"");
    cm_svg_line(svg, region[0].x, region[0].y, region[1].x, region[1].y,
                "stroke=\"#6b6459\" stroke-width=\"1.5\"");
}

static int far_first(const void *a, const void *b)
{
    const half_space *p = a, *q = b;
    return p->depth < q->depth ? -1 : p->depth > q->depth;
}

void cm_planes_draw(const cm_canvas *c, cm_svg *svg, const cm_moment *moment)
{
    half_space planes[PLANES_MAX];
    uint32_t count = 0;
    for (uint32_t b = 0; b < moment->body_count; b++) {
        const cm_moment_body *body = &moment->bodies[b];
        for (uint32_t i = 0; i < body->shape_count && count < PLANES_MAX; i++) {
            const carom_shape_def *shape = &moment->shapes[body->first_shape + i];
            cm_outline outline;
            if (shape->type == CAROM_SHAPE_PLANE) {
                cm_outline_set(&outline, shape, body->state.position, body->state.orientation);
                set(&planes[count++], &outline, c);
            }
        }
    }
    qsort(planes, count, sizeof *planes, far_first);
    for (uint32_t i = 0; i < count; i++) {
        if (fabs(planes[i].seen) < 1e-6) {
            draw_edge_on(c, svg, &planes[i]);
        } else if (fabs(planes[i].seen) < 0.999) { // else it is the page itself
            draw_patch(c, svg, planes, count, i);
        }
    }
}
