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
    const double *spent = world->stage_s;
    double at = cm_clock(world);
    cm_stage_pairs(world, scratch);
    cm_lap(world, &at, CAROM_STAGE_PAIRS);
    if (solver->manifolds) {
        cm_stage_collide(world, scratch);
        cm_lap(world, &at, CAROM_STAGE_COLLIDE);
        cm_stage_touch(world, scratch);
        cm_lap(world, &at, CAROM_STAGE_SLEEP);
    }
    solver->solve(world, scratch);
    // A solver that does not tell its parts is one part.
    if (spent[CAROM_STAGE_PREPARE] + spent[CAROM_STAGE_SOLVE] + spent[CAROM_STAGE_RELAX] +
            spent[CAROM_STAGE_INTEGRATE] ==
        0.0) {
        cm_lap(world, &at, CAROM_STAGE_SOLVE);
    }
}

CM_FP_BODY static void step(carom_world *world)
{
    cm_scratch scratch;
    cm_scratch_map(world, &scratch);
    memset(world->stage_s, 0, sizeof world->stage_s);
    world->event_count = 0;

    double start = cm_clock(world), at = start;
    cm_stage_wake(world, &scratch);
    cm_lap(world, &at, CAROM_STAGE_SLEEP);
    if (scratch.active_count > 0) {
        advance(world, &scratch);
    }
    at = cm_clock(world);
    cm_joint_break(world, &scratch);
    cm_stage_sleep(world, &scratch);
    cm_lap(world, &at, CAROM_STAGE_SLEEP);
    clear_calls(world);
    world->state.tick++;
    cm_lap(world, &start, CAROM_STAGE_STEP);
}

const double *carom_world_stage_times(const carom_world *world)
{
    return world->stage_s;
}

const char *carom_stage_name(carom_stage stage)
{
    static const char *const names[] = {
#define STAGE_NAME(name, text) text,
        CAROM_STAGES(STAGE_NAME)
#undef STAGE_NAME
    };
    return (uint32_t)stage < CAROM_STAGE_COUNT ? names[stage] : "";
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
