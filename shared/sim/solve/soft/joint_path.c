// Paths of joints: what hangs one on the other is solved at once.
//
// Each body that can be pushed links the joints that hold it two by two, in the order of the
// state's joints, so that chains become paths; where a body branches, one path ends at another. A
// joint that would close a loop, over what cannot be pushed too, is a path by itself: so the
// equations of a path always have one solution. Paths are coloured greedily: a path takes the
// colour after the last that its bodies have, past the last colour the lowest that is free; what
// finds none goes to the loose groups, which are solved lane by lane, first. The paths of a colour
// stand in lanes, the longest first: step by step, a group each. Typical: 100 chains of 20 balls,
// 13 times 20 groups; 20 ragdolls of 12.
#include "shared/sim/solve/soft/joint.h"
#include "shared/sim/state/sort.h"

#include <string.h>

// Plain balls, or joints that are rows.
static bool is_of(const cm_soft_joint_link *link, bool plain)
{
    return plain ? link->type == CM_LINK_BALL : link->type < CM_LINK_BALL;
}

// Links joints at the bodies that they share. `open` is the link that waits at a body.
static void link_ends(cm_soft *soft, uint32_t count, bool plain, bool *loops)
{
    cm_soft_joint_link *links = soft->joints->links;
    uint32_t ground = soft->body_count, *parent = soft->taken, *open = parent + ground + 1;
    for (uint32_t i = 0; i <= ground; i++) {
        parent[i] = i;
        open[i] = CM_NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        cm_soft_joint_link *link = &links[i];
        if (!is_of(link, plain)) {
            continue;
        }
        uint32_t a = cm_soft_root_of(parent, link->pushed_a ? link->a : ground);
        uint32_t b = cm_soft_root_of(parent, link->pushed_b ? link->b : ground);
        if (a == b) {
            *loops = true;
            continue; // closes a loop
        }
        parent[a] = b;
        for (uint32_t end = 0; end < 2; end++) {
            uint32_t body = end ? link->b : link->a;
            if (!(end ? link->pushed_b : link->pushed_a)) {
                continue;
            }
            uint32_t other = open[body];
            open[body] = other == CM_NONE ? i : CM_NONE;
            if (other != CM_NONE) {
                link->next[end] = other;
                links[other].next[links[other].pushed_b && links[other].b == body] = i;
            }
        }
    }
}

// From an end on.
static void walk(cm_soft_joints *joints, uint32_t start, uint32_t *placed, uint32_t *paths)
{
    uint32_t from = CM_NONE, at = start;
    cm_soft_path *path = NULL;
    while (at != CM_NONE) {
        cm_soft_joint_link *link = &joints->links[at];
        if (path == NULL || path->length == CM_JOINT_PATH) {
            path = &joints->paths[(*paths)++];
            *path = (cm_soft_path){*placed, 0, 0};
        }
        joints->members[(*placed)++] = at;
        path->length++;
        link->visited = 1;
        uint32_t next = link->next[0] == from ? link->next[1] : link->next[0];
        from = at;
        at = next;
    }
}

uint32_t cm_soft_find_paths(cm_soft *soft, uint32_t count, bool plain, bool *loops)
{
    cm_soft_joints *joints = soft->joints;
    uint32_t placed = 0, paths = 0;
    link_ends(soft, count, plain, loops);
    // A joint to the world is first on its path, which has one such joint at most.
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < count; i++) {
            const cm_soft_joint_link *link = &joints->links[i];
            if ((round ? link->visited : link->pushed_a) || !is_of(link, plain)) {
                continue;
            }
            bool inner = link->next[0] != CM_NONE && link->next[1] != CM_NONE;
            if (round == 0 || !inner) {
                walk(joints, i, &placed, &paths);
            }
        }
    }
    return paths;
}

// 0: none.
static uint32_t choose_color(const cm_soft_joints *joints, const cm_soft_path *path,
                             uint64_t *taken)
{
    uint64_t used = 0;
    for (uint32_t i = 0; i < path->length; i++) {
        const cm_soft_joint_link *link = &joints->links[joints->members[path->first + i]];
        used |= (link->pushed_a ? taken[link->a] : 0) | (link->pushed_b ? taken[link->b] : 0);
    }
    uint32_t color = 0;
    if (used == UINT64_MAX) {
        return 0;
    }
    if (used >> (CM_JOINT_COLORS - 1u)) {
        color = (uint32_t)__builtin_ctzll(~used);
    } else if (used) {
        color = CM_JOINT_COLORS - (uint32_t)__builtin_clzll(used);
    }
    for (uint32_t i = 0; i < path->length; i++) {
        const cm_soft_joint_link *link = &joints->links[joints->members[path->first + i]];
        taken[link->a] |= (uint64_t)1 << color; // not asked for where a cannot be pushed
        taken[link->b] |= (uint64_t)1 << color;
    }
    return color + 1u;
}

// Paths by colour, then the longest first, then by the type of their first joint.
static void sort_paths(cm_soft *soft, uint32_t paths)
{
    cm_soft_joints *joints = soft->joints;
    uint64_t *taken = (uint64_t *)(void *)soft->taken;
    uint32_t *order = joints->order, *keys = order + joints->order_stride;
    memset(taken, 0, ((size_t)soft->body_count + 1) * sizeof *taken);
    for (uint32_t i = 0; i < paths; i++) {
        cm_soft_path *path = &joints->paths[i];
        path->color = choose_color(joints, path, taken);
        order[i] = i;
        keys[i] = path->color << 16 | (CM_JOINT_TREE - path->length) << 8 |
                  joints->links[joints->members[path->first]].type;
    }
    cm_sort(keys, order, keys + joints->order_stride, keys + 2 * joints->order_stride, paths);
}

