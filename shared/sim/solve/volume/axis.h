// Coordinates of a pair's relative motion, and impulses along them. Private to shared/sim.
//
// A pair has six of them, in two sets of three: along the normal with the two tilts, for springs
// and dampers of the normal, and along the two tangents at the middle of the area with the turn
// about the normal, for friction. Values are of b less a; impulses act on a, b gets the opposite.
#ifndef CM_SIM_SOLVE_VOLUME_AXIS_H
#define CM_SIM_SOLVE_VOLUME_AXIS_H

#include "shared/sim/solve/volume/volume.h"

static inline cm_d3 cm_volume_times(cm_d3 a, cm_d3 b)
{
    return cm_d3_of(a.x * b.x, a.y * b.y, a.z * b.z);
}

static inline double cm_volume_speed(const cm_volume_axis *k, cm_d3 velocity, cm_d3 spin_a,
                                     cm_d3 spin_b)
{
    return cm_d3_dot(k->linear, velocity) + cm_d3_dot(k->arm_b, spin_b) -
           cm_d3_dot(k->arm_a, spin_a);
}

static inline cm_d3 cm_volume_speeds(const cm_volume_body *a, const cm_volume_body *b,
                                     const cm_volume_axis k[3])
{
    cm_d3 v = cm_d3_sub(b->velocity, a->velocity);
    return cm_d3_of(cm_volume_speed(&k[0], v, a->spin, b->spin),
                    cm_volume_speed(&k[1], v, a->spin, b->spin),
                    cm_volume_speed(&k[2], v, a->spin, b->spin));
}

static inline void cm_volume_apply(cm_volume_body *a, cm_volume_body *b, const cm_volume_axis k[3],
                                   cm_d3 p)
{
    cm_d3 sum = cm_d3_scale(p.x, k[0].linear);
    sum = cm_d3_mad(cm_d3_mad(sum, p.y, k[1].linear), p.z, k[2].linear);
    a->velocity = cm_d3_add(a->velocity, cm_volume_times(a->inverse_mass, sum));
    b->velocity = cm_d3_sub(b->velocity, cm_volume_times(b->inverse_mass, sum));
    if (a->dynamic) {
        a->spin = cm_d3_mad(a->spin, p.x, k[0].turn_a);
        a->spin = cm_d3_mad(cm_d3_mad(a->spin, p.y, k[1].turn_a), p.z, k[2].turn_a);
    }
    if (b->dynamic) {
        b->spin = cm_d3_mad(b->spin, -p.x, k[0].turn_b);
        b->spin = cm_d3_mad(cm_d3_mad(b->spin, -p.y, k[1].turn_b), -p.z, k[2].turn_b);
    }
}

// E (1 + W E)^-1: what a damper E makes of a relative motion s against the inverse mass W, so that
// the impulse is that of the motion that it leaves.
static inline cm_dmat cm_volume_response(const cm_dmat *w, const cm_dmat *e)
{
    cm_dmat m = cm_dmat_product(w, e);
    m.x.x += 1.0;
    m.y.y += 1.0;
    m.z.z += 1.0;
    cm_dmat inverse = cm_dmat_inverse(&m);
    return cm_dmat_product(e, &inverse);
}

#endif
