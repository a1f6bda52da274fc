// One tick of a world: the one verb. Calls each stage once, in order, over plain arrays in scratch;
// stages do not call each other. 60 times a second a room, more while it rewinds.
//
//   pairs -> collide -> solve -> break -> finish (forces of one tick go, the tick counts)
//
// The clock, where the caller gave one, is read between the stages; its times go to the statistics
// and nowhere else.
#include "shared/sim/fpenv.h"
#include "shared/sim/joint/joint.h"
#include "shared/sim/shadow.h"
#include "shared/sim/solve/solver.h"

#include <string.h>

static double now(const carom_world *world)
{
    return world->clock ? world->clock(world->clock_context) : 0.0;
}

static void clear_applied_forces(carom_world *world)
{
    cm_body *bodies = cm_bodies(world);
    for (uint32_t i = 0; i < world->state.body_slots; i++) {
        bodies[i].applied_force = cm_vec(0.0f, 0.0f, 0.0f);
        bodies[i].applied_torque = cm_vec(0.0f, 0.0f, 0.0f);
    }
}

CM_FP_BODY static void step(carom_world *world)
{
    const cm_solver *solver = cm_solver_of(world->state.solver);
    cm_scratch scratch;
    cm_scratch_map(world, &scratch);
    carom_step_profile *profile = &world->stats.profile;
    memset(profile, 0, sizeof *profile);
    world->event_count = 0;

    double start = now(world);
    cm_stage_pairs(world, &scratch);
    double paired = now(world);
    if (solver->manifolds) {
        cm_stage_collide(world, &scratch);
    }
    double collided = now(world);
    solver->solve(world, &scratch);
    cm_joint_break(world, &scratch);
    double solved = now(world);
    clear_applied_forces(world);
    world->state.tick++;

    profile->pairs = paired - start;
    profile->collide = collided - paired;
    // A solver that does not tell its parts is one part.
    if (profile->prepare + profile->solve + profile->relax + profile->integrate == 0.0) {
        profile->solve = solved - collided;
    }
    profile->total = now(world) - start;
}

void carom_world_step(carom_world *world)
{
    cm_fpenv saved = cm_fpenv_enter();
#if defined(CM_CHECK_STEPS)
    carom_world *shadow = cm_shadow_open(world);
    if (shadow != NULL) {
        step(shadow);
    }
    step(world);
    cm_shadow_close(shadow, world);
#else
    step(world);
#endif
    cm_fpenv_leave(saved);
}
