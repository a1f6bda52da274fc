// See true_shapes.h. The gap of convex shapes is a convex function of the way, so ternary search
// finds its least value and bisection the first place where it falls to 0; the distance to a
// segment is found by ternary search along it; what has corners is separated along the normal of a
// face or across two edges (S. Gottschalk, 1996). Nothing of this is how the engine does it.
#include "tests/unit/sim/true_shapes.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

typedef carom_dvec3 d3;

static d3 of(carom_vec3 v)
{
    return (d3){v.x, v.y, v.z};
}

static d3 along(d3 a, double s, d3 b)
{
    return (d3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static double dot(d3 a, d3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static d3 rotate(carom_quat q, d3 v)
{
    double n = sqrt((double)q.x * q.x + (double)q.y * q.y + (double)q.z * q.z + (double)q.w * q.w);
    double x = q.x / n, y = q.y / n, z = q.z / n, w = q.w / n;
    d3 t = {2 * (y * v.z - z * v.y), 2 * (z * v.x - x * v.z), 2 * (x * v.y - y * v.x)};
    return (d3){v.x + w * t.x + y * t.z - z * t.y, v.y + w * t.y + z * t.x - x * t.z,
                v.z + w * t.z + x * t.y - y * t.x};
}

cm_true_shape cm_true_shape_at(const carom_shape_def *def)
{
    cm_true_shape s = {.def = *def, .position = of(def->position)};
    d3 *axes = &s.axes.x;
    for (int k = 0; k < 3; k++) {
        d3 axis = {k == 0, k == 1, k == 2};
        axes[k] = rotate(def->orientation, axis);
    }
    return s;
}

cm_true_shape cm_true_shape_of(const carom_world *world, carom_shape_id id)
{
    cm_true_shape s;
    carom_body_id body;
    carom_body_state state;
    cr_assert_eq(carom_shape_get(world, id, &s.def, &body), CAROM_OK);
    cr_assert_eq(carom_body_get(world, body, &state), CAROM_OK);
    s.position = along(of(state.position), 1.0, rotate(state.orientation, of(s.def.position)));
    d3 *axes = &s.axes.x;
    for (int k = 0; k < 3; k++) {
        d3 axis = {k == 0, k == 1, k == 2};
        axes[k] = rotate(state.orientation, rotate(s.def.orientation, axis));
    }
    return s;
}

// Distance to a corner of a rectangle from a place beyond it, or to its nearer side from within.
static double beyond(double a, double b)
{
    return a > 0 && b > 0 ? hypot(a, b) : fmax(a, b);
}

static double to_box(d3 p, carom_vec3 half)
{
    d3 q = {fabs(p.x) - half.x, fabs(p.y) - half.y, fabs(p.z) - half.z};
    double out = sqrt(fmax(q.x, 0) * fmax(q.x, 0) + fmax(q.y, 0) * fmax(q.y, 0) +
                      fmax(q.z, 0) * fmax(q.z, 0));
    return out > 0 ? out : fmax(q.x, fmax(q.y, q.z));
}

// Nearest point of a triangle by trying its face, then its three sides.
static double to_triangle(d3 p, d3 a, d3 b, d3 c)
{
    d3 ab = along(b, -1, a), ac = along(c, -1, a), ap = along(p, -1, a);
    double bb = dot(ab, ab), bc = dot(ab, ac), cc = dot(ac, ac);
    double pb = dot(ap, ab), pc = dot(ap, ac), det = bb * cc - bc * bc;
    double u = (pb * cc - pc * bc) / det, v = (pc * bb - pb * bc) / det;
    if (det > 0 && u >= 0 && v >= 0 && u + v <= 1) {
        d3 r = along(along(ap, -u, ab), -v, ac);
        return sqrt(dot(r, r));
    }
    double least = INFINITY;
    d3 ends[4] = {a, b, c, a};
    for (int i = 0; i < 3; i++) {
        d3 side = along(ends[i + 1], -1, ends[i]), from = along(p, -1, ends[i]);
        double length = dot(side, side);
        double t = length > 0 ? fmin(fmax(dot(from, side) / length, 0), 1) : 0;
        d3 r = along(from, -t, side);
        least = fmin(least, sqrt(dot(r, r)));
    }
    return least;
}

static double to_hull(d3 p, const carom_hull *hull)
{
    double most = -INFINITY, least = INFINITY;
    uint32_t count;
    const uint8_t *loop;
    const carom_vec3 *v = carom_hull_vertices(hull, &count);
    for (uint32_t f = 0; (loop = carom_hull_face(hull, f, &count)) != NULL; f++) {
        d3 a = of(v[loop[0]]), normal = {0, 0, 0};
        for (uint32_t i = 1; i + 1 < count; i++) {
            d3 b = of(v[loop[i]]), c = of(v[loop[i + 1]]);
            d3 ab = along(b, -1, a), ac = along(c, -1, a);
            normal.x += ab.y * ac.z - ab.z * ac.y;
            normal.y += ab.z * ac.x - ab.x * ac.z;
            normal.z += ab.x * ac.y - ab.y * ac.x;
            least = fmin(least, to_triangle(p, a, b, c));
        }
        most = fmax(most, dot(normal, along(p, -1, a)) / sqrt(dot(normal, normal)));
    }
    return most <= 0 ? most : least;
}

double cm_true_distance(const cm_true_shape *s, carom_dvec3 point)
{
    d3 r = along(point, -1, s->position);
    d3 p = {dot(r, s->axes.x), dot(r, s->axes.y), dot(r, s->axes.z)};
    const carom_shape_def *def = &s->def;
    switch (def->type) {
    case CAROM_SHAPE_SPHERE:
        return sqrt(dot(p, p)) - def->radius;
    case CAROM_SHAPE_CAPSULE: {
        double y = p.y - fmin(fmax(p.y, -def->half_height), def->half_height);
        return sqrt(p.x * p.x + y * y + p.z * p.z) - def->radius;
    }
    case CAROM_SHAPE_CYLINDER:
        return beyond(hypot(p.x, p.z) - def->radius, fabs(p.y) - def->half_height);
    case CAROM_SHAPE_BOX:
        return to_box(p, def->half_extents);
    case CAROM_SHAPE_PLANE:
        return dot(p, of(def->normal)) - def->offset;
    default:
        return to_hull(p, def->hull);
    }
}

// Pairs ------------------------------------------------------------------------------------------

#define CORNERS 64
#define EDGES   200

static d3 cross(d3 a, d3 b)
{
    return (d3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static d3 turned(const cm_true_shape *s, d3 v)
{
    return along(along(along((d3){0, 0, 0}, v.x, s->axes.x), v.y, s->axes.y), v.z, s->axes.z);
}

// Corners in world axes, face normals, and directions of edges (those of a hull more than once).
typedef struct corners {
    uint32_t count, face_count, edge_count;
    d3 points[CORNERS], faces[2 * CORNERS], edges[2 * EDGES];
} corners;

static void corners_of_box(const cm_true_shape *s, corners *c)
{
    carom_vec3 h = s->def.half_extents;
    for (int i = 0; i < 8; i++) {
        d3 v = {i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z};
        c->points[c->count++] = along(s->position, 1, turned(s, v));
    }
    for (int k = 0; k < 3; k++) {
        c->faces[c->face_count++] = c->edges[c->edge_count++] = (&s->axes.x)[k];
    }
}

static void corners_of_hull(const cm_true_shape *s, corners *c)
{
    const carom_vec3 *v = carom_hull_vertices(s->def.hull, &c->count);
    for (uint32_t i = 0; i < c->count; i++) {
        c->points[i] = along(s->position, 1, turned(s, of(v[i])));
    }
    uint32_t count;
    const uint8_t *loop;
    for (uint32_t f = 0; (loop = carom_hull_face(s->def.hull, f, &count)) != NULL; f++) {
        d3 normal = {0, 0, 0}, a = c->points[loop[0]];
        for (uint32_t i = 0; i < count; i++) {
            d3 p = c->points[loop[i]], q = c->points[loop[(i + 1) % count]];
            normal = along(normal, 1, cross(along(p, -1, a), along(q, -1, a)));
            if (loop[i] < loop[(i + 1) % count]) {
                c->edges[c->edge_count++] = along(q, -1, p);
            }
        }
        c->faces[c->face_count++] = normal;
    }
}

static bool corners_of(const cm_true_shape *s, corners *c)
{
    c->count = c->face_count = c->edge_count = 0;
    if (s->def.type == CAROM_SHAPE_BOX) {
        corners_of_box(s, c);
    } else if (s->def.type == CAROM_SHAPE_HULL) {
        corners_of_hull(s, c);
    }
    return c->count > 0;
}

static void span(const corners *c, d3 axis, double *of_it)
{
    of_it[0] = INFINITY;
    of_it[1] = -INFINITY;
    for (uint32_t i = 0; i < c->count; i++) {
        of_it[0] = fmin(of_it[0], dot(axis, c->points[i]));
        of_it[1] = fmax(of_it[1], dot(axis, c->points[i]));
    }
}

static void add_axis(cm_true_pair *pair, const corners *a, const corners *b, d3 axis)
{
    double length = sqrt(dot(axis, axis));
    if (length < 1.0e-6) {
        return; // parallel edges
    }
    struct cm_true_axis *row = &pair->axes[pair->axis_count++];
    row->axis = along((d3){0, 0, 0}, 1 / length, axis);
    span(a, row->axis, row->mover);
    span(b, row->axis, row->target);
}

static bool is_round(const cm_true_shape *s)
{
    return s->def.type == CAROM_SHAPE_SPHERE || s->def.type == CAROM_SHAPE_CAPSULE;
}

bool cm_true_pair_open(cm_true_pair *pair, const cm_true_shape *mover, const cm_true_shape *target)
{
    static corners a, b;
    *pair = (cm_true_pair){.mover = mover, .target = target};
    if (is_round(mover) || is_round(target) || target->def.type == CAROM_SHAPE_PLANE) {
        return true;
    }
    if (!corners_of(mover, &a) || !corners_of(target, &b)) {
        return false;
    }
    size_t most = a.face_count + b.face_count + (size_t)a.edge_count * b.edge_count;
    pair->axes = malloc(most * sizeof *pair->axes);
    for (uint32_t i = 0; i < a.face_count; i++) {
        add_axis(pair, &a, &b, a.faces[i]);
    }
    for (uint32_t i = 0; i < b.face_count; i++) {
        add_axis(pair, &a, &b, b.faces[i]);
    }
    for (uint32_t i = 0; i < a.edge_count * b.edge_count; i++) {
        add_axis(pair, &a, &b, cross(a.edges[i / b.edge_count], b.edges[i % b.edge_count]));
    }
    return true;
}

void cm_true_pair_close(cm_true_pair *pair)
{
    free(pair->axes);
}

// Of a sphere or capsule `round`, moved by `way`, to any shape.
static double round_gap(const cm_true_shape *round, d3 way, const cm_true_shape *other)
{
    d3 center = along(round->position, 1, way);
    if (round->def.type == CAROM_SHAPE_SPHERE) {
        return cm_true_distance(other, center) - round->def.radius;
    }
    double low = -round->def.half_height, high = round->def.half_height;
    for (int i = 0; i < 60; i++) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;
        if (cm_true_distance(other, along(center, a, round->axes.y)) <=
            cm_true_distance(other, along(center, b, round->axes.y))) {
            high = b;
        } else {
            low = a;
        }
    }
    return cm_true_distance(other, along(center, low, round->axes.y)) - round->def.radius;
}

// Of a box, hull or cylinder over a plane.
static double plane_gap(const cm_true_shape *mover, d3 way, const cm_true_shape *plane)
{
    static corners c;
    d3 n = turned(plane, of(plane->def.normal)), center = along(mover->position, 1, way);
    double up = dot(n, mover->axes.y), lowest = INFINITY;
    if (mover->def.type == CAROM_SHAPE_CYLINDER) {
        return cm_true_distance(plane, center) - fabs(up) * mover->def.half_height -
               sqrt(fmax(0, 1 - up * up)) * mover->def.radius;
    }
    corners_of(mover, &c);
    for (uint32_t i = 0; i < c.count; i++) {
        lowest = fmin(lowest, cm_true_distance(plane, along(c.points[i], 1, way)));
    }
    return lowest;
}

double cm_true_gap(const cm_true_pair *pair, carom_dvec3 way)
{
    if (is_round(pair->mover)) {
        return round_gap(pair->mover, way, pair->target);
    }
    if (is_round(pair->target)) {
        return round_gap(pair->target, along((d3){0, 0, 0}, -1, way), pair->mover);
    }
    if (pair->target->def.type == CAROM_SHAPE_PLANE) {
        return plane_gap(pair->mover, way, pair->target);
    }
    double most = -INFINITY;
    for (uint32_t i = 0; i < pair->axis_count; i++) {
        const struct cm_true_axis *row = &pair->axes[i];
        double moved = dot(row->axis, way);
        most = fmax(most, row->mover[0] + moved - row->target[1]);
        most = fmax(most, row->target[0] - moved - row->mover[1]);
    }
    return most;
}

double cm_true_cast(const cm_true_pair *pair, carom_dvec3 direction, double length, double *depth)
{
    const d3 none = {0, 0, 0};
    double low = 0, high = length;
    for (int i = 0; i < 120; i++) {
        double third = (high - low) / 3, a = low + third, b = high - third;
        if (cm_true_gap(pair, along(none, a, direction)) <=
            cm_true_gap(pair, along(none, b, direction))) {
            high = b;
        } else {
            low = a;
        }
    }
    *depth = -cm_true_gap(pair, along(none, low, direction));
    if (cm_true_gap(pair, none) <= 0) {
        return 0;
    }
    if (*depth < 0) {
        return -1;
    }
    high = low;
    low = 0;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (cm_true_gap(pair, along(none, middle, direction)) > 0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}
