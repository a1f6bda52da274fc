// Plain ball joints of the soft-step solver, on their way into the lanes and out of them: a 3x3
// block each, on its own path, because chains and ragdolls are made of them.
//
// Anchors turn with their bodies: arms, gap and effective mass are made anew for each substep, so
// that what spins fast is still pushed where it is held. Typical: 2,000 joints, three passes a
// substep.
#include "shared/sim/solve/soft/joint.h"

#include <string.h>

void cm_soft_pack_balls(const carom_world *world, cm_soft *soft)
{
    const cm_joint *joints = cm_joints(world);
    cm_soft_balls *path = NULL;
    for (uint32_t i = 0; i < soft->joints->ball_span.end; i++) {
        cm_soft_balls *g = &soft->joints->balls[i];
        memset(&g->ends, 0, sizeof g->ends);
        memset(g->impulse, 0, sizeof g->impulse + sizeof g->total);
        g->made = 0;
        path = g->who.steps > 0 ? g : path;
        g->turns = 0;
        path->turns = path->turns || cm_soft_members_turn(soft, &g->who);
        for (uint32_t lane = 0; lane < CM_SOFT_LANES && g->who.slot[lane] != CM_NONE; lane++) {
            const cm_joint *joint = &joints[g->who.slot[lane]];
            bool flipped = g->who.flipped[lane];
            cm_soft_pack_ends(joint, flipped, lane, &g->ends);
            for (uint32_t k = 0; k < 3; k++) {
                g->impulse[k][lane] = flipped ? -joint->impulse[k] : joint->impulse[k];
            }
        }
    }
    soft->passes->run[CM_SOFT_BALL_PREPARE](soft, 0, soft->joints->ball_span.end);
}

// The impulses and forces that a group's joints keep, in loops over lanes that become vectors.
static void finish_group(const cm_soft_balls *g, float rate, cm_soft_lanes impulse[3],
                         cm_soft_lanes force)
{
    for (uint32_t lane = 0; lane < CM_SOFT_LANES; lane++) {
        float x = g->total[0][lane], y = g->total[1][lane], z = g->total[2][lane];
        force[lane] = cm_soft_stored(rate * cm_sqrt(x * x + y * y + z * z));
    }
    for (uint32_t k = 0; k < 3; k++) {
        for (uint32_t lane = 0; lane < CM_SOFT_LANES; lane++) {
            float sign = g->who.flipped[lane] ? -1.0f : 1.0f;
            impulse[k][lane] = sign * cm_soft_stored(g->impulse[k][lane]);
        }
    }
}

void cm_soft_store_balls(carom_world *world, const cm_soft *soft)
{
    float rate = 1.0f / soft->dt; // the impulses of a tick add up to its mean force
    for (uint32_t i = 0; i < soft->joints->ball_span.end; i++) {
        const cm_soft_balls *g = &soft->joints->balls[i];
        cm_soft_lanes impulse[3], force;
        finish_group(g, rate, impulse, force);
        for (uint32_t lane = 0; lane < CM_SOFT_LANES && g->who.slot[lane] != CM_NONE; lane++) {
            cm_joint *joint = &cm_joints(world)[g->who.slot[lane]];
            for (uint32_t k = 0; k < 3; k++) {
                joint->impulse[k] = impulse[k][lane];
            }
            joint->force = force[lane];
            joint->torque = 0.0f;
        }
    }
}
