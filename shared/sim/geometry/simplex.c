// See simplex.h. Each case is that of the next lower dimension where the origin is outside: regions
// of a triangle and a tetrahedron after C. Ericson, "Real-Time Collision Detection", 2005, 5.1.
#include "shared/sim/geometry/simplex.h"

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

uint32_t cm_simplex_nearest(const cm_d3 *points, uint32_t count, uint32_t keep[4],
                            double weights[4], cm_d3 *nearest)
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
