// Candidate pairs, in canonical order: for each shape in ascending slot its partners with a higher
// slot, ascending. So a limit always cuts the same pairs, and nothing depends on a tree's looks.
//
// Two trees: what is active, rebuilt every step, and what rests, static or asleep (rest.h); planes
// have no box and stand in a list. Whoever looks from outside of a step builds the second one for
// itself, of what rests near (cm_find_pairs). What rests asks only the active tree. A shape whose
// own filter lets it meet nothing enters no tree. Scratch holds one entry a shape in every list,
// and a query finds each shape at most once, so nothing can overflow even if all boxes overlap.
//
// Scratch, of n = limits.shapes: blocks (n / 7 + 14) x 192 | moving | static | planes | keys |
// spare keys | spare values | partners | starts (n x 4 each) | filters n x 16. Where more pairs are
// found than there is room for, each shape asks the trees by itself instead, in order. Typical:
// 1,000 shapes, 5,000 pairs.
#include "shared/sim/collide/broadphase.h"
#include "shared/sim/collide/bounds_tree.h"
#include "shared/sim/body/shape.h"
#include "shared/sim/collide/collide.h"
#include "shared/sim/collide/shape_transform.h"
#include "shared/sim/collide/rest.h"
#include "shared/sim/joint/joint.h"
#include "shared/sim/state/sort.h"
#include "shared/sim/state/tell.h"

#include <string.h>

#define LISTS  8u
#define SPARSE 8u // slots for each pair: where there are more, few pairs are sorted by themselves

typedef struct lists {
    cm_bounds_tree moving, fixed; // active shapes, and what they may meet
    const uint32_t *planes;
    uint32_t plane_count;
    cm_bounds_room room, fixed_room; // to ask the trees with
    uint32_t *own_planes;            // of cm_find_pairs
    uint32_t *partners;
    uint32_t *starts;   // of the partners of each shape in `sorted`
    cm_pair *found;     // of the scratch, and
    uint32_t *sorted;   // likewise
    cm_filter *filters; // a row a shape slot, of what is placed
} lists;

size_t cm_broadphase_scratch_size(const carom_limits *limits)
{
    return (size_t)limits->shapes * (LISTS * sizeof(uint32_t) + sizeof(cm_filter)) +
           cm_bounds_tree_blocks(limits->shapes) * sizeof(cm_bounds_block);
}

static lists map_lists(const carom_world *world, const cm_scratch *scratch)
{
    size_t n = world->limits.shapes;
    lists l = {0};
    l.moving.blocks = scratch->broadphase;
    uint32_t *at = (uint32_t *)(l.moving.blocks + cm_bounds_tree_blocks(n));
    l.moving.ids = at;
    l.fixed.ids = at + n;
    l.planes = l.own_planes = at + 2 * n;
    l.room.keys = at + 3 * n;
    l.room.spare_keys = at + 4 * n;
    l.room.spare_values = at + 5 * n;
    l.fixed_room = l.room;
    l.partners = at + 6 * n;
    l.starts = at + 7 * n;
    l.filters = (cm_filter *)(at + LISTS * n);
    l.found = scratch->found;
    l.sorted = scratch->sorted;
    return l;
}

static inline void note_filter(const carom_world *world, const cm_scratch *scratch, lists *l,
                               uint32_t slot)
{
    const cm_shape *shape = &cm_shapes(world)[slot];
    l->filters[slot] = cm_filter_of(shape, &cm_bodies(world)[shape->body], scratch->pointers);
}

static void place_active(const carom_world *world, cm_scratch *scratch, lists *l, float margin,
                         float dt)
{
    const cm_shape *shapes = cm_shapes(world);
    for (uint32_t i = 0; i < world->state.shape_slots; i++) {
        const cm_shape *shape = &shapes[i];
        bool active = shape->alive && scratch->active[shape->body];
        scratch->rank[i] = active ? CM_SHAPE_ACTIVE : CM_SHAPE_AWAY;
        if (!cm_shape_meets(shape)) {
            continue;
        }
        if (shape->alive && shape->type == CAROM_SHAPE_PLANE) {
            cm_update_shape_transform(world, scratch, i);
            note_filter(world, scratch, l, i);
            l->own_planes[l->plane_count++] = i;
        } else if (active) {
            note_filter(world, scratch, l, i);
            l->moving.ids[l->moving.count++] = i;
        }
    }
    cm_update_shape_transforms(world, scratch, l->moving.ids, l->moving.count, margin, dt);
}

