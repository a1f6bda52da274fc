// Bodies of the soft-step solver: from the state into blocks, and back.
//
// Kinematic bodies keep their velocity and end the tick exactly at position + velocity x dt. A body
// whose velocity or pose would not be finite is put to rest at the pose it had at the start of the
// tick. Typical: 1,000 bodies x 4 substeps.
#include "shared/sim/state/awake.h"
#include "shared/sim/state/wake.h"
#include "shared/sim/solve/soft/soft.h"
#include "shared/sim/state/tell.h"

#include <string.h>

static float inverse(float x)
{
    return x > 0.0f ? 1.0f / x : 0.0f;
}

static inline void put(cm_soft_lanes *to, uint32_t lane, carom_vec3 v)
{
    to[0][lane] = v.x;
    to[1][lane] = v.y;
    to[2][lane] = v.z;
}

static void prepare_dynamic(const carom_world *world, const cm_soft *soft, uint32_t slot,
                            cm_soft_inertia *row, cm_soft_block *block)
{
    const cm_body *body = cm_bodies(world) + slot;
    uint32_t lane = slot % CM_SOFT_LANES;
    row->inverse_mass = inverse(body->mass);
    carom_vec3 force = cm_add(body->force, body->applied_force);
    carom_vec3 i =
        cm_vec(inverse(body->inertia.x), inverse(body->inertia.y), inverse(body->inertia.z));
    put(block->acceleration, lane,
        cm_mul_add(cm_scale(body->gravity_scale, world->state.gravity), row->inverse_mass, force));
    put(block->torque, lane, cm_add(body->torque, body->applied_torque));
    put(block->inertia, lane, body->inertia);
    put(block->inverse_inertia, lane, i);
    block->linear_decay[lane] = 1.0f / (1.0f + soft->h * body->linear_damping);
    block->angular_decay[lane] = 1.0f / (1.0f + soft->h * body->angular_damping);
    block->dynamic[lane] = 1.0f;
    uint32_t locks = cm_locks_of(world, body);
    if (locks > CM_LOCKS_LINEAR) {
        return; // lock_axes does the rest
    }
    if (body->inertia.x == body->inertia.y && body->inertia.y == body->inertia.z) {
        row->inverse = (cm_sym3){i.x, 0.0f, 0.0f, i.x, 0.0f, i.x};
        return;
    }
    carom_quat q = cm_quat_normalize(
        cm_quat_mul(cm_motions(world)[slot].orientation, body->inertia_orientation));
    cm_mat3 axes = cm_mat3_from_quat(q);
    row->inverse = cm_turned_diagonal(&axes, i);
    block->axes[0][lane] = q.x;
    block->axes[1][lane] = q.y;
    block->axes[2][lane] = q.z;
    block->axes[3][lane] = q.w;
    block->round = 0;
}

// After prepare_dynamic: nothing of a body acts along its locked axes, so that what starts at zero
// there stays. With a locked turn the inertia is that of the start of the tick, without gyroscopic
// torque (what locks the axis bears it); the torque becomes an angular acceleration.
static void lock_axes(const carom_world *world, uint32_t slot, uint32_t locks, cm_soft_body *row,
                      cm_soft_inertia *inertia, cm_soft_block *block)
{
    const cm_body *body = cm_bodies(world) + slot;
    uint32_t lane = slot % CM_SOFT_LANES;
    inertia->locks = (uint16_t)locks;
    inertia->inverse_mass = locks == CM_LOCKS_ALL ? 0.0f : inertia->inverse_mass;
    row->v = cm_unlocked(locks, row->v);
    row->w = cm_unlocked(locks >> 3, row->w);
    carom_vec3 a = cm_vec(block->acceleration[0][lane], block->acceleration[1][lane],
                          block->acceleration[2][lane]);
    put(block->acceleration, lane, cm_unlocked(locks, a));
    if (locks <= CM_LOCKS_LINEAR) {
        return;
    }
    cm_mat3 axes = cm_mat3_from_quat(cm_quat_normalize(
        cm_quat_mul(cm_motions(world)[slot].orientation, body->inertia_orientation)));
    carom_vec3 torque = cm_add(body->torque, body->applied_torque), one = cm_vec(1.0f, 1.0f, 1.0f);
    inertia->inverse = cm_locked_inverse(&axes, body->inertia, locks);
    put(block->torque, lane, cm_sym3_mul(&inertia->inverse, torque));
    put(block->inertia, lane, one);
    put(block->inverse_inertia, lane, one);
    if (!block->locked) {
        memset(block->turns_plainly, 0, sizeof block->turns_plainly);
        block->locked = 1;
    }
    block->turns_plainly[lane] = 1.0f;
}

