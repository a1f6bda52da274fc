// Hits: pairs that met faster than the world's hit_speed. Only in a world that has one.
#ifndef CM_SIM_SOLVE_HITS_H
#define CM_SIM_SOLVE_HITS_H

#include "shared/sim/state/scratch.h"

// The velocities of a body before the solver changed them.
typedef struct cm_before {
    carom_vec3 linear, angular;
} cm_before;

// Bytes of scratch.
size_t cm_hits_size(const carom_limits *limits, float hit_speed);
const carom_hit_event *cm_hits(const cm_scratch *scratch);

// Before each round of the solver.
void cm_hits_begin(carom_world *world, cm_scratch *scratch);
// A contact without a sensor whose impulse stands in its manifold; `begins`: it did not touch.
void cm_hits_note(carom_world *world, cm_scratch *scratch, const cm_contact *contact,
                  const cm_manifold *manifold, bool begins);

#endif
