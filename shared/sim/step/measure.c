// Counts shape pairs that touch, and finds how deep, anew at the present poses with no margin: what
// the solver believes does not enter; sensors do not count. Overwrites pairs, transforms and bounds
// in scratch, not the events.
#include "shared/base/fpenv.h"
#include "shared/sim/collide/broadphase.h"
#include "shared/sim/collide/collide.h"
#include "shared/sim/step/sleep.h"

CM_FP_BODY static void measure(const carom_world *world, uint32_t *touching,
                               double *max_penetration)
{
    cm_scratch scratch;
    cm_scratch_map(world, &scratch);
    cm_activate_all(world, &scratch);
    cm_find_pairs(world, &scratch, 0.0f, 0.0f);
    const cm_shape *shapes = cm_shapes(world);
    uint32_t count = 0;
    float lowest = 0.0f;
    for (uint32_t i = 0; i < scratch.pair_count; i++) {
        uint32_t a = scratch.pairs[i].shape_a, b = scratch.pairs[i].shape_b;
        if (shapes[a].sensor || shapes[b].sensor) {
            continue;
        }
        cm_manifold manifold;
        uint32_t points = cm_collide_at(&shapes[a], &scratch.transforms[a], &shapes[b],
                                        &scratch.transforms[b], 0.0f, &manifold);
        for (uint32_t k = 0; k < points; k++) {
            lowest = cm_min(lowest, manifold.points[k].separation);
        }
        count += points > 0;
    }
    *touching = count;
    *max_penetration = 0.0 - (double)lowest; // not -0
}

void carom_world_measure_contacts(const carom_world *world, uint32_t *touching,
                                  double *max_penetration)
{
    uint32_t count;
    double depth;
    cm_fpenv saved = cm_fpenv_enter();
    cm_query_forget((carom_world *)(uintptr_t)world); // pairs are found where its tree lies
    measure(world, &count, &depth);
    cm_fpenv_leave(saved);
    if (touching != NULL) {
        *touching = count;
    }
    if (max_penetration != NULL) {
        *max_penetration = depth;
    }
}
