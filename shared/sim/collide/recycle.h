// Contact recycling: manifolds kept while two bodies hardly move against each other.
#ifndef CM_SIM_COLLIDE_RECYCLE_H
#define CM_SIM_COLLIDE_RECYCLE_H

#include "shared/sim/state/scratch.h"

// Writes what was found (anchors from the centres of mass) into the contact's row.
void cm_recycle_keep(const cm_motion *a, const cm_motion *b, const cm_manifold *manifold,
                     cm_contact *contact);

// The manifold that a row holds, carried along to the present poses: all but bodies, friction and
// restitution. False where b has moved too far since; the manifold then holds anything.
bool cm_recycle(const cm_motion *a, const cm_motion *b, const cm_shape *shape_a,
                const cm_shape *shape_b, const cm_contact *contact, float dt,
                cm_manifold *manifold);

#endif
