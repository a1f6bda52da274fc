// The rest of this project may see this of a world beside its API (carom/world.h): where two worlds
// differ, whether a body is still the same, and that scratch does not matter. Everything else under
// shared/sim is private; tests of the simulation alone look further. Not installed.
#ifndef CM_SIM_INSPECT_H
#define CM_SIM_INSPECT_H

#include "carom/world.h"

// A hash of the state's table of fields: images and encoded worlds of another table are refused.
uint64_t cm_layout_hash(void);

// carom_world_hash of the rows as they are, whatever was kept of hashes before.
uint64_t cm_world_hash_anew(const carom_world *world);

// The first field in which two worlds differ, in the order of fields.def.
typedef struct cm_difference {
    uint64_t tick; // of the first world
    const char *section;
    const char *field;
    uint32_t row;     // slot, or row of the contact
    uint32_t element; // of the field
    uint32_t body;    // slot of the body that it belongs to; UINT32_MAX: of none
    char first[32];   // values as text, floats with nine significant digits
    char second[32];
} cm_difference;

// False where the states are equal in every bit of every field.
bool cm_world_difference(const carom_world *first, const carom_world *second, cm_difference *out);

// Two hashes of the live body in a slot: of what it and its shapes are (which is what
// carom_world_encode_body tells, less motion, forces, rest and contacts), and of the slots of its
// shapes. Of this process alone: not portable.
void cm_body_identify(const carom_world *world, uint32_t slot, uint64_t *kind, uint64_t *links);

// The same of a joint slot, alive or not: of what the joint is, without what drives it
// (carom_joint_drives) and what steps left. And of what carom_world_encode_settings tells beside
// the joints.
uint64_t cm_joint_identify(const carom_world *world, uint32_t slot);
uint64_t cm_settings_identify(const carom_world *world);

// Overwrites what lies behind the state with a byte: a step must not notice. Ends the events' life.
void cm_world_spoil_scratch(carom_world *world, uint8_t byte);

#endif
