// Depths of cylinders and hulls against anything, for solid.c's table.
#ifndef CM_SERVER_TOOLS_BENCH_SOLID_CONVEX_H
#define CM_SERVER_TOOLS_BENCH_SOLID_CONVEX_H

#include "server/tools/bench/solid.h"

// Largest n . x over the solid, in world axes; not for planes.
double cm_solid_support(const cm_solid *solid, const double n[3]);

double cm_solid_depth_convex(const cm_solid *a, const cm_solid *b);

#endif
