// The tree of what rests: the boxes of shapes of bodies that are not active, kept from step to
// step, so that pairs are found in time that grows with what is active alone. Private to
// shared/sim.
//
// A box is a function of its shape's rows, and pairs are sorted by ids, so nothing depends on what
// the tree looks like: it is neither state nor scratch. Whatever may change a box is noted
// (cm_page.moved: by calls, by a body that falls asleep or wakes, by a restore), and the next step
// looks at what was noted. A shape keeps its place in the tree while it is away; boxes above grow
// and do not shrink, so the tree is built anew once much has moved, or no place is left.
//
// Typical: 20,000 shapes at rest, 10 noted in a tick.
#ifndef CM_SIM_COLLIDE_REST_H
#define CM_SIM_COLLIDE_REST_H

#include "shared/sim/collide/bounds_tree.h"

size_t cm_rest_size(const carom_limits *limits);

// Nothing is known any more.
void cm_rest_forget(carom_world *world);

// Shapes that rest, and all planes.
typedef struct cm_rest {
    cm_bounds_tree tree;
    cm_bounds_room room; // for asking this tree
    const uint32_t *planes;
    uint32_t plane_count;
} cm_rest;

// Brings the tree up to date: boxes grown by the speculative margin. `room`: entries for each
// shape. Writes transforms and bounds of scratch.
cm_rest cm_rest_update(carom_world *world, cm_scratch *scratch, cm_bounds_room *room);

#endif
