// Shapes on the page. Convex shapes show the faces that look toward the eye, lit from above left;
// round ones their silhouette. All shapes but planes fit into 66 corner points, of which the flat
// bounds are taken.
#include "server/tools/plot/outline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define RING       32u // points of a drawn circle
#define CORNERS    (2u * RING + 2u)
#define EDGE       "stroke=\"#30383f\" stroke-width=\"1\" stroke-linejoin=\"round\""
#define FACE_ALPHA "fill-opacity=\"0.9\""

static const cm_d3 LIGHT = {-0.35, 0.85, 0.4};

cm_d3 cm_turn(carom_quat q, cm_d3 v)
{
    cm_d3 u = {(double)q.x, (double)q.y, (double)q.z}, t = cm_d3_cross(u, v);
    cm_d3 s = cm_d3_mad(cm_d3_cross(u, t), (double)q.w, t);
    return cm_d3_mad(v, 2.0, s);
}

void cm_camera_set(cm_camera *camera, cm_view_kind kind)
{
    static const cm_d3 FLAT[][3] = {
        [CM_VIEW_XY] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
        [CM_VIEW_SCREEN] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}},
        [CM_VIEW_XZ] = {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}},
        [CM_VIEW_ZY] = {{0, 0, -1}, {0, 1, 0}, {1, 0, 0}},
    };
    *camera = (cm_camera){.kind = kind, .scale = 1.0};
    if (kind != CM_VIEW_OBLIQUE) {
        camera->right = FLAT[kind][0];
        camera->up = FLAT[kind][1];
        camera->toward = FLAT[kind][2];
        return;
    }
    const double yaw = 0.55, pitch = 0.4;
    double sy = sin(yaw), cy = cos(yaw), sp = sin(pitch), cp = cos(pitch);
    camera->right = cm_d3_of(cy, 0.0, -sy);
    camera->up = cm_d3_of(-sy * sp, cp, -cy * sp);
    camera->toward = cm_d3_of(sy * cp, sp, cy * cp);
}

cm_point cm_camera_flat(const cm_camera *camera, cm_d3 at)
{
    return (cm_point){cm_d3_dot(camera->right, at), cm_d3_dot(camera->up, at)};
}

cm_point cm_camera_place(const cm_camera *camera, cm_d3 at)
{
    cm_point flat = cm_camera_flat(camera, at);
    return (cm_point){camera->x + camera->scale * flat.x, camera->y - camera->scale * flat.y};
}

double cm_camera_depth(const cm_camera *camera, cm_d3 at)
{
    return cm_d3_dot(camera->toward, at);
}

void cm_box_grow(cm_box *box, cm_point point)
{
    box->left = fmin(box->left, point.x);
    box->low = fmin(box->low, point.y);
    box->right = fmax(box->right, point.x);
    box->high = fmax(box->high, point.y);
}

void cm_outline_set(cm_outline *outline, const carom_shape_def *shape, carom_vec3 position,
                    carom_quat orientation)
{
    const cm_d3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    outline->shape = shape;
    outline->center =
        cm_d3_add(cm_d3_from(position), cm_turn(orientation, cm_d3_from(shape->position)));
    outline->axis = (cm_dmat){cm_turn(orientation, cm_turn(shape->orientation, x)),
                              cm_turn(orientation, cm_turn(shape->orientation, y)),
                              cm_turn(orientation, cm_turn(shape->orientation, z))};
}

static cm_d3 corner(const cm_outline *o, double x, double y, double z)
{
    return cm_d3_add(o->center, cm_dmat_mul(&o->axis, cm_d3_of(x, y, z)));
}