// Groups of the paths in their order.
static uint32_t count_groups(const cm_soft_joints *joints, uint32_t paths)
{
    uint32_t groups = 0, lanes = 0, color = CM_NONE;
    for (uint32_t i = 0; i < paths; i++) {
        const cm_soft_path *path = &joints->paths[joints->order[i]];
        if (path->color != color || lanes == CM_SOFT_LANES) {
            color = path->color;
            groups += path->length;
            lanes = 0;
        }
        lanes++;
    }
    return groups;
}

// Each joint a path by itself, which leaves less room unused.
static void cut_paths(cm_soft_joints *joints, uint32_t *paths)
{
    uint32_t joints_of_all = 0;
    for (uint32_t i = 0; i < *paths; i++) {
        joints_of_all += joints->paths[i].length;
    }
    for (uint32_t i = 0; i < joints_of_all; i++) {
        joints->paths[i] = (cm_soft_path){i, 1, 0};
    }
    *paths = joints_of_all;
}

// The group's members, for plain balls or for the others.
static cm_soft_members *members_of(cm_soft_joints *joints, bool plain, uint32_t group)
{
    return plain ? &joints->balls[group].who : &joints->rows[group].who;
}

void cm_soft_clear_members(cm_soft *soft, bool plain, uint32_t group)
{
    cm_soft_members *who = members_of(soft->joints, plain, group);
    memset(who, 0, sizeof *who);
    for (uint32_t k = 0; k < CM_SOFT_LANES; k++) {
        who->a[k] = who->b[k] = soft->body_count;
        who->slot[k] = CM_NONE;
    }
    who->guarded = CM_SOFT_LANES; // where all are pushed it must be full, too
}

// Plain balls are turned so that a is the body that they share with the joint before.
static void put_member(const cm_soft_joints *joints, const cm_soft_path *path, uint32_t k,
                       bool plain, uint32_t lane, cm_soft_members *who)
{
    const uint32_t *member = &joints->members[path->first + k];
    const cm_soft_joint_link *link = &joints->links[*member];
    bool flipped =
        k > 0 ? link->next[1] == member[-1] : path->length > 1 && link->next[0] == member[1];
    bool turned = flipped && plain; // trees name their bodies as their joints do
    flipped = plain ? flipped : link->flipped;
    who->guarded -= link->pushed_a & link->pushed_b;
    who->slot[lane] = link->slot;
    who->lanes = lane + 1;
    who->a[lane] = turned ? link->b : link->a;
    who->b[lane] = turned ? link->a : link->b;
    who->flipped[lane] = flipped;
    who->bridge[lane] = link->bridge;
    who->bounded[lane] = link->bounded;
}

// Paths from one on that stand in its group.
static uint32_t lanes_from(const cm_soft_joints *joints, uint32_t paths, uint32_t at)
{
    uint32_t lanes = 1, color = joints->paths[joints->order[at]].color;
    while (lanes < CM_SOFT_LANES && at + lanes < paths &&
           joints->paths[joints->order[at + lanes]].color == color) {
        lanes++;
    }
    return lanes;
}

// Paths from one on, side by side.
static void place_group(cm_soft *soft, uint32_t at, uint32_t lanes, bool plain, uint32_t first)
{
    cm_soft_joints *joints = soft->joints;
    const cm_soft_path *longest = &joints->paths[joints->order[at]];
    for (uint32_t k = 0; k < longest->length; k++) {
        cm_soft_clear_members(soft, plain, first + k);
        members_of(joints, plain, first + k)->leads = longest->color == 1;
    }
    members_of(joints, plain, first)->steps = longest->length;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        const cm_soft_path *path = &joints->paths[joints->order[at + lane]];
        for (uint32_t k = 0; k < path->length; k++) {
            put_member(joints, path, k, plain, lane, members_of(joints, plain, first + k));
        }
    }
}

cm_soft_span cm_soft_place_paths(cm_soft *soft, uint32_t *paths, bool plain, uint32_t start,
                                 uint32_t few, uint32_t *left)
{
    cm_soft_joints *joints = soft->joints;
    cm_soft_span span = {start, start, start};
    sort_paths(soft, *paths);
    uint32_t all = 0;
    for (uint32_t i = 0; i < *paths; i++) {
        all += joints->paths[i].length;
    }
    if (count_groups(joints, *paths) > all / CM_SOFT_LANES + CM_JOINT_PATH_GROUPS) {
        cut_paths(joints, paths);
        sort_paths(soft, *paths);
    }
    *left = 0;
    for (uint32_t i = 0, lanes; i < *paths; i += lanes) {
        const cm_soft_path *path = &joints->paths[joints->order[i]];
        lanes = lanes_from(joints, *paths, i);
        if (i + lanes == *paths && lanes <= few) {
            *left = lanes;
            break;
        }
        place_group(soft, i, lanes, plain, span.end);
        span.end += path->length;
        span.colored = path->color == 0 ? span.end : span.colored;
    }
    return span;
}
