// The tree of queries: built from the broad phase's binary one, four children a node, so that one
// test takes four boxes; see tree.h.
//
// Scratch, of n = limits.shapes: leaves n x 120 | binary nodes 2n x 44 | nodes n x 112 | ids |
// planes | keys | spare keys | spare values (n x 4 each) | counts 2 x 4. Depth is that of the
// binary tree at most: 47. Typical: 1,000 shapes, 400 leaves, 150 nodes, built in 80 us; a ray
// visits 8 nodes and 3 leaves.
#include "shared/sim/query/tree.h"

#include "shared/sim/collide/broadphase.h"
#include "shared/sim/collide/shape_transform.h"

#define CM_LANES 4
#include "shared/base/lanes.h"

#define LISTS       5u
#define SCANS       8u      // questions that are answered without the tree
#define STACK       192u    // 3 more for each level above a leaf
#define SLACK       1.0e-6f // of a distance, for the roundings of one
#define STEEP       1.0e30f // one over a direction's component that is as good as 0
#define MARGIN      1.0e-5f // m, and
#define MARGIN_PART 2.0e-6f // of the largest coordinate: what rounding may move a box by

typedef struct layout {
    cm_bvh_leaf *leaves;
    cm_bvh_node *binary;
    cm_query_node *nodes;
    uint32_t *ids, *planes;
    cm_bvh_room room;
    uint32_t *counts; // nodes, planes
} layout;

size_t cm_query_scratch_size(const carom_limits *limits)
{
    return (size_t)limits->shapes * (sizeof(cm_bvh_leaf) + 2 * sizeof(cm_bvh_node) +
                                     sizeof(cm_query_node) + LISTS * sizeof(uint32_t)) +
           2 * sizeof(uint32_t);
}

static layout lay_out(const carom_world *world, const cm_scratch *scratch)
{
    size_t n = world->limits.shapes;
    layout l;
    l.leaves = scratch->broadphase;
    l.binary = (cm_bvh_node *)(l.leaves + n);
    l.nodes = (cm_query_node *)(l.binary + 2 * n);
    uint32_t *at = (uint32_t *)(l.nodes + n);
    l.ids = at;
    l.planes = at + n;
    l.room.keys = at + 2 * n;
    l.room.spare_keys = at + 3 * n;
    l.room.spare_values = at + 4 * n;
    l.counts = at + LISTS * n;
    return l;
}

// Building ---------------------------------------------------------------------------------------

static void set_box(cm_query_node *node, uint32_t lane, const cm_aabb *box, uint32_t child)
{
    const float sides[6] = {box->lower.x, box->lower.y, box->lower.z,
                            box->upper.x, box->upper.y, box->upper.z};
    for (uint32_t k = 0; k < 6; k++) {
        node->bounds[k][lane] = sides[k];
    }
    node->child[lane] = child;
}

static float width(const cm_aabb *box)
{
    carom_vec3 size = cm_sub(box->upper, box->lower);
    return size.x + size.y + size.z;
}

// The widest of some binary nodes that is not a leaf, or `count`.
static uint32_t widest(const cm_bvh_node *binary, const uint32_t *list, uint32_t count)
{
    uint32_t best = count;
    for (uint32_t i = 0; i < count; i++) {
        bool wider =
            best == count || width(&binary[list[i]].bounds) > width(&binary[list[best]].bounds);
        if (binary[list[i]].count == 0 && wider) {
            best = i;
        }
    }
    return best;
}

// A node for a binary one: that one's children, of which the widest gives way to its own until
// there are four. Returns the node's index.
static uint32_t gather(layout *l, uint32_t *node_count, uint32_t root)
{
    uint32_t list[CM_BVH_LEAF] = {root}, count = 1, at;
    uint32_t index = (*node_count)++;
    while (count < CM_BVH_LEAF && (at = widest(l->binary, list, count)) < count) {
        uint32_t left = list[at] + 1;
        list[at] = left;
        list[count++] = l->binary[left].skip;
    }
    static const cm_aabb none = {{3.0e38f, 3.0e38f, 3.0e38f}, {-3.0e38f, -3.0e38f, -3.0e38f}};
    for (uint32_t i = 0; i < CM_BVH_LEAF; i++) {
        if (i >= count) {
            set_box(&l->nodes[index], i, &none, CM_NONE);
            continue;
        }
        const cm_bvh_node *binary = &l->binary[list[i]];
        uint32_t child =
            binary->count > 0 ? CM_QUERY_LEAF | binary->leaf : gather(l, node_count, list[i]);
        set_box(&l->nodes[index], i, &binary->bounds, child);
    }
    return index;
}