// Points whose flat hull is the shape's silhouette (round shapes: to a sixteenth of a turn's sag).
static uint32_t corners(const cm_outline *o, const cm_camera *camera, cm_d3 at[CORNERS])
{
    const carom_shape_def *s = o->shape;
    uint32_t count = 0;
    if (s->type == CAROM_SHAPE_BOX) {
        for (int i = 0; i < 8; i++) {
            at[count++] = corner(o, (i & 1 ? 1 : -1) * (double)s->half_extents.x,
                                 (i & 2 ? 1 : -1) * (double)s->half_extents.y,
                                 (i & 4 ? 1 : -1) * (double)s->half_extents.z);
        }
    } else if (s->type == CAROM_SHAPE_HULL && s->hull != NULL) {
        uint32_t vertices = 0;
        const carom_vec3 *v = carom_hull_vertices(s->hull, &vertices);
        for (uint32_t i = 0; i < vertices && count < CORNERS; i++) {
            at[count++] = corner(o, (double)v[i].x, (double)v[i].y, (double)v[i].z);
        }
    } else if (s->type == CAROM_SHAPE_CYLINDER) {
        for (uint32_t i = 0; i < 2 * RING; i++) {
            double angle = 6.283185307179586 * (i / 2) / RING;
            at[count++] = corner(o, (double)s->radius * cos(angle),
                                 (i & 1 ? -1.0 : 1.0) * (double)s->half_height,
                                 (double)s->radius * sin(angle));
        }
    } else if (s->type == CAROM_SHAPE_CAPSULE || s->type == CAROM_SHAPE_SPHERE) {
        double half = s->type == CAROM_SHAPE_CAPSULE ? (double)s->half_height : 0.0;
        for (uint32_t i = 0; i < 2 * RING; i++) {
            double angle = 6.283185307179586 * (i / 2) / RING;
            cm_d3 out = cm_d3_mad(cm_d3_scale(cos(angle), camera->right), sin(angle), camera->up);
            at[count++] =
                cm_d3_mad(corner(o, 0.0, i & 1 ? -half : half, 0.0), (double)s->radius, out);
        }
    }
    return count;
}

void cm_outline_grow(const cm_outline *outline, const cm_camera *camera, cm_box *box)
{
    cm_d3 at[CORNERS];
    uint32_t count = corners(outline, camera, at);
    for (uint32_t i = 0; i < count; i++) {
        cm_box_grow(box, cm_camera_flat(camera, at[i]));
    }
}

static void face_style(const int fill[3], double light, char *style, size_t size)
{
    snprintf(style, size, "fill=\"#%02x%02x%02x\" " FACE_ALPHA " " EDGE,
             (unsigned)lround(fill[0] * light), (unsigned)lround(fill[1] * light),
             (unsigned)lround(fill[2] * light));
}

// Draws a flat face if it looks toward the eye.
static void draw_face(cm_svg *svg, const cm_camera *camera, const cm_d3 *at, uint32_t count,
                      cm_d3 normal, const int fill[3])
{
    cm_point points[CORNERS];
    char style[160];
    if (cm_d3_dot(normal, camera->toward) < 1e-6 || count > CORNERS) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        points[i] = cm_camera_place(camera, at[i]);
    }
    double light = camera->kind == CM_VIEW_OBLIQUE ? 0.78 + 0.22 * cm_d3_dot(normal, LIGHT) : 1.0;
    face_style(fill, light, style, sizeof style);
    cm_svg_polyline(svg, points, count, true, style);
}

static void draw_box(cm_svg *svg, const cm_outline *o, const cm_camera *camera, const int fill[3])
{
    const double half[3] = {(double)o->shape->half_extents.x, (double)o->shape->half_extents.y,
                            (double)o->shape->half_extents.z};
    for (int face = 0; face < 6; face++) {
        int k = face / 2, u = (k + 1) % 3, v = (k + 2) % 3;
        double side = face % 2 ? -1.0 : 1.0;
        cm_d3 at[4];
        for (int i = 0; i < 4; i++) {
            double local[3];
            local[k] = side * half[k];
            local[u] = (i == 0 || i == 3 ? -1.0 : 1.0) * half[u];
            local[v] = (i < 2 ? -1.0 : 1.0) * half[v];
            at[i] = corner(o, local[0], local[1], local[2]);
        }
        cm_d3 axis = k == 0 ? o->axis.x : k == 1 ? o->axis.y : o->axis.z;
        draw_face(svg, camera, at, 4, cm_d3_scale(side, axis), fill);
    }
}

