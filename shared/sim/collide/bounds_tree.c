// Boxes sorted along a Morton curve and cut into blocks of eight; eight blocks make a block of the
// next level. A test takes a whole block, so that a walk branches once for eight boxes.
//
// Invariants: a tree is a function of boxes and ids. What is asked finds does not depend on the
// tree at all: blocks hold what is below exactly. A walk goes level by level through a list of the
// blocks that are met; a list is no longer than a level.
// Typical: 1,000 boxes in 125 + 16 + 2 + 1 blocks; 10 blocks near each.
#include "shared/sim/collide/bounds_tree.h"

#include "shared/sim/collide/morton.h"
#include "shared/sim/state/sort.h"

#ifndef CM_LANES // those of wide.c
#define CM_LANES 4
#endif
#include "shared/base/lanes.h"

#define UNUSED 3.0e38f // above any box, and not equal to itself reversed
_Static_assert(sizeof(cm_aabb) == 6 * sizeof(float), "six sides, in the order of a block's");

// A box as six numbers.
typedef struct box_sides {
    float at[6];
} box_sides;

static inline box_sides sides_of(const cm_aabb *box)
{
    box_sides s;
    memcpy(&s, box, sizeof s);
    return s;
}

static inline box_sides sides_in(const cm_bounds_block *block, uint32_t place)
{
    box_sides s;
    for (uint32_t k = 0; k < 6; k++) {
        s.at[k] = block->sides[k][place];
    }
    return s;
}

// Bit i: box i of the block overlaps.
static inline uint32_t overlaps(const cm_bounds_block *block, const box_sides *box)
{
    uint32_t bits = 0;
    for (uint32_t at = 0; at < CM_BLOCK_BOXES; at += CM_LANES) {
        cm_mask in = ~(cm_mask){0};
        for (uint32_t k = 0; k < 3; k++) {
            cm_f lower = cm_lanes_load(block->sides[k] + at);
            cm_f upper = cm_lanes_load(block->sides[k + 3] + at);
            in &= cm_lanes_at_most(lower, cm_lanes_set(box->at[k + 3])) &
                  cm_lanes_at_most(cm_lanes_set(box->at[k]), upper);
        }
        bits |= cm_lanes_true(in) << at;
    }
    return bits;
}

// Building ---------------------------------------------------------------------------------------

size_t cm_bounds_tree_blocks(size_t boxes)
{
    return boxes / (CM_BLOCK_BOXES - 1u) + 2u * (CM_BLOCK_LEVELS + 1u);
}

uint32_t cm_bounds_tree_size(const cm_bounds_tree *tree)
{
    return tree->levels > 0 ? tree->first[tree->levels - 1] + 1u : 0u;
}

static void clear_block(cm_bounds_block *block)
{
    for (uint32_t i = 0; i < CM_BLOCK_BOXES; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            block->sides[k][i] = UNUSED;
            block->sides[k + 3][i] = -UNUSED;
        }
    }
}

static inline void put(cm_bounds_block *block, uint32_t place, const box_sides *box)
{
    for (uint32_t k = 0; k < 6; k++) {
        block->sides[k][place] = box->at[k];
    }
}

// The box around a block's boxes.
static inline box_sides around(const cm_bounds_block *block)
{
    box_sides box = sides_in(block, 0);
    for (uint32_t i = 1; i < CM_BLOCK_BOXES; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            box.at[k] = cm_min(box.at[k], block->sides[k][i]);
            box.at[k + 3] = cm_max(box.at[k + 3], block->sides[k + 3][i]);
        }
    }
    return box;
}

static uint32_t blocks_of(uint32_t count)
{
    return (count + CM_BLOCK_BOXES - 1u) / CM_BLOCK_BOXES;
}

// One level above a level of so many blocks.
static void build_level(cm_bounds_tree *tree, uint32_t below)
{
    const cm_bounds_block *children = tree->blocks + tree->first[tree->levels - 1];
    cm_bounds_block *blocks = tree->blocks + tree->first[tree->levels - 1] + below;
    for (uint32_t i = 0; i < below; i++) {
        if (i % CM_BLOCK_BOXES == 0) {
            clear_block(&blocks[i / CM_BLOCK_BOXES]);
        }
        box_sides box = around(&children[i]);
        put(&blocks[i / CM_BLOCK_BOXES], i % CM_BLOCK_BOXES, &box);
    }
    tree->first[tree->levels] = tree->first[tree->levels - 1] + below;
    tree->levels++;
}

// All levels over the lowest, of so many blocks.
static void build_levels(cm_bounds_tree *tree, uint32_t blocks)
{
    tree->first[0] = 0;
    tree->levels = 1;
    for (; blocks > 1; blocks = blocks_of(blocks)) {
        build_level(tree, blocks);
    }
}

