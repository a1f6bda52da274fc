// Depths of cylinders and hulls against anything, for solid.c's table.
#ifndef CM_SERVER_TOOLS_BENCH_SOLID_CONVEX_H
#define CM_SERVER_TOOLS_BENCH_SOLID_CONVEX_H

#include "server/tools/bench/solid.h"

static inline double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

// Largest n . x over the solid, in world axes; not for planes.
double cm_solid_support(const cm_solid *solid, const double n[3]);

double cm_solid_depth_convex(const cm_solid *a, const cm_solid *b);

#endif
