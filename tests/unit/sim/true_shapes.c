// See true_shapes.h. The distance to a convex shape is a convex function of the way, so ternary
// search finds its least value and bisection the first place where it falls to the radius: nothing
// of this is how the engine does it.
#include "tests/unit/sim/true_shapes.h"

#include <criterion/criterion.h>
#include <math.h>

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

double cm_true_cast(const cm_true_shape *shape, carom_dvec3 origin, carom_dvec3 direction,
                    double length, double radius, double *depth)
{
    double low = 0, high = length;
    for (int i = 0; i < 200; i++) {
        double third = (high - low) / 3, a = low + third, b = high - third;
        if (cm_true_distance(shape, along(origin, a, direction)) <=
            cm_true_distance(shape, along(origin, b, direction))) {
            high = b;
        } else {
            low = a;
        }
    }
    *depth = radius - cm_true_distance(shape, along(origin, low, direction));
    if (cm_true_distance(shape, origin) <= radius) {
        return 0;
    }
    if (*depth < 0) {
        return -1;
    }
    high = low;
    low = 0;
    for (int i = 0; i < 80; i++) {
        double middle = 0.5 * (low + high);
        if (cm_true_distance(shape, along(origin, middle, direction)) > radius) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}