static void draw_hull(cm_svg *svg, const cm_outline *o, const cm_camera *camera, const int fill[3])
{
    uint32_t vertices = 0, count = 0;
    const carom_vec3 *v = carom_hull_vertices(o->shape->hull, &vertices);
    for (uint32_t face = 0;; face++) {
        const uint8_t *indices = carom_hull_face(o->shape->hull, face, &count);
        cm_d3 at[CORNERS], sum = {0.0, 0.0, 0.0};
        if (indices == NULL) {
            return;
        }
        for (uint32_t i = 0; i < count && i < CORNERS; i++) {
            carom_vec3 p = v[indices[i]];
            at[i] = corner(o, (double)p.x, (double)p.y, (double)p.z);
        }
        // Counter-clockwise corners: the sum of cross products is along the outward normal.
        for (uint32_t i = 1; i + 1 < count; i++) {
            sum = cm_d3_add(sum, cm_d3_cross(cm_d3_sub(at[i], at[0]), cm_d3_sub(at[i + 1], at[0])));
        }
        draw_face(svg, camera, at, count, cm_d3_unit(sum), fill);
    }
}

static int left_first(const void *a, const void *b)
{
    const cm_point *p = a, *q = b;
    if (p->x != q->x) {
        return p->x < q->x ? -1 : 1;
    }
    return p->y < q->y ? -1 : p->y > q->y;
}

// The convex outline of points (monotone chain); `out` has room for twice as many.
static uint32_t silhouette(cm_point *points, uint32_t count, cm_point *out)
{
    uint32_t n = 0;
    qsort(points, count, sizeof *points, left_first);
    for (int pass = 0; pass < 2; pass++) {
        uint32_t floor = n + 1;
        for (uint32_t i = 0; i < count; i++) {
            cm_point p = points[pass == 0 ? i : count - 1 - i];
            while (n > floor && (out[n - 1].x - out[n - 2].x) * (p.y - out[n - 2].y) -
                                        (out[n - 1].y - out[n - 2].y) * (p.x - out[n - 2].x) <=
                                    0.0) {
                n--;
            }
            out[n++] = p;
        }
        n--; // the last point begins the other half
    }
    return n;
}

static void draw_round(cm_svg *svg, const cm_outline *o, const cm_camera *camera, const int fill[3])
{
    cm_d3 at[CORNERS], ring[RING];
    cm_point points[CORNERS], out[2 * CORNERS];
    char style[160];
    uint32_t count = corners(o, camera, at);
    for (uint32_t i = 0; i < count; i++) {
        points[i] = cm_camera_place(camera, at[i]);
    }
    face_style(fill, 1.0, style, sizeof style);
    count = silhouette(points, count, out);
    cm_svg_polyline(svg, out, count, true, style);
    if (o->shape->type == CAROM_SHAPE_CYLINDER) {
        double side = cm_d3_dot(o->axis.y, camera->toward) < 0.0 ? -1.0 : 1.0;
        for (uint32_t i = 0; i < RING; i++) {
            double angle = 6.283185307179586 * i / RING;
            ring[i] =
                corner(o, (double)o->shape->radius * cos(angle),
                       side * (double)o->shape->half_height, (double)o->shape->radius * sin(angle));
        }
        draw_face(svg, camera, ring, RING, cm_d3_scale(side, o->axis.y), fill);
    }
}

// A circle, and a spoke along the shape's x axis while that lies in the page: it shows the turning.
static void draw_sphere(cm_svg *svg, const cm_outline *o, const cm_camera *camera,
                        const int fill[3])
{
    char style[160];
    cm_point center = cm_camera_place(camera, o->center);
    face_style(fill, 1.0, style, sizeof style);
    cm_svg_circle(svg, center.x, center.y, (double)o->shape->radius * camera->scale, style);
    if (cm_d3_dot(o->axis.x, camera->toward) > -1e-6) {
        cm_point end = cm_camera_place(camera, corner(o, (double)o->shape->radius, 0.0, 0.0));
        cm_svg_line(svg, center.x, center.y, end.x, end.y,
                    "stroke=\"#30383f\" stroke-width=\"1\" stroke-opacity=\"0.55\"");
    }
}

void cm_outline_draw(cm_svg *svg, const cm_outline *outline, const cm_camera *camera,
                     const int fill[3])
{
    switch (outline->shape->type) {
    case CAROM_SHAPE_BOX:
        draw_box(svg, outline, camera, fill);
        break;
    case CAROM_SHAPE_HULL:
        draw_hull(svg, outline, camera, fill);
        break;
    case CAROM_SHAPE_SPHERE:
        draw_sphere(svg, outline, camera, fill);
        break;
    case CAROM_SHAPE_CAPSULE:
    case CAROM_SHAPE_CYLINDER:
        draw_round(svg, outline, camera, fill);
        break;
    default:
        break; // kinds without an outline
    }
}
