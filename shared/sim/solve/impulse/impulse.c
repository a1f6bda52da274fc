// The `impulse` solver: forces change velocities, what touches at the start of the step collides,
// then poses move. A substep does all of it for a part of the tick, and finds contacts anew.
//
// Turning is exact for any angle. Between collisions a body keeps its angular momentum; or, with
// rotation "constant_spin", its angular velocity: the sources know no gyroscopic torque. What would
// move faster than any call may ask for is put to rest and counted. Scratch: bodies | rows |
// circles.
#include "shared/sim/solve/impulse/impulse.h"
#include "shared/sim/body/locks.h"
#include "shared/sim/solve/free_turn.h"
#include "shared/sim/solve/report.h"
#include "shared/sim/solve/solver.h"
#include "shared/sim/state/tell.h"

#include <string.h>

#define RUNAWAY 1.0e6   // m/s, rad/s, m
#define TINY    1.0e-14 // m/s, rad/s: less is nothing

static size_t line(size_t size)
{
    return (size + CM_CACHE_LINE - 1) / CM_CACHE_LINE * CM_CACHE_LINE;
}

static void *take(char *base, size_t *offset, size_t size)
{
    void *start = base != NULL ? base + *offset : NULL;
    *offset += line(size);
    return start;
}

static size_t walk(const carom_limits *limits, char *base, cm_impulse *impulse)
{
    size_t offset = 0;
    impulse->bodies = take(base, &offset, (size_t)limits->bodies * sizeof(cm_impulse_body));
    impulse->rows = take(base, &offset, (size_t)limits->contacts * sizeof(cm_impulse_row));
    impulse->circles = take(base, &offset, (size_t)limits->shapes * sizeof(cm_impulse_circle));
    return offset;
}

static size_t scratch_size(const carom_limits *limits, const carom_solver_def *def)
{
    cm_impulse unused;
    (void)def;
    return walk(limits, NULL, &unused);
}

static cm_dquat orientation_of(carom_quat q)
{
    return cm_dquat_unit(cm_dquat_from(q));
}

// As cm_locked_inverse, in binary64: locked axes leave the inertia, not its inverse.
static carom_dsym3 locked_inverse(carom_dsym3 inertia, uint32_t locks)
{
    bool x = locks & CAROM_LOCK_RX, y = locks & CAROM_LOCK_RY, z = locks & CAROM_LOCK_RZ;
    inertia.xx = x ? 1.0 : inertia.xx;
    inertia.yy = y ? 1.0 : inertia.yy;
    inertia.zz = z ? 1.0 : inertia.zz;
    inertia.xy = x || y ? 0.0 : inertia.xy;
    inertia.xz = x || z ? 0.0 : inertia.xz;
    inertia.yz = y || z ? 0.0 : inertia.yz;
    carom_dsym3 inverse = cm_dsym_inverse(&inertia);
    inverse.xx = x ? 0.0 : inverse.xx;
    inverse.yy = y ? 0.0 : inverse.yy;
    inverse.zz = z ? 0.0 : inverse.zz;
    return inverse;
}

static carom_dsym3 inverse_of(const carom_world *world, uint32_t slot, uint32_t locks)
{
    const cm_body *body = cm_bodies(world) + slot;
    double xx = (double)body->inertia.x, yy = (double)body->inertia.y, zz = (double)body->inertia.z;
    carom_dsym3 inertia = {xx, yy, zz, 0.0, 0.0, 0.0};
    if (xx == yy && yy == zz && (locks & ~CM_LOCKS_LINEAR) == 0) {
        return (carom_dsym3){1.0 / xx, 1.0 / xx, 1.0 / xx, 0.0, 0.0, 0.0};
    }
    cm_dquat q = orientation_of(cm_motions(world)[slot].orientation);
    if (body->inertia_orientation.w != 1.0f) { // else the body's axes are the principal ones
        q = cm_dquat_mul(q, orientation_of(body->inertia_orientation));
    }
    carom_dmat3 axes = cm_dmat_from_quat(cm_dquat_unit(q));
    carom_dsym3 turned = cm_dsym_turn(&axes, &inertia);
    return locks >> 3 != 0 ? locked_inverse(turned, locks) : cm_dsym_inverse(&turned);
}

