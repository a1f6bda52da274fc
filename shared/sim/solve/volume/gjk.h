// Distance between two convex pieces, in binary64. Private to shared/sim.
//
// E. G. Gilbert, D. W. Johnson, S. S. Keerthi, "A fast procedure for computing the distance between
// complex objects in three-dimensional space", 1988.
#ifndef CM_SIM_SOLVE_VOLUME_GJK_H
#define CM_SIM_SOLVE_VOLUME_GJK_H

#include "shared/sim/solve/volume/piece.h"

#define CM_VOLUME_GJK_ROUNDS 64u

typedef struct cm_volume_gap {
    bool apart;
    uint32_t rounds;
    double distance;  // m; 0 where they overlap
    cm_d3 direction;  // unit, from b to a; zero where they overlap
    cm_d3 on_a, on_b; // nearest points; where they overlap, twice a common point
} cm_volume_gap;

// The distance of a, moved by `shift`, from b. `start` is a guess at the direction from b to a, or
// zero. on_a is where it is with the shift. One of the two may be a half-space.
void cm_volume_gjk(const cm_volume_piece *a, const cm_volume_piece *b, cm_d3 shift, cm_d3 start,
                   cm_volume_gap *gap);

#endif