cm_aabb cm_shape_box(const cm_shape *shape, const cm_shape_transform *transform)
{
    cm_aabb box = cm_shape_bounds(shape, transform);
    carom_vec3 far = cm_abs_vec(box.lower);
    carom_vec3 other = cm_abs_vec(box.upper);
    float most =
        cm_max(cm_max(cm_max(far.x, far.y), cm_max(far.z, other.x)), cm_max(other.y, other.z));
    float margin = MARGIN + MARGIN_PART * most;
    carom_vec3 grow = cm_vec(margin, margin, margin);
    return (cm_aabb){cm_sub(box.lower, grow), cm_add(box.upper, grow)};
}

static void build(const carom_world *world, cm_scratch *scratch, layout *l)
{
    const cm_shape *shapes = cm_shapes(world);
    cm_bvh binary = {.nodes = l->binary, .leaves = l->leaves, .ids = l->ids};
    uint32_t planes = 0, nodes = 0;
    for (uint32_t i = 0; i < world->state.shape_slots; i++) {
        if (!shapes[i].alive) {
            continue;
        }
        cm_update_shape_transform(world, scratch, i);
        if (shapes[i].type == CAROM_SHAPE_PLANE) {
            l->planes[planes++] = i;
        } else {
            scratch->bounds[i] = cm_shape_box(&shapes[i], &scratch->transforms[i]);
            l->ids[binary.count++] = i;
        }
    }
    cm_bvh_build(&binary, scratch->bounds, &l->room);
    if (binary.node_count > 0) {
        gather(l, &nodes, 0);
    }
    l->counts[0] = nodes;
    l->counts[1] = planes;
}

cm_query_tree cm_query_tree_of(const carom_world *world, uint32_t questions)
{
    carom_world *known = (carom_world *)(uintptr_t)world; // of no state, as scratch is
    cm_scratch scratch;
    if (!world->query_tree && questions <= SCANS && world->query_scans + questions <= SCANS) {
        known->query_scans = (uint8_t)(known->query_scans + questions);
        return (cm_query_tree){.world = world};
    }
    cm_scratch_map(world, &scratch);
    layout l = lay_out(world, &scratch);
    if (!world->query_tree) {
        build(world, &scratch, &l);
        known->query_tree = true;
    }
    return (cm_query_tree){world,    true,     scratch.transforms, scratch.bounds, l.nodes,
                           l.leaves, l.planes, l.counts[0],        l.counts[1]};
}

// Walking ----------------------------------------------------------------------------------------

static inline void put(float *four, float x)
{
    cm_f lanes = cm_lanes_set(x);
    memcpy(four, &lanes, sizeof lanes);
}

cm_probe cm_probe_along(carom_vec3 origin, carom_vec3 direction, carom_vec3 half)
{
    cm_probe probe; // without the box of one that stands
    probe.moves = true;
    probe.middle = origin;
    probe.way = direction;
    probe.reach = cm_length(half);
    const float o[3] = {origin.x, origin.y, origin.z};
    const float d[3] = {direction.x, direction.y, direction.z};
    const float h[3] = {half.x, half.y, half.z};
    for (uint8_t k = 0; k < 3; k++) {
        bool back = d[k] < 0.0f;
        float steep = back ? -STEEP : STEEP;
        float inverse = cm_abs(d[k]) > 1.0f / STEEP ? 1.0f / d[k] : steep;
        probe.near[k] = (uint8_t)(back ? k + 3 : k);
        probe.far[k] = (uint8_t)(back ? k : k + 3);
        put(probe.inverse[k], inverse);
        put(probe.from_near[k], back ? o[k] - h[k] : o[k] + h[k]);
        put(probe.from_far[k], back ? o[k] + h[k] : o[k] - h[k]);
    }
    return probe;
}

cm_probe cm_probe_around(carom_vec3 lower, carom_vec3 upper)
{
    carom_vec3 middle = cm_scale(0.5f, cm_add(lower, upper));
    float reach = cm_length(cm_sub(upper, middle));
    cm_probe probe;
    probe.moves = false;
    probe.middle = middle;
    probe.way = cm_vec(0.0f, 0.0f, 0.0f);
    probe.reach = reach;
    probe.lower = lower;
    probe.upper = upper;
    return probe;
}

static inline cm_f load(const float *row)
{
    cm_f v;
    memcpy(&v, row, sizeof v);
    return v;
}

