// Shapes on the page. Convex shapes show the faces that look toward the eye, lit from above left;
// round ones their silhouette. All shapes but planes fit into 66 corner points, of which the flat
// bounds are taken.
#include "server/tools/plot/outline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING       32u // points of a drawn circle
#define CORNERS    (2u * RING + 2u)
#define EDGE       "stroke=\"#30383f\" stroke-width=\"1\" stroke-linejoin=\"round\""
#define FACE_ALPHA "fill-opacity=\"0.9\""

static const double LIGHT[3] = {-0.35, 0.85, 0.4};

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

void cm_turn(carom_quat q, const double v[3], double turned[3])
{
    double u[3] = {(double)q.x, (double)q.y, (double)q.z}, t[3], s[3];
    cross(u, v, t);
    cross(u, t, s);
    for (int k = 0; k < 3; k++) {
        turned[k] = v[k] + 2.0 * ((double)q.w * t[k] + s[k]);
    }
}

void cm_camera_set(cm_camera *camera, cm_view_kind kind)
{
    static const double FLAT[][3][3] = {
        [CM_VIEW_XY] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
        [CM_VIEW_SCREEN] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}},
        [CM_VIEW_XZ] = {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}},
        [CM_VIEW_ZY] = {{0, 0, -1}, {0, 1, 0}, {1, 0, 0}},
    };
    *camera = (cm_camera){.kind = kind, .scale = 1.0};
    if (kind != CM_VIEW_OBLIQUE) {
        memcpy(camera->right, FLAT[kind][0], sizeof camera->right);
        memcpy(camera->up, FLAT[kind][1], sizeof camera->up);
        memcpy(camera->toward, FLAT[kind][2], sizeof camera->toward);
        return;
    }
    const double yaw = 0.55, pitch = 0.4;
    double sy = sin(yaw), cy = cos(yaw), sp = sin(pitch), cp = cos(pitch);
    double right[3] = {cy, 0.0, -sy}, up[3] = {-sy * sp, cp, -cy * sp};
    double toward[3] = {sy * cp, sp, cy * cp};
    memcpy(camera->right, right, sizeof right);
    memcpy(camera->up, up, sizeof up);
    memcpy(camera->toward, toward, sizeof toward);
}

cm_point cm_camera_flat(const cm_camera *camera, const double at[3])
{
    return (cm_point){dot(camera->right, at), dot(camera->up, at)};
}

cm_point cm_camera_place(const cm_camera *camera, const double at[3])
{
    cm_point flat = cm_camera_flat(camera, at);
    return (cm_point){camera->x + camera->scale * flat.x, camera->y - camera->scale * flat.y};
}

double cm_camera_depth(const cm_camera *camera, const double at[3])
{
    return dot(camera->toward, at);
}

void cm_outline_set(cm_outline *outline, const carom_shape_def *shape, carom_vec3 position,
                    carom_quat orientation)
{
    double local[3] = {(double)shape->position.x, (double)shape->position.y,
                       (double)shape->position.z};
    double place[3] = {(double)position.x, (double)position.y, (double)position.z}, moved[3];
    outline->shape = shape;
    cm_turn(orientation, local, moved);
    for (int k = 0; k < 3; k++) {
        double unit[3] = {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0}, once[3];
        cm_turn(shape->orientation, unit, once);
        cm_turn(orientation, once, outline->axis[k]);
        outline->center[k] = place[k] + moved[k];
    }
}

static void corner(const cm_outline *o, double x, double y, double z, double at[3])
{
    for (int k = 0; k < 3; k++) {
        at[k] = o->center[k] + o->axis[0][k] * x + o->axis[1][k] * y + o->axis[2][k] * z;
    }
}

