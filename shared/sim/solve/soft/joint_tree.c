// Trees of joints: what hangs together by joints is solved at once, however it branches.
//
// A spanning tree of each set of jointed bodies; a joint that would close a loop, over what cannot
// be pushed too, is a tree by itself. The heaviest body is the root, and what cannot be pushed a
// leaf. Joints stand leaves first: each has a body, its child, at which it is the last. Chains of
// plain balls alone are paths (joint_path.c) and cost half as much. Typical: 100 ragdolls of 10
// joints, 13 times 10 groups.
#include "shared/sim/solve/soft/joint.h"

#include <string.h>

enum { BRANCHES = 1, OTHERS = 2, LOOPS = 4 }; // in a set of bodies that hang together

// Counts the links at each body; true where there is one for trees.
static bool count_links(const cm_soft *soft, uint32_t count, uint8_t plain, uint32_t *about)
{
    const cm_soft_joint_link *links = soft->joints->links;
    uint32_t any = 0;
    memset(about, 0, ((size_t)soft->body_count + 1) * sizeof *about);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t a = about[links[i].a] += links[i].pushed_a;
        uint32_t b = about[links[i].b] += links[i].pushed_b;
        any |= (uint32_t)(links[i].type != plain) | (a > 2) | (b > 2);
    }
    return any != 0;
}

uint32_t cm_soft_sort_links(cm_soft *soft, uint32_t count, uint8_t plain)
{
    cm_soft_joint_link *links = soft->joints->links;
    uint32_t ground = soft->body_count, *parent = soft->taken, *about = parent + ground + 1;
    uint32_t balls = 0;
    if (!count_links(soft, count, plain, about)) {
        return count;
    }
    for (uint32_t i = 0; i <= ground; i++) {
        parent[i] = i;
        about[i] = about[i] > 2 ? BRANCHES : 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const cm_soft_joint_link *link = &links[i];
        uint32_t a = cm_soft_root_of(parent, link->pushed_a ? link->a : link->b);
        uint32_t b = cm_soft_root_of(parent, link->pushed_b ? link->b : link->a);
        uint32_t flags = link->type == plain ? 0 : OTHERS;
        flags |= a == b && link->pushed_a && link->pushed_b ? LOOPS : 0;
        about[b] |= flags | about[a];
        parent[a] = b;
    }
    for (uint32_t i = 0; i < count; i++) {
        cm_soft_joint_link *link = &links[i];
        uint32_t set = about[cm_soft_root_of(parent, link->pushed_b ? link->b : link->a)];
        if (link->type == plain && (set & (BRANCHES | OTHERS)) && !(set & LOOPS)) {
            link->type = CAROM_JOINT_BALL;
        }
        balls += link->type == plain;
    }
    return balls;
}

enum { WAITS = 0, STANDS = 1, CLOSES = 2 }; // a link: not yet in a tree, in one, closes a loop

// Lists the links at each body that can be pushed, but for those that close a loop.
static void list_links(cm_soft *soft, uint32_t count, uint8_t plain)
{
    cm_soft_joint_link *links = soft->joints->links;
    uint32_t ground = soft->body_count, *parent = soft->taken, *first = parent + ground + 1;
    for (uint32_t i = 0; i <= ground; i++) {
        parent[i] = i;
        first[i] = CM_NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        cm_soft_joint_link *link = &links[i];
        if (link->type == plain) {
            continue;
        }
        uint32_t a = cm_soft_root_of(parent, link->pushed_a ? link->a : ground);
        uint32_t b = cm_soft_root_of(parent, link->pushed_b ? link->b : ground);
        link->visited = a == b ? CLOSES : WAITS;
        link->flipped = !link->pushed_b;
        parent[a] = b;
        for (uint32_t end = 0; link->visited == WAITS && end < 2; end++) {
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
        if (below->visited == WAITS) {
            below->visited = STANDS;
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
        joints->links[joints->members[--*placed]].visited = WAITS;
    }
    walk(soft, root, placed);
}

// Members from `first` on, as trees of so many joints at most, leaves first.
static uint32_t cut(cm_soft_joints *joints, uint32_t first, uint32_t end, uint32_t trees)
{
    while (first < end) {
        uint32_t length = end - first < CM_JOINT_PATH ? end - first : CM_JOINT_PATH;
        uint32_t *members = &joints->members[first];
        for (uint32_t i = 0; i < length / 2; i++) {
            uint32_t other = members[length - 1 - i];
            members[length - 1 - i] = members[i];
            members[i] = other;
        }
        joints->paths[trees++] = (cm_soft_path){first, length, 0};
        first += length;
    }
    return trees;
}

uint32_t cm_soft_find_trees(cm_soft *soft, uint32_t count, uint8_t plain)
{
    cm_soft_joints *joints = soft->joints;
    uint32_t placed = 0, trees = 0;
    list_links(soft, count, plain);
    for (uint32_t closing = 0; closing < 2; closing++) {
        for (uint32_t i = 0; i < count; i++) {
            cm_soft_joint_link *link = &joints->links[i];
            uint32_t first = placed;
            if (link->type == plain || link->visited != (closing ? CLOSES : WAITS)) {
                continue;
            }
            if (closing) {
                link->visited = STANDS;
                joints->members[placed++] = i;
            } else {
                grow(soft, i, &placed);
            }
            trees = cut(joints, first, placed, trees);
        }
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
    uint32_t used = 1, end = joints->row_span.end;
    memset(soft->taken, 0xff, ((size_t)soft->body_count + 1) * sizeof *soft->taken);
    memset(&joints->limbs[0], 0, sizeof joints->limbs[0]); // of lanes that are not used
    for (uint32_t i = 0; i < end; i += joints->rows[i].who.steps) {
        cm_soft_rows *tree = &joints->rows[i];
        for (uint32_t lane = 0; lane < CM_SOFT_LANES; lane++) {
            tree->limbs[lane] = used;
            place_lane(soft, tree, lane, &used);
        }
        tree->limbs[CM_SOFT_LANES] = used;
    }
}

// T i T^T
static cm_sym3 turned(const cm_sym3 *i, carom_quat turn)
{
    cm_mat3 t = cm_mat3_from_quat(turn);
    carom_vec3 x = cm_mat3_mul(t, cm_vec(i->xx, i->xy, i->xz));
    carom_vec3 y = cm_mat3_mul(t, cm_vec(i->xy, i->yy, i->yz));
    carom_vec3 z = cm_mat3_mul(t, cm_vec(i->xz, i->yz, i->zz));
    return (cm_sym3){
        t.x.x * x.x + t.y.x * y.x + t.z.x * z.x, t.x.y * x.x + t.y.y * y.x + t.z.y * z.x,
        t.x.z * x.x + t.y.z * y.x + t.z.z * z.x, t.x.y * x.y + t.y.y * y.y + t.z.y * z.y,
        t.x.z * x.y + t.y.z * y.y + t.z.z * z.y, t.x.z * x.z + t.y.z * y.z + t.z.z * z.z};
}

// Its inertia turns with it. Scalar: a body has many joints.
void cm_soft_limb_respond(const cm_soft_inertia *inertia, const cm_soft_body *body,
                          float response[24])
{
    carom_vec3 mass = cm_soft_pushed(inertia, 1.0f, cm_vec(1.0f, 1.0f, 1.0f));
    cm_sym3 i = inertia->inverse;
    if (!inertia->round && !inertia->locks) {
        i = turned(&i, body->turn);
    }
    memset(response, 0, 24 * sizeof *response);
    response[0] = mass.x;
    response[3] = mass.y;
    response[5] = mass.z;
    memcpy(response + 15, &i, sizeof i);
}
