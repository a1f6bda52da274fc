// Marks bodies as woken or changed, in the rows alone: for calls that change a world between
// two steps. What a step makes of the marks is step/sleep.h. Private to shared/sim.
#ifndef CM_SIM_STATE_WAKE_H
#define CM_SIM_STATE_WAKE_H

#include "shared/sim/state/image.h"

#define CM_SLEEP_TIME 0.5f // s at rest, after which a body may fall asleep

static inline bool cm_body_is_asleep(const cm_body *body)
{
    return (body->flags & CM_BODY_ASLEEP) != 0;
}

// Sets the time that it has been at rest, s.
void cm_body_set_quiet(carom_world *world, uint32_t slot, float quiet);
// One row is awake from now on, whatever sleeps with it.
void cm_wake_row(carom_world *world, uint32_t slot);
// The body has been changed: its island wakes, and its time at rest starts anew.
void cm_wake_body(carom_world *world, uint32_t slot);
// A body that is not dynamic came, or was moved or changed: the next step looks for what it meets,
// and what lay on it wakes. In O(1): a caller may do it to every body in every tick.
void cm_stir_body(carom_world *world, uint32_t slot);
// The body is about to go: what touches it or is joined to it wakes.
void cm_wake_neighbours(carom_world *world, uint32_t slot);
void cm_wake_all(carom_world *world);

#endif