// The shapes of active bodies, and planes.
static void place_awake(const carom_world *world, cm_scratch *scratch, lists *l, float dt)
{
    const cm_shape *shapes = cm_shapes(world);
    memset(scratch->rank, CM_SHAPE_AWAY, world->state.shape_slots);
    for (uint32_t k = 0; k < scratch->active_count; k++) {
        const cm_body *body = &cm_bodies(world)[scratch->awake[k]];
        for (uint32_t i = body->first_shape; i != CM_NONE; i = shapes[i].next) {
            scratch->rank[i] = CM_SHAPE_ACTIVE;
            if (cm_shape_meets(&shapes[i]) && shapes[i].type != CAROM_SHAPE_PLANE) {
                l->filters[i] = cm_filter_of(&shapes[i], body, scratch->pointers);
                l->moving.ids[l->moving.count++] = i;
            }
        }
    }
    for (uint32_t k = 0; k < l->plane_count; k++) {
        cm_update_shape_transform(world, scratch, l->planes[k]);
        note_filter(world, scratch, l, l->planes[k]);
    }
    cm_update_shape_transforms(world, scratch, l->moving.ids, l->moving.count,
                               CM_SPECULATIVE_MARGIN, dt);
}

// Places resting shapes that were found near something active.
static void place_partners(const carom_world *world, cm_scratch *scratch, lists *l,
                           const cm_pair *pairs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = scratch->rank[pairs[i].shape_a] == CM_SHAPE_ACTIVE ? pairs[i].shape_b
                                                                           : pairs[i].shape_a;
        if (scratch->rank[slot] == CM_SHAPE_AWAY) {
            scratch->rank[slot] = CM_SHAPE_NEAR;
            cm_update_shape_transform(world, scratch, slot);
            note_filter(world, scratch, l, slot);
        }
    }
}

// A box that holds the shape however it is turned about its body's centre of mass.
static cm_aabb loose_box(const carom_world *world, const cm_shape *shape, float margin)
{
    carom_vec3 arm = cm_sub(shape->position, cm_bodies(world)[shape->body].center_of_mass);
    float reach = cm_abs(arm.x) + cm_abs(arm.y) + cm_abs(arm.z) + cm_shape_reach(shape) + margin;
    carom_vec3 center = cm_motions(world)[shape->body].position;
    carom_vec3 half = cm_vec(reach, reach, reach);
    return (cm_aabb){cm_sub(center, half), cm_add(center, half)};
}

// Places resting shapes that something active may reach.
static void place_near(const carom_world *world, cm_scratch *scratch, lists *l, float margin)
{
    const cm_shape *shapes = cm_shapes(world);
    for (uint32_t i = 0; l->moving.count > 0 && i < world->state.shape_slots; i++) {
        const cm_shape *shape = &shapes[i];
        if (!shape->alive || scratch->rank[i] == CM_SHAPE_ACTIVE ||
            shape->type == CAROM_SHAPE_PLANE || !cm_shape_meets(shape)) {
            continue;
        }
        cm_aabb loose = loose_box(world, shape, margin);
        if (!cm_bounds_tree_meets(&l->moving, &loose, &l->room)) {
            continue;
        }
        cm_update_shape_transforms(world, scratch, &i, 1, margin, 0.0f);
        if (cm_bounds_tree_meets(&l->moving, &scratch->bounds[i], &l->room)) {
            scratch->rank[i] = CM_SHAPE_NEAR;
            note_filter(world, scratch, l, i);
            l->fixed.ids[l->fixed.count++] = i;
        }
    }
}

// The box reaches below the plane's surface.
static bool box_meets_plane(const cm_aabb *box, const cm_shape *plane,
                            const cm_shape_transform *transform)
{
    carom_vec3 normal =
        cm_mat3_mul(transform->rotation, cm_vec(plane->size[0], plane->size[1], plane->size[2]));
    carom_vec3 lowest = cm_vec(normal.x > 0.0f ? box->lower.x : box->upper.x,
                               normal.y > 0.0f ? box->lower.y : box->upper.y,
                               normal.z > 0.0f ? box->lower.z : box->upper.z);
    return cm_dot(normal, cm_sub(lowest, transform->position)) <= plane->size[3];
}

// Partners of a plane: every moving shape with a higher slot that reaches it.
static uint32_t partners_of_plane(const cm_scratch *scratch, const lists *l, const cm_shape *shapes,
                                  uint32_t a)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->moving.count; i++) {
        uint32_t b = l->moving.ids[i];
        if (b > a && box_meets_plane(&scratch->bounds[b], &shapes[a], &scratch->transforms[a])) {
            l->partners[count++] = b;
        }
    }
    return count;
}

