// Sections of shapes: discs, polygons, stadia; see mass_slice.h.
//
// A ball gives a disc; a box or a hull the polygon through the points where its edges meet the
// plane; capsules and cylinders that lie in the plane or stand on it a stadium, rectangle or disc,
// exactly. One that leans is summed in strips across the plane that holds its axis: the section is
// symmetric about it (1e-5 of the area). Polygons: the usual sums over a fan of triangles. Once a
// body, in binary64, with + - * / and square roots only.
#include "shared/sim/body/mass_slice.h"

#include "shared/sim/state/hull.h"

#include <string.h>

#define PI     3.14159265358979323846
#define FLAT   1.0e-6 // sine of an angle that counts as none
#define NEAR   1.0e-6 // of the size: a vertex so near the plane lies in it
#define STRIPS 4096
#define POINTS (CM_HULL_EDGES + CM_HULL_VERTICES)

// In the plane, from the foot of the shape's position: first moments, and second ones about it.
typedef struct moments {
    double area, u, v, uu, uv, vv;
} moments;

typedef struct cut_plane {
    double height;                // of the shape's position over the plane
    double normal[3], u[3], v[3]; // of the plane, in the body's axes
} cut_plane;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double root(double x)
{
    return x > 0.0 ? __builtin_sqrt(x) : 0.0;
}

// u along `wanted` but for what of it leaves the plane; any where nothing is left.
static void set_axes(cut_plane *view, const double wanted[3])
{
    double lean = dot(wanted, view->normal), size = 0.0, t[3] = {wanted[0], wanted[1], wanted[2]};
    for (int i = 0; i < 3; i++) {
        t[i] -= lean * view->normal[i];
    }
    size = root(dot(t, t));
    if (!(size > FLAT)) {
        double x = view->normal[0], y = view->normal[1], z = view->normal[2];
        bool steep = __builtin_fabs(z) < 0.8;
        t[0] = steep ? y : 0.0;
        t[1] = steep ? -x : z;
        t[2] = steep ? 0.0 : -y;
        size = root(dot(t, t));
    }
    for (int i = 0; i < 3; i++) {
        view->u[i] = t[i] / size;
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        view->v[i] = view->normal[j] * view->u[k] - view->normal[k] * view->u[j];
    }
}

static moments disc(double squared)
{
    double r = squared > 0.0 ? squared : 0.0;
    return (moments){.area = PI * r, .uu = PI * r * r / 4.0, .vv = PI * r * r / 4.0};
}

// Polygons ---------------------------------------------------------------------------------------

typedef struct corners {
    uint32_t count;
    double at[POINTS][2]; // in the plane
} corners;

static void add_corner(corners *c, double u, double v)
{
    // Kept in order of u, then v; the same point once.
    uint32_t i = c->count;
    while (i > 0 && (c->at[i - 1][0] > u || (c->at[i - 1][0] == u && c->at[i - 1][1] > v))) {
        i--;
    }
    if (c->count == POINTS || (i > 0 && c->at[i - 1][0] == u && c->at[i - 1][1] == v)) {
        return;
    }
    memmove(c->at[i + 1], c->at[i], (c->count - i) * sizeof c->at[0]);
    c->at[i][0] = u;
    c->at[i][1] = v;
    c->count++;
}