// Points whose flat hull is the shape's silhouette (round shapes: to a sixteenth of a turn's sag).
static uint32_t corners(const cm_outline *o, const cm_camera *camera, double at[CORNERS][3])
{
    const carom_shape_def *s = o->shape;
    uint32_t count = 0;
    if (s->type == CAROM_SHAPE_BOX) {
        for (int i = 0; i < 8; i++) {
            corner(o, (i & 1 ? 1 : -1) * (double)s->half_extents.x,
                   (i & 2 ? 1 : -1) * (double)s->half_extents.y,
                   (i & 4 ? 1 : -1) * (double)s->half_extents.z, at[count++]);
        }
    } else if (s->type == CAROM_SHAPE_HULL && s->hull != NULL) {
        uint32_t vertices = 0;
        const carom_vec3 *v = carom_hull_vertices(s->hull, &vertices);
        for (uint32_t i = 0; i < vertices && count < CORNERS; i++) {
            corner(o, (double)v[i].x, (double)v[i].y, (double)v[i].z, at[count++]);
        }
    } else if (s->type == CAROM_SHAPE_CYLINDER) {
        for (uint32_t i = 0; i < 2 * RING; i++) {
            double angle = 6.283185307179586 * (i / 2) / RING;
            corner(o, (double)s->radius * cos(angle), (i & 1 ? -1.0 : 1.0) * (double)s->half_height,
                   (double)s->radius * sin(angle), at[count++]);
        }
    } else if (s->type == CAROM_SHAPE_CAPSULE || s->type == CAROM_SHAPE_SPHERE) {
        double half = s->type == CAROM_SHAPE_CAPSULE ? (double)s->half_height : 0.0;
        for (uint32_t i = 0; i < 2 * RING; i++) {
            double angle = 6.283185307179586 * (i / 2) / RING;
            corner(o, 0.0, i & 1 ? -half : half, 0.0, at[count]);
            for (int k = 0; k < 3; k++) {
                at[count][k] += (double)s->radius *
                                (cos(angle) * camera->right[k] + sin(angle) * camera->up[k]);
            }
            count++;
        }
    }
    return count;
}

void cm_outline_grow(const cm_outline *outline, const cm_camera *camera, double box[4])
{
    double at[CORNERS][3];
    uint32_t count = corners(outline, camera, at);
    for (uint32_t i = 0; i < count; i++) {
        cm_point p = cm_camera_flat(camera, at[i]);
        box[0] = fmin(box[0], p.x);
        box[1] = fmin(box[1], p.y);
        box[2] = fmax(box[2], p.x);
        box[3] = fmax(box[3], p.y);
    }
}

// Draws a flat face if it looks toward the eye.
static void draw_face(cm_svg *svg, const cm_camera *camera, const double (*at)[3], uint32_t count,
                      const double normal[3], const int fill[3])
{
    cm_point points[CORNERS];
    char style[160];
    if (dot(normal, camera->toward) < 1e-6 || count > CORNERS) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        points[i] = cm_camera_place(camera, at[i]);
    }
    double light = camera->kind == CM_VIEW_OBLIQUE ? 0.78 + 0.22 * dot(normal, LIGHT) : 1.0;
    snprintf(style, sizeof style, "fill=\"#%02x%02x%02x\" " FACE_ALPHA " " EDGE,
             (unsigned)lround(fill[0] * light), (unsigned)lround(fill[1] * light),
             (unsigned)lround(fill[2] * light));
    cm_svg_polyline(svg, points, count, true, style);
}

static void draw_box(cm_svg *svg, const cm_outline *o, const cm_camera *camera, const int fill[3])
{
    const double half[3] = {(double)o->shape->half_extents.x, (double)o->shape->half_extents.y,
                            (double)o->shape->half_extents.z};
    for (int face = 0; face < 6; face++) {
        int k = face / 2, u = (k + 1) % 3, v = (k + 2) % 3;
        double side = face % 2 ? -1.0 : 1.0, normal[3], at[4][3];
        for (int i = 0; i < 4; i++) {
            double local[3];
            local[k] = side * half[k];
            local[u] = (i == 0 || i == 3 ? -1.0 : 1.0) * half[u];
            local[v] = (i < 2 ? -1.0 : 1.0) * half[v];
            corner(o, local[0], local[1], local[2], at[i]);
        }
        for (int i = 0; i < 3; i++) {
            normal[i] = side * o->axis[k][i];
        }
        draw_face(svg, camera, at, 4, normal, fill);
    }
}

