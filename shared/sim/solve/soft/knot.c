// Trees that would leave most lanes of a group unused, on their way into the passes and out of
// them.
//
// Knots stand in the order in which they are eliminated. Their poses and what is constant of their
// rows are in groups of lanes, as those of other joints are, eight knots a group. Typical: a
// bridge of 21 hinges.
#include "shared/sim/solve/soft/joint.h"

#include <stddef.h>
#include <string.h>

static size_t line(size_t size)
{
    return (size + CM_CACHE_LINE - 1) / CM_CACHE_LINE * CM_CACHE_LINE;
}

static size_t blocks_of(size_t knots)
{
    return (2 * knots + CM_SOFT_LANES - 1) / CM_SOFT_LANES;
}

size_t cm_soft_knots_size(size_t knots)
{
    size_t blocks = blocks_of(knots);
    return CM_CACHE_LINE + line(knots * sizeof(cm_soft_knot)) +
           line(blocks * sizeof(cm_soft_knot_block)) +
           blocks * CM_SOFT_LANES * sizeof(cm_soft_knot_body);
}

// Behind the last group of rows.
static void map_knots(cm_soft_joints *joints, size_t knots)
{
    uintptr_t end = (uintptr_t)&joints->rows[joints->knot_span.end];
    char *at = (char *)&joints->rows[joints->knot_span.end] + (line(end) - end);
    joints->knots = (void *)at;
    at += line(knots * sizeof(cm_soft_knot));
    joints->knot_block = (void *)at;
    at += line(blocks_of(knots) * sizeof(cm_soft_knot_block));
    joints->knot_bodies = (void *)at;
}

static uint32_t add_body(const cm_soft *soft, uint32_t row, uint32_t *used)
{
    uint32_t at = (*used)++, lane = at % CM_SOFT_LANES;
    cm_soft_knot_body *body = &soft->joints->knot_bodies[at];
    cm_soft_knot_block *block = &soft->joints->knot_block[at / CM_SOFT_LANES];
    const cm_soft_inertia *inertia = &soft->inertias[row];
    const cm_sym3 *i = &inertia->inverse;
    const float numbers[6] = {i->xx, i->xy, i->xz, i->yy, i->yz, i->zz};
    float mass = inertia->inverse_mass;
    if (lane == 0) {
        memset(block, 0, sizeof *block);
        for (uint32_t k = 0; k < CM_SOFT_LANES; k++) {
            block->body[k] = soft->body_count;
        }
    }
    block->body[lane] = row;
    block->turns[lane] = inertia->round ? 0.0f : 1.0f;
    for (uint32_t n = 0; n < 6; n++) {
        block->inertia[n][lane] = numbers[n];
    }
    memset(body->alone, 0, sizeof body->alone);
    body->alone[0][0] = body->alone[1][1] = body->alone[2][2] = mass;
    memcpy(body->mass, (cm_soft_six){mass, mass, mass, 1.0f, 1.0f, 1.0f}, sizeof body->mass);
    body->row = row;
    body->pushed = mass > 0.0f;
    return at;
}

// A knot; its pose is made in a lane of a group.
static void place_knot(cm_soft *soft, const cm_soft_joint_link *link, uint32_t at)
{
    cm_soft_joints *joints = soft->joints;
    cm_soft_knot *knot = &joints->knots[at];
    knot->group = joints->knot_span.loose + at / CM_SOFT_LANES;
    knot->lane = at % CM_SOFT_LANES;
    knot->flipped = link->flipped;
    knot->turns = !soft->inertias[link->a].round || !soft->inertias[link->b].round;
    knot->give = link->bridge ? CM_JOINT_BRIDGE_YIELD : CM_JOINT_YIELD;
    knot->share = link->bounded ? 1.0f : joints->ball.mass_scale;
    if (knot->lane == 0) {
        cm_soft_clear_members(soft, false, knot->group);
    }
    cm_soft_members *who = &joints->rows[knot->group].who;
    who->slot[knot->lane] = link->slot;
    who->a[knot->lane] = link->a;
    who->b[knot->lane] = link->b;
    who->lanes = knot->lane + 1;
}

// A tree's knots and bodies, from the root on: a body's place is that of the joint whose child it
// is.
static void place_tree(cm_soft *soft, const cm_soft_path *path, cm_soft_knot_tree *tree,
                       uint32_t *used)
{
    cm_soft_joints *joints = soft->joints;
    uint32_t *place_of = soft->taken;
    tree->first_body = *used;
    for (uint32_t i = path->length; i-- > 0;) {
        const cm_soft_joint_link *link = &joints->links[joints->members[path->first + i]];
        cm_soft_knot *knot = &joints->knots[tree->first + i];
        uint32_t parent = link->flipped ? link->b : link->a;
        uint32_t child = link->flipped ? link->a : link->b, at = place_of[parent];
        if (at == CM_NONE || at < tree->first_body || !joints->knot_bodies[at].pushed) {
            at = place_of[parent] = add_body(soft, parent, used);
        }
        knot->parent = at;
        knot->child = place_of[child] = add_body(soft, child, used);
    }
    tree->end_body = *used;
}

