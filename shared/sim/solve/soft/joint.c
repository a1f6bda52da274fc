// Joints of the soft-step solver: which act, how stiff they are, and the order of their passes.
//
// What cannot be pushed takes no part. Typical: 100 chains of 20 balls, 260 groups; 20 ragdolls of
// 12.
#include "shared/sim/state/wake.h"
#include "shared/sim/solve/soft/joint.h"

#include <string.h>

// As parts of the substeps' rate, and the damping ratios. Rows hold turns, too, and of what one
// joint does against those its neighbours undo the most: held as stiffly as balls, chains of hinges
// leave their plane and fly.
#define JOINT_HERTZ        120.0f // at most
#define BALL_SHARE         0.5f
#define BALL_DAMPING_RATIO 1.0f
#define ROW_SHARE          0.25f
#define ROW_DAMPING_RATIO  2.0f

static size_t line(size_t size)
{
    return (size + CM_CACHE_LINE - 1) / CM_CACHE_LINE * CM_CACHE_LINE;
}

// Each colour may end with a group that is not full, but no group is empty.
static size_t group_limit(const carom_limits *limits)
{
    size_t full = limits->joints / CM_SOFT_LANES + CM_JOINT_COLORS + 1u + CM_JOINT_PATH_GROUPS;
    return full < limits->joints ? full : limits->joints;
}

// Rows and trees stand in one array: each may leave as many groups half empty.
static size_t row_group_limit(const carom_limits *limits)
{
    size_t full = group_limit(limits) + CM_JOINT_PATH_GROUPS;
    return full < limits->joints ? full : limits->joints;
}

// Rows, and behind those that are used the knots. Where each joint has room for a group, this does:
// a knot's eighth of a group and its own room are less, but for one knot, or two.
static size_t row_memory_limit(const carom_limits *limits)
{
    size_t groups = row_group_limit(limits), most = CM_KNOT_TREES * (size_t)CM_JOINT_TREE;
    if (groups == limits->joints) {
        return groups * sizeof(cm_soft_rows) + cm_soft_knots_size(groups < 2 ? groups : 2);
    }
    return (groups + 1) * sizeof(cm_soft_rows) + cm_soft_knots_size(most);
}

size_t cm_soft_joints_size(const carom_limits *limits)
{
    size_t groups = group_limit(limits);
    return line(sizeof(cm_soft_joints)) + line(groups * sizeof(cm_soft_balls)) +
           line(row_memory_limit(limits)) + line(limits->joints * sizeof(cm_soft_joint_link)) +
           line(limits->joints * sizeof(cm_soft_path)) +
           line(7 * limits->joints * sizeof(uint32_t) + sizeof(uint32_t)) +
           line((2 * limits->joints + 1) * sizeof(cm_soft_limb));
}

void cm_soft_map_joints(const carom_limits *limits, void *memory, cm_soft *soft)
{
    char *at = memory;
    size_t groups = group_limit(limits);
    cm_soft_joints *joints = memory;
    memset(joints, 0, sizeof *joints);
    at += line(sizeof *joints);
    joints->balls = (void *)at;
    at += line(groups * sizeof(cm_soft_balls));
    joints->rows = (void *)at;
    at += line(row_memory_limit(limits));
    joints->links = (void *)at;
    at += line(limits->joints * sizeof(cm_soft_joint_link));
    joints->paths = (void *)at;
    at += line(limits->joints * sizeof(cm_soft_path));
    joints->members = (void *)at;
    joints->order = joints->members + limits->joints;
    joints->order_stride = limits->joints;
    joints->limb_bodies = joints->order + 4 * (size_t)limits->joints;
    at += line(7 * limits->joints * sizeof(uint32_t) + sizeof(uint32_t));
    joints->limbs = (void *)at;
    soft->joints = joints;
}

static bool is_bounded(const cm_joint *joint)
{
    const uint32_t extras =
        CM_JOINT_MOTOR | CM_JOINT_SPRING_HERTZ | CM_JOINT_SPRING_STIFFNESS | CM_JOINT_LIMITS;
    return joint->type >= CAROM_JOINT_DISTANCE || (joint->flags & extras) != 0;
}

// A joint that holds what sleeps stays as it is.
static bool sleeps(const carom_world *world, const cm_joint *joint)
{
    const cm_body *bodies = cm_bodies(world);
    return cm_body_is_asleep(&bodies[joint->body_b]) ||
           (joint->body_a != CM_NONE && cm_body_is_asleep(&bodies[joint->body_a]));
}

// Links of all joints that act; returns how many.
static uint32_t link_joints(carom_world *world, cm_soft *soft)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->state.joint_slots; i++) {
        cm_joint *joint = &cm_joints(world)[i];
        if (!cm_joint_holds(joint)) {
            continue;
        }
        uint32_t a = joint->body_a == CM_NONE ? soft->body_count : joint->body_a; // one at rest
        const cm_soft_inertia *of_a = &soft->inertias[a], *of_b = &soft->inertias[joint->body_b];
        bool pushed_a = of_a->inverse_mass > 0.0f, pushed_b = of_b->inverse_mass > 0.0f;
        if (pushed_a || pushed_b) {
            // A locked axis may leave nothing to hold by: rows can bear that, what is solved at
            // once cannot.
            bool free = (of_a->locks | of_b->locks) == 0;
            bool bounded = is_bounded(joint);
            bool ball = free && !bounded && joint->type == CAROM_JOINT_BALL;
            soft->joints->rubs |= joint->friction > 0.0f;
            soft->joints->links[count++] = (cm_soft_joint_link){i,
                                                                a,
                                                                joint->body_b,
                                                                ball ? CM_LINK_BALL : joint->type,
                                                                free,
                                                                pushed_a,
                                                                pushed_b,
                                                                0,
                                                                bounded,
                                                                0,
                                                                0,
                                                                {CM_NONE, CM_NONE}};
        } else if (!sleeps(world, joint)) {
            memset(joint->impulse, 0, sizeof joint->impulse); // neither can be pushed for now
            joint->force = joint->torque = 0.0f;
        }
    }
    return count;
}

