// Sleeping: bodies at rest leave the step until something wakes them. Private to shared/sim.
//
// An island is what touches or is joined: dynamic bodies, by contacts with points and by joints. A
// body is quiet while its outermost points are slow; an island whose bodies may all sleep and have
// been quiet for half a second falls asleep as one, and wakes as one. What sleeps has no velocity,
// is a wall to what moves, and keeps its contacts and joints with their impulses, so that it wakes
// as it lay down. Every bit of that is state (cm_body: flags, quiet, island).
//
// Who is active in a step: state/awake.h. Pairs, contacts and solving have at least one active
// body; all else is kept as it is.
#ifndef CM_SIM_STEP_SLEEP_H
#define CM_SIM_STEP_SLEEP_H

#include "shared/sim/state/scratch.h"
#include "shared/sim/state/wake.h"

#define CM_SLEEP_SPEED 0.05f // m/s, of a body's outermost points

// Stages -----------------------------------------------------------------------------------------

// Before pairs: which bodies are active; wakes what is joined to them or lay on what was moved.
// False where nothing can move, and nobody called.
bool cm_stage_wake(carom_world *world, cm_scratch *scratch);
// After collide: wakes what is touched by an active body. True where something woke: its kept
// contacts want manifolds then.
bool cm_stage_touch(carom_world *world, cm_scratch *scratch);
// After solve: times at rest, islands, and what falls asleep.
void cm_stage_sleep(carom_world *world, cm_scratch *scratch);
// All that can move counts as active: for whoever looks at a world outside a step.
void cm_activate_all(const carom_world *world, cm_scratch *scratch);

// island.c: in arrays of body_slots entries -----------------------------------------------------

// Islands of the bodies that are dynamic, asleep or not: `parents` from contacts and joints of the
// state. Returns how many there are.
uint32_t cm_islands_count(const carom_world *world, uint32_t *parents);
// Islands of active bodies. Those that must stay awake have CM_ISLAND_WAKE at their root: one whose
// bodies are not all quiet, one that something drives, one that hangs on nothing and falls.
#define CM_ISLAND_WAKE 1u
#define CM_ISLAND_HELD 2u // it touches, or is joined to, what does not fall with it
void cm_islands_build(const carom_world *world, const cm_scratch *scratch, uint32_t *parents,
                      uint8_t *marks);

#endif
