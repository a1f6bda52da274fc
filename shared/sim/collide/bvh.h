// A bounding volume tree over boxes, built anew from boxes and ids alone.
#ifndef CM_SIM_COLLIDE_BVH_H
#define CM_SIM_COLLIDE_BVH_H

#include "shared/sim/state/scratch.h"

#define CM_BVH_LEAF 4u

// Nodes lie in depth-first order: the left child follows its parent, and `skip` is the node after
// the whole subtree, so a walk needs no stack.
typedef struct cm_bvh_node {
    cm_aabb bounds;
    uint32_t skip;
    uint32_t first, count; // of ids, for a leaf; count 0: inner node
    uint32_t leaf;         // of the leaves, for a leaf
} cm_bvh_node;

// A leaf's boxes again, side by side: lower x, y, z, upper x, y, z. Unused places overlap nothing.
typedef struct cm_bvh_leaf {
    float bounds[6][CM_BVH_LEAF];
    uint32_t ids[CM_BVH_LEAF];
    uint32_t count, node;
} cm_bvh_leaf;

typedef struct cm_bvh {
    cm_bvh_node *nodes; // room for 2 x count
    uint32_t node_count;
    cm_bvh_leaf *leaves; // room for count
    uint32_t leaf_count;
    uint32_t *ids; // in leaf order
    uint32_t count;
} cm_bvh;

// Room for building: three arrays of count entries.
typedef struct cm_bvh_room {
    uint32_t *keys, *spare_keys, *spare_values;
} cm_bvh_room;

// Builds over the rows of bounds that tree->ids names (tree->count of them, ascending); reorders
// ids.
void cm_bvh_build(cm_bvh *tree, const cm_aabb *bounds, cm_bvh_room *room);

#endif
