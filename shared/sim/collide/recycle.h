// Contact recycling: manifolds kept while two bodies hardly move against each other.
#ifndef CM_SIM_COLLIDE_RECYCLE_H
#define CM_SIM_COLLIDE_RECYCLE_H

#include "shared/sim/state/scratch.h"

// Of the smaller of two shapes: cm_shape_reach and cm_shape_inner_radius.
typedef struct cm_recycle_size {
    float reach, inner_radius;
} cm_recycle_size;

// What was found (anchors from the centres of mass), to be kept.
void cm_recycle_keep(const cm_motion *a, const cm_motion *b, const cm_manifold *manifold,
                     cm_kept_manifold *kept);

// Whether a kept manifold of so many points still holds: not where the bodies have moved too far
// since; then the separations are anything. Else they are those of the present poses, and where
// both bodies have turned together, what is kept has turned with them.
//
// Not for what rolls: it touches at other points of itself all the time, while nothing drifts
// there, and kept points would turn away from the surface.
bool cm_recycle(const cm_motion *a, const cm_motion *b, const cm_recycle_size *size,
                uint32_t point_count, float dt, cm_kept_manifold *kept,
                float separation[CM_MANIFOLD_MAX]);

// A kept manifold that holds, as it is found.
void cm_recycle_take(const cm_kept_manifold *kept, const float separation[CM_MANIFOLD_MAX],
                     uint32_t point_count, cm_manifold *manifold);

#endif
