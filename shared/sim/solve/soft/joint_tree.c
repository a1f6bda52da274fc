// Trees of joints: what hangs together by joints is solved at once, however it branches.
//
// A set of jointed bodies is a tree if none of its joints closes a loop or holds a body with locked
// axes. The heaviest body is the root, and what cannot be pushed is a leaf, each time that it holds
// something: so a bridge is solved at once with both its ends.
// Joints stand leaves first: each has a body, its child, at which it is the last. Chains of plain
// balls alone are paths (joint_path.c) and cost half as much; what is no tree is rows, joint by
// joint. Typical: 10 chains of 20 hinges.
#include "shared/sim/solve/soft/joint.h"

#include <string.h>

// Of a set of bodies that hang together; above them stands how many joints it has.
enum {
    BRANCHES = 1,
    OTHERS = 2,
    NO_TREE = 4,
    HELD = 8,
    HELD_TWICE = 16,
    BOUNDED = 32,
    ONE_JOINT = 64
};

// Of a body, while links are counted; above it stands how many of them hold it by what cannot be
// pushed.
enum { ONE_LINK = 1, ONE_HOLD = 1 << 16 };

static bool holds(const cm_soft_joint_link *link)
{
    return !link->pushed_a || !link->pushed_b;
}

// Counts the links at each body; true where some may be of trees, but for bridges of balls.
static bool count_links(const cm_soft *soft, uint32_t count, uint32_t *about)
{
    uint32_t any = 0;
    memset(about, 0, ((size_t)soft->body_count + 1) * sizeof *about);
    for (uint32_t i = 0; i < count; i++) {
        const cm_soft_joint_link *link = &soft->joints->links[i];
        uint32_t one = ONE_LINK + (holds(link) ? ONE_HOLD : 0);
        uint32_t a = about[link->a] += link->pushed_a * one;
        uint32_t b = about[link->b] += link->pushed_b * one;
        any |= (uint32_t)(link->type != CM_LINK_BALL) | (a % ONE_HOLD > 2) | (b % ONE_HOLD > 2);
    }
    return any != 0;
}

