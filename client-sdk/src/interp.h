// Interpolation: the last few values of each body, and its pose at a past moment.
//
// A body that was put elsewhere is not drawn on the way: it stays, and then is there.
//
// Bodies at rest or unchanged are left out of views, so a value holds until the next one where the
// body was at rest; else the way between two values is interpolated.
#ifndef CM_CLIENT_INTERP_H
#define CM_CLIENT_INTERP_H

#include "carom/client.h"
#include "shared/view/view.h"

#define CM_INTERP_SAMPLES 6u
#define CM_SNAP_M         2.0f // what is farther is a jump, unless the client says otherwise

typedef struct cm_interp_sample {
    uint32_t tick;
    cm_view_pose pose;
} cm_interp_sample;

typedef struct cm_interp_body {
    uint32_t generation; // of the body that the samples are of
    uint32_t count;
    cm_interp_sample samples[CM_INTERP_SAMPLES]; // ascending ticks
} cm_interp_body;

typedef struct cm_interp {
    const carom_allocator *allocator;
    uint32_t slots;
    cm_interp_body *bodies;
    float snap_m;
} cm_interp;

// Farther than a body of this speed gets in this time, by more than snap_m.
bool cm_interp_is_jump(carom_vec3 from, carom_vec3 to, float speed, float seconds, float snap_m);

bool cm_interp_init(cm_interp *interp, const carom_allocator *allocator, uint32_t slots);
void cm_interp_free(cm_interp *interp);
// A value of a body; late ones are put in their place. Another body in the slot starts anew.
// `interval`: ticks between two views.
void cm_interp_add(cm_interp *interp, carom_body_id body, uint32_t tick, const cm_view_pose *pose,
                   double interval);
// False where nothing is known.
bool cm_interp_pose(const cm_interp *interp, carom_body_id body, double tick, double tick_rate,
                    carom_client_pose *pose);
// The velocity at the newest value: what the server sent, else from the last two values.
void cm_interp_velocity(const cm_interp *interp, carom_body_id body, double tick_rate,
                        carom_vec3 *linear, carom_vec3 *angular);

// Turning from one orientation to another within `seconds`, rad/s, for small angles.
carom_vec3 cm_interp_spin(carom_quat from, carom_quat to, float seconds);
// Shorter way between two orientations, normalised.
carom_quat cm_interp_turn(carom_quat from, carom_quat to, float at);

#endif
