// GJK on polyhedra: supports of the Minkowski difference a - b, at most four at a time.
//
// It ends when the newest support is no nearer than the simplex (to 1e-13), is one it has already,
// or brings nothing: vertices are finite, so each round but the last comes nearer. The direction of
// a triangle is its plane's normal, not the difference of two nearby points: parallel faces give
// the face's normal to rounding. Typical: 3 to 6 rounds.
#include "shared/sim/solve/volume/gjk.h"

#define CLOSE 1.0e-13 // relative, of squared lengths

static uint32_t nearest_of_two(const cm_d3 *p, uint32_t a, uint32_t b, uint32_t *keep,
                               double *weights, cm_d3 *nearest)
{
    cm_d3 d = cm_d3_sub(p[b], p[a]);
    double t = -cm_d3_dot(p[a], d), dd = cm_d3_dot(d, d);
    if (t <= 0.0 || t >= dd) {
        keep[0] = t <= 0.0 ? a : b;
        weights[0] = 1.0;
        *nearest = p[keep[0]];
        return 1;
    }
    double s = t / dd;
    keep[0] = a;
    keep[1] = b;
    weights[0] = 1.0 - s;
    weights[1] = s;
    *nearest = cm_d3_mad(p[a], s, d);
    return 2;
}

// Regions of a triangle: C. Ericson, Real-Time Collision Detection, 5.1.5.
static uint32_t nearest_of_three(const cm_d3 *p, uint32_t a, uint32_t b, uint32_t c, uint32_t *keep,
                                 double *weights, cm_d3 *nearest)
{
    cm_d3 ab = cm_d3_sub(p[b], p[a]), ac = cm_d3_sub(p[c], p[a]);
    cm_d3 n = cm_d3_cross(ab, ac);
    double area = cm_d3_dot(n, n);
    double u = cm_d3_dot(n, cm_d3_cross(p[b], p[c]));
    double v = cm_d3_dot(n, cm_d3_cross(p[c], p[a]));
    double w = cm_d3_dot(n, cm_d3_cross(p[a], p[b]));
    if (u > 0.0 && v > 0.0 && w > 0.0 && area > 0.0) {
        double s = 1.0 / (u + v + w);
        keep[0] = a;
        keep[1] = b;
        keep[2] = c;
        weights[0] = u * s;
        weights[1] = v * s;
        weights[2] = w * s;
        *nearest = cm_d3_scale(cm_d3_dot(n, p[a]) / area, n);
        return 3;
    }
    // Outside: the nearest of the edges.
    const uint32_t ends[3][2] = {{a, b}, {b, c}, {c, a}};
    uint32_t best = 0;
    double least = 0.0;
    for (uint32_t e = 0; e < 3; e++) {
        uint32_t k[2];
        double here[2];
        cm_d3 point;
        uint32_t count = nearest_of_two(p, ends[e][0], ends[e][1], k, here, &point);
        double far = cm_d3_dot(point, point);
        if (e == 0 || far < least) {
            least = far;
            best = count;
            *nearest = point;
            for (uint32_t i = 0; i < count; i++) {
                keep[i] = k[i];
                weights[i] = here[i];
            }
        }
    }
    return best;
}

