// Corrections under the own pointer, and what of them reaches the hand.
//
// A correction moves what the pointer touches, so that the contact's force jumps and its stored
// energy with it. For a spring both follow from the force: energy goes by its square. Two shares
// are kept:
//
//   foreign   of the energy stored in the contact: what corrections put in, not the hand. It is
//             never given to the hand: while the contact gives energy back, that share of the force
//             is left out. What the hand presses in later makes it smaller; where the contact ends,
//             it ends.
//   less      of the force: left out just now. A correction sets it so that the force goes on where
//             it was, it fades within some 20 ms, and is `foreign` at the least while energy is
//             given back. Below 0 after a correction that took force away.
//
// Typical: no correction at all by a hand alone in its room; 60 views a second, of which some ten
// correct the contact, where another hand moves what this one touches.
#ifndef CM_CLIENT_TOUCH_H
#define CM_CLIENT_TOUCH_H

#include "carom/world.h"

typedef struct cm_touch {
    bool noted;             // of the own pointer before the correction under way:
    double before, kinetic; // the contact's size, N^2; of what it touches, J
    float reach, stiffness; // of the pointer, m; of its contact at the most, N/m
    uint64_t corrections;   // that changed a contact
    double foreign, less;
    double size; // of the contact in the last sample
} cm_touch;

// The same contact, in the tick that is corrected: before, and as the correction makes it. `touch`
// may be NULL; a body that is no pointer is nothing.
void cm_touch_before(cm_touch *touch, const carom_world *world, carom_body_id body);
void cm_touch_after(cm_touch *touch, const carom_world *world, carom_body_id body);
// The share of the contact's wrench that is rendered in a sample, `seconds` after the last one.
// `gives`: by the hand's motion the contact gives it energy.
double cm_touch_share(cm_touch *touch, carom_vec3 force, carom_vec3 torque, bool gives,
                      double seconds);

#endif
