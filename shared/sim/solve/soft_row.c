// Joints that are not plain balls, on their way into the lanes and out of them: all types through
// the rows that they describe themselves in.
//
// Rows are made anew for each substep from the poses there, joint by joint; how many there are, and
// of which kind, stays as it was at the start of the tick. What is rigid is held by a stiff soft
// constraint in the solve pass and without bias in the relax pass; springs and motors are the same
// in both. Typical: 20 ragdolls of 12 hinges and balls.
#include "shared/sim/solve/soft_joint.h"

#include <stddef.h>
#include <string.h>

#define PUSH_SPEED 40.0f   // m/s, rad/s: the most that an error is corrected at
#define UNBOUNDED  3.4e38f // of what a spring asks for
#define NO_PLACE   255u

static inline void put(cm_soft_lanes *to, uint32_t lane, carom_vec3 v)
{
    to[0][lane] = v.x;
    to[1][lane] = v.y;
    to[2][lane] = v.z;
}

static inline carom_vec3 get(const cm_soft_lanes *from, uint32_t lane)
{
    return cm_vec(from[0][lane], from[1][lane], from[2][lane]);
}

// Packing: what stays over the tick --------------------------------------------------------------

static void pack_pose(const carom_world *world, const cm_joint *joint, uint32_t lane,
                      cm_soft_rows *g)
{
    cm_joint_pose pose;
    cm_joint_pose_get(world, joint, &pose);
    g->ra0[lane] = pose.ra;
    g->rb0[lane] = pose.rb;
    g->gap0[lane] = pose.gap;
    g->frame_a0[lane] = joint->frame_a;
    if (joint->body_a != CM_NONE) {
        g->frame_a0[lane] =
            cm_quat_mul(cm_motions(world)[joint->body_a].orientation, joint->frame_a);
    }
    g->frame_b0[lane] = cm_quat_mul(cm_motions(world)[joint->body_b].orientation, joint->frame_b);
}

static uint32_t make_rows(const cm_soft *soft, const cm_joint *joint, const cm_soft_rows *g,
                          uint32_t lane, cm_joint_row rows[CM_JOINT_ROWS_MAX])
{
    const cm_soft_body *a = &soft->bodies[g->who.a[lane]], *b = &soft->bodies[g->who.b[lane]];
    cm_joint_pose pose;
    carom_vec3 da = cm_soft_turned(a, g->ra0[lane]), db = cm_soft_turned(b, g->rb0[lane]);
    pose.ra = cm_add(g->ra0[lane], da);
    pose.rb = cm_add(g->rb0[lane], db);
    pose.gap = cm_add(g->gap0[lane], cm_sub(cm_add(b->shift, db), cm_add(a->shift, da)));
    cm_joint_pose_turned(cm_quat_mul(a->turn, g->frame_a0[lane]),
                         cm_quat_mul(b->turn, g->frame_b0[lane]), &pose);
    return cm_joint_kind_of(joint->type)->rows(joint, &pose, rows);
}

// Rows before the block, which is last.
static uint32_t count_singles(const cm_joint_row *rows, uint32_t count)
{
    uint32_t singles = 0;
    while (singles < count && rows[singles].block == 1) {
        singles++;
    }
    return singles;
}

// As factors: hertz and stiffness, the latter by `gamma`, since it depends on the row's mass.
static void pack_spring(const cm_joint *joint, float h, uint32_t lane, cm_soft_row *to)
{
    if (joint->flags & CM_JOINT_SPRING_HERTZ) {
        cm_softness s = cm_softness_of(joint->spring[0], joint->spring[1], h);
        to->rate[lane] = s.bias_rate;
        to->mass_scale[lane] = s.mass_scale;
        to->impulse_scale[lane] = s.impulse_scale;
        return;
    }
    float rate = joint->spring[1] + h * joint->spring[0];
    to->impulse_scale[lane] = 1.0f;
    if (rate > 0.0f) {
        to->rate[lane] = joint->spring[0] / rate;
        to->gamma[lane] = 1.0f / (h * rate);
    }
}

static void pack_kind(const cm_soft *soft, const cm_joint *joint, const cm_joint_row *row,
                      uint32_t lane, cm_soft_row *to)
{
    const cm_softness *rigid = &soft->joints->rigid;
    to->lower[lane] = soft->h * row->lower;
    to->upper[lane] = soft->h * row->upper;
    to->turning[lane] = row->turning ? 1.0f : 0.0f;
    to->push[lane] = PUSH_SPEED;
    if (row->kind == CM_ROW_SPRING) {
        to->push[lane] = UNBOUNDED;
        to->lasting[lane] = 1.0f;
        pack_spring(joint, soft->h, lane, to);
    } else if (row->kind == CM_ROW_MOTOR) {
        to->mass_scale[lane] = 1.0f;
    } else {
        to->limit[lane] = row->kind == CM_ROW_LIMIT ? 1.0f : 0.0f;
        to->rate[lane] = rigid->bias_rate;
        to->mass_scale[lane] = rigid->mass_scale;
        to->impulse_scale[lane] = rigid->impulse_scale;
    }
}

