// Joints of the soft-step solver: their colours, and the order of their passes.
//
// Greedy, in the order of the state's joints: a joint takes the colour after the last that its
// bodies have, so that colours in turn do what the joints in turn would do; past the last colour,
// the lowest that is free. A chain whose joints were made one after another is solved from one end
// to the other, beside all other chains. What cannot be pushed takes no part. A joint that finds no
// colour goes to the loose groups, which are solved lane by lane, first. In a colour, joints of one
// type stand together. Typical: 100 chains of 20 balls, 20 colours, 260 groups; 20 ragdolls of 12.
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
// Keys of places: a colour, the first of which is none, and a type; plain balls are one more.
#define PLAIN (CAROM_JOINT_MOTOR + 1u)
#define TYPES (PLAIN + 1u)
#define KEYS  ((CM_JOINT_COLORS + 1u) * TYPES)

static size_t line(size_t size)
{
    return (size + CM_CACHE_LINE - 1) / CM_CACHE_LINE * CM_CACHE_LINE;
}

// Each colour may end with a group that is not full, but no group is empty.
static size_t group_limit(const carom_limits *limits)
{
    size_t full = limits->joints / CM_SOFT_LANES + CM_JOINT_COLORS + 1u;
    return full < limits->joints ? full : limits->joints;
}

size_t cm_soft_joints_size(const carom_limits *limits)
{
    size_t groups = group_limit(limits);
    return line(sizeof(cm_soft_joints)) + line(groups * sizeof(cm_soft_balls)) +
           line(groups * sizeof(cm_soft_rows)) + line(limits->joints * sizeof(cm_soft_joint_link));
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
    at += line(groups * sizeof(cm_soft_rows));
    joints->links = (void *)at;
    soft->joints = joints;
}

static bool is_locked(const cm_soft *soft, uint32_t body)
{
    return body != CM_NONE && soft->inertias[body].locks != 0;
}

// A locked axis may leave nothing to hold by: rows can bear that, plain balls cannot.
static bool is_plain(const cm_soft *soft, const cm_joint *joint)
{
    const uint32_t extras =
        CM_JOINT_MOTOR | CM_JOINT_SPRING_HERTZ | CM_JOINT_SPRING_STIFFNESS | CM_JOINT_LIMITS;
    return joint->type == CAROM_JOINT_BALL && !(joint->flags & extras) &&
           !is_locked(soft, joint->body_a) && !is_locked(soft, joint->body_b);
}

static bool is_pushed(const cm_soft *soft, uint32_t body)
{
    return body != CM_NONE && soft->inertias[body].inverse_mass > 0.0f;
}

// 0: none.
static uint32_t choose_color(const cm_soft_joint_link *link, uint64_t *taken)
{
    uint64_t used = (link->pushed_a ? taken[link->a] : 0) | (link->pushed_b ? taken[link->b] : 0);
    uint32_t color = 0;
    if (used == UINT64_MAX) {
        return 0;
    }
    if (used >> (CM_JOINT_COLORS - 1u)) {
        color = (uint32_t)__builtin_ctzll(~used);
    } else if (used) {
        color = CM_JOINT_COLORS - (uint32_t)__builtin_clzll(used);
    }
    taken[link->a] |= (uint64_t)1 << color; // not asked for where a cannot be pushed
    taken[link->b] |= (uint64_t)1 << color;
    return color + 1u;
}

static void clear_members(cm_soft_members *who, uint32_t unused_body)
{
    for (uint32_t k = 0; k < CM_SOFT_LANES; k++) {
        who->a[k] = who->b[k] = unused_body;
        who->slot[k] = CM_NONE;
    }
    who->guarded = CM_SOFT_LANES;
    memset(who->pad, 0, sizeof who->pad);
}

// The group's members, for plain balls or for the others.
static cm_soft_members *members_of(cm_soft_joints *joints, bool plain, uint32_t group)
{
    return plain ? &joints->balls[group].who : &joints->rows[group].who;
}

// First place, in lanes, of each key; groups of a colour are filled without a gap.
static cm_soft_span place_keys(const uint32_t count[KEYS], uint32_t start[KEYS])
{
    cm_soft_span span = {0};
    for (uint32_t color = 0, at = 0; color <= CM_JOINT_COLORS; color++) {
        for (uint32_t type = 0; type < TYPES; type++) {
            start[color * TYPES + type] = at;
            at += count[color * TYPES + type];
        }
        at = (at + CM_SOFT_LANES - 1) / CM_SOFT_LANES * CM_SOFT_LANES;
        span.colored = color == 0 ? at / CM_SOFT_LANES : span.colored;
        span.end = at / CM_SOFT_LANES;
    }
    return span;
}

