// Queries walk a tree over the boxes of all live shapes where they are now, and the planes, which
// have no box. Private to shared/sim.
//
// It lies in the scratch of the broad phase, whose trees are of no use between steps, with the
// transforms and boxes of shapes in their own scratch. carom_world.query_tree says whether it is
// there: a step, a restore, and every call that moves, makes or removes a shape take that back
// (cm_query_forget). Building it takes as long as some ten looks at every shape, so the first few
// questions do that instead (scan.h), and many build it anew.
//
// What a query finds does not depend on the tree: a shape's box holds the shape, boxes of nodes
// hold those below exactly, and both tests below are monotonic in binary32: what meets a box meets
// every box around it, and is no nearer to it.
#ifndef CM_SIM_QUERY_TREE_H
#define CM_SIM_QUERY_TREE_H

#include "shared/sim/collide/bvh.h"

#define CM_QUERY_LEAF 0x80000000u // a child that is a leaf

// Four boxes side by side: lower x, y, z, upper x, y, z, as in a leaf.
typedef struct cm_query_node {
    float bounds[6][CM_BVH_LEAF];
    uint32_t child[CM_BVH_LEAF]; // a node, CM_QUERY_LEAF + a leaf; CM_NONE: no such child
} cm_query_node;

typedef struct cm_query_tree {
    const carom_world *world;
    bool built;                           // if not: the rest is not there, and all are looked at
    const cm_shape_transform *transforms; // a row a shape slot; of live shapes
    const cm_aabb *bounds;                // likewise, of all but planes
    const cm_query_node *nodes;
    const cm_bvh_leaf *leaves;
    const uint32_t *planes;
    uint32_t node_count, plane_count;
} cm_query_tree;

// The tree of the world as it is, for so many questions: built where there is none and they are
// many. Writes scratch.
cm_query_tree cm_query_tree_of(const carom_world *world, uint32_t questions);

// A box that holds the shape, not a plane, as it is placed, whatever was rounded on the way.
cm_aabb cm_shape_box(const cm_shape *shape, const cm_shape_transform *transform);

size_t cm_query_scratch_size(const carom_limits *limits);

// A probe looks for shapes: a box that moves straight on, or one that looks around itself.
typedef struct cm_probe {
    bool moves;
    carom_vec3 middle, way; // of its box; a unit vector, of one that stands zero
    float reach;            // from the middle to a corner
    // Of one that moves: the distance to each side of a box is (side - from) x inverse, m; of four.
    float from_near[3][CM_BVH_LEAF], from_far[3][CM_BVH_LEAF], inverse[3][CM_BVH_LEAF];
    uint8_t near[3], far[3]; // rows of bounds
    // Of one that stands: its box.
    carom_vec3 lower, upper;
} cm_probe;

// A box of these half extents that begins about `origin`. The direction is a unit vector.
cm_probe cm_probe_along(carom_vec3 origin, carom_vec3 direction, carom_vec3 half);
cm_probe cm_probe_around(carom_vec3 lower, carom_vec3 upper);

// Takes a shape that a walk finds, where it is; `near` is no farther than it.
typedef void cm_query_meet(void *context, uint32_t slot, const cm_shape_transform *transform,
                           float near);

// Calls `meet` for every shape whose box the probe meets within *bound, near ones first as far as
// boxes tell, and for every plane. meet may lower *bound.
void cm_query_walk(const cm_query_tree *tree, const cm_probe *probe, const float *bound,
                   cm_query_meet *meet, void *context);

// Returns a bit for each of four boxes that the probe meets, and how far each is.
uint32_t cm_probe_meets(const cm_probe *probe, const float (*bounds)[CM_BVH_LEAF], float bound,
                        float near[CM_BVH_LEAF]);

// scan.c: likewise of a world without a tree, in the order of slots.
void cm_query_scan(const carom_world *world, const cm_probe *probe, const float *bound,
                   cm_query_meet *meet, void *context);

#endif