static void draw_hull(cm_svg *svg, const cm_outline *o, const cm_camera *camera, const int fill[3])
{
    uint32_t vertices = 0, count = 0;
    const carom_vec3 *v = carom_hull_vertices(o->shape->hull, &vertices);
    for (uint32_t face = 0;; face++) {
        const uint8_t *indices = carom_hull_face(o->shape->hull, face, &count);
        double at[CORNERS][3], a[3], b[3], normal[3];
        if (indices == NULL) {
            return;
        }
        for (uint32_t i = 0; i < count && i < CORNERS; i++) {
            carom_vec3 p = v[indices[i]];
            corner(o, (double)p.x, (double)p.y, (double)p.z, at[i]);
        }
        // Counter-clockwise corners: the sum of cross products is along the outward normal.
        double sum[3] = {0.0, 0.0, 0.0};
        for (uint32_t i = 1; i + 1 < count; i++) {
            for (int k = 0; k < 3; k++) {
                a[k] = at[i][k] - at[0][k];
                b[k] = at[i + 1][k] - at[0][k];
            }
            cross(a, b, normal);
            for (int k = 0; k < 3; k++) {
                sum[k] += normal[k];
            }
        }
        double length = sqrt(dot(sum, sum));
        for (int k = 0; k < 3; k++) {
            normal[k] = length > 0.0 ? sum[k] / length : 0.0;
        }
        draw_face(svg, camera, at, count, normal, fill);
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
    double at[CORNERS][3];
    cm_point points[CORNERS], out[2 * CORNERS];
    char style[160];
    uint32_t count = corners(o, camera, at);
    for (uint32_t i = 0; i < count; i++) {
        points[i] = cm_camera_place(camera, at[i]);
    }
    snprintf(style, sizeof style, "fill=\"#%02x%02x%02x\" " FACE_ALPHA " " EDGE, (unsigned)fill[0],
             (unsigned)fill[1], (unsigned)fill[2]);
    count = silhouette(points, count, out);
    cm_svg_polyline(svg, out, count, true, style);
    if (o->shape->type == CAROM_SHAPE_CYLINDER) {
        double side = dot(o->axis[1], camera->toward) < 0.0 ? -1.0 : 1.0, normal[3];
        double ring[RING][3];
        for (uint32_t i = 0; i < RING; i++) {
            double angle = 6.283185307179586 * i / RING;
            corner(o, (double)o->shape->radius * cos(angle), side * (double)o->shape->half_height,
                   (double)o->shape->radius * sin(angle), ring[i]);
        }
        for (int k = 0; k < 3; k++) {
            normal[k] = side * o->axis[1][k];
        }
        draw_face(svg, camera, ring, RING, normal, fill);
    }
}

// A circle, and a spoke along the shape's x axis while that lies in the page: it shows the turning.
static void draw_sphere(cm_svg *svg, const cm_outline *o, const cm_camera *camera,
                        const int fill[3])
{
    char style[160];
    double rim[3];
    cm_point center = cm_camera_place(camera, o->center);
    snprintf(style, sizeof style, "fill=\"#%02x%02x%02x\" " FACE_ALPHA " " EDGE, (unsigned)fill[0],
             (unsigned)fill[1], (unsigned)fill[2]);
    cm_svg_circle(svg, center.x, center.y, (double)o->shape->radius * camera->scale, style);
    corner(o, (double)o->shape->radius, 0.0, 0.0, rim);
    if (dot(o->axis[0], camera->toward) > -1e-6) {
        cm_point end = cm_camera_place(camera, rim);
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