static void sort_boxes(cm_bounds_tree *tree, const cm_aabb *bounds, cm_bounds_room *room)
{
    cm_morton_keys(bounds, tree->ids, tree->count, room->keys);
    cm_sort(room->keys, tree->ids, room->spare_keys, room->spare_values, tree->count);
    for (uint32_t i = 0; i < tree->count; i++) {
        box_sides box = sides_of(&bounds[tree->ids[i]]);
        put(&tree->blocks[i / CM_BLOCK_BOXES], i % CM_BLOCK_BOXES, &box);
    }
}

void cm_bounds_tree_build(cm_bounds_tree *tree, const cm_aabb *bounds, cm_bounds_room *room)
{
    tree->levels = 0;
    if (tree->count == 0) {
        return;
    }
    uint32_t blocks = blocks_of(tree->count);
    clear_block(&tree->blocks[blocks - 1]);
    sort_boxes(tree, bounds, room);
    build_levels(tree, blocks);
}

void cm_bounds_tree_build_loose(cm_bounds_tree *tree, const cm_aabb *bounds, cm_bounds_room *room,
                                uint32_t spare)
{
    uint32_t used = blocks_of(tree->count), blocks = used + spare;
    for (uint32_t i = used > 0 ? used - 1 : 0; i < blocks; i++) {
        clear_block(&tree->blocks[i]);
    }
    sort_boxes(tree, bounds, room);
    for (uint32_t i = tree->count; i < blocks * CM_BLOCK_BOXES; i++) {
        tree->ids[i] = CM_NONE;
    }
    tree->count = blocks * CM_BLOCK_BOXES;
    build_levels(tree, blocks);
}

bool cm_bounds_tree_put(cm_bounds_tree *tree, uint32_t place, const cm_aabb *box)
{
    box_sides sides = sides_of(box);
    bool grew = false;
    put(&tree->blocks[place / CM_BLOCK_BOXES], place % CM_BLOCK_BOXES, &sides);
    for (uint32_t level = 1; level < tree->levels; level++) {
        place /= CM_BLOCK_BOXES;
        cm_bounds_block *block = &tree->blocks[tree->first[level] + place / CM_BLOCK_BOXES];
        uint32_t at = place % CM_BLOCK_BOXES;
        for (uint32_t k = 0; k < 3; k++) {
            grew = grew || sides.at[k] < block->sides[k][at] ||
                   sides.at[k + 3] > block->sides[k + 3][at];
            block->sides[k][at] = cm_min(block->sides[k][at], sides.at[k]);
            block->sides[k + 3][at] = cm_max(block->sides[k + 3][at], sides.at[k + 3]);
        }
    }
    return grew;
}

void cm_bounds_tree_take(cm_bounds_tree *tree, uint32_t place)
{
    static const box_sides none = {{UNUSED, UNUSED, UNUSED, -UNUSED, -UNUSED, -UNUSED}};
    put(&tree->blocks[place / CM_BLOCK_BOXES], place % CM_BLOCK_BOXES, &none);
}

// Asking -----------------------------------------------------------------------------------------

// Blocks of the lowest level, from `from` on, that a box meets, as far as their own boxes tell:
// into room->keys, ascending. Returns how many.
static uint32_t blocks_near(const cm_bounds_tree *tree, const box_sides *box, uint32_t from,
                            const cm_bounds_room *room)
{
    uint32_t above = tree->levels > 0 ? tree->levels - 1 : 0;
    uint32_t *list = room->keys, *next = room->spare_keys;
    if (above % 2 == 1) { // so that the last list is room->keys
        list = room->spare_keys;
        next = room->keys;
    }
    list[0] = 0;
    uint32_t count = above > 0 || (tree->levels > 0 && from == 0);
    for (uint32_t level = above; level > 0; level--) {
        const cm_bounds_block *blocks = tree->blocks + tree->first[level];
        uint32_t least = from >> 3 * (level - 1), found = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t bits = overlaps(&blocks[list[i]], box), base = list[i] * CM_BLOCK_BOXES;
            if (base < least) {
                bits &= least - base < CM_BLOCK_BOXES ? ~0u << (least - base) : 0u;
            }
            for (; bits != 0; bits &= bits - 1) {
                next[found++] = base + (uint32_t)__builtin_ctz(bits);
            }
        }
        uint32_t *done = list;
        list = next;
        next = done;
        count = found;
    }
    return count;
}

uint32_t cm_bounds_tree_query(const cm_bounds_tree *tree, const cm_aabb *box, uint32_t above,
                              const cm_bounds_room *room, uint32_t *found)
{
    box_sides asked = sides_of(box);
    uint32_t near = blocks_near(tree, &asked, 0, room), count = 0;
    for (uint32_t i = 0; i < near; i++) {
        uint32_t bits = overlaps(&tree->blocks[room->keys[i]], &asked);
        for (; bits != 0; bits &= bits - 1) {
            uint32_t place = room->keys[i] * CM_BLOCK_BOXES + (uint32_t)__builtin_ctz(bits);
            if (tree->ids[place] > above) {
                found[count++] = tree->ids[place];
            }
        }
    }
    return count;
}

