// A body's origin, of which the API speaks, and its centre of mass, which moves. Private to
// shared/sim.
#ifndef CM_SIM_BODY_BODY_H
#define CM_SIM_BODY_BODY_H

#include "shared/base/vec.h"
#include "shared/sim/state/image.h"

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
