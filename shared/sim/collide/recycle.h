// Contact recycling: manifolds kept while two bodies hardly move against each other.
#ifndef CM_SIM_COLLIDE_RECYCLE_H
#define CM_SIM_COLLIDE_RECYCLE_H

#include "shared/sim/state/scratch.h"

#define CM_RECYCLE_MAX 8u // pairs that are looked at together

// Kept manifolds by their rows, and whose they are. Unused places hold anything.
typedef struct cm_recycle_pairs {
    uint32_t count;                                                     // at least 1
    uint32_t row[CM_RECYCLE_MAX], a[CM_RECYCLE_MAX], b[CM_RECYCLE_MAX]; // bodies
    uint32_t point[CM_RECYCLE_MAX];                                     // the first one's row
    float points[CM_RECYCLE_MAX];                                       // how many are kept
    // Of the smaller of two shapes: cm_shape_reach and cm_shape_inner_radius.
    float reach[CM_RECYCLE_MAX], inner_radius[CM_RECYCLE_MAX];
} cm_recycle_pairs;

// Keeps what was found (anchors from the centres of mass).
void cm_recycle_keep(const cm_motion *a, const cm_motion *b, const cm_manifold *manifold,
                     cm_kept_manifold *kept, cm_kept_point *points);

// Bit i is set if the kept manifold of pair i still holds, and clear if its bodies moved too far;
// then the separations, [point][pair], are anything. Else they are those of the present poses (of
// points that are there; the rest are anything), and where both bodies have turned together, what
// is kept has turned with them.
//
// Not for what rolls: it touches at other points of itself all the time, while nothing drifts
// there, and kept points would turn away from the surface.
uint32_t cm_recycle(const cm_motion *motions, cm_kept_manifold *kept, cm_kept_point *points,
                    cm_recycle_pairs *pairs, float dt,
                    float separation[CM_MANIFOLD_MAX][CM_RECYCLE_MAX]);

// A kept manifold that holds, as it is found.
void cm_recycle_take(const cm_kept_manifold *kept, const cm_kept_point *points,
                     const float separation[CM_MANIFOLD_MAX], uint32_t point_count,
                     cm_manifold *manifold);

#endif