static void pack_locks(const cm_soft *soft, cm_soft_rows *g)
{
    for (uint32_t lane = 0; lane < CM_SOFT_LANES; lane++) {
        g->locked |= soft->inertias[g->who.a[lane]].locks | soft->inertias[g->who.b[lane]].locks;
    }
    for (uint32_t lane = 0; g->locked && lane < CM_SOFT_LANES; lane++) {
        const cm_soft_inertia *a = &soft->inertias[g->who.a[lane]];
        const cm_soft_inertia *b = &soft->inertias[g->who.b[lane]];
        carom_vec3 one = cm_vec(1.0f, 1.0f, 1.0f);
        put(g->free_a, lane, cm_soft_pushed(a, 1.0f, one));
        put(g->free_b, lane, cm_soft_pushed(b, 1.0f, one));
        g->locks[lane] = a->locks | b->locks ? 1.0f : 0.0f;
    }
}

// The rows of all lanes, and how many rows the group has; then what is constant, in its place.
static void pack_group(const carom_world *world, const cm_soft *soft, cm_soft_rows *g)
{
    cm_joint_row rows[CM_SOFT_LANES][CM_JOINT_ROWS_MAX];
    uint32_t count[CM_SOFT_LANES] = {0}, singles[CM_SOFT_LANES] = {0};
    memset(&g->m, 0, offsetof(cm_soft_rows, rows) - offsetof(cm_soft_rows, m));
    memset(g->place, NO_PLACE, sizeof g->place);
    for (uint32_t lane = 0; lane < CM_SOFT_LANES && g->who.slot[lane] != CM_NONE; lane++) {
        const cm_joint *joint = &cm_joints(world)[g->who.slot[lane]];
        pack_pose(world, joint, lane, g);
        count[lane] = make_rows(soft, joint, g, lane, rows[lane]);
        singles[lane] = count_singles(rows[lane], count[lane]);
        uint32_t block = count[lane] - singles[lane];
        g->singles = singles[lane] > g->singles ? singles[lane] : g->singles;
        g->block = block > g->block ? block : g->block;
    }
    pack_locks(soft, g);
    memset(g->rows, 0, (g->singles + g->block) * sizeof g->rows[0]);
    for (uint32_t lane = 0; lane < CM_SOFT_LANES && g->who.slot[lane] != CM_NONE; lane++) {
        const cm_joint *joint = &cm_joints(world)[g->who.slot[lane]];
        for (uint32_t i = 0; i < count[lane]; i++) {
            uint32_t at = i < singles[lane] ? i : g->singles + i - singles[lane];
            g->place[at][lane] = rows[lane][i].place;
            g->rows[at].impulse[lane] = joint->impulse[rows[lane][i].place];
            pack_kind(soft, joint, &rows[lane][i], lane, &g->rows[at]);
        }
    }
}

void cm_soft_pack_rows(const carom_world *world, cm_soft *soft)
{
    for (uint32_t i = 0; i < soft->joints->row_span.end; i++) {
        pack_group(world, soft, &soft->joints->rows[i]);
    }
    soft->passes->run[CM_SOFT_ROW_PREPARE](soft, 0, soft->joints->row_span.end);
}

// Rows of a substep ------------------------------------------------------------------------------

static void renew_lane(const carom_world *world, const cm_soft *soft, uint32_t lane,
                       cm_soft_rows *g)
{
    cm_joint_row rows[CM_JOINT_ROWS_MAX];
    const cm_joint *joint = &cm_joints(world)[g->who.slot[lane]];
    uint32_t count = make_rows(soft, joint, g, lane, rows);
    uint32_t singles = count_singles(rows, count);
    for (uint32_t i = 0; i < count; i++) {
        cm_soft_row *to = &g->rows[i < singles ? i : g->singles + i - singles];
        put(to->linear, lane, rows[i].linear);
        put(to->angular_a, lane, rows[i].angular_a);
        put(to->angular_b, lane, rows[i].angular_b);
        to->error[lane] = rows[i].error;
        to->velocity[lane] = rows[i].velocity;
    }
}

void cm_soft_renew_rows(const carom_world *world, cm_soft *soft)
{
    for (uint32_t i = 0; i < soft->joints->row_span.end; i++) {
        cm_soft_rows *g = &soft->joints->rows[i];
        for (uint32_t lane = 0; lane < CM_SOFT_LANES && g->who.slot[lane] != CM_NONE; lane++) {
            renew_lane(world, soft, lane, g);
        }
    }
}

void cm_soft_store_rows(carom_world *world, const cm_soft *soft)
{
    float rate = 1.0f / soft->dt; // the impulses of a tick add up to its mean force
    for (uint32_t i = 0; i < soft->joints->row_span.end; i++) {
        const cm_soft_rows *g = &soft->joints->rows[i];
        for (uint32_t lane = 0; lane < CM_SOFT_LANES && g->who.slot[lane] != CM_NONE; lane++) {
            cm_joint *joint = &cm_joints(world)[g->who.slot[lane]];
            // A row that is not there now starts from nothing when it comes back.
            memset(joint->impulse, 0, sizeof joint->impulse);
            for (uint32_t k = 0; k < g->singles + g->block; k++) {
                if (g->place[k][lane] != NO_PLACE) {
                    joint->impulse[g->place[k][lane]] = cm_soft_stored(g->rows[k].impulse[lane]);
                }
            }
            joint->force = cm_soft_stored(rate * cm_length(get(g->force, lane)));
            joint->torque = cm_soft_stored(rate * cm_length(get(g->torque, lane)));
        }
    }
}
