// What a step remembers of a contact for the next one: a row common to every solver, what the
// collide stage keeps beside it, and what each solver keeps. Private to shared/sim.
//
// Each struct is a row of an array of its own; row i of each belongs to contact i. A world has the
// arrays that its solver names (cm_solver.remembers) and pays for no others. Sorted by (shape_a,
// shape_b). The step that writes new rows reads the last step's in spare arrays of the same size,
// and the two change places (cm_contacts_turn).
//
//   SECTION           SIZE   WORLDS OF
//   contact           12     every solver
//   feature           16     soft, impulse, lcp    points are followed from step to step
//   manifold          120    soft           manifolds are recycled
//   soft_contact      32     soft
//   impulse_contact   32     impulse
//   lcp_contact       108    lcp
//   volume_contact    32     volume
#ifndef CM_SIM_STATE_CONTACT_H
#define CM_SIM_STATE_CONTACT_H

#include "carom/world.h"

#define CM_MANIFOLD_MAX     4u
#define CM_LCP_SET_MAX      2u // the last of its enum in solve/lcp/system.h
#define CM_VOLUME_STATE_MAX 2u // CM_VOLUME_KINETIC

typedef struct cm_contact {
    uint32_t shape_a, shape_b; // slots, shape_a < shape_b
    uint8_t touching, point_count;
    uint8_t pad[2];
} cm_contact;

// Of the collide stage ---------------------------------------------------------------------------

// Which features of the two shapes make a point, so that it is known again.
typedef struct cm_contact_features {
    uint32_t point[CM_MANIFOLD_MAX]; // unused points are zero
} cm_contact_features;

// What the narrow phase found last (collide/recycle.c), in world axes, and how the bodies were
// turned then. Unused points are zero.
typedef struct cm_kept_manifold {
    carom_vec3 offset; // from a's centre of mass to b's
    carom_quat orientation_a, orientation_b;
    carom_vec3 normal;                  // from a to b
    carom_vec3 anchor[CM_MANIFOLD_MAX]; // from a's centre of mass
    float separation[CM_MANIFOLD_MAX];
} cm_kept_manifold;

// Of the solvers ---------------------------------------------------------------------------------

// Impulses of the last substep, for warm starting.
typedef struct cm_soft_contact {
    float normal_impulse[CM_MANIFOLD_MAX]; // N s
    carom_vec3 friction_impulse;           // N s, on b, world axes
    float twist_impulse;                   // N m s, about the normal
} cm_soft_contact;

// Impulses of what pressed in the last substep: to begin with, and what forces make of others.
typedef struct cm_impulse_contact {
    float normal_impulse[CM_MANIFOLD_MAX]; // N s
    carom_vec3 friction_impulse;           // N s, on b, world axes
    float twist_impulse;                   // N m s, about the normal
} cm_impulse_contact;

// Where the search for the forces of the next step begins.
typedef struct cm_lcp_contact {
    float normal_force[CM_MANIFOLD_MAX];      // N
    float friction_force[CM_MANIFOLD_MAX][2]; // N, along the tangent and across it
    carom_vec3 tangent[CM_MANIFOLD_MAX];      // world axes
    uint8_t set[CM_MANIFOLD_MAX][3];          // of the normal's row and the two of friction
} cm_lcp_contact;

typedef struct cm_volume_contact {
    carom_vec3 normal;       // from b to a, world axes
    uint32_t friction_state; // cm_volume_mode
    carom_vec3 stretch;      // m, of the static friction's spring, world axes
    float twist;             // rad, of it about the normal
} cm_volume_contact;

// The world's rows of contacts become the old ones, in each of its sections; it gets the spare
// rows, which hold anything.
void cm_contacts_turn(carom_world *world);
// Row `from` of each section to row `to`, which is not above it.
void cm_contacts_move(carom_world *world, uint32_t to, uint32_t from);

_Static_assert(sizeof(cm_contact) == 12, "saved as it stands: no hidden padding");
_Static_assert(sizeof(cm_contact_features) == 16, "saved as it stands: no hidden padding");
_Static_assert(sizeof(cm_kept_manifold) == 120, "saved as it stands: no hidden padding");
_Static_assert(sizeof(cm_soft_contact) == 32, "gathered as eight floats");
_Static_assert(sizeof(cm_impulse_contact) == 32, "saved as it stands: no hidden padding");
_Static_assert(sizeof(cm_lcp_contact) == 108, "saved as it stands: no hidden padding");
_Static_assert(sizeof(cm_volume_contact) == 32, "saved as it stands: no hidden padding");

#endif
