// A point well inside of an intersection of half-spaces.
//
// The least slack is concave and piecewise linear. From the planes that hold it the direction of
// steepest ascent is the negative of the point nearest to the origin in the hull of their normals
// (the simplex routine of GJK); the step goes to the next plane that would be lower. It ends at the
// top, or sooner where the slack will do. Typical: 2 to 6 steps over 8 planes.
#include "shared/sim/geometry/simplex.h"
#include "shared/sim/solve/volume/poly.h"

#define STEPS 48u
#define LEVEL 1.0e-12 // squared length of a combination of normals that counts as none

double cm_volume_inside(const cm_d3 *normals, const double *offsets, uint32_t count, double enough,
                        cm_d3 *x)
{
    uint32_t active[4], held = 1;
    double slack = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        double here = offsets[i] - cm_d3_dot(normals[i], *x);
        if (i == 0 || here < slack) {
            slack = here;
            active[0] = i;
        }
    }
    for (uint32_t step = 0; step < STEPS && slack < enough; step++) {
        cm_d3 points[4], nearest;
        uint32_t keep[4];
        double weights[4];
        for (uint32_t i = 0; i < held; i++) {
            points[i] = normals[active[i]];
        }
        uint32_t kept = cm_simplex_nearest(points, held, keep, weights, &nearest);
        double pp = cm_d3_dot(nearest, nearest);
        if (kept == 4 || pp <= LEVEL) {
            break; // the top
        }
        for (uint32_t i = 0; i < kept; i++) {
            active[i] = active[keep[i]];
        }
        held = kept;
        // Along g the slack of the active planes grows by 1.
        cm_d3 g = cm_d3_scale(-1.0 / pp, nearest);
        double length = 0.0;
        uint32_t next = CM_NONE;
        for (uint32_t i = 0; i < count; i++) {
            double rate = 1.0 + cm_d3_dot(normals[i], g);
            if (!(rate > 1.0e-9)) {
                continue;
            }
            double gap = offsets[i] - cm_d3_dot(normals[i], *x) - slack;
            gap = gap > 0.0 ? gap : 0.0;
            if (next == CM_NONE || gap < length * rate) {
                length = gap / rate;
                next = i;
            }
        }
        if (next == CM_NONE) { // unbounded: as far as is wanted
            *x = cm_d3_mad(*x, enough - slack, g);
            return enough;
        }
        *x = cm_d3_mad(*x, length, g);
        slack += length;
        active[held++] = next;
    }
    return slack;
}
