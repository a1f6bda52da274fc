// Joints of the soft-step solver: their colours, and the order of their passes.
//
// Greedy, in the order of the state's joints: a joint takes the colour after the last that its
// bodies have, so that colours in turn do what the joints in turn would do; past the last colour,
// the lowest that is free. A chain whose joints were made one after another is solved from one end
// to the other, beside all other chains. What cannot be pushed takes no part. A joint that finds no
// colour goes to the loose groups, which are solved lane by lane, first. In a colour, joints of one
// type stand together. Typical: 100 chains of 20 balls, 20 colours, 260 groups; 20 ragdolls of 12.
#include "shared/sim/sleep.h"
#include "shared/sim/solve/soft_joint.h"

#include <string.h>

#define JOINT_HERTZ         60.0f
#define JOINT_DAMPING_RATIO 0.5f
#define TYPES               (CAROM_JOINT_MOTOR + 1u)
#define KEYS                ((CM_JOINT_COLORS + 1u) * TYPES) // the first color is none
#define ABSENT              255u

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
           line(groups * sizeof(cm_soft_rows)) + line(limits->joints);
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
    joints->colors = (void *)at;
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
static uint32_t choose_color(const cm_soft *soft, const cm_joint *joint, uint64_t *taken)
{
    bool pushed_a = is_pushed(soft, joint->body_a), pushed_b = is_pushed(soft, joint->body_b);
    uint64_t used = (pushed_a ? taken[joint->body_a] : 0) | (pushed_b ? taken[joint->body_b] : 0);
    uint32_t color = 0;
    if (used == UINT64_MAX) {
        return 0;
    }
    if (used >> (CM_JOINT_COLORS - 1u)) {
        color = (uint32_t)__builtin_ctzll(~used);
    } else if (used) {
        color = CM_JOINT_COLORS - (uint32_t)__builtin_clzll(used);
    }
    if (pushed_a) {
        taken[joint->body_a] |= (uint64_t)1 << color;
    }
    if (pushed_b) {
        taken[joint->body_b] |= (uint64_t)1 << color;
    }
    return color + 1u;
}

static void clear_members(cm_soft_members *who, uint32_t unused_body)
{
    for (uint32_t k = 0; k < CM_SOFT_LANES; k++) {
        who->a[k] = who->b[k] = unused_body;
        who->slot[k] = CM_NONE;
    }
    who->guarded = 1;
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

static void put_member(const cm_soft *soft, const cm_joint *joint, uint32_t slot, uint32_t lane,
                       cm_soft_members *who)
{
    who->slot[lane] = slot;
    who->a[lane] = joint->body_a == CM_NONE ? soft->body_count : joint->body_a;
    who->b[lane] = joint->body_b;
    if (lane == CM_SOFT_LANES - 1) {
        who->guarded = 0;
        for (uint32_t k = 0; k < CM_SOFT_LANES; k++) {
            who->guarded |= !is_pushed(soft, who->a[k]) || !is_pushed(soft, who->b[k]);
        }
    }
}

static cm_soft_span arrange(const carom_world *world, cm_soft *soft, bool plain)
{
    uint32_t count[KEYS] = {0}, next[KEYS], slots = world->state.joint_slots;
    const cm_joint *rows = cm_joints(world);
    cm_soft_joints *joints = soft->joints;
    uint64_t *taken = (uint64_t *)(void *)soft->taken; // the contacts' are done with
    memset(taken, 0, (size_t)soft->body_count * sizeof *taken);
    for (uint32_t i = 0; i < slots; i++) {
        if (joints->colors[i] == ABSENT || is_plain(soft, &rows[i]) != plain) {
            continue;
        }
        joints->colors[i] = (uint8_t)choose_color(soft, &rows[i], taken);
        count[joints->colors[i] * TYPES + rows[i].type]++;
    }
    cm_soft_span span = place_keys(count, next);
    for (uint32_t i = 0; i < span.end; i++) {
        clear_members(members_of(joints, plain, i), soft->body_count);
    }
    for (uint32_t i = 0; i < slots; i++) {
        if (joints->colors[i] == ABSENT || is_plain(soft, &rows[i]) != plain) {
            continue;
        }
        uint32_t place = next[joints->colors[i] * TYPES + rows[i].type]++;
        put_member(soft, &rows[i], i, place % CM_SOFT_LANES,
                   members_of(joints, plain, place / CM_SOFT_LANES));
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

void cm_soft_prepare_joints(carom_world *world, cm_soft *soft)
{
    cm_soft_joints *joints = soft->joints;
    uint32_t plain = 0, others = 0;
    joints->rigid =
        cm_softness_of(cm_min(JOINT_HERTZ, 0.25f / soft->h), JOINT_DAMPING_RATIO, soft->h);
    for (uint32_t i = 0; i < world->state.joint_slots; i++) {
        cm_joint *joint = &cm_joints(world)[i];
        joints->colors[i] = ABSENT;
        if (!joint->alive) {
            continue;
        }
        if (!is_pushed(soft, joint->body_a) && !is_pushed(soft, joint->body_b)) {
            if (sleeps(world, joint)) {
                continue;
            }
            memset(joint->impulse, 0, sizeof joint->impulse); // neither can be pushed for now
            joint->force = joint->torque = 0.0f;
            continue;
        }
        joints->colors[i] = 0;
        *(is_plain(soft, joint) ? &plain : &others) += 1;
    }
    if (plain > 0) {
        joints->ball_span = arrange(world, soft, true);
        cm_soft_pack_balls(world, soft);
    }
    if (others > 0) {
        joints->row_span = arrange(world, soft, false);
        cm_soft_pack_rows(world, soft);
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

void cm_soft_warm_start_joints(const carom_world *world, cm_soft *soft)
{
    run(soft, CM_SOFT_BALL_WARM, &soft->joints->ball_span);
    cm_soft_renew_rows(world, soft);
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
