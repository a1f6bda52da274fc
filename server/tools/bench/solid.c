// Depth of two shapes by closed form: separating axes for boxes, closest features for rounds.
//
// Box and box: 15 axes (Gottschalk, Lin, Manocha, "OBBTree", 1996); the least overlap is the exact
// depth of two overlapping convex polytopes, since these are the face normals of their Minkowski
// difference. Segment and segment: Ericson, "Real-Time Collision Detection", 5.1.9. Segment and
// box: the squared distance along the segment is convex and piecewise quadratic, with at most six
// breakpoints, so each piece is minimised exactly; no sampling. A segment that enters the box is
// parted from it along a face normal or the product of an edge and the segment.
//
// 3,000 to 20,000 calls a measurement; clarity before speed.
#include "server/tools/bench/solid.h"

#include "server/tools/bench/solid_convex.h"

#include <math.h>
#include <string.h>

#define PARALLEL 1e-9  // sine below which two directions give no axis of their own
#define TOUCHING 1e-12 // m: a segment nearer to a box than this has entered it

static double clamp01(double t)
{
    return t < 0.0 ? 0.0 : (t > 1.0 ? 1.0 : t);
}

void cm_solid_rotation(const double orientation[4], double rows[3][3])
{
    double x = orientation[0], y = orientation[1], z = orientation[2], w = orientation[3];
    double s = 2.0 / (x * x + y * y + z * z + w * w);
    rows[0][0] = 1.0 - s * (y * y + z * z);
    rows[0][1] = s * (x * y - w * z);
    rows[0][2] = s * (x * z + w * y);
    rows[1][0] = s * (x * y + w * z);
    rows[1][1] = 1.0 - s * (x * x + z * z);
    rows[1][2] = s * (y * z - w * x);
    rows[2][0] = s * (x * z - w * y);
    rows[2][1] = s * (y * z + w * x);
    rows[2][2] = 1.0 - s * (x * x + y * y);
}

bool cm_solid_place(cm_solid *solid, const carom_shape_def *shape, const double position[3],
                    const double orientation[4])
{
    double body[3][3], local[3][3];
    const double turn[4] = {shape->orientation.x, shape->orientation.y, shape->orientation.z,
                            shape->orientation.w};
    const double at[3] = {shape->position.x, shape->position.y, shape->position.z};
    cm_solid_rotation(orientation, body);
    cm_solid_rotation(turn, local);
    memset(solid, 0, sizeof *solid);
    solid->category = shape->category;
    solid->mask = shape->mask;
    solid->group = shape->group;
    for (int i = 0; i < 3; i++) {
        solid->center[i] = position[i] + dot(body[i], at);
        for (int k = 0; k < 3; k++) { // column k of the product
            double column[3] = {local[0][k], local[1][k], local[2][k]};
            solid->axis[k][i] = dot(body[i], column);
        }
    }
    switch (shape->type) {
    case CAROM_SHAPE_SPHERE:
    case CAROM_SHAPE_CAPSULE:
        solid->kind = CM_SOLID_ROUND;
        solid->half[0] = shape->radius;
        solid->half[1] = shape->type == CAROM_SHAPE_CAPSULE ? (double)shape->half_height : 0.0;
        return true;
    case CAROM_SHAPE_CYLINDER:
        solid->kind = CM_SOLID_CYLINDER;
        solid->half[0] = shape->radius;
        solid->half[1] = shape->half_height;
        return true;
    case CAROM_SHAPE_HULL:
        solid->kind = CM_SOLID_HULL;
        solid->hull = shape->hull;
        return shape->hull != NULL;
    case CAROM_SHAPE_BOX:
        solid->kind = CM_SOLID_BOX;
        solid->half[0] = shape->half_extents.x;
        solid->half[1] = shape->half_extents.y;
        solid->half[2] = shape->half_extents.z;
        return true;
    case CAROM_SHAPE_PLANE: {
        double normal[3] = {shape->normal.x, shape->normal.y, shape->normal.z};
        double length = sqrt(dot(normal, normal));
        solid->kind = CM_SOLID_PLANE;
        for (int i = 0; i < 3; i++) {
            solid->normal[i] = (solid->axis[0][i] * normal[0] + solid->axis[1][i] * normal[1] +
                                solid->axis[2][i] * normal[2]) /
                               length;
        }
        solid->offset = shape->offset + dot(solid->normal, solid->center);
        return true;
    }
    default:
        return false;
    }
}

