// Plain ball joints of the soft-step solver, on their way into the lanes and out of them: a 3x3
// block each, on its own path, because chains and ragdolls are made of them.
//
// Anchors turn with their bodies: arms, gap and effective mass are made anew for each substep, so
// that what spins fast is still pushed where it is held. Typical: 2,000 joints, three passes a
// substep.
#include "shared/sim/solve/soft_joint.h"

#include <stddef.h>
#include <string.h>

static inline void put(cm_soft_lanes *to, uint32_t lane, carom_vec3 v)
{
    to[0][lane] = v.x;
    to[1][lane] = v.y;
    to[2][lane] = v.z;
}

static inline carom_vec3 get(const cm_soft_lanes *from, uint32_t lane)
{
    return cm_vec(from[0][lane], from[1][lane], from[2][lane]);
}

void cm_soft_pack_balls(const carom_world *world, cm_soft *soft)
{
    const cm_joint *joints = cm_joints(world);
    for (uint32_t i = 0; i < soft->joints->ball_span.end; i++) {
        cm_soft_balls *g = &soft->joints->balls[i];
        memset(&g->m, 0, sizeof *g - offsetof(cm_soft_balls, m));
        for (uint32_t lane = 0; lane < CM_SOFT_LANES; lane++) { // also of lanes that are not used
            g->pose_a[lane] = g->pose_b[lane] = joints[g->who.slot[0]].body_b;
        }
        for (uint32_t lane = 0; lane < CM_SOFT_LANES && g->who.slot[lane] != CM_NONE; lane++) {
            const cm_joint *joint = &joints[g->who.slot[lane]];
            bool held = joint->body_a != CM_NONE;
            g->pose_a[lane] = held ? joint->body_a : joint->body_b;
            g->pose_b[lane] = joint->body_b;
            g->held[lane] = held ? 1.0f : 0.0f;
            put(g->ra0, lane, joint->anchor_a);
            put(g->rb0, lane, joint->anchor_b);
            put(g->impulse, lane, cm_vec(joint->impulse[0], joint->impulse[1], joint->impulse[2]));
        }
    }
    soft->passes->run[CM_SOFT_BALL_PREPARE](soft, 0, soft->joints->ball_span.end);
}

void cm_soft_store_balls(carom_world *world, const cm_soft *soft)
{
    float rate = 1.0f / soft->dt; // the impulses of a tick add up to its mean force
    for (uint32_t i = 0; i < soft->joints->ball_span.end; i++) {
        const cm_soft_balls *g = &soft->joints->balls[i];
        for (uint32_t lane = 0; lane < CM_SOFT_LANES && g->who.slot[lane] != CM_NONE; lane++) {
            cm_joint *joint = &cm_joints(world)[g->who.slot[lane]];
            for (uint32_t k = 0; k < 3; k++) {
                joint->impulse[k] = cm_soft_stored(g->impulse[k][lane]);
            }
            joint->force = cm_soft_stored(rate * cm_length(get(g->total, lane)));
            joint->torque = 0.0f;
        }
    }
}