static double turn_of(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

// Half of the convex outline: from the first point to the last, or back.
static uint32_t walk(const corners *c, bool back, uint32_t from, double (*out)[2])
{
    uint32_t n = from;
    for (uint32_t i = 0; i < c->count; i++) {
        const double *p = c->at[back ? c->count - 1 - i : i];
        while (n >= from + 2 && turn_of(out[n - 2], out[n - 1], p) <= 0.0) {
            n--;
        }
        out[n][0] = p[0];
        out[n][1] = p[1];
        n++;
    }
    return n - 1; // the last one begins the other half
}

static moments polygon(const corners *c)
{
    double outline[2 * POINTS + 2][2] = {{0}};
    moments m = {0};
    if (c->count < 3) {
        return m;
    }
    uint32_t n = walk(c, true, walk(c, false, 0, outline), outline);
    const double *o = outline[0];
    for (uint32_t i = 1; i + 1 < n; i++) {
        const double *p = outline[i], *q = outline[i + 1];
        double det = turn_of(o, p, q), u = o[0] + p[0] + q[0], v = o[1] + p[1] + q[1];
        m.area += det / 2.0;
        m.u += det / 6.0 * u;
        m.v += det / 6.0 * v;
        m.uu += det / 24.0 * (u * u + o[0] * o[0] + p[0] * p[0] + q[0] * q[0]);
        m.uv += det / 24.0 * (u * v + o[0] * o[1] + p[0] * p[1] + q[0] * q[1]);
        m.vv += det / 24.0 * (v * v + o[1] * o[1] + p[1] * p[1] + q[1] * q[1]);
    }
    return m;
}

// The point between two vertices (in the shape's place, height over the plane last) on the plane.
static void add_crossing(corners *c, const double a[3], const double b[3])
{
    if ((a[2] < 0.0 && b[2] > 0.0) || (a[2] > 0.0 && b[2] < 0.0)) {
        double t = a[2] / (a[2] - b[2]);
        add_corner(c, a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]));
    }
}

static void project(const cut_plane *view, double turn[3][3], const double local[3], double size,
                    double out[3])
{
    double p[3];
    for (int i = 0; i < 3; i++) {
        p[i] = dot(turn[i], local);
    }
    out[0] = dot(p, view->u);
    out[1] = dot(p, view->v);
    out[2] = dot(p, view->normal) + view->height;
    out[2] = __builtin_fabs(out[2]) <= NEAR * size ? 0.0 : out[2];
}

static moments cut_box(const cm_shape *shape, const cut_plane *view, double turn[3][3])
{
    corners c = {0};
    double p[8][3], size = 0.0;
    for (int k = 0; k < 3; k++) {
        size += (double)shape->size[k];
    }
    for (int i = 0; i < 8; i++) {
        double local[3];
        for (int k = 0; k < 3; k++) {
            local[k] = i >> k & 1 ? (double)shape->size[k] : -(double)shape->size[k];
        }
        project(view, turn, local, size, p[i]);
        if (p[i][2] == 0.0) {
            add_corner(&c, p[i][0], p[i][1]);
        }
    }
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 3; k++) {
            if (!(i >> k & 1)) {
                add_crossing(&c, p[i], p[i | 1 << k]);
            }
        }
    }
    return polygon(&c);
}

static moments cut_hull(const carom_hull *hull, const cut_plane *view, double turn[3][3])
{
    corners c = {0};
    double p[CM_HULL_VERTICES][3];
    for (uint32_t i = 0; i < hull->vertex_count; i++) {
        carom_vec3 x = hull->vertices[i];
        double local[3] = {(double)x.x, (double)x.y, (double)x.z};
        project(view, turn, local, (double)hull->outer_radius, p[i]);
        if (p[i][2] == 0.0) {
            add_corner(&c, p[i][0], p[i][1]);
        }
    }
    for (uint32_t i = 0; i < hull->edge_count; i++) {
        add_crossing(&c, p[hull->edges[i].vertex[0]], p[hull->edges[i].vertex[1]]);
    }
    return polygon(&c);
}

// Capsules and cylinders -------------------------------------------------------------------------

// Half the width of a leaning one's section at s along its axis' projection; 0 outside.
static double half_width(const cm_shape *shape, double height, double lean, double flat, double s)
{
    double r = (double)shape->size[0], half = (double)shape->size[1];
    double along = height * lean + s * flat; // from the middle; height is that of the plane
    double beyond = __builtin_fabs(along) - half;
    double squared = r * r - (height * height + s * s - along * along);
    if (beyond > 0.0) {
        squared = shape->type == CAROM_SHAPE_CAPSULE ? squared - beyond * beyond : 0.0;
    }
    return root(squared);
}