static uint32_t nearest_of_four(const cm_d3 *p, uint32_t *keep, double *weights, cm_d3 *nearest)
{
    static const uint32_t faces[4][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}};
    cm_d3 a = cm_d3_sub(p[1], p[0]), b = cm_d3_sub(p[2], p[0]), c = cm_d3_sub(p[3], p[0]);
    double det = cm_d3_dot(a, cm_d3_cross(b, c));
    double extent = cm_d3_length(a) * cm_d3_length(b) * cm_d3_length(c);
    bool flat = cm_d_abs(det) <= 1.0e-14 * extent;
    bool inside = !flat;
    uint32_t best = 0;
    double least = 0.0;
    for (uint32_t f = 0; f < 4; f++) {
        const uint32_t *i = faces[f];
        cm_d3 n = cm_d3_cross(cm_d3_sub(p[i[1]], p[i[0]]), cm_d3_sub(p[i[2]], p[i[0]]));
        double other = cm_d3_dot(n, cm_d3_sub(p[i[3]], p[i[0]]));
        double origin = -cm_d3_dot(n, p[i[0]]);
        if (!flat && (origin == 0.0 || (origin > 0.0) == (other > 0.0))) {
            continue; // the origin is on the inner side of this face
        }
        inside = false;
        uint32_t k[3];
        double here[3];
        cm_d3 point;
        uint32_t count = nearest_of_three(p, i[0], i[1], i[2], k, here, &point);
        double far = cm_d3_dot(point, point);
        if (best == 0 || far < least) {
            least = far;
            best = count;
            *nearest = point;
            for (uint32_t m = 0; m < count; m++) {
                keep[m] = k[m];
                weights[m] = here[m];
            }
        }
    }
    if (!inside) {
        return best;
    }
    // Barycentric: volumes of the tetrahedra with the origin.
    double s = 1.0 / det;
    weights[1] = -cm_d3_dot(p[0], cm_d3_cross(b, c)) * s;
    weights[2] = -cm_d3_dot(a, cm_d3_cross(p[0], c)) * s;
    weights[3] = -cm_d3_dot(a, cm_d3_cross(b, p[0])) * s;
    weights[0] = 1.0 - weights[1] - weights[2] - weights[3];
    for (uint32_t i = 0; i < 4; i++) {
        keep[i] = i;
    }
    *nearest = cm_d3_of(0.0, 0.0, 0.0);
    return 4;
}

uint32_t cm_volume_nearest(const cm_d3 *points, uint32_t count, uint32_t keep[4], double weights[4],
                           cm_d3 *nearest)
{
    switch (count) {
    case 1:
        keep[0] = 0;
        weights[0] = 1.0;
        *nearest = points[0];
        return 1;
    case 2:
        return nearest_of_two(points, 0, 1, keep, weights, nearest);
    case 3:
        return nearest_of_three(points, 0, 1, 2, keep, weights, nearest);
    default:
        return nearest_of_four(points, keep, weights, nearest);
    }
}

// A half-space's nearest point is straight below the other's lowest.
static void gap_over_plane(const cm_volume_piece *solid, cm_d3 shift, const cm_volume_piece *plane,
                           bool plane_is_b, cm_volume_gap *gap)
{
    cm_d3 n = plane->normals[0];
    uint32_t lowest = cm_volume_support(solid, cm_d3_scale(-1.0, n));
    cm_d3 p = cm_d3_add(solid->vertices[lowest], shift);
    double height = cm_d3_dot(n, p) - plane->offsets[0];
    gap->rounds = 1;
    gap->apart = height > 0.0;
    cm_d3 below = cm_d3_mad(p, -height, n);
    gap->on_a = plane_is_b ? p : below;
    gap->on_b = plane_is_b ? below : p;
    if (gap->apart) {
        gap->distance = height;
        gap->direction = plane_is_b ? n : cm_d3_scale(-1.0, n);
        return;
    }
    gap->on_a = gap->on_b = p;
    gap->distance = 0.0;
    gap->direction = cm_d3_of(0.0, 0.0, 0.0);
}

typedef struct simplex {
    uint32_t count;
    uint32_t on_a[4], on_b[4]; // vertices
    cm_d3 points[4];           // of the difference
    double weights[4];
} simplex;

static bool add_support(simplex *s, const cm_volume_piece *a, const cm_volume_piece *b, cm_d3 shift,
                        cm_d3 toward)
{
    uint32_t i = cm_volume_support(a, cm_d3_scale(-1.0, toward));
    uint32_t k = cm_volume_support(b, toward);
    for (uint32_t m = 0; m < s->count; m++) {
        if (s->on_a[m] == i && s->on_b[m] == k) {
            return false;
        }
    }
    s->on_a[s->count] = i;
    s->on_b[s->count] = k;
    s->points[s->count++] = cm_d3_sub(cm_d3_add(a->vertices[i], shift), b->vertices[k]);
    return true;
}

