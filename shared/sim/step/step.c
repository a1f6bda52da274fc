// One tick of a world: the one verb. Calls each stage once, in order, over plain arrays in scratch;
// stages do not call each other. 60 times a second a room, more while it rewinds.
//
//   wake -> pairs -> collide -> touch -> solve -> break -> sleep -> finish (forces of one tick go,
//   the tick counts)
//
// Where nothing is active, pairs to solve have nothing to do and are left out.
//
// The clock, where the caller gave one, is read between the stages; its times go to the statistics
// and nowhere else.
#include "shared/base/fpenv.h"
#include "shared/sim/joint/joint.h"
#include "shared/sim/step/shadow.h"
#include "shared/sim/step/sleep.h"
#include "shared/sim/solve/solver.h"

#include <string.h>

static double now(const carom_world *world)
{
    return world->clock ? world->clock(world->clock_context) : 0.0;
}

static void clear_calls(carom_world *world)
{
    cm_body *bodies = cm_bodies(world);
    for (uint32_t i = 0; i < world->state.body_slots; i++) {
        const carom_vec3 none[2] = {{0}, {0}};
        // Most have none: a row that is only read need not be written back.
        if (memcmp(&bodies[i].applied_force, none, sizeof none) != 0) {
            bodies[i].applied_force = bodies[i].applied_torque = none[0];
        }
        if (bodies[i].flags & CM_BODY_STIRRED) {
            bodies[i].flags &= (uint8_t)~CM_BODY_STIRRED;
        }
    }
}

// What is active, by one tick.
static void advance(carom_world *world, cm_scratch *scratch)
{
    const cm_solver *solver = cm_solver_of(world->state.solver);
    carom_step_profile *profile = &world->stats.profile;
    double start = now(world);
    cm_stage_pairs(world, scratch);
    double paired = now(world), collided = paired;
    if (solver->manifolds) {
        cm_stage_collide(world, scratch);
        collided = now(world);
        cm_stage_touch(world, scratch);
    }
    double touched = now(world);
    solver->solve(world, scratch);
    profile->pairs = paired - start;
    profile->collide = collided - paired;
    profile->sleep += touched - collided;
    // A solver that does not tell its parts is one part.
    if (profile->prepare + profile->solve + profile->relax + profile->integrate == 0.0) {
        profile->solve = now(world) - touched;
    }
}

CM_FP_BODY static void step(carom_world *world)
{
    cm_scratch scratch;
    cm_scratch_map(world, &scratch);
    carom_step_profile *profile = &world->stats.profile;
    memset(profile, 0, sizeof *profile);
    world->event_count = 0;

    double start = now(world);
    cm_stage_wake(world, &scratch);
    profile->sleep = now(world) - start;
    if (scratch.active_count > 0) {
        advance(world, &scratch);
    }
    double solved = now(world);
    cm_joint_break(world, &scratch);
    cm_stage_sleep(world, &scratch);
    profile->sleep += now(world) - solved;
    clear_calls(world);
    world->state.tick++;
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
