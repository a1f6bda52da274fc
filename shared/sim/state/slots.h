// Slots of the image: rows found by id, taken and freed, and everything that names a freed row
// freed with it. For the API and for decode. Private to shared/sim.
//
// A slot is free where its row is not alive; the lowest free one is taken. A slot above body_slots
// (shape_slots, joint_slots) holds anything and counts as generation 0; one whose generation is
// spent is never used again, since its ids would repeat. A body's shapes form a list of ascending
// slots, body.first_shape -> shape.next -> … -> CM_NONE.
#ifndef CM_SIM_STATE_SLOTS_H
#define CM_SIM_STATE_SLOTS_H

#include "shared/sim/state/image.h"

// The row of what lives, or NULL for an id that is null, out of range or stale.
const cm_body *cm_body_find(const carom_world *world, carom_body_id id);
const cm_shape *cm_shape_find(const carom_world *world, carom_shape_id id);
cm_joint *cm_joint_find(const carom_world *world, carom_joint_id id);
// The id of what is in a slot; the null id for CM_NONE.
carom_body_id cm_body_id(const carom_world *world, uint32_t slot);
// The world's hull of this id, or NULL.
const carom_hull *cm_hull_find(const carom_world *world, uint64_t id);

// The lowest free slots, of shapes from `from` on: CM_NONE where the limit is reached. They begin
// where the last search ended (carom_world.taken): n bodies are made in n steps.
uint32_t cm_body_free_slot(carom_world *world);
uint32_t cm_shape_free_slot(carom_world *world, uint32_t from);
uint32_t cm_joint_free_slot(carom_world *world);
// To be called after writing whole arrays of rows, taken and free ones.
void cm_slots_forget(carom_world *world);

// Makes rows up to and with `slot` exist: new ones are dead and of generation 0.
void cm_body_grow(carom_world *world, uint32_t slot);
void cm_shape_grow(carom_world *world, uint32_t slot);

// Destroys what lives in a slot: the body, its shapes, their contacts, its joints and its rules.
// The generations stay.
void cm_body_remove(carom_world *world, uint32_t slot);
// The same but for its joints and rules: for a body that comes back at once.
void cm_body_clear(carom_world *world, uint32_t slot);
// The bodies that a joint holds wake.
void cm_joint_wake_ends(carom_world *world, const cm_joint *joint);
void cm_joint_remove(carom_world *world, uint32_t slot);

#endif
