// Contacts at rest: those of which no body is active. Private to shared/sim.
//
// They stand in rows of their own, in the order of all contacts, so that a step goes over the
// others alone: world->state counts those, world->resting these. Which are which follows from the
// bodies: a contact rests where neither of its bodies is active (awake.h). That holds after each
// step and in each save; calls in between may leave it behind until somebody settles it. Worlds of
// solvers whose bodies do not sleep have none. Hash, encoded form and difference see one list.
//
// There are never more than limits.contacts of both together, so either may become the other.
// Typical: 40,000 contacts of 18,000 bodies at rest; a few of them change sides in a tick.
#ifndef CM_SIM_STATE_RESTING_H
#define CM_SIM_STATE_RESTING_H

#include "shared/sim/state/image.h"

// The counts of all contacts and points together.
cm_world_state cm_whole_state(const carom_world *world);

// Looks at the bodies, and brings contacts to where they belong.
void cm_contacts_settle(carom_world *world);
// Of contacts at rest those with an active body (or all of them) to the others, where no step is
// on its way.
void cm_contacts_wake(carom_world *world, bool all);
// Of the others those without an active body to those at rest.
void cm_contacts_rest(carom_world *world);

// Contacts of one list, or old ones: `rows` of the sections that the world has, and counts.
typedef struct cm_contact_rows {
    uint32_t *offset; // of each section
    uint32_t *rows, *points;
} cm_contact_rows;

// Moves for a contact that enters a list, and for one that makes room for it: both in descending
// order.
typedef struct cm_contact_moves {
    void (*enter)(void *context, uint32_t row);
    void (*shift)(void *context, uint32_t to, uint32_t from);
    void *context;
} cm_contact_moves;

// Contacts at rest with an active body into another list, which has room. They stay at rest, too,
// unless they `leave`.
void cm_contacts_enter(carom_world *world, const cm_contact_rows *to, bool leave,
                       const cm_contact_moves *moves);

// All contacts in order, as runs of one list or the other. Begins as {0}; false at the end.
typedef struct cm_contact_run {
    bool resting;
    uint32_t row, rows, point, points; // of its list
    cm_contact_at now, rest;           // where the next run begins
} cm_contact_run;

bool cm_contacts_next(const carom_world *world, cm_contact_run *run);

// A row of a section of one list.
static inline void *cm_contact_row(const carom_world *world, cm_section section, bool resting,
                                   uint32_t row, uint32_t stride)
{
    const uint32_t *offset = resting ? world->offset.resting : world->offset.rows;
    return (char *)(uintptr_t)world + offset[section] + (size_t)row * stride;
}

#endif
