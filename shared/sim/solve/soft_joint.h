// Joints of the soft-step solver: rows of passes; see soft_joint.c and soft_ball.c. Private to
// solve/.
#ifndef CM_SIM_SOLVE_SOFT_JOINT_H
#define CM_SIM_SOLVE_SOFT_JOINT_H

#include "shared/sim/joint/joint.h"
#include "shared/sim/solve/soft.h"

// A plain ball joint: most joints of a world, and the ones to go fast. Everything is made anew for
// each substep but what the first six hold.
typedef struct cm_soft_ball {
    uint32_t slot, body_a, body_b; // body_a: CM_NONE for the world
    carom_vec3 ra0, rb0, gap0;     // at the start of the tick
    carom_vec3 ra, rb, gap;
    cm_sym3 mass; // inverse of the effective inverse mass
    carom_vec3 impulse, total;
} cm_soft_ball;

// A joint of any type, row by row.
typedef struct cm_soft_joint {
    uint32_t slot, body_a, body_b;
    uint32_t row_count;
    carom_vec3 ra0, rb0, gap0;
    carom_quat frame_a0, frame_b0;
    carom_vec3 total_force, total_torque;
    float impulse[CM_JOINT_ROWS_MAX]; // by place
    cm_joint_row rows[CM_JOINT_ROWS_MAX];
    cm_softness softness[CM_JOINT_ROWS_MAX];
    float mass[CM_JOINT_ROWS_MAX]; // of a row that is solved by itself
    // Of the block: K = L D L^T, the rows of L below its diagonal of ones, and 1 / D.
    float lower[CM_JOINT_BLOCK_MAX * (CM_JOINT_BLOCK_MAX - 1) / 2];
    float inverse_pivot[CM_JOINT_BLOCK_MAX];
} cm_soft_joint;

typedef struct cm_soft_joints {
    cm_soft_ball *balls;
    cm_soft_joint *joints;
    uint32_t ball_count, joint_count;
    cm_softness rigid;
} cm_soft_joints;

size_t cm_soft_joints_size(const carom_limits *limits);
void cm_soft_joints_map(const carom_limits *limits, void *memory, cm_soft_joints *joints);

// soft_joint.c: all joints, in order of their slots: plain balls first.
void cm_soft_prepare_joints(carom_world *world, const cm_soft *soft, cm_soft_joints *joints);
void cm_soft_warm_start_joints(const carom_world *world, const cm_soft *soft,
                               cm_soft_joints *joints);
void cm_soft_solve_joints(const cm_soft *soft, cm_soft_joints *joints, bool relax);
void cm_soft_sum_joints(cm_soft_joints *joints);
void cm_soft_store_joints(carom_world *world, const cm_soft *soft, const cm_soft_joints *joints);

// soft_ball.c
void cm_soft_prepare_ball(const carom_world *world, uint32_t slot, cm_soft_ball *ball);
void cm_soft_warm_start_balls(const cm_soft *soft, cm_soft_joints *joints);
void cm_soft_solve_balls(const cm_soft *soft, cm_soft_joints *joints, bool relax);

// The world as a body: it does not move.
extern const cm_soft_body cm_soft_world;
extern const cm_soft_inertia cm_soft_world_inertia;

static inline const cm_soft_body *cm_soft_end(const cm_soft *soft, uint32_t slot)
{
    return slot == CM_NONE ? &cm_soft_world : &soft->bodies[slot];
}

static inline const cm_soft_inertia *cm_soft_end_inertia(const cm_soft *soft, uint32_t slot)
{
    return slot == CM_NONE ? &cm_soft_world_inertia : &soft->inertias[slot];
}

// Inverse of a symmetric positive matrix; zero where it has none.
static inline cm_sym3 cm_sym3_inverse(const cm_sym3 *m)
{
    float xx = m->yy * m->zz - m->yz * m->yz, xy = m->xz * m->yz - m->xy * m->zz;
    float xz = m->xy * m->yz - m->xz * m->yy;
    float det = m->xx * xx + m->xy * xy + m->xz * xz;
    if (!(det > 0.0f)) {
        return (cm_sym3){0};
    }
    float s = 1.0f / det;
    return (cm_sym3){s * xx,
                     s * xy,
                     s * xz,
                     s * (m->xx * m->zz - m->xz * m->xz),
                     s * (m->xy * m->xz - m->xx * m->yz),
                     s * (m->xx * m->yy - m->xy * m->xy)};
}

#endif
