// One tick of a world: the one verb. Calls each stage once, in order, over plain arrays in scratch;
// stages do not call each other. 60 times a second a room, more while it rewinds.
//
//   wake -> pairs -> collide -> touch -> solve -> break -> sleep -> finish (forces of one tick go,
//   the tick counts)
//
// Where nothing is active, pairs to solve have nothing to do and are left out. A solver that takes
// its substeps apart (cm_solver.rounds) goes through pairs to solve once for each.
//
// Who writes which field of the header and the state: wake, touch and sleep write flags, quiet and
// island of bodies, and stop what falls asleep; pairs and collide tell of contacts that they cut;
// collide writes the contacts (all but touching) and stats.contacts, stats.points; the solver moves
// bodies, writes impulses and touching, stats.touching, the events and event_count, and impulse,
// force and torque of joints, and tells what it could not do; break destroys joints. This file does
// the rest: floating-point environment, applied forces cleared, tick, stage_s of the whole and of
// its stages.
//
// The clock, where the caller gave one, is read between the stages; its times go to the statistics
// and nowhere else.
#include "shared/base/fpenv.h"
#include "shared/sim/collide/collide.h"
#include "shared/sim/joint/joint.h"
#include "shared/sim/solve/hits.h"
#include "shared/sim/solve/solver.h"
#include "shared/sim/state/awake.h"
#include "shared/sim/state/resting.h"
#include "shared/sim/step/shadow.h"
#include "shared/sim/step/sleep.h"

#include <string.h>

static void clear_call(carom_world *world, uint32_t slot)
{
    const cm_body *body = &cm_bodies(world)[slot];
    const carom_vec3 none = {0};
    uint64_t bits[3]; // of applied_force and applied_torque
    memcpy(bits, &body->applied_force, sizeof bits);
    // Most have none: a row that is only read need not be written back.
    if (bits[0] | bits[1] | bits[2]) {
        cm_body *row = cm_body_change(world, slot);
        row->applied_force = row->applied_torque = none;
    }
    if (body->flags & CM_BODY_STIRRED) {
        cm_body_change(world, slot)->flags &= (uint8_t)~CM_BODY_STIRRED;
    }
}

// A body that has calls to clear was changed by them, so is noted. Then contacts are where they
// belong.
static void clear_calls(carom_world *world)
{
    for (uint32_t i = 0; i < cm_body_pages(world); i++) {
        uint64_t bits = cm_pages(world, CM_SECTION_body)[i].noted;
        for (; bits != 0; bits &= bits - 1) {
            clear_call(world, i * CM_PAGE_ROWS + (uint32_t)__builtin_ctzll(bits));
        }
    }
    cm_turns turns = cm_bodies_look_last(world);
    if (turns.rose) { // a joint that broke woke what it held
        cm_contacts_wake(world, false);
    }
    if (turns.fell) {
        cm_contacts_rest(world);
    }
}

// Pairs and, where the solver wants them, manifolds; what is touched wakes.
static void find_contacts(carom_world *world, cm_scratch *scratch, const cm_solver *solver)
{
    const cm_collide_stages *stages = cm_collide_stages_of(world);
    double at = cm_clock(world);
    scratch->pointers = solver->pointers;
    stages->pairs(world, scratch);
    cm_lap(world, &at, CAROM_STAGE_PAIRS);
    if (solver->manifolds) {
        stages->collide(world, scratch);
        cm_lap(world, &at, CAROM_STAGE_COLLIDE);
        if (cm_stage_touch(world, scratch)) {
            stages->woken(world, scratch);
        }
        cm_lap(world, &at, CAROM_STAGE_SLEEP);
    }
}

// The time that a solver told of its parts: one that tells nothing is one part.
static double told(const carom_world *world)
{
    const double *spent = world->stage_s;
    return spent[CAROM_STAGE_PREPARE] + spent[CAROM_STAGE_SOLVE] + spent[CAROM_STAGE_RELAX] +
           spent[CAROM_STAGE_INTEGRATE];
}

// Moves active bodies by one tick.
static void advance(carom_world *world, cm_scratch *scratch)
{
    const cm_solver *solver = cm_solver_of(world->state.solver);
    uint32_t rounds = solver->rounds ? world->state.substeps : 1;
    for (scratch->round = 0; scratch->round < rounds; scratch->round++) {
        find_contacts(world, scratch, solver);
        if (world->hit_speed > 0.0f) {
            cm_hits_begin(world, scratch);
        }
        double before = told(world), at = cm_clock(world);
        solver->solve(world, scratch);
        if (told(world) == before) {
            cm_lap(world, &at, CAROM_STAGE_SOLVE);
        }
    }
}

CM_FP_BODY static void step(carom_world *world)
{
    cm_scratch scratch;
    cm_scratch_map(world, &scratch);
    memset(world->stage_s, 0, sizeof world->stage_s);
    world->event_count = 0;
    world->hit_event_count = 0;
    cm_query_forget(world);

    double start = cm_clock(world), at = start;
    bool any = cm_stage_wake(world, &scratch);
    cm_lap(world, &at, CAROM_STAGE_SLEEP);
    if (scratch.active_count > 0) {
        advance(world, &scratch);
    }
    at = cm_clock(world);
    cm_joint_break(world, &scratch);
    cm_stage_sleep(world, &scratch);
    cm_lap(world, &at, CAROM_STAGE_SLEEP);
    if (any || world->joint_event_count > 0) {
        clear_calls(world);
    }
    cm_query_forget(world); // a game that asked in the middle of the step saw its begin
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