static inline uint32_t meets_moving(const float (*bounds)[CM_BVH_LEAF], const cm_probe *p,
                                    float bound, float *near)
{
    cm_f enter = cm_lanes_set(0.0f), leave = cm_lanes_set(3.0e38f);
    for (uint32_t k = 0; k < 3; k++) {
        cm_f inverse = load(p->inverse[k]);
        cm_f in = (load(bounds[p->near[k]]) - load(p->from_near[k])) * inverse;
        cm_f out = (load(bounds[p->far[k]]) - load(p->from_far[k])) * inverse;
        enter = cm_lanes_max(enter, in);
        leave = cm_lanes_min(leave, out);
    }
    enter = enter * cm_lanes_set(1.0f - SLACK);
    leave = cm_lanes_min(leave * cm_lanes_set(1.0f + SLACK), cm_lanes_set(bound));
    memcpy(near, &enter, sizeof enter);
    return cm_lanes_true(~cm_lanes_greater(enter, leave));
}

static inline uint32_t meets_standing(const float (*bounds)[CM_BVH_LEAF], const cm_probe *p,
                                      float bound, float *near)
{
    const float lower[3] = {p->lower.x, p->lower.y, p->lower.z};
    const float upper[3] = {p->upper.x, p->upper.y, p->upper.z};
    cm_f sum = cm_lanes_set(0.0f), none = sum;
    for (uint32_t k = 0; k < 3; k++) {
        cm_f above = load(bounds[k]) - cm_lanes_set(upper[k]);
        cm_f below = cm_lanes_set(lower[k]) - load(bounds[k + 3]);
        cm_f gap = cm_lanes_max(cm_lanes_max(above, below), none);
        sum = sum + gap * gap;
    }
    cm_f distance = cm_lanes_sqrt(sum) * cm_lanes_set(1.0f - SLACK);
    memcpy(near, &distance, sizeof distance);
    return cm_lanes_true(~cm_lanes_greater(distance, cm_lanes_set(bound)));
}

static inline uint32_t meets(const float (*bounds)[CM_BVH_LEAF], const cm_probe *p, float bound,
                             float *near)
{
    return p->moves ? meets_moving(bounds, p, bound, near) : meets_standing(bounds, p, bound, near);
}

uint32_t cm_probe_meets(const cm_probe *probe, const float (*bounds)[CM_BVH_LEAF], float bound,
                        float near[CM_BVH_LEAF])
{
    return meets(bounds, probe, bound, near);
}

typedef struct pending {
    uint32_t child;
    float near;
} pending;

// The children that are met, the farthest first. Returns the new count.
static uint32_t push(pending *stack, uint32_t count, const cm_query_node *node, uint32_t bits,
                     const float *near)
{
    uint32_t base = count;
    for (; bits != 0; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits), at = count++;
        for (; at > base && stack[at - 1].near < near[lane]; at--) {
            stack[at] = stack[at - 1];
        }
        stack[at] = (pending){node->child[lane], near[lane]};
    }
    return count;
}

void cm_query_walk(const cm_query_tree *tree, const cm_probe *probe, const float *bound,
                   cm_query_meet *meet, void *context)
{
    if (!tree->built) {
        cm_query_scan(tree->world, probe, bound, meet, context);
        return;
    }
    pending stack[STACK];
    float near[CM_BVH_LEAF];
    uint32_t count = 0;
    for (uint32_t i = 0; i < tree->plane_count; i++) {
        meet(context, tree->planes[i], &tree->transforms[tree->planes[i]], 0.0f);
    }
    if (tree->node_count > 0) {
        stack[count++] = (pending){0, 0.0f};
    }
    while (count > 0) {
        pending next = stack[--count];
        if (next.near > *bound) {
            continue;
        }
        if (!(next.child & CM_QUERY_LEAF)) {
            const cm_query_node *node = &tree->nodes[next.child];
            uint32_t bits = meets(node->bounds, probe, *bound, near);
            count = push(stack, count, node, bits, near);
            continue;
        }
        const cm_bvh_leaf *leaf = &tree->leaves[next.child & ~CM_QUERY_LEAF];
        uint32_t bits = meets(leaf->bounds, probe, *bound, near);
        for (; bits != 0; bits &= bits - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(bits);
            if (near[lane] <= *bound) {
                uint32_t slot = leaf->ids[lane];
                meet(context, slot, &tree->transforms[slot], near[lane]);
            }
        }
    }
}
