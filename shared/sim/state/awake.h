// Lists active bodies, in time that grows with the active bodies alone. Private to shared/sim.
//
// A body is active where it is dynamic and awake, or where it is not dynamic and moves, was changed
// by a call since the last step, or is a pointer that feels what cannot move (cm_solver.pointers).
// That follows from its rows alone, so it is neither state nor scratch: kept from step to step, and
// right at any time for every body that is not noted (cm_page.noted).
//
// Whoever may change it notes the body: cm_body_change does, and whoever writes the motion of a
// body that is not active. A restore notes the rows that it changes. A step looks at noted bodies
// only; what is not dynamic and moves stays noted. What is noted too often costs time and changes
// nothing.
//
// Typical: of 20,000 bodies 19,999 asleep; 313 pages.
#ifndef CM_SIM_STATE_AWAKE_H
#define CM_SIM_STATE_AWAKE_H

#include "shared/sim/state/image.h"

// A byte a body slot.
static inline uint8_t *cm_active(const carom_world *world)
{
    return (uint8_t *)(uintptr_t)world + world->offset.active;
}

static inline void cm_body_note(carom_world *world, uint32_t slot)
{
    cm_row_note(world, CM_SECTION_body, slot);
}

// Every slot; and what is known of slots from then on is nothing.
void cm_bodies_forget(carom_world *world);

static inline uint32_t cm_body_pages(const carom_world *world)
{
    return (world->known.slots + CM_PAGE_ROWS - 1) / CM_PAGE_ROWS;
}

// Told what contacts do to it.
static inline bool cm_body_reports(const cm_body *body)
{
    return body->flags & CM_BODY_REPORT || body->pointer != CAROM_NO_PLAYER;
}

// The findings of a look at bodies beside what was known.
typedef struct cm_turns {
    bool any;        // somebody was noted
    bool rose, fell; // somebody is active now, or is not any more
} cm_turns;

// Looks at the noted bodies: who is active, and how many sleep.
cm_turns cm_bodies_look(carom_world *world);
// Likewise, after a step: what is noted from then on changed later.
cm_turns cm_bodies_look_last(carom_world *world);

#endif
