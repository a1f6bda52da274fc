// Builds a hull from points. Private to shared/sim. The hull itself: state/hull.h.
#ifndef CM_SIM_GEOMETRY_HULL_H
#define CM_SIM_GEOMETRY_HULL_H

#include "shared/sim/state/hull.h"

// The workspace of building, and its result, to be packed: positions in binary64, masks of faces.
typedef struct cm_hull_build {
    uint32_t vertex_count;
    double vertices[CM_HULL_VERTICES][3];
    uint32_t face_count;
    uint8_t face_size[CM_HULL_FACES];
    uint8_t faces[CM_HULL_FACES][CM_HULL_VERTICES];
    const char *refusal;
} cm_hull_build;

// hull_points.c: the extreme points and the faces that they span. False with `refusal` set; result
// says which kind.
carom_result cm_hull_from_points(const carom_vec3 *points, uint32_t count, cm_hull_build *build);

// hull_mass.c: fills volume, centroid and tensor from vertices and loops.
void cm_hull_integrate(carom_hull *hull);

#endif