static carom_dvec3 unlocked(uint32_t locks, carom_dvec3 v)
{
    return cm_d3_of(locks & 1u ? 0.0 : v.x, locks & 2u ? 0.0 : v.y, locks & 4u ? 0.0 : v.z);
}

// Change of v by `more` and by damping.
static carom_dvec3 damped(carom_dvec3 v, carom_dvec3 more, double damping)
{
    if (damping == 0.0) {
        return more;
    }
    double left = 1.0 / (1.0 + damping);
    return cm_d3_mad(cm_d3_scale(left, more), -damping * left, v);
}

// Inverse mass and inertia, and what forces and damping do in a substep.
static void prepare_dynamic(const carom_world *world, const cm_impulse *impulse, uint32_t slot,
                            cm_impulse_body *row)
{
    const cm_body *body = cm_bodies(world) + slot;
    cm_impulse_side *side = &row->side;
    double m = 1.0 / (double)body->mass, h = impulse->h;
    uint32_t locks = cm_locks_of(world, body);
    side->inverse_mass = unlocked(locks, cm_d3_of(m, m, m));
    side->inverse = inverse_of(world, slot, locks);
    if (locks != 0) {
        side->v = unlocked(locks, side->v);
        side->w = unlocked(locks >> 3, side->w);
    }
    carom_dvec3 force = cm_d3_add(cm_d3_from(body->force), cm_d3_from(body->applied_force));
    carom_dvec3 torque = cm_d3_add(cm_d3_from(body->torque), cm_d3_from(body->applied_torque));
    carom_dvec3 pull = cm_d3_scale(
        h, cm_d3_mad(cm_d3_scale((double)body->gravity_scale, cm_d3_from(world->state.gravity)), m,
                     force));
    row->dv = damped(side->v, unlocked(locks, pull), h * (double)body->linear_damping);
    row->dw = damped(side->w, cm_d3_scale(h, cm_dsym_mul(&side->inverse, torque)),
                     h * (double)body->angular_damping);
    row->forced = cm_d3_dot(row->dv, row->dv) + cm_d3_dot(row->dw, row->dw) > 0.0;
}

static void prepare(const carom_world *world, cm_impulse *impulse)
{
    const cm_motion *motions = cm_motions(world);
    for (uint32_t i = 0; i < world->state.body_slots; i++) {
        const cm_body *body = cm_bodies(world) + i;
        cm_impulse_body *row = &impulse->bodies[i];
        memset(row, 0, sizeof *row);
        if (!body->alive || body->type == CAROM_BODY_STATIC) {
            row->reports = body->alive && (body->flags & CM_BODY_REPORT);
            continue;
        }
        row->side.v = cm_d3_from(motions[i].linear_velocity);
        row->side.w = cm_d3_from(motions[i].angular_velocity);
        row->reports = (body->flags & CM_BODY_REPORT) || body->pointer != CAROM_NO_PLAYER;
        if (body->type == CAROM_BODY_DYNAMIC) {
            row->dynamic = true;
            prepare_dynamic(world, impulse, i, row);
        }
    }
}

// NaN is not.
static bool is_bounded(carom_dvec3 v)
{
    return v.x <= RUNAWAY && v.x >= -RUNAWAY && v.y <= RUNAWAY && v.y >= -RUNAWAY &&
           v.z <= RUNAWAY && v.z >= -RUNAWAY;
}

static float settled(double x)
{
    return x < TINY && x > -TINY ? 0.0f : (float)x;
}

static carom_vec3 to_float(carom_dvec3 v)
{
    return cm_vec(settled(v.x), settled(v.y), settled(v.z));
}

// The pose's turn by one step; `w` becomes what it is at the end.
static void turn(const carom_world *world, const cm_impulse *impulse, const cm_body *body,
                 const cm_impulse_body *row, carom_quat *orientation, carom_dvec3 *w)
{
    bool turns = cm_d3_dot(*w, *w) > 0.0, twists = cm_d3_dot(row->twist, row->twist) > 0.0;
    if (!turns && !twists) {
        return;
    }
    cm_dquat q = orientation_of(*orientation);
    if (turns && cm_turns_freely(world, body, cm_locks_of(world, body))) {
        cm_free_turn turn = cm_turn_freely(body, q, *w, impulse->h);
        q = turn.orientation;
        *w = turn.end;
    } else if (turns) {
        q = cm_turn(q, *w, impulse->h);
    }
    q = twists ? cm_turn(q, row->twist, 1.0) : q;
    *orientation = (carom_quat){(float)q.x, (float)q.y, (float)q.z, (float)q.w};
}