static void reduce(simplex *s, cm_d3 *nearest)
{
    uint32_t keep[4];
    double weights[4];
    uint32_t count = cm_volume_nearest(s->points, s->count, keep, weights, nearest);
    simplex old = *s;
    s->count = count;
    for (uint32_t i = 0; i < count; i++) {
        s->on_a[i] = old.on_a[keep[i]];
        s->on_b[i] = old.on_b[keep[i]];
        s->points[i] = old.points[keep[i]];
        s->weights[i] = weights[i];
    }
}

static void finish(const simplex *s, const cm_volume_piece *a, const cm_volume_piece *b,
                   cm_d3 shift, cm_d3 nearest, bool overlap, cm_volume_gap *gap)
{
    gap->on_a = gap->on_b = cm_d3_of(0.0, 0.0, 0.0);
    for (uint32_t i = 0; i < s->count; i++) {
        cm_d3 p = cm_d3_add(a->vertices[s->on_a[i]], shift);
        gap->on_a = cm_d3_mad(gap->on_a, s->weights[i], p);
        gap->on_b = cm_d3_mad(gap->on_b, s->weights[i], b->vertices[s->on_b[i]]);
    }
    gap->apart = !overlap;
    gap->distance = 0.0;
    gap->direction = cm_d3_of(0.0, 0.0, 0.0);
    if (overlap) {
        gap->on_b = gap->on_a;
        return;
    }
    gap->distance = cm_d3_length(nearest);
    gap->direction = cm_d3_unit(nearest);
    if (s->count == 3) {
        cm_d3 n = cm_d3_unit(cm_d3_cross(cm_d3_sub(s->points[1], s->points[0]),
                                         cm_d3_sub(s->points[2], s->points[0])));
        gap->direction = cm_d3_dot(n, nearest) < 0.0 ? cm_d3_scale(-1.0, n) : n;
    }
}

void cm_volume_gjk(const cm_volume_piece *a, const cm_volume_piece *b, cm_d3 shift, cm_d3 start,
                   cm_volume_gap *gap)
{
    if (a->half_space || b->half_space) {
        const cm_volume_piece *solid = a->half_space ? b : a;
        cm_d3 move = a->half_space ? cm_d3_scale(-1.0, shift) : shift;
        gap_over_plane(solid, move, a->half_space ? a : b, b->half_space, gap);
        if (a->half_space) {
            gap->on_a = cm_d3_add(gap->on_a, shift);
            gap->on_b = cm_d3_add(gap->on_b, shift);
        }
        return;
    }
    simplex s = {.count = 0};
    cm_d3 v = start;
    if (cm_d3_dot(v, v) == 0.0) {
        v = cm_d3_sub(cm_d3_add(a->center, shift), b->center);
    }
    add_support(&s, a, b, shift, v);
    s.weights[0] = 1.0;
    v = s.points[0];
    double scale = a->size + b->size, touch = 1.0e-26 * scale * scale;
    double squared = cm_d3_dot(v, v);
    uint32_t rounds = 1;
    for (; rounds < CM_VOLUME_GJK_ROUNDS && squared > touch; rounds++) {
        if (!add_support(&s, a, b, shift, v)) {
            break;
        }
        double reach = cm_d3_dot(v, s.points[s.count - 1]);
        if (squared - reach <= CLOSE * squared) {
            s.count--;
            break;
        }
        simplex old = s;
        cm_d3 next;
        reduce(&s, &next);
        double nearer = cm_d3_dot(next, next);
        if (s.count == 4) {
            squared = 0.0;
            v = next;
            break;
        }
        if (nearer >= squared) { // rounding: what was found before is as good
            s = old;
            s.count--;
            break;
        }
        v = next;
        squared = nearer;
    }
    gap->rounds = rounds;
    finish(&s, a, b, shift, v, squared <= touch, gap);
}