// The distance that the solid reaches from its centre along the unit vector n.
static double reach(const cm_solid *solid, const double n[3])
{
    switch (solid->kind) {
    case CM_SOLID_ROUND:
        return solid->half[0] + solid->half[1] * fabs(dot(solid->axis[1], n));
    case CM_SOLID_BOX: {
        double sum = 0.0;
        for (int i = 0; i < 3; i++) {
            sum += solid->half[i] * fabs(dot(solid->axis[i], n));
        }
        return sum;
    }
    default:
        return HUGE_VAL;
    }
}

void cm_solid_bounds(const cm_solid *solid, double lower[3], double upper[3])
{
    for (int i = 0; i < 3; i++) {
        const double n[3] = {i == 0, i == 1, i == 2}, back[3] = {-n[0], -n[1], -n[2]};
        if (solid->kind == CM_SOLID_HULL || solid->kind == CM_SOLID_CYLINDER) {
            lower[i] = -cm_solid_support(solid, back);
            upper[i] = cm_solid_support(solid, n);
            continue;
        }
        double r = reach(solid, n);
        lower[i] = solid->center[i] - r;
        upper[i] = solid->center[i] + r;
    }
}

static void segment(const cm_solid *round, double from[3], double to[3])
{
    for (int i = 0; i < 3; i++) {
        from[i] = round->center[i] - round->half[1] * round->axis[1][i];
        to[i] = round->center[i] + round->half[1] * round->axis[1][i];
    }
}

static double segment_distance(const double p1[3], const double q1[3], const double p2[3],
                               const double q2[3])
{
    double d1[3], d2[3], r[3];
    for (int i = 0; i < 3; i++) {
        d1[i] = q1[i] - p1[i];
        d2[i] = q2[i] - p2[i];
        r[i] = p1[i] - p2[i];
    }
    double a = dot(d1, d1), e = dot(d2, d2), f = dot(d2, r), c = dot(d1, r), b = dot(d1, d2);
    double s = 0.0, t = 0.0;
    if (a > 0.0 && e > 0.0) {
        double denominator = a * e - b * b;
        if (denominator > PARALLEL * PARALLEL * a * e) {
            s = clamp01((b * f - c * e) / denominator);
        }
        t = clamp01((b * s + f) / e);
        s = clamp01((b * t - c) / a);
    } else if (e > 0.0) {
        t = clamp01(f / e);
    } else if (a > 0.0) {
        s = clamp01(-c / a);
    }
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        double difference = r[i] + s * d1[i] - t * d2[i];
        sum += difference * difference;
    }
    return sqrt(sum);
}

static double depth_round_round(const cm_solid *a, const cm_solid *b)
{
    double p1[3], q1[3], p2[3], q2[3];
    segment(a, p1, q1);
    segment(b, p2, q2);
    return a->half[0] + b->half[0] - segment_distance(p1, q1, p2, q2);
}

// Squared distance from the box |x_i| <= h_i to p + t d, least over t in [low, high], where every
// coordinate stays on one side of its faces: a single quadratic.
static double piece_minimum(const double p[3], const double d[3], const double h[3], double low,
                            double high)
{
    double middle = 0.5 * (low + high), slope = 0.0, square = 0.0;
    double beyond[3] = {0.0, 0.0, 0.0}, rate[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < 3; i++) {
        double x = p[i] + middle * d[i];
        if (fabs(x) > h[i]) {
            double side = x < 0.0 ? -1.0 : 1.0;
            beyond[i] = side * p[i] - h[i];
            rate[i] = side * d[i];
            slope += beyond[i] * rate[i];
            square += rate[i] * rate[i];
        }
    }
    double t = square > 0.0 ? -slope / square : middle;
    t = t < low ? low : (t > high ? high : t);
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        double x = beyond[i] + t * rate[i];
        sum += x * x;
    }
    return sum;
}

static double segment_box_distance(const double p[3], const double d[3], const double h[3])
{
    double at[8] = {0.0, 1.0};
    int count = 2;
    for (int i = 0; i < 3; i++) {
        for (int side = -1; side <= 1 && d[i] != 0.0; side += 2) {
            double t = (side * h[i] - p[i]) / d[i];
            if (t > 0.0 && t < 1.0) {
                int k = count++;
                for (; k > 0 && at[k - 1] > t; k--) {
                    at[k] = at[k - 1];
                }
                at[k] = t;
            }
        }
    }
    double least = HUGE_VAL;
    for (int k = 0; k + 1 < count; k++) {
        least = fmin(least, piece_minimum(p, d, h, at[k], at[k + 1]));
    }
    return sqrt(least);
}

