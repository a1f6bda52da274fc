// Bodies and shapes inside the image: slots, lists and removal, for the API and for decode. Private
// to shared/sim.
//
// A slot is free where its row is not alive; the lowest free one is taken. A slot above body_slots
// (shape_slots) holds anything and counts as generation 0. A body's shapes form a list of ascending
// slots, body.first_shape -> shape.next -> … -> CM_NONE.
#ifndef CM_SIM_BODY_BODY_H
#define CM_SIM_BODY_BODY_H

#include "shared/base/vec.h"
#include "shared/sim/state/image.h"

// The row of a live body, or NULL for an id that is null, out of range or stale.
cm_body *cm_body_find(const carom_world *world, carom_body_id id);

// A shape's row from its definition, checked, normalised, without ids. Padding and unused sizes are
// zero.
carom_result cm_shape_from_def(const carom_shape_def *def, cm_shape *shape);
void cm_shape_to_def(const cm_shape *shape, carom_shape_def *def);

// The lowest free slots from `from` on: CM_NONE where the limit is reached.
uint32_t cm_body_free_slot(const carom_world *world);
uint32_t cm_shape_free_slot(const carom_world *world, uint32_t from);

// Makes rows up to and with `slot` exist: new ones are dead and of generation 0.
void cm_body_grow(carom_world *world, uint32_t slot);
void cm_shape_grow(carom_world *world, uint32_t slot);

// Destroys what lives in a slot: the body, its shapes, their contacts and its joints. The
// generations stay.
void cm_body_remove(carom_world *world, uint32_t slot);
// The same but for its joints: for a body that comes back at once.
void cm_body_clear(carom_world *world, uint32_t slot);

// Between the body's origin, of which the API speaks, and the centre of mass, which moves.
static inline carom_vec3 cm_origin_to_center(const cm_body *body, carom_vec3 origin,
                                             carom_quat orientation)
{
    return cm_add(origin, cm_rotate(orientation, body->center_of_mass));
}

static inline carom_vec3 cm_center_to_origin(const cm_body *body, const cm_motion *motion)
{
    return cm_sub(motion->position, cm_rotate(motion->orientation, body->center_of_mass));
}

#endif