// Describes sets of bodies, at their roots.
static void describe_sets(const cm_soft *soft, uint32_t count, uint32_t *parent, uint32_t *about)
{
    for (uint32_t i = 0; i <= soft->body_count; i++) {
        parent[i] = i;
        about[i] =
            (about[i] % ONE_HOLD > 2 ? BRANCHES : 0) | (about[i] / ONE_HOLD > 1 ? NO_TREE : 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        const cm_soft_joint_link *link = &soft->joints->links[i];
        uint32_t a = cm_soft_root_of(parent, link->pushed_a ? link->a : link->b);
        uint32_t b = cm_soft_root_of(parent, link->pushed_b ? link->b : link->a);
        uint32_t joints = about[b] / ONE_JOINT + (a != b ? about[a] / ONE_JOINT : 0) + 1;
        uint32_t flags = (about[a] | about[b]) % ONE_JOINT;
        if (holds(link)) {
            flags |= about[b] & HELD ? HELD_TWICE : HELD;
        } else {
            flags |= a == b ? NO_TREE : about[a] & about[b] & HELD ? HELD_TWICE : 0;
        }
        flags |= link->type != CM_LINK_BALL ? OTHERS : 0;
        flags |= link->bounded ? BOUNDED : 0;
        flags |= !link->free || joints > CM_JOINT_TREE ? NO_TREE : 0;
        about[b] = joints * ONE_JOINT | flags;
        parent[a] = b;
    }
}

cm_soft_link_counts cm_soft_sort_links(cm_soft *soft, uint32_t count, bool bridges)
{
    cm_soft_joint_link *links = soft->joints->links;
    uint32_t *parent = soft->taken, *about = parent + soft->body_count + 1;
    cm_soft_link_counts counts = {0, 0, 0};
    if (!count_links(soft, count, about) && !bridges) {
        counts.balls = count;
        return counts;
    }
    describe_sets(soft, count, parent, about);
    for (uint32_t i = 0; i < count; i++) {
        cm_soft_joint_link *link = &links[i];
        uint32_t set = about[cm_soft_root_of(parent, link->pushed_b ? link->b : link->a)];
        link->visited = 0;
        link->next[0] = link->next[1] = CM_NONE;
        if (!(set & NO_TREE) && (set & (BRANCHES | OTHERS | HELD_TWICE))) {
            link->type = CM_LINK_TREE;
            link->bounded = (set & BOUNDED) != 0;
            link->bridge = set & OTHERS && set & HELD_TWICE;
            counts.trees++;
        } else {
            counts.balls += link->type == CM_LINK_BALL;
            counts.rows += link->type != CM_LINK_BALL;
        }
    }
    return counts;
}

// Lists the links of trees at each body that can be pushed.
static void list_links(cm_soft *soft, uint32_t count)
{
    cm_soft_joint_link *links = soft->joints->links;
    uint32_t *first = soft->taken + soft->body_count + 1;
    memset(first, 0xff, ((size_t)soft->body_count + 1) * sizeof *first);
    for (uint32_t i = 0; i < count; i++) {
        cm_soft_joint_link *link = &links[i];
        if (link->type != CM_LINK_TREE) {
            continue;
        }
        link->visited = 0;
        link->flipped = !link->pushed_b;
        for (uint32_t end = 0; end < 2; end++) {
            if (end ? link->pushed_b : link->pushed_a) {
                uint32_t body = end ? link->b : link->a;
                link->next[end] = first[body];
                first[body] = i;
            }
        }
    }
}

// Puts the joints of a body that wait on the stack: it is their parent.
static void push_links(cm_soft *soft, uint32_t body, uint32_t *waiting)
{
    cm_soft_joints *joints = soft->joints;
    for (uint32_t k = soft->taken[soft->body_count + 1 + body]; k != CM_NONE;) {
        cm_soft_joint_link *below = &joints->links[k];
        bool is_b = below->pushed_b && below->b == body;
        if (!below->visited) {
            below->visited = 1;
            below->flipped = is_b;
            joints->order[(*waiting)++] = k;
        }
        k = below->next[is_b];
    }
}

// The tree of a body, which is its root; parents before children. Returns its heaviest body.
static uint32_t walk(cm_soft *soft, uint32_t root, uint32_t *placed)
{
    cm_soft_joints *joints = soft->joints;
    uint32_t waiting = 0, heaviest = root;
    push_links(soft, root, &waiting);
    while (waiting > 0) {
        uint32_t at = joints->order[--waiting];
        const cm_soft_joint_link *link = &joints->links[at];
        joints->members[(*placed)++] = at;
        if (link->flipped ? link->pushed_a : link->pushed_b) {
            uint32_t child = link->flipped ? link->a : link->b;
            push_links(soft, child, &waiting);
            if (soft->inertias[child].inverse_mass < soft->inertias[heaviest].inverse_mass) {
                heaviest = child;
            }
        }
    }
    return heaviest;
}

// The tree of a link that waits. What is light is eliminated first: a chain's response along what
// it holds is a difference of numbers as large as a link's, and must not be all that is left.
static void grow(cm_soft *soft, uint32_t start, uint32_t *placed)
{
    cm_soft_joints *joints = soft->joints;
    const cm_soft_joint_link *link = &joints->links[start];
    uint32_t first = *placed, root = walk(soft, link->pushed_b ? link->b : link->a, placed);
    while (*placed > first) {
        joints->links[joints->members[--*placed]].visited = 0;
    }
    walk(soft, root, placed);
}

uint32_t cm_soft_find_trees(cm_soft *soft, uint32_t count)
{
    cm_soft_joints *joints = soft->joints;
    uint32_t placed = 0, trees = 0;
    list_links(soft, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = placed;
        if (joints->links[i].type != CM_LINK_TREE || joints->links[i].visited) {
            continue;
        }
        grow(soft, i, &placed);
        for (uint32_t k = first, last = placed; k < --last; k++) { // leaves first
            uint32_t other = joints->members[last];
            joints->members[last] = joints->members[k];
            joints->members[k] = other;
        }
        joints->paths[trees++] = (cm_soft_path){first, placed - first, 0};
    }
    return trees;
}

// A lane's limbs, from the root on: a body's is that of the joint whose child it is.
static void place_lane(cm_soft *soft, cm_soft_rows *tree, uint32_t lane, uint32_t *used)
{
    uint32_t *limb_of = soft->taken, first = *used;
    for (uint32_t i = tree->who.steps; i-- > 0;) {
        cm_soft_rows *g = &tree[i];
        g->child[lane] = g->parent[lane] = 0;
        g->give[lane] = g->who.bridge[lane] ? CM_JOINT_BRIDGE_YIELD : CM_JOINT_YIELD;
        g->share[lane] = g->who.bounded[lane] ? 1.0f : soft->joints->ball.mass_scale;
        g->sign[lane] = g->who.flipped[lane] ? -1.0f : 1.0f;
        if (g->who.slot[lane] == CM_NONE) {
            continue;
        }
        uint32_t parent = g->who.flipped[lane] ? g->who.b[lane] : g->who.a[lane];
        uint32_t child = g->who.flipped[lane] ? g->who.a[lane] : g->who.b[lane];
        uint32_t at = limb_of[parent];
        if (at == CM_NONE || at < first || !(soft->inertias[parent].inverse_mass > 0.0f)) {
            soft->joints->limb_bodies[*used] = parent;
            at = limb_of[parent] = (*used)++;
        }
        g->parent[lane] = at;
        soft->joints->limb_bodies[*used] = child;
        g->child[lane] = limb_of[child] = (*used)++;
    }
}

void cm_soft_place_limbs(cm_soft *soft)
{
    cm_soft_joints *joints = soft->joints;
    uint32_t used = 1;
    memset(soft->taken, 0xff, ((size_t)soft->body_count + 1) * sizeof *soft->taken);
    memset(&joints->limbs[0], 0, sizeof joints->limbs[0]); // of lanes that are not used
    for (uint32_t i = joints->tree_span.loose; i < joints->tree_span.end;) {
        cm_soft_rows *tree = &joints->rows[i];
        for (uint32_t lane = 0; lane < CM_SOFT_LANES; lane++) {
            tree->limbs[lane] = used;
            place_lane(soft, tree, lane, &used);
        }
        tree->limbs[CM_SOFT_LANES] = used;
        i += tree->who.steps;
    }
}