// The distance by which a segment that enters the box must be moved to leave it.
static double segment_box_overlap(const double p[3], const double d[3], const double h[3])
{
    double least = HUGE_VAL, length = sqrt(dot(d, d));
    for (int i = 0; i < 3; i++) {
        double low = fmin(p[i], p[i] + d[i]), high = fmax(p[i], p[i] + d[i]);
        least = fmin(least, fmin(h[i] - low, h[i] + high));
    }
    for (int i = 0; i < 3; i++) {
        double edge[3] = {i == 0, i == 1, i == 2}, n[3];
        cross(edge, d, n);
        double size = sqrt(dot(n, n));
        if (size > PARALLEL * length) {
            double r = h[0] * fabs(n[0]) + h[1] * fabs(n[1]) + h[2] * fabs(n[2]);
            least = fmin(least, (r - fabs(dot(n, p))) / size);
        }
    }
    return least;
}

static double depth_round_box(const cm_solid *a, const cm_solid *b)
{
    double from[3], to[3], p[3], d[3], r[3], along[3];
    segment(a, from, to);
    for (int i = 0; i < 3; i++) {
        r[i] = from[i] - b->center[i];
        along[i] = to[i] - from[i];
    }
    for (int i = 0; i < 3; i++) {
        p[i] = dot(b->axis[i], r);
        d[i] = dot(b->axis[i], along);
    }
    double distance = segment_box_distance(p, d, b->half);
    if (distance > TOUCHING) {
        return a->half[0] - distance;
    }
    return a->half[0] + segment_box_overlap(p, d, b->half);
}

static double depth_box_box(const cm_solid *a, const cm_solid *b)
{
    double between[3], least = HUGE_VAL;
    for (int i = 0; i < 3; i++) {
        between[i] = b->center[i] - a->center[i];
    }
    for (int i = 0; i < 3; i++) {
        least = fmin(least, a->half[i] + reach(b, a->axis[i]) - fabs(dot(a->axis[i], between)));
        least = fmin(least, b->half[i] + reach(a, b->axis[i]) - fabs(dot(b->axis[i], between)));
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            double n[3];
            cross(a->axis[i], b->axis[k], n);
            double size = sqrt(dot(n, n));
            if (size > 1e-6) { // nearly parallel edges add nothing to the face normals
                double overlap = reach(a, n) + reach(b, n) - fabs(dot(n, between));
                least = fmin(least, overlap / size);
            }
        }
    }
    return least;
}

static double depth_plain_plane(const cm_solid *a, const cm_solid *plane)
{
    double height = dot(plane->normal, a->center) - plane->offset;
    return reach(a, plane->normal) - height;
}

static double depth_convex_plane(const cm_solid *a, const cm_solid *plane)
{
    const double down[3] = {-plane->normal[0], -plane->normal[1], -plane->normal[2]};
    return cm_solid_support(a, down) + plane->offset;
}

double cm_solid_depth(const cm_solid *a, const cm_solid *b)
{
    if (a->kind > b->kind) {
        const cm_solid *swapped = a;
        a = b;
        b = swapped;
    }
    bool plain = a->kind <= CM_SOLID_BOX; // round or a box
    if (b->kind == CM_SOLID_PLANE) {
        return a->kind == CM_SOLID_PLANE ? -HUGE_VAL
               : plain                   ? depth_plain_plane(a, b)
                                         : depth_convex_plane(a, b);
    }
    if (!plain || b->kind > CM_SOLID_BOX) {
        return cm_solid_depth_convex(a, b);
    }
    return b->kind == CM_SOLID_ROUND   ? depth_round_round(a, b)
           : a->kind == CM_SOLID_ROUND ? depth_round_box(a, b)
                                       : depth_box_box(a, b);
}

bool cm_solid_may_meet(const cm_solid *a, const cm_solid *b)
{
    if (a->body == b->body || (!a->movable && !b->movable)) {
        return false;
    }
    if (a->group != 0 && a->group == b->group) {
        return a->group > 0;
    }
    return (a->category & b->mask) != 0 && (b->category & a->mask) != 0;
}