static void put_member(const cm_soft_joint_link *link, uint32_t lane, cm_soft_members *who)
{
    // Where all are pushed it must be full, too.
    who->guarded = lane == 0 ? CM_SOFT_LANES : who->guarded;
    who->guarded -= link->pushed_a & link->pushed_b;
    who->slot[lane] = link->slot;
    who->a[lane] = link->a;
    who->b[lane] = link->b;
}

static cm_soft_span arrange(cm_soft *soft, uint32_t count, bool plain)
{
    uint32_t keys[KEYS] = {0}, next[KEYS];
    cm_soft_joints *joints = soft->joints;
    uint64_t *taken = (uint64_t *)(void *)soft->taken; // the contacts' are done with
    memset(taken, 0, ((size_t)soft->body_count + 1) * sizeof *taken);
    for (uint32_t i = 0; i < count; i++) {
        cm_soft_joint_link *link = &joints->links[i];
        if ((link->type == PLAIN) == plain) {
            link->color = (uint8_t)choose_color(link, taken);
            keys[link->color * TYPES + link->type]++;
        }
    }
    cm_soft_span span = place_keys(keys, next);
    for (uint32_t i = 0; i < span.end; i++) {
        clear_members(members_of(joints, plain, i), soft->body_count);
    }
    for (uint32_t i = 0; i < count; i++) {
        const cm_soft_joint_link *link = &joints->links[i];
        if ((link->type == PLAIN) == plain) {
            uint32_t place = next[link->color * TYPES + link->type]++;
            put_member(link, place % CM_SOFT_LANES,
                       members_of(joints, plain, place / CM_SOFT_LANES));
        }
    }
    return span;
}

// A joint that holds what sleeps stays as it is.
static bool sleeps(const carom_world *world, const cm_joint *joint)
{
    const cm_body *bodies = cm_bodies(world);
    return cm_body_is_asleep(&bodies[joint->body_b]) ||
           (joint->body_a != CM_NONE && cm_body_is_asleep(&bodies[joint->body_a]));
}

// Links of all joints that act; returns how many, and how many of them are plain.
static uint32_t link_joints(carom_world *world, cm_soft *soft, uint32_t *plain)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->state.joint_slots; i++) {
        cm_joint *joint = &cm_joints(world)[i];
        if (!cm_joint_holds(joint)) {
            continue;
        }
        bool pushed_a = is_pushed(soft, joint->body_a), pushed_b = is_pushed(soft, joint->body_b);
        if (pushed_a || pushed_b) {
            bool is_ball = is_plain(soft, joint);
            *plain += is_ball;
            soft->joints->links[count++] =
                (cm_soft_joint_link){i,
                                     joint->body_a == CM_NONE ? soft->body_count : joint->body_a,
                                     joint->body_b,
                                     is_ball ? (uint8_t)PLAIN : joint->type,
                                     0,
                                     pushed_a,
                                     pushed_b};
        } else if (!sleeps(world, joint)) {
            memset(joint->impulse, 0, sizeof joint->impulse); // neither can be pushed for now
            joint->force = joint->torque = 0.0f;
        }
    }
    return count;
}

void cm_soft_prepare_joints(carom_world *world, cm_soft *soft)
{
    cm_soft_joints *joints = soft->joints;
    joints->state = cm_joints(world);
    joints->ball =
        cm_softness_of(cm_min(JOINT_HERTZ, BALL_SHARE / soft->h), BALL_DAMPING_RATIO, soft->h);
    joints->rigid =
        cm_softness_of(cm_min(JOINT_HERTZ, ROW_SHARE / soft->h), ROW_DAMPING_RATIO, soft->h);
    uint32_t plain = 0, count = link_joints(world, soft, &plain);
    if (plain > 0) {
        joints->ball_span = arrange(soft, count, true);
        cm_soft_pack_balls(world, soft);
    }
    if (count > plain) {
        joints->row_span = arrange(soft, count, false);
        cm_soft_pack_rows(soft);
    }
}

bool cm_soft_has_joints(const cm_soft *soft)
{
    return soft->joints->ball_span.end + soft->joints->row_span.end > 0;
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
}

void cm_soft_store_joints(carom_world *world, const cm_soft *soft)
{
    cm_soft_store_balls(world, soft);
    cm_soft_store_rows(world, soft);
}