static moments cut_leaning(const cm_shape *shape, double height, double lean)
{
    double reach = (double)shape->size[0] + (double)shape->size[1];
    double flat = root(1.0 - lean * lean), step = 2.0 * reach / STRIPS;
    moments m = {0};
    for (int i = 0; i < STRIPS; i++) {
        double s = step * ((double)i + 0.5) - reach;
        double w = half_width(shape, -height, lean, flat, s);
        m.area += 2.0 * step * w;
        m.u += 2.0 * step * w * s;
        m.uu += 2.0 * step * w * s * s;
        m.vv += 2.0 / 3.0 * step * w * w * w;
    }
    return m;
}

static moments cut_round(const cm_shape *shape, double height, double lean)
{
    double r = (double)shape->size[0], half = (double)shape->size[1];
    bool capsule = shape->type == CAROM_SHAPE_CAPSULE;
    if (lean * lean >= 1.0 - FLAT * FLAT) { // stands on the plane
        double beyond = __builtin_fabs(height) - half;
        if (beyond <= 0.0) {
            return disc(r * r);
        }
        return disc(capsule ? r * r - beyond * beyond : 0.0);
    }
    if (__builtin_fabs(lean) > FLAT) {
        return cut_leaning(shape, height, lean);
    }
    double w = root(r * r - height * height);
    moments m = {.area = 4.0 * half * w};
    m.uu = m.area * half * half / 3.0;
    m.vv = m.area * w * w / 3.0;
    if (capsule) {
        double end = PI * w * w;
        m.area += end;
        m.uu += end * (w * w / 4.0 + half * half) + 8.0 / 3.0 * half * w * w * w;
        m.vv += end * w * w / 4.0;
    }
    return m;
}

cm_slice cm_slice_of(const cm_shape *shape, double turn[3][3], const carom_hull *hull,
                     const double normal[3])
{
    const double position[3] = {(double)shape->position.x, (double)shape->position.y,
                                (double)shape->position.z};
    const double axis[3] = {turn[0][1], turn[1][1], turn[2][1]};
    cut_plane view = {.normal = {normal[0], normal[1], normal[2]}};
    cm_slice slice = {0};
    moments m = {0};
    view.height = dot(position, normal);
    set_axes(&view, axis);
    if (shape->type == CAROM_SHAPE_SPHERE) {
        double r = (double)shape->size[0];
        m = disc(r * r - view.height * view.height);
    } else if (shape->type == CAROM_SHAPE_BOX) {
        m = cut_box(shape, &view, turn);
    } else if (shape->type == CAROM_SHAPE_HULL) {
        m = cut_hull(hull, &view, turn);
    } else if (shape->type == CAROM_SHAPE_CAPSULE || shape->type == CAROM_SHAPE_CYLINDER) {
        m = cut_round(shape, view.height, dot(axis, normal));
    }
    if (!(m.area > 0.0)) {
        return slice;
    }
    double cu = m.u / m.area, cv = m.v / m.area;
    double uu = m.uu - m.area * cu * cu, uv = m.uv - m.area * cu * cv;
    double vv = m.vv - m.area * cv * cv;
    slice.area = m.area;
    for (int i = 0; i < 3; i++) {
        slice.center[i] = position[i] - view.height * normal[i] + cu * view.u[i] + cv * view.v[i];
        for (int j = 0; j < 3; j++) {
            double second = uu * view.u[i] * view.u[j] + vv * view.v[i] * view.v[j] +
                            uv * (view.u[i] * view.v[j] + view.v[i] * view.u[j]);
            slice.tensor[i][j] = (i == j ? uu + vv : 0.0) - second;
        }
    }
    return slice;
}