// A body that is not there: at rest, of unit inertia.
static void clear_lane(cm_soft_block *block, uint32_t lane)
{
    carom_vec3 zero = cm_vec(0.0f, 0.0f, 0.0f), one = cm_vec(1.0f, 1.0f, 1.0f);
    put(block->acceleration, lane, zero);
    put(block->torque, lane, zero);
    put(block->inertia, lane, one);
    put(block->inverse_inertia, lane, zero);
    put(block->axes, lane, zero);
    block->axes[3][lane] = 1.0f;
    block->linear_decay[lane] = block->angular_decay[lane] = 1.0f;
    block->dynamic[lane] = 0.0f;
}

static bool is_moving(const carom_world *world, uint32_t slot)
{
    const cm_body *body = &cm_bodies(world)[slot];
    return slot < world->state.body_slots && body->type != CAROM_BODY_STATIC &&
           !cm_body_is_asleep(body); // a dead row is static
}

static void prepare_block(const carom_world *world, cm_soft *soft, uint32_t first)
{
    const cm_motion *motions = cm_motions(world);
    cm_soft_block *block = &soft->blocks[first / CM_SOFT_LANES];
    block->round = 1;
    block->locked = 0;
    block->free = block->plain = 0;
    for (uint32_t lane = 0; lane < CM_SOFT_LANES; lane++) {
        uint32_t i = first + lane;
        cm_soft_body *row = &soft->bodies[i];
        block->sound[lane] = 1.0f;
        clear_lane(block, lane);
        if (is_moving(world, i)) {
            row->v = motions[i].linear_velocity;
            row->w = motions[i].angular_velocity;
            if (cm_bodies(world)[i].type == CAROM_BODY_DYNAMIC) {
                prepare_dynamic(world, soft, i, &soft->inertias[i], block);
                uint32_t locks = cm_locks_of(world, &cm_bodies(world)[i]);
                if (locks) {
                    lock_axes(world, i, locks, row, &soft->inertias[i], block);
                }
            }
        }
        put(block->warm_v, lane, row->v);
        put(block->warm_w, lane, row->w);
    }
}

static bool is_round(const cm_soft_inertia *body)
{
    const cm_sym3 *i = &body->inverse;
    return i->xx == i->yy && i->xx == i->zz && i->xy == 0.0f && i->xz == 0.0f && i->yz == 0.0f;
}

static void clear_row(cm_soft *soft, uint32_t i)
{
    soft->bodies[i] = (cm_soft_body){.turn = {0.0f, 0.0f, 0.0f, 1.0f}};
    soft->inertias[i] = (cm_soft_inertia){0};
}

static void finish_row(cm_soft *soft, uint32_t i)
{
    soft->inertias[i].round = is_round(&soft->inertias[i]);
    soft->bodies[i].inverse_mass = soft->inertias[i].inverse_mass;
    soft->bodies[i].inverse_inertia = soft->inertias[i].inverse.xx;
}

static void prepare_rows(const carom_world *world, cm_soft *soft, uint32_t k)
{
    bool planar = (world->state.flags & CM_WORLD_PLANAR) != 0;
    if (!planar && (k + 1) * CM_SOFT_LANES <= soft->body_count) {
        soft->passes->run[CM_SOFT_BEGIN](soft, k, k + 1);
        if (soft->blocks[k].free) {
            return;
        }
    }
    for (uint32_t i = k * CM_SOFT_LANES; i < (k + 1) * CM_SOFT_LANES; i++) {
        clear_row(soft, i);
    }
    if (soft->busy[k]) {
        prepare_block(world, soft, k * CM_SOFT_LANES);
    }
    for (uint32_t i = k * CM_SOFT_LANES; i < (k + 1) * CM_SOFT_LANES; i++) {
        finish_row(soft, i);
    }
    soft->special = soft->special ||
                    cm_soft_any_special(world, soft, k * CM_SOFT_LANES, (k + 1) * CM_SOFT_LANES);
}

// A body in whose block nothing moves has a row where contacts or joints read it.
static void prepare_resting(cm_soft *soft, uint32_t body)
{
    if (body != CM_NONE && !soft->busy[body / CM_SOFT_LANES]) {
        clear_row(soft, body);
        finish_row(soft, body);
    }
}

static void prepare_held(const carom_world *world, const cm_scratch *scratch, cm_soft *soft)
{
    for (uint32_t i = 0; i < world->state.contact_count; i++) {
        prepare_resting(soft, scratch->manifolds[i].body_a);
        prepare_resting(soft, scratch->manifolds[i].body_b);
    }
    for (uint32_t i = 0; i < world->state.joint_slots; i++) {
        const cm_joint *joint = &cm_joints(world)[i];
        if (cm_joint_holds(joint)) {
            prepare_resting(soft, joint->body_a);
            prepare_resting(soft, joint->body_b);
        }
    }
}