static uint32_t partners_of_box(const cm_scratch *scratch, const lists *l, const cm_shape *shapes,
                                uint32_t a, bool fixed)
{
    const cm_aabb *box = &scratch->bounds[a];
    uint32_t count = cm_bounds_tree_query(&l->moving, box, a, &l->room, l->partners);
    if (fixed) {
        return count;
    }
    count += cm_bounds_tree_query(&l->fixed, box, a, &l->fixed_room, l->partners + count);
    for (uint32_t i = 0; i < l->plane_count; i++) {
        uint32_t b = l->planes[i];
        if (b > a && box_meets_plane(box, &shapes[b], &scratch->transforms[b])) {
            l->partners[count++] = b;
        }
    }
    return count;
}

// Two shapes that filters, joints and what their bodies are let collide (of which one is active).
static inline bool may_meet(const carom_world *world, const cm_scratch *scratch, const lists *l,
                            uint32_t a, uint32_t b)
{
    const cm_filter *first = &l->filters[a], *second = &l->filters[b];
    return cm_filters_meet(first, second) &&
           !cm_joint_filter_has(world, scratch, first->body & ~CM_FILTER_MEETS,
                                second->body & ~CM_FILTER_MEETS);
}

// Shape by shape in canonical order: slower, but cut right where more pairs are than there is room
// for. Returns how many were left out.
static uint32_t find_in_order(const carom_world *world, cm_scratch *scratch, lists *l)
{
    const cm_shape *shapes = cm_shapes(world);
    uint32_t dropped = 0;
    scratch->pair_count = 0;
    for (uint32_t a = 0; a < world->state.shape_slots; a++) {
        bool plane = shapes[a].type == CAROM_SHAPE_PLANE;
        if (!shapes[a].alive || !cm_shape_meets(&shapes[a]) ||
            (scratch->rank[a] == CM_SHAPE_AWAY && !plane)) {
            continue;
        }
        bool fixed = scratch->rank[a] != CM_SHAPE_ACTIVE;
        uint32_t found = plane ? partners_of_plane(scratch, l, shapes, a)
                               : partners_of_box(scratch, l, shapes, a, fixed);
        uint32_t count = 0;
        for (uint32_t i = 0; i < found; i++) {
            uint32_t b = l->partners[i];
            if (may_meet(world, scratch, l, a, b)) {
                l->room.keys[count] = b;
                l->partners[count++] = b;
            }
        }
        cm_sort(l->room.keys, l->partners, l->room.spare_keys, l->room.spare_values, count);
        for (uint32_t i = 0; i < count; i++) {
            if (scratch->pair_count == scratch->pair_room) {
                dropped += count - i;
                break;
            }
            scratch->pairs[scratch->pair_count++] = (cm_pair){a, l->partners[i]};
        }
    }
    return dropped;
}

// Pairs with planes and of what is active, in no order, before filters; more than the limit where
// there is no room.
static uint32_t find_at_once(const carom_world *world, const cm_scratch *scratch, lists *l)
{
    uint32_t room = scratch->pair_room, count = 0;
    const cm_shape *shapes = cm_shapes(world);
    for (uint32_t p = 0; p < l->plane_count; p++) {
        uint32_t plane = l->planes[p];
        for (uint32_t i = 0; i < l->moving.count && count <= room; i++) {
            uint32_t id = l->moving.ids[i];
            if (box_meets_plane(&scratch->bounds[id], &shapes[plane],
                                &scratch->transforms[plane])) {
                if (count == room) {
                    return room + 1;
                }
                l->found[count++] = id < plane ? (cm_pair){id, plane} : (cm_pair){plane, id};
            }
        }
    }
    return cm_bounds_tree_pairs_within(&l->moving, &l->room, l->found, count, room);
}

// And with what rests.
static uint32_t find_resting(const cm_scratch *scratch, lists *l, uint32_t count)
{
    return cm_bounds_tree_pairs_between(&l->moving, &l->fixed, &l->fixed_room, l->found, count,
                                        scratch->pair_room);
}

// Turns the count of entries of each slot into where they begin.
static void count_up(uint32_t *starts, uint32_t slots)
{
    for (uint32_t a = 0, at = 0; a < slots; a++) {
        uint32_t here = starts[a];
        starts[a] = at;
        at += here;
    }
}