static void move(carom_world *world, const cm_impulse *impulse)
{
    for (uint32_t i = 0; i < world->state.body_slots; i++) {
        const cm_impulse_body *row = &impulse->bodies[i];
        const cm_body *body = cm_bodies(world) + i;
        cm_motion *motion = cm_motions(world) + i;
        if (!body->alive || body->type == CAROM_BODY_STATIC) {
            continue;
        }
        if (!is_bounded(row->side.v) || !is_bounded(row->side.w) || !is_bounded(row->shift) ||
            !is_bounded(row->twist)) {
            motion->linear_velocity = motion->angular_velocity = cm_vec(0.0f, 0.0f, 0.0f);
            cm_tell(world, CAROM_LOG_BODY_PUT_TO_REST, i, 1);
            continue;
        }
        carom_dvec3 p = cm_d3_from(motion->position);
        p = cm_d3_add(cm_d3_mad(p, impulse->h, row->side.v), row->shift);
        motion->position = cm_vec((float)p.x, (float)p.y, (float)p.z);
        carom_dvec3 w = row->side.w;
        turn(world, impulse, body, row, &motion->orientation, &w);
        motion->linear_velocity = to_float(row->side.v);
        motion->angular_velocity = to_float(w);
    }
}

// Mean wrench of contacts over the tick, of those that ask for it.
static void report_forces(carom_world *world, const cm_impulse *impulse, bool first)
{
    float rate = (float)world->state.tick_rate;
    for (uint32_t i = 0; i < world->state.body_slots; i++) {
        const cm_body *body = cm_bodies(world) + i;
        const cm_impulse_body *row = &impulse->bodies[i];
        if (!body->alive || (!(body->flags & CM_BODY_REPORT) && body->pointer == CAROM_NO_PLAYER)) {
            continue;
        }
        carom_vec3 zero = cm_vec(0.0f, 0.0f, 0.0f);
        carom_vec3 force = cm_scale(rate, to_float(row->push));
        carom_vec3 torque = cm_scale(rate, to_float(row->turn));
        cm_body_set_contact(world, i, cm_add(first ? zero : body->contact_force, force),
                            cm_add(first ? zero : body->contact_torque, torque));
    }
}

// Do forces act on a circle? The article knows none: then what presses is solved for together.
static bool is_forced(const carom_world *world, const cm_impulse *impulse)
{
    for (uint32_t i = 0; world->state.pixel == 0.0f && i < world->state.body_slots; i++) {
        if (impulse->bodies[i].forced) {
            return true;
        }
    }
    return false;
}

static void solve(carom_world *world, cm_scratch *scratch)
{
    cm_impulse impulse;
    walk(&world->limits, scratch->solver, &impulse);
    impulse.h = 1.0 / ((double)world->state.tick_rate * (double)world->state.substeps);
    impulse.threshold = (double)world->state.restitution_threshold;
    impulse.planar = world->state.flags & CM_WORLD_PLANAR;
    prepare(world, &impulse);
    if (world->state.model == CAROM_IMPULSE_CIRCLE && !is_forced(world, &impulse)) {
        cm_impulse_circles(world, scratch, &impulse);
        cm_impulse_act(&impulse, world->state.body_slots);
    } else if (world->state.contact_count > 0) {
        cm_impulse_collide(world, scratch, &impulse);
    } else {
        cm_impulse_act(&impulse, world->state.body_slots);
    }
    cm_report_contacts(world, scratch);
    report_forces(world, &impulse, scratch->round == 0);
    move(world, &impulse);
}

const cm_solver cm_solver_impulse = {
    .remembers = CM_REMEMBERS(CM_SECTION_contact) | CM_REMEMBERS(CM_SECTION_feature) |
                 CM_REMEMBERS(CM_SECTION_impulse_contact),
    .manifolds = true,
    .rounds = true,
    .solve = solve,
    .scratch_size = scratch_size,
    .rules = &cm_impulse_rules,
};