static void add_block(cm_soft *soft, uint32_t k)
{
    bool follows = k > 0 && soft->busy[k - 1];
    soft->busy[k] = 1;
    if (!follows) {
        soft->runs[soft->run_count++].first = k;
    }
    soft->runs[soft->run_count - 1].end = k + 1;
}

// Blocks in which something can move, as runs.
static void find_runs(const carom_world *world, cm_soft *soft)
{
    const uint32_t blocks = CM_PAGE_ROWS / CM_SOFT_LANES; // of a page
    const uint64_t lanes = (1u << CM_SOFT_LANES) - 1u;
    const cm_page *page = cm_pages(world, CM_SECTION_body);
    memset(soft->busy, 0, soft->block_count);
    soft->run_count = 0;
    for (uint32_t k = 0; k * CM_SOFT_LANES < soft->body_count; k += blocks, page++) {
        for (uint32_t i = 0; i < blocks && page->moving != 0; i++) {
            if (page->moving >> i * CM_SOFT_LANES & lanes) {
                add_block(soft, k + i);
            }
        }
    }
}

// One row more than bodies, for lanes that are not used, and then up to a whole block.
void cm_soft_prepare_bodies(const carom_world *world, const cm_scratch *scratch, cm_soft *soft)
{
    uint32_t last = soft->block_count - 1, busy = 0;
    find_runs(world, soft);
    soft->special = world->known.reports > 0;
    for (uint32_t r = 0; r < soft->run_count; r++) {
        for (uint32_t k = soft->runs[r].first; k < soft->runs[r].end; k++) {
            prepare_rows(world, soft, k);
        }
        busy += soft->runs[r].end - soft->runs[r].first;
    }
    if (!soft->busy[last]) {
        prepare_rows(world, soft, last);
        busy += soft->body_count % CM_SOFT_LANES == 0; // no body stands in it
    }
    if (busy < soft->block_count) {
        prepare_held(world, scratch, soft);
    }
}

void cm_soft_move(cm_soft *soft, cm_soft_kind kind)
{
    for (uint32_t r = 0; r < soft->run_count; r++) {
        soft->passes->run[kind](soft, soft->runs[r].first, soft->runs[r].end);
    }
}

// Constraints that contradict each other (a stiff spring, a jump of 10 km, masses 1:1e15) may ask
// for any speed: what no API call may set counts as not finite, since a tick on it would be.
static bool is_bounded(carom_vec3 v)
{
    return cm_abs(v.x) <= CM_SOFT_RUNAWAY && cm_abs(v.y) <= CM_SOFT_RUNAWAY &&
           cm_abs(v.z) <= CM_SOFT_RUNAWAY;
}

static void store_body(carom_world *world, const cm_soft *soft, uint32_t i)
{
    const cm_soft_body *row = &soft->bodies[i];
    const cm_body *body = &cm_bodies(world)[i];
    const cm_soft_block *block = &soft->blocks[i / CM_SOFT_LANES];
    if (!block->free && (body->type == CAROM_BODY_STATIC || cm_body_is_asleep(body))) { // or dead
        return;
    }
    cm_motion *motion = &cm_motions(world)[i];
    carom_vec3 position = cm_add(motion->position, row->shift);
    if (!block->free && body->type == CAROM_BODY_KINEMATIC) {
        position = cm_mul_add(motion->position, soft->dt, row->v);
    }
    carom_quat orientation = cm_quat_normalize(cm_quat_mul(row->turn, motion->orientation));
    bool sound = block->sound[i % CM_SOFT_LANES] > 0.0f;
    if (!sound || !cm_vec_is_finite(position) || !cm_quat_is_finite(orientation) ||
        !is_bounded(row->v) || !is_bounded(row->w) || !is_bounded(row->shift)) {
        motion->linear_velocity = motion->angular_velocity = cm_vec(0.0f, 0.0f, 0.0f);
        cm_tell(world, CAROM_LOG_BODY_PUT_TO_REST, i, 1);
        return;
    }
    motion->position = position;
    motion->orientation = orientation;
    motion->linear_velocity = row->v;
    motion->angular_velocity = row->w;
}

void cm_soft_store_bodies(carom_world *world, cm_soft *soft)
{
    cm_soft_move(soft, CM_SOFT_STORE);
    for (uint32_t r = 0; r < soft->run_count; r++) {
        for (uint32_t k = soft->runs[r].first; k < soft->runs[r].end; k++) {
            uint32_t end = (k + 1) * CM_SOFT_LANES;
            end = end < soft->body_count ? end : soft->body_count;
            for (uint32_t i = k * CM_SOFT_LANES + soft->blocks[k].stored; i < end; i++) {
                store_body(world, soft, i);
            }
        }
    }
}
