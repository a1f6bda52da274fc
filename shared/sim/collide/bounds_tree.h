// The tree of the broad phase: boxes in blocks of eight, built anew from boxes and ids alone.
#ifndef CM_SIM_COLLIDE_BOUNDS_TREE_H
#define CM_SIM_COLLIDE_BOUNDS_TREE_H

#include "shared/sim/state/scratch.h"

#define CM_BLOCK_BOXES  8u
#define CM_BLOCK_LEVELS 6u // 8^6 boxes are more than a world may have shapes

// Eight boxes side by side: lower x, y, z, upper x, y, z. Unused places overlap nothing.
typedef struct cm_bounds_block {
    float sides[6][CM_BLOCK_BOXES];
} cm_bounds_block;

// Block i of the lowest level holds the boxes of ids 8 i and on, block i of another level those of
// the blocks 8 i and on below.
typedef struct cm_bounds_tree {
    cm_bounds_block *blocks;         // level by level, the lowest first
    uint32_t first[CM_BLOCK_LEVELS]; // of the blocks: where a level begins
    uint32_t levels;                 // the highest is one block; 0: no boxes
    uint32_t *ids;                   // in the order of the blocks' places
    uint32_t count;
} cm_bounds_tree;

// Room for building and asking: arrays of count entries each.
typedef struct cm_bounds_room {
    uint32_t *keys, *spare_keys, *spare_values;
} cm_bounds_room;

// Blocks of two trees that share so many boxes.
size_t cm_bounds_tree_blocks(size_t boxes);

// Builds over the rows of bounds that tree->ids names (tree->count of them, ascending); reorders
// ids.
void cm_bounds_tree_build(cm_bounds_tree *tree, const cm_aabb *bounds, cm_bounds_room *room);
// Likewise, with so many spare blocks of places behind those of the boxes; the count becomes that
// of all places. No box is no error.
void cm_bounds_tree_build_loose(cm_bounds_tree *tree, const cm_aabb *bounds, cm_bounds_room *room,
                                uint32_t spare);
// A box comes to a place, and leaves it. True where what is around the place had to grow.
bool cm_bounds_tree_put(cm_bounds_tree *tree, uint32_t place, const cm_aabb *box);
void cm_bounds_tree_take(cm_bounds_tree *tree, uint32_t place);
// Returns the count of blocks of a built tree.
uint32_t cm_bounds_tree_size(const cm_bounds_tree *tree);

static inline bool cm_aabb_overlap(const cm_aabb *a, const cm_aabb *b)
{
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

// Appends every id above `above` whose box overlaps `box` to `found`, in no useful order: the
// caller sorts. Returns how many; at most tree->count. `room` is overwritten.
uint32_t cm_bounds_tree_query(const cm_bounds_tree *tree, const cm_aabb *box, uint32_t above,
                              const cm_bounds_room *room, uint32_t *found);

// Some box overlaps `box`.
bool cm_bounds_tree_meets(const cm_bounds_tree *tree, const cm_aabb *box,
                          const cm_bounds_room *room);

// Appends every pair of ids whose boxes overlap, lower id first, in no useful order: of one tree,
// or between two. Returns the new count, or more than `limit` where they do not fit: then what was
// appended is of no use. `room` is overwritten.
uint32_t cm_bounds_tree_pairs_within(const cm_bounds_tree *tree, const cm_bounds_room *room,
                                     cm_pair *pairs, uint32_t count, uint32_t limit);
uint32_t cm_bounds_tree_pairs_between(const cm_bounds_tree *first, const cm_bounds_tree *second,
                                      const cm_bounds_room *room, cm_pair *pairs, uint32_t count,
                                      uint32_t limit);

#endif