// Knots of two trees stood in one group if lanes were trees: inertias of both turn where one does.
static void match_turns(cm_soft_joints *joints)
{
    const cm_soft_knot_tree *a = &joints->knot_trees[0], *b = &joints->knot_trees[1];
    for (uint32_t i = 0; joints->knot_tree_count == 2 && i < b->end - b->first; i++) {
        cm_soft_knot *of_a = &joints->knots[a->first + i], *of_b = &joints->knots[b->first + i];
        of_a->turns = of_b->turns = of_a->turns || of_b->turns;
    }
}

void cm_soft_place_knots(cm_soft *soft, uint32_t first, uint32_t group)
{
    cm_soft_joints *joints = soft->joints;
    uint32_t bodies = 0, knots = 0;
    for (uint32_t i = 0; i < joints->knot_tree_count; i++) {
        knots += joints->paths[joints->order[first + i]].length;
    }
    uint32_t groups = (knots + CM_SOFT_LANES - 1) / CM_SOFT_LANES;
    joints->knot_span = (cm_soft_span){group, group, group + groups};
    map_knots(joints, knots);
    knots = 0;
    memset(soft->taken, 0xff, ((size_t)soft->body_count + 1) * sizeof *soft->taken);
    for (uint32_t i = 0; i < joints->knot_tree_count; i++) {
        const cm_soft_path *path = &joints->paths[joints->order[first + i]];
        cm_soft_knot_tree *tree = &joints->knot_trees[i];
        *tree = (cm_soft_knot_tree){.first = knots, .end = knots + path->length};
        for (uint32_t k = 0; k < path->length; k++, knots++) {
            place_knot(soft, &joints->links[joints->members[path->first + k]], knots);
        }
        place_tree(soft, path, tree, &bodies);
    }
    match_turns(joints);
    joints->knot_blocks = (bodies + CM_SOFT_LANES - 1) / CM_SOFT_LANES;
}

// Clears beyond the last row, since rows are read in eights, which may begin behind single rows.
static void clear_knot(cm_soft_knot *knot)
{
    size_t rest = (CM_KNOT_ROWS - knot->count) * sizeof knot->reach[0];
    memset(knot->total, 0, sizeof knot->total);
    memset(knot->impulse, 0,
           offsetof(cm_soft_knot, child_across) - offsetof(cm_soft_knot, impulse));
    memset(knot->child_row[knot->count], 0, rest);
    memset(knot->parent_row[knot->count], 0, rest);
    memset(knot->reach[knot->count], 0, rest);
    memset(knot->child_turn[knot->count], 0, rest);
    memset(knot->parent_turn[knot->count], 0, rest);
    if (knot->singles > 0) {
        memset(knot->child_across, 0,
               offsetof(cm_soft_knot, child_row) - offsetof(cm_soft_knot, child_across));
    }
}

static void pack_bound(const cm_soft_single *from, uint32_t lane, cm_soft_bound *to)
{
    *to = (cm_soft_bound){.lower = from->lower[lane],
                          .upper = from->upper[lane],
                          .limit = from->limit[lane],
                          .lasting = from->lasting[lane],
                          .rate = from->rate[lane],
                          .bias_limit = from->bias_limit[lane],
                          .mass_scale = from->mass_scale[lane],
                          .impulse_scale = from->impulse_scale[lane],
                          .gamma = from->gamma[lane]};
}

static void pack_knot(const cm_soft_joints *joints, cm_soft_knot *knot)
{
    const cm_soft_rows *g = &joints->rows[knot->group];
    knot->singles = g->lane_singles[knot->lane];
    knot->count = g->lane_rows[knot->lane];
    knot->first = g->singles - knot->singles;
    knot->turning = knot->from = 0;
    clear_knot(knot);
    for (uint32_t r = 0; r < knot->count; r++) {
        const cm_soft_row *row = &g->rows[knot->first + r];
        knot->impulse[r] = row->impulse[knot->lane];
        knot->turning |= (uint32_t)(row->turning[knot->lane] > 0.0f) << r;
    }
    for (uint32_t r = 0; r < knot->singles; r++) {
        pack_bound(&g->single[knot->first + r], knot->lane, &knot->bound[r]);
    }
}

void cm_soft_pack_knots(cm_soft *soft)
{
    cm_soft_joints *joints = soft->joints;
    joints->knots_made = 0;
    for (uint32_t i = joints->knot_span.loose; i < joints->knot_span.end; i++) {
        joints->rows[i].turns = 0; // the bodies have the inertias
    }
    for (uint32_t t = 0; t < joints->knot_tree_count; t++) {
        cm_soft_knot_tree *tree = &joints->knot_trees[t];
        for (uint32_t i = tree->first; i < tree->end; i++) {
            pack_knot(joints, &joints->knots[i]);
            tree->bounded |= joints->knots[i].singles > 0;
        }
    }
}

void cm_soft_store_knots(cm_soft *soft)
{
    cm_soft_joints *joints = soft->joints;
    for (uint32_t t = 0; t < joints->knot_tree_count; t++) {
        for (uint32_t i = joints->knot_trees[t].first; i < joints->knot_trees[t].end; i++) {
            const cm_soft_knot *knot = &joints->knots[i];
            cm_soft_rows *g = &joints->rows[knot->group];
            for (uint32_t r = 0; r < knot->count; r++) {
                g->rows[knot->first + r].impulse[knot->lane] = knot->impulse[r];
            }
            for (uint32_t n = 0; n < 3; n++) {
                g->force[n][knot->lane] = knot->total[n];
                g->torque[n][knot->lane] = knot->total[3 + n];
            }
        }
    }
}
