// Contact recycling: manifolds kept while two bodies hardly move against each other.
#ifndef CM_SIM_COLLIDE_RECYCLE_H
#define CM_SIM_COLLIDE_RECYCLE_H

#include "shared/sim/state/scratch.h"

// What was found (anchors from the centres of mass), to be kept.
void cm_recycle_keep(const cm_motion *a, const cm_motion *b, const cm_manifold *manifold,
                     cm_kept_manifold *kept);

// A kept manifold of so many points, carried along to the present poses: normal, anchors and
// separations. `reach`: the smaller shape's (cm_shape_reach). False where b has moved too far
// since; the manifold then holds anything.
//
// Not for what rolls: it touches at other points of itself all the time, while nothing drifts
// there, and a kept normal would turn with it and drive it.
bool cm_recycle(const cm_motion *a, const cm_motion *b, float reach, const cm_kept_manifold *kept,
                uint32_t point_count, float dt, cm_manifold *manifold);

#endif