bool cm_bounds_tree_meets(const cm_bounds_tree *tree, const cm_aabb *box,
                          const cm_bounds_room *room)
{
    box_sides asked = sides_of(box);
    uint32_t near = blocks_near(tree, &asked, 0, room), bits = 0;
    for (uint32_t i = 0; bits == 0 && i < near; i++) {
        bits = overlaps(&tree->blocks[room->keys[i]], &asked);
    }
    return bits != 0;
}

// A box's pairs with those of a block that `bits` names. There is room for eight.
static inline uint32_t add_pairs(uint32_t id, const uint32_t *others, uint32_t bits, cm_pair *pairs,
                                 uint32_t count)
{
    for (; bits != 0; bits &= bits - 1) {
        uint32_t other = others[__builtin_ctz(bits)];
        pairs[count++] = (cm_pair){id < other ? id : other, id < other ? other : id};
    }
    return count;
}

// A block of the lowest level against a block of the lowest level of the same or another tree.
static inline uint32_t pairs_of_blocks(const cm_bounds_tree *first, uint32_t one,
                                       const cm_bounds_tree *second, uint32_t other,
                                       const box_sides *around_other, cm_pair *pairs,
                                       uint32_t count, uint32_t limit)
{
    const cm_bounds_block *a = &first->blocks[one], *b = &second->blocks[other];
    uint32_t mine = overlaps(a, around_other);
    for (; mine != 0; mine &= mine - 1) {
        uint32_t place = (uint32_t)__builtin_ctz(mine);
        box_sides box = sides_in(a, place);
        uint32_t bits = overlaps(b, &box);
        if (count + CM_BLOCK_BOXES > limit && count + (uint32_t)__builtin_popcount(bits) > limit) {
            return limit + 1u;
        }
        count = add_pairs(first->ids[one * CM_BLOCK_BOXES + place],
                          second->ids + (size_t)other * CM_BLOCK_BOXES, bits, pairs, count);
    }
    return count;
}

// A block's box: from the level above, where there is one.
static inline box_sides box_of(const cm_bounds_tree *tree, uint32_t block)
{
    if (tree->levels == 1) {
        return around(&tree->blocks[0]);
    }
    return sides_in(&tree->blocks[tree->first[1] + block / CM_BLOCK_BOXES], block % CM_BLOCK_BOXES);
}

static uint32_t pairs_inside(const cm_bounds_tree *tree, uint32_t block, cm_pair *pairs,
                             uint32_t count, uint32_t limit)
{
    const cm_bounds_block *boxes = &tree->blocks[block];
    const uint32_t *ids = tree->ids + (size_t)block * CM_BLOCK_BOXES;
    uint32_t left = tree->count - block * CM_BLOCK_BOXES;
    uint32_t used = left < CM_BLOCK_BOXES ? left : CM_BLOCK_BOXES;
    for (uint32_t i = 0; i + 1 < used; i++) {
        box_sides box = sides_in(boxes, i);
        uint32_t later = overlaps(boxes, &box) & ~((2u << i) - 1u);
        if (count + CM_BLOCK_BOXES > limit && count + (uint32_t)__builtin_popcount(later) > limit) {
            return limit + 1u;
        }
        count = add_pairs(ids[i], ids, later, pairs, count);
    }
    return count;
}

uint32_t cm_bounds_tree_pairs_within(const cm_bounds_tree *tree, const cm_bounds_room *room,
                                     cm_pair *pairs, uint32_t count, uint32_t limit)
{
    uint32_t blocks = blocks_of(tree->count);
    for (uint32_t i = 0; i < blocks && count <= limit; i++) {
        count = pairs_inside(tree, i, pairs, count, limit);
        box_sides box = box_of(tree, i);
        uint32_t near = blocks_near(tree, &box, i + 1, room);
        for (uint32_t k = 0; k < near && count <= limit; k++) {
            box_sides other = box_of(tree, room->keys[k]);
            count = pairs_of_blocks(tree, i, tree, room->keys[k], &other, pairs, count, limit);
        }
    }
    return count;
}

uint32_t cm_bounds_tree_pairs_between(const cm_bounds_tree *first, const cm_bounds_tree *second,
                                      const cm_bounds_room *room, cm_pair *pairs, uint32_t count,
                                      uint32_t limit)
{
    uint32_t blocks = second->levels > 0 ? blocks_of(first->count) : 0;
    for (uint32_t i = 0; i < blocks && count <= limit; i++) {
        box_sides box = box_of(first, i);
        uint32_t near = blocks_near(second, &box, 0, room);
        for (uint32_t k = 0; k < near && count <= limit; k++) {
            box_sides other = box_of(second, room->keys[k]);
            count = pairs_of_blocks(first, i, second, room->keys[k], &other, pairs, count, limit);
        }
    }
    return count;
}
