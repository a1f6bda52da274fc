// The soft-step solver's rows and passes. Each pass is a function over plain arrays, so that lanes
// and colouring can take their place one at a time.
//
// Method: E. Catto, "Solver2D", 2024: substeps; in each, forces, warm start, one pass with soft
// constraints, poses, one pass without bias ("relax"); restitution after the last.
#ifndef CM_SIM_SOLVE_SOFT_H
#define CM_SIM_SOLVE_SOFT_H

#include "shared/sim/stage.h"

#define CM_SOFT_TINY 1.0e-14f // m/s, rad/s, N s: less is nothing

typedef struct cm_sym3 {
    float xx, xy, xz, yy, yz, zz;
} cm_sym3;

// A row a body slot. What cannot be pushed has zero inverse mass and inertia.
typedef struct cm_soft_body {
    carom_vec3 v, w;
    carom_vec3 shift; // of the centre of mass since the start of the tick
    carom_quat turn;  // since the start of the tick
    cm_mat3 turning;  // the same as a matrix, less identity: nothing cancels for small turns
    float inverse_mass;
    uint32_t moving;         // not static
    cm_sym3 inverse_inertia; // world axes, of the start of the tick: as in the effective masses
} cm_soft_body;

// Constant over the tick: what forces need.
typedef struct cm_soft_mass {
    carom_vec3 acceleration; // gravity and forces
    carom_vec3 torque;
    carom_vec3 inertia, inverse_inertia; // principal
    float linear_decay, angular_decay;   // of a substep
    uint8_t type, alive, round, broken;  // round: inertia alike about all axes; broken: put to rest
} cm_soft_mass;

typedef struct cm_soft_point {
    carom_vec3 ra, rb;
    carom_vec3 surface; // velocity of a's point at the start: all there is to know of a fixed a
    carom_vec3 turn_a, turn_b; // r x normal
    carom_vec3 spin_a, spin_b; // inverse inertia times that
    float separation;
    float normal_mass;
    float tangent_mass; // for both tangents
    float normal_impulse, tangent_impulse[2];
    float max_impulse, total_impulse;
    float approach; // relative normal velocity at the start
} cm_soft_point;

typedef struct cm_softness {
    float bias_rate, mass_scale, impulse_scale;
} cm_softness;

// Where one body cannot be pushed it is a, and everything is turned round if it was b.
typedef struct cm_soft_contact {
    uint32_t body_a, body_b, row; // row: of the state's contacts
    uint32_t point_count, flipped;
    carom_vec3 normal, t1, t2;
    float friction, restitution;
    cm_softness softness;
    cm_soft_point points[CM_MANIFOLD_MAX];
} cm_soft_contact;

typedef struct cm_soft {
    cm_soft_body *bodies;
    cm_soft_mass *masses;
    cm_soft_contact *contacts;
    uint32_t body_count, contact_count;
    uint32_t moving_count; // contacts before this one push both bodies, from there on only b
    float dt, h;           // of the tick, of a substep
    uint32_t substeps;
} cm_soft;

// soft_body.c
void cm_soft_prepare_bodies(const carom_world *world, cm_soft *soft);
void cm_soft_integrate_velocities(const carom_world *world, cm_soft *soft);
void cm_soft_integrate_poses(cm_soft *soft);
// Writes poses and velocities to the state; counts what is put to rest.
void cm_soft_store_bodies(carom_world *world, const cm_soft *soft);

// soft_contact.c
void cm_soft_prepare_contacts(const carom_world *world, const cm_scratch *scratch, cm_soft *soft);
void cm_soft_warm_start(cm_soft *soft);
void cm_soft_solve_contacts(cm_soft *soft, bool relax);
void cm_soft_sum_impulses(cm_soft *soft);
void cm_soft_restitution(cm_soft *soft);
void cm_soft_store_contacts(carom_world *world, cm_scratch *scratch, const cm_soft *soft);

static inline carom_vec3 cm_sym3_mul(const cm_sym3 *m, carom_vec3 v)
{
    return cm_vec(m->xx * v.x + m->xy * v.y + m->xz * v.z, m->xy * v.x + m->yy * v.y + m->yz * v.z,
                  m->xz * v.x + m->yz * v.y + m->zz * v.z);
}

#endif
