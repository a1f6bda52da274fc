// The client's state of its own pointer: the device, and the energy that the contact may give back
// to it.
#ifndef CM_CLIENT_POINTER_H
#define CM_CLIENT_POINTER_H

#include "carom/client.h"
#include "client-sdk/src/touch.h"

typedef struct cm_client_pointer {
    carom_pointer_device device;
    bool set;                   // `pose` was given
    carom_pointer_pose pose;    // newest
    carom_vec3 force, torque;   // rendered since the last wrench was asked for
    double gave;                // J, between the last two poses
    uint64_t felt_us;           // when the last wrench was asked for
    double energy;              // J, that the contact took from the device and did not give back
    double brought;             // J, by the motion of what it touches; below 0: it took more
    uint64_t tick;              // of the last wrench
    carom_body_id touched;      // or the null id
    carom_vec3 linear, angular; // its velocities, at the pointer's centre of mass
    cm_touch touch;
} cm_client_pointer;

// Forgets the room, not the device.
void cm_pointer_reset(cm_client_pointer *pointer);

// The force held while the pointer moved from its last pose to this one took so much from the
// device. `arm`: from the body's origin to its centre of mass, in the body.
void cm_pointer_moved(cm_client_pointer *pointer, const carom_pointer_pose *pose, carom_vec3 arm);

// The bodies that the pointer touches, in `world`, where `body` is the pointer, moved for `seconds`
// in the steps that found this wrench: by that they gave the contact energy, or took it.
void cm_pointer_carried(cm_client_pointer *pointer, const carom_world *world, carom_body_id body,
                        carom_vec3 force, carom_vec3 torque, double seconds);

// Takes from the contact's wrench what corrections put into it (touch.h); true where something is
// taken or added.
bool cm_pointer_correct(cm_client_pointer *pointer, carom_vec3 *force, carom_vec3 *torque,
                        uint64_t now_us);

// J that the contact may give the device.
double cm_pointer_budget(const cm_client_pointer *pointer);

// Takes from a wrench what the count of energy does not allow; true where something was taken. The
// wrench is what is held from now on.
bool cm_pointer_hold(cm_client_pointer *pointer, carom_vec3 *force, carom_vec3 *torque);

#endif
