// The separating axes of pairs of boxes, several pairs at a time.
#ifndef CM_SIM_COLLIDE_BOX_AXES_H
#define CM_SIM_COLLIDE_BOX_AXES_H

#include "shared/sim/state/scratch.h"

#define CM_BOX_AXES_MAX 8u // lanes of the widest

// Pairs by their indices into places and shapes; every lane names some pair.
typedef struct cm_box_pairs {
    uint32_t a[CM_BOX_AXES_MAX], b[CM_BOX_AXES_MAX];
    float margin[CM_BOX_AXES_MAX]; // m: what lies further apart is apart
} cm_box_pairs;

// Where two boxes touch first.
typedef struct cm_box_choice {
    float separation, edge_separation; // m, along the best face's normal and the best edges'
    uint8_t face;                      // 0 to 2 of a, 3 to 5 of b
    uint8_t edge_a, edge_b;            // axes; edge_a 3: no two edges give an axis
    uint8_t apart; // 1: some axis separates them by more than the margin; the rest is anything
} cm_box_choice;

// One, four or eight lanes: the same bits. The pairs' first boxes lie in places_a and shapes_a,
// their second in places_b and shapes_b.
typedef void cm_box_axes_of(const cm_place *places_a, const cm_shape *shapes_a,
                            const cm_place *places_b, const cm_shape *shapes_b,
                            const cm_box_pairs *pairs, cm_box_choice *choices);
cm_box_axes_of cm_box_axes_1, cm_box_axes_4, cm_box_axes_8;

#endif
