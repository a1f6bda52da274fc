// Volume, centroid and inertia of a polyhedron: sums over tetrahedra from a point inside to each
// triangle of each face. The integrals over a tetrahedron with one corner at the origin are exact
// polynomials (J. T. Kajiya's and B. Mirtich's results agree with them; here after F. Tonon, 2004).
// In binary64, once a hull.
#include "shared/sim/geometry/hull.h"

#include <string.h>

static void corner(const carom_hull *hull, uint32_t vertex, const double origin[3], double out[3])
{
    out[0] = (double)hull->vertices[vertex].x - origin[0];
    out[1] = (double)hull->vertices[vertex].y - origin[1];
    out[2] = (double)hull->vertices[vertex].z - origin[2];
}

// Volume, first and second moments about `origin`.
typedef struct moments {
    double volume, first[3], second[3][3];
} moments;

static void add_tetrahedron(moments *m, const double a[3], const double b[3], const double c[3])
{
    double det = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                 a[2] * (b[0] * c[1] - b[1] * c[0]);
    m->volume += det / 6.0;
    for (int i = 0; i < 3; i++) {
        double sum_i = a[i] + b[i] + c[i];
        m->first[i] += det / 24.0 * sum_i;
        for (int j = 0; j < 3; j++) {
            double sum_j = a[j] + b[j] + c[j];
            m->second[i][j] +=
                det / 120.0 * (sum_i * sum_j + a[i] * a[j] + b[i] * b[j] + c[i] * c[j]);
        }
    }
}

void cm_hull_integrate(carom_hull *hull)
{
    double origin[3] = {0.0, 0.0, 0.0}, mean[3] = {0.0, 0.0, 0.0};
    for (uint32_t i = 0; i < hull->vertex_count; i++) {
        double p[3];
        corner(hull, i, origin, p);
        for (int k = 0; k < 3; k++) {
            mean[k] += p[k] / (double)hull->vertex_count;
        }
    }
    moments m;
    memset(&m, 0, sizeof m);
    for (uint32_t face = 0; face < hull->face_count; face++) {
        const uint8_t *loop = hull->loop + hull->first[face];
        uint32_t size = (uint32_t)(hull->first[face + 1] - hull->first[face]);
        double a[3], b[3], c[3];
        corner(hull, loop[0], mean, a);
        for (uint32_t i = 1; i + 1 < size; i++) {
            corner(hull, loop[i], mean, b);
            corner(hull, loop[i + 1], mean, c);
            add_tetrahedron(&m, a, b, c);
        }
    }
    hull->volume = m.volume;
    double d[3], trace = 0.0;
    for (int i = 0; i < 3; i++) {
        d[i] = m.first[i] / m.volume;
        hull->centroid[i] = mean[i] + d[i];
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m.second[i][j] -= m.volume * d[i] * d[j];
        }
        trace += m.second[i][i];
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            hull->tensor[i][j] = (i == j ? trace : 0.0) - m.second[i][j];
        }
    }
}
