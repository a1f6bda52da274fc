// Locked axes: what a body cannot do, and how its inertia answers then. Private to shared/sim.
#ifndef CM_SIM_BODY_LOCKS_H
#define CM_SIM_BODY_LOCKS_H

#include "shared/base/vec.h"
#include "shared/sim/state/image.h"

#define CM_LOCKS_ALL    63u
#define CM_LOCKS_LINEAR 7u
#define CM_LOCKS_PLANAR (CAROM_LOCK_Z | CAROM_LOCK_RX | CAROM_LOCK_RY)

typedef struct cm_sym3 {
    float xx, xy, xz, yy, yz, zz;
} cm_sym3;

// CAROM_LOCK_… of a dynamic body: its own and the planar world's. Of others 0.
static inline uint32_t cm_locks_of(const carom_world *world, const cm_body *body)
{
    if (body->type != CAROM_BODY_DYNAMIC) {
        return 0;
    }
    return body->locks | (world->state.flags & CM_WORLD_PLANAR ? CM_LOCKS_PLANAR : 0u);
}

// The vector without its locked axes: pass locks for linear ones, locks >> 3 for turns.
static inline carom_vec3 cm_unlocked(uint32_t locks, carom_vec3 v)
{
    return cm_vec(locks & 1u ? 0.0f : v.x, locks & 2u ? 0.0f : v.y, locks & 4u ? 0.0f : v.z);
}

// Inverse of the inertia that is left to turns about free axes: rows and columns of locked ones are
// taken out of the inertia, not of its inverse, since whatever locks an axis also bears the torque
// that turning about the others puts on it. `axes`: principal, in world axes.
cm_sym3 cm_locked_inverse(const cm_mat3 *axes, carom_vec3 inertia, uint32_t locks);

// R diag(d) R^T
cm_sym3 cm_turned_diagonal(const cm_mat3 *r, carom_vec3 d);

static inline carom_vec3 cm_sym3_mul(const cm_sym3 *m, carom_vec3 v)
{
    return cm_vec(m->xx * v.x + m->xy * v.y + m->xz * v.z, m->xy * v.x + m->yy * v.y + m->yz * v.z,
                  m->xz * v.x + m->yz * v.y + m->zz * v.z);
}

#endif
