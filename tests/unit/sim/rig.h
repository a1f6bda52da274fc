// Worlds for tests of the simulation: memory, the usual bodies, and scratch filled with rubbish
// before every step, so that whatever remembers something there is found out.
#ifndef CM_TESTS_UNIT_SIM_RIG_H
#define CM_TESTS_UNIT_SIM_RIG_H

#include "carom/world.h"
#include "shared/base/vec.h"

typedef struct cm_rig {
    carom_world *world;
    void *memory; // of carom_world_size, `shift` bytes into the block
    void *block;
    carom_world_def def;
    uint32_t rubbish; // what scratch is filled with: of two worlds, give them different ones
} cm_rig;

// Room for `bodies` bodies and shapes and eight times as many contacts.
carom_world_def cm_rig_def(uint32_t bodies);
// shift: cache lines by which the world lies off the block's start.
cm_rig cm_rig_open(const carom_world_def *def, uint32_t shift);
void cm_rig_close(cm_rig *rig);

// Fills what a step may not look at: scratch, and the rows that contacts change places with.
void cm_rig_spoil(carom_world *world, uint8_t rubbish);

// Fills scratch with a byte that follows from `rubbish` and the tick, then steps. Two worlds with
// different ones below 8 never see the same byte in the same tick.
void cm_rig_step(cm_rig *rig, uint32_t ticks);

carom_body_id cm_rig_body(cm_rig *rig, const carom_body_def *body, const carom_shape_def *shape);
carom_body_id cm_rig_plane(cm_rig *rig);
carom_body_id cm_rig_box(cm_rig *rig, carom_body_type type, carom_vec3 position, carom_vec3 half);
carom_body_id cm_rig_sphere(cm_rig *rig, carom_vec3 position, float radius);
carom_body_id cm_rig_capsule(cm_rig *rig, carom_vec3 position, carom_quat orientation, float radius,
                             float half_height);
carom_body_state cm_rig_get(const cm_rig *rig, carom_body_id body);

// Turn by an angle about the z axis; libm is fine in a test's set-up, but not for golden scenes.
carom_quat cm_rig_turn_z(float radians);

#endif
