// A placed shape in double precision, and the exact penetration depth of two of them, which
// measures a simulation's quality. Independent of the solver: it shares no code with shared/sim's
// narrow phase, only the definition of the shapes.
//
// depth(a, b) is the least distance by which one must be moved to separate them. For separated
// shapes it is minus the distance; for two boxes minus the widest gap along a separating axis,
// which is the distance unless two corners or a corner and an edge face each other, and never more.
//
// A new kind of convex shape adds a cm_solid_kind and its support (solid_convex.h).
#ifndef CM_SERVER_TOOLS_BENCH_SOLID_H
#define CM_SERVER_TOOLS_BENCH_SOLID_H

#include "carom/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cm_solid_kind {
    CM_SOLID_ROUND, // a segment with a radius: sphere, capsule
    CM_SOLID_BOX,
    CM_SOLID_CYLINDER,
    CM_SOLID_HULL,
    CM_SOLID_PLANE, // a half-space
} cm_solid_kind;

typedef struct cm_solid {
    cm_solid_kind kind;
    uint32_t body; // solids of one body do not meet
    bool movable;  // two solids that cannot move do not meet
    uint32_t category, mask;
    int32_t group;
    double center[3];  // m
    double axis[3][3]; // unit vectors: the solid's x, y, z in world axes
    double half[3];    // box: half extents; round, cylinder: radius, half along y, 0
    double normal[3];  // plane: outward, world axes; solid where normal . x < offset
    double offset;
    const carom_hull *hull;
} cm_solid;

// Puts a shape of a body at a pose: position of the body's origin and its orientation (x, y, z, w,
// of any length but zero). False for a kind of shape that is not known here.
bool cm_solid_place(cm_solid *solid, const carom_shape_def *shape, const double position[3],
                    const double orientation[4]);

// Rows of the rotation matrix that a quaternion of any length but zero stands for.
void cm_solid_rotation(const double orientation[4], double rows[3][3]);

double cm_solid_depth(const cm_solid *a, const cm_solid *b);

// The solid's bounds; infinite for a plane.
void cm_solid_bounds(const cm_solid *solid, double lower[3], double upper[3]);

// By filter, body and movability: may the two meet at all?
bool cm_solid_may_meet(const cm_solid *a, const cm_solid *b);

#ifdef __cplusplus
}
#endif
#endif
