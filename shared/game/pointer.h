// Pointers: kinematic bodies whose pose comes from a player's input (carom/game.h).
//
// In a scene with a pointer every player's input begins with 52 bytes, and the module's own bytes
// follow. This holds for all players of the room, with a pointer of their own or not. They are 13
// little-endian binary32: position of the body's origin (m), orientation (x, y, z, w), linear
// velocity of the centre of mass (m/s), angular velocity (rad/s).
//
//   OFFSET SIZE
//        0   12  position
//       12   16  orientation, within 1e-3 of unit length
//       28   12  linear velocity
//       40   12  angular velocity
//
// All zeros, the input of a player before its first one, is no pose: the body stays. The pose is
// set before each step and held until the next input, so a step moves on from it by its velocity.
// An invalid pose is refused on receipt, with a reason and a counter; one in a hostile recording
// leaves the body's pose as it is.
#ifndef CM_GAME_POINTER_H
#define CM_GAME_POINTER_H

#include "carom/game.h"
#include "shared/scene/scene.h"

typedef enum cm_pointer_reason {
    CM_POINTER_OK = 0,
    CM_POINTER_NONE, // all zeros: no pose yet
    CM_POINTER_NOT_FINITE,
    CM_POINTER_NOT_UNIT, // the quaternion
    CM_POINTER_RANGE,    // beyond the world's limits of places and velocities
    CM_POINTER_REASONS,
} cm_pointer_reason;

const char *cm_pointer_reason_text(cm_pointer_reason reason);

// Fills the pose where the answer is CM_POINTER_OK.
cm_pointer_reason cm_pointer_read(const uint8_t *bytes, carom_pointer_pose *pose);
cm_pointer_reason cm_pointer_check(const carom_pointer_pose *pose);
void cm_pointer_write(const carom_pointer_pose *pose, uint8_t *bytes);

// Moves the pose in these bytes on by its velocities, which end within 0.1 s: a hand that is
// expected further on than it goes pushes what the other one did not. What is no pose stays as it
// is.
#define CM_POINTER_STOPS_S 0.1f
void cm_pointer_move(uint8_t *bytes, float seconds);

// Bytes before the module's own: CAROM_POINTER_BYTES or 0.
uint32_t cm_scene_pointer_bytes(const cm_scene *scene);

// The pointer of a player: the lowest slot, or the null id.
carom_body_id cm_pointer_body(const carom_world *world, uint32_t player);
// Puts a pose, or only stops the body (pose NULL: its player has left).
void cm_pointer_put(carom_world *world, carom_body_id body, const carom_pointer_pose *pose);

#endif
