// The nearest point of up to four points' convex hull, in binary64: what GJK asks in each of its
// rounds, and what finds a point inside several half-spaces. Private to shared/sim.
#ifndef CM_SIM_GEOMETRY_SIMPLEX_H
#define CM_SIM_GEOMETRY_SIMPLEX_H

#include "shared/base/dvec.h"

// The point of the convex hull of up to 4 points that is nearest to the origin. Points that do not
// carry it are dropped: `keep` lists the others, with their weights. Returns how many.
uint32_t cm_simplex_nearest(const cm_d3 *points, uint32_t count, uint32_t keep[4],
                            double weights[4], cm_d3 *nearest);

#endif