// Filters what was found and brings it into canonical order: two counting sorts, by the second
// slot, then by the first.
static void order_found(const carom_world *world, cm_scratch *scratch, lists *l, uint32_t found)
{
    uint32_t slots = world->state.shape_slots, first = 0, kept = 0;
    cm_pair *by_second = scratch->pairs;
    uint32_t *seconds = l->partners;
    memset(l->starts, 0, slots * sizeof *l->starts);
    memset(seconds, 0, slots * sizeof *seconds);
    for (uint32_t i = 0; i < found; i++) {
        l->starts[l->found[i].shape_a]++;
        seconds[l->found[i].shape_b]++;
    }
    count_up(l->starts, slots);
    count_up(seconds, slots);
    for (uint32_t i = 0; i < found; i++) {
        by_second[seconds[l->found[i].shape_b]++] = l->found[i];
    }
    for (uint32_t i = 0; i < found; i++) {
        l->sorted[l->starts[by_second[i].shape_a]++] = by_second[i].shape_b;
    }
    for (uint32_t a = 0; a < slots; a++) {
        for (; first < l->starts[a]; first++) {
            if (may_meet(world, scratch, l, a, l->sorted[first])) {
                scratch->pairs[kept++] = (cm_pair){a, l->sorted[first]};
            }
        }
    }
    scratch->pair_count = kept;
}

// Likewise where they are few among many slots.
static void order_few(const carom_world *world, cm_scratch *scratch, lists *l, uint32_t found)
{
    uint32_t *second = l->room.keys, *first = l->partners, kept = 0;
    for (uint32_t i = 0; i < found; i++) {
        first[i] = l->found[i].shape_a;
        second[i] = l->found[i].shape_b;
    }
    cm_sort(second, first, l->room.spare_keys, l->room.spare_values, found);
    cm_sort(first, second, l->room.spare_keys, l->room.spare_values, found);
    for (uint32_t i = 0; i < found; i++) {
        if (may_meet(world, scratch, l, first[i], second[i])) {
            scratch->pairs[kept++] = (cm_pair){first[i], second[i]};
        }
    }
    scratch->pair_count = kept;
}

static void order(const carom_world *world, cm_scratch *scratch, lists *l, uint32_t found)
{
    if (found < world->state.shape_slots / SPARSE) {
        order_few(world, scratch, l, found);
    } else {
        order_found(world, scratch, l, found);
    }
}

// Puts near resting shapes into a tree of their own.
static void build_near(const carom_world *world, cm_scratch *scratch, lists *l, float margin)
{
    place_near(world, scratch, l, margin);
    l->fixed.blocks = l->moving.blocks + cm_bounds_tree_size(&l->moving);
    cm_bounds_tree_build(&l->fixed, scratch->bounds, &l->room);
}

uint32_t cm_find_pairs(const carom_world *world, cm_scratch *scratch, float margin, float dt)
{
    lists l = map_lists(world, scratch);
    place_active(world, scratch, &l, margin, dt);
    cm_bounds_tree_build(&l.moving, scratch->bounds, &l.room);
    build_near(world, scratch, &l, margin);
    cm_joint_filter_forget(scratch);
    uint32_t found = find_resting(scratch, &l, find_at_once(world, scratch, &l));
    if (found > scratch->pair_room) {
        return find_in_order(world, scratch, &l);
    }
    order(world, scratch, &l, found);
    return 0;
}

static uint32_t find_of_step(carom_world *world, cm_scratch *scratch, float dt)
{
    lists own = map_lists(world, scratch), l = own;
    cm_rest rest = cm_rest_update(world, scratch, &l.room);
    l.fixed = rest.tree;
    l.fixed_room = rest.room;
    l.planes = rest.planes;
    l.plane_count = rest.plane_count;
    place_awake(world, scratch, &l, dt);
    cm_bounds_tree_build(&l.moving, scratch->bounds, &l.room);
    cm_joint_filter_forget(scratch);
    uint32_t moving = find_at_once(world, scratch, &l), found = find_resting(scratch, &l, moving);
    if (found > scratch->pair_room) {
        l.fixed = own.fixed;
        l.fixed_room = own.fixed_room;
        build_near(world, scratch, &l, CM_SPECULATIVE_MARGIN);
        return find_in_order(world, scratch, &l);
    }
    place_partners(world, scratch, &l, l.found + moving, found - moving);
    order(world, scratch, &l, found);
    return 0;
}

void cm_stage_pairs(carom_world *world, cm_scratch *scratch)
{
    uint32_t cut = find_of_step(world, scratch, 1.0f / (float)world->state.tick_rate);
    cm_tell(world, CAROM_LOG_CONTACTS_CUT, CM_NONE, cut);
}