// Friction of balls and hinges, once a tick before they are solved: against the turn of one body in
// the other, at most the last tick's force times its lever, and no more than what would end the
// turn if the bodies were free, since joints only make them harder to turn. So each takes energy
// away, whatever hangs on it.
static void rub_joint(const cm_soft *soft, const cm_soft_joint_link *link, float most)
{
    cm_soft_body *a = &soft->bodies[link->a], *b = &soft->bodies[link->b];
    carom_vec3 spin = cm_sub(b->w, a->w);
    float speed = cm_length(spin);
    carom_vec3 axis = cm_scale(1.0f / cm_max(speed, CM_SOFT_TINY), spin);
    carom_vec3 turn_a = cm_sym3_mul(&soft->inertias[link->a].inverse, axis);
    carom_vec3 turn_b = cm_sym3_mul(&soft->inertias[link->b].inverse, axis);
    float answer = cm_dot(axis, turn_a) + cm_dot(axis, turn_b);
    if (!(speed >= CM_SOFT_TINY) || !(answer > 0.0f)) {
        return;
    }
    float impulse = cm_min(most, speed / answer);
    a->w = cm_mul_add(a->w, impulse, turn_a);
    b->w = cm_mul_add(b->w, -impulse, turn_b);
}

static void rub_joints(const carom_world *world, const cm_soft *soft, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const cm_soft_joint_link *link = &soft->joints->links[i];
        const cm_joint *joint = &cm_joints(world)[link->slot];
        if (joint->friction > 0.0f && joint->force > 0.0f) {
            rub_joint(soft, link, joint->friction * joint->force * soft->dt);
        }
    }
}

void cm_soft_prepare_joints(carom_world *world, cm_soft *soft)
{
    cm_soft_joints *joints = soft->joints;
    joints->state = cm_joints(world);
    joints->ball =
        cm_softness_of(cm_min(JOINT_HERTZ, BALL_SHARE / soft->h), BALL_DAMPING_RATIO, soft->h);
    joints->rigid =
        cm_softness_of(cm_min(JOINT_HERTZ, ROW_SHARE / soft->h), ROW_DAMPING_RATIO, soft->h);
    uint32_t count = link_joints(world, soft), first = 0, paths = 0, left = 0;
    if (count == 0) { // what follows goes over all bodies
        return;
    }
    if (soft->joints->rubs) {
        rub_joints(world, soft, count);
    }
    cm_soft_link_counts counts = cm_soft_sort_links(soft, count, false);
    bool loops = false;
    if (counts.balls > 0) {
        paths = cm_soft_find_paths(soft, count, true, &loops);
    }
    if (counts.balls == count && loops) {
        counts = cm_soft_sort_links(soft, count, true);
        paths = cm_soft_find_paths(soft, count, true, &loops);
    }
    if (counts.balls > 0) {
        joints->ball_span = cm_soft_place_paths(soft, &paths, true, 0, 0, &left);
        cm_soft_pack_balls(world, soft);
    }
    if (counts.rows > 0) {
        paths = cm_soft_find_paths(soft, count, false, &loops);
        joints->row_span = cm_soft_place_paths(soft, &paths, false, 0, 0, &left);
        first = joints->row_span.end;
    }
    joints->tree_span = joints->knot_span = (cm_soft_span){first, first, first};
    if (counts.trees > 0) {
        paths = cm_soft_find_trees(soft, count);
        joints->tree_span = cm_soft_place_paths(soft, &paths, false, first, CM_KNOT_TREES,
                                                &joints->knot_tree_count);
        cm_soft_place_limbs(soft);
        cm_soft_place_knots(soft, paths - joints->knot_tree_count, joints->tree_span.end);
    }
    cm_soft_pack_rows(soft);
    cm_soft_pack_knots(soft);
}

bool cm_soft_has_joints(const cm_soft *soft)
{
    return soft->joints->ball_span.end + soft->joints->knot_span.end > 0;
}

static void run(cm_soft *soft, cm_soft_kind kind, const cm_soft_span *span)
{
    soft->single->run[kind](soft, span->loose, span->colored);
    soft->passes->run[kind](soft, span->colored, span->end);
}

void cm_soft_warm_start_joints(cm_soft *soft)
{
    run(soft, CM_SOFT_BALL_WARM, &soft->joints->ball_span);
    run(soft, CM_SOFT_ROW_WARM, &soft->joints->row_span);
}

void cm_soft_solve_joints(cm_soft *soft, bool relax)
{
    run(soft, relax ? CM_SOFT_BALL_RELAX : CM_SOFT_BALL_SOLVE, &soft->joints->ball_span);
    run(soft, relax ? CM_SOFT_ROW_RELAX : CM_SOFT_ROW_SOLVE, &soft->joints->row_span);
    run(soft, relax ? CM_SOFT_ROW_RELAX : CM_SOFT_ROW_SOLVE, &soft->joints->tree_span);
    soft->passes->run[relax ? CM_SOFT_KNOT_RELAX : CM_SOFT_KNOT_SOLVE](
        soft, 0, soft->joints->knot_tree_count);
}

void cm_soft_store_joints(carom_world *world, cm_soft *soft)
{
    cm_soft_store_knots(soft);
    cm_soft_store_balls(world, soft);
    cm_soft_store_rows(world, soft);
}
