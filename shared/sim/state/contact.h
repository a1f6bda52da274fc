// A step remembers this of a contact for the next one: a row common to every solver, what the
// collide stage keeps beside it, and what each solver keeps. Private to shared/sim.
//
// Each struct is a row of an array of its own; row i of each section of contacts belongs to contact
// i. Sections of points have a row for each point that is there, those of contact 0 first: what a
// contact does not have is neither saved nor read. A world has the arrays that its solver names
// (cm_solver.remembers) and pays for no others. Sorted by (shape_a, shape_b). The step that writes
// new rows reads the last step's in spare arrays of the same size, and the two change places
// (cm_contacts_turn).
//
//   SECTION           SIZE   WORLDS OF
//   of contacts:
//   contact           12     every solver
//   manifold          56     soft           manifolds are recycled
//   soft_contact      16     soft
//   impulse_contact   32     impulse
//   lcp_contact       108    lcp
//   volume_contact    32     volume
//   of points:
//   feature           4      soft, impulse, lcp    points are followed from step to step
//   kept_point        16     soft
//   soft_point        4      soft
//
// Typical: 2,000 contacts and 4,400 points for 1,000 boxes in a pile.
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

// The last result of the narrow phase (collide/recycle.c), in world axes, and how the bodies were
// turned then.
typedef struct cm_kept_manifold {
    carom_vec3 offset; // from a's centre of mass to b's
    carom_quat orientation_a, orientation_b;
    carom_vec3 normal; // from a to b
} cm_kept_manifold;

// Points of it, in parallel to the features.
typedef struct cm_kept_point {
    carom_vec3 anchor; // from a's centre of mass
    float separation;
} cm_kept_point;

// The features of the two shapes that make a point, so that it is known again.
typedef struct cm_contact_feature {
    uint32_t feature;
} cm_contact_feature;

// Of the solvers ---------------------------------------------------------------------------------

// Impulses of the last substep, for warm starting.
typedef struct cm_soft_contact {
    carom_vec3 friction_impulse; // N s, on b, world axes
    float twist_impulse;         // N m s, about the normal
} cm_soft_contact;

typedef struct cm_soft_point {
    float normal_impulse; // N s
} cm_soft_point;

// Impulses of the last substep: warm start, and the load that others feel.
typedef struct cm_impulse_contact {
    float normal_impulse[CM_MANIFOLD_MAX]; // N s
    carom_vec3 friction_impulse;           // N s, on b, world axes
    float twist_impulse;                   // N m s, about the normal
} cm_impulse_contact;

// The search for the forces of the next step begins here.
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
    // N, N m: warm start, where the stiffness is derived: along the normal, and both tilts
    carom_vec3 normal_force;
} cm_volume_contact;

// Rows
// ---------------------------------------------------------------------------------------------

// A contact: its row, and the row of its first point. Point k of contact i is never behind point
// 4 i + k, so four points from the first on can be read, and written where later ones are not yet.
typedef struct cm_contact_at {
    uint32_t row, point;
} cm_contact_at;

// The world's rows of contacts and points become the old ones, in each of its sections; it gets the
// spare rows, which hold anything.
void cm_contacts_turn(carom_world *world);
// A contact and its points to another place, which is not behind it; both go on to the next one.
void cm_contacts_move(carom_world *world, cm_contact_at *to, cm_contact_at *from);
// The points from row `point` on to the end of their arrays, so that contacts that are written
// before they are read may have more points than they had: where the first of them is now.
uint32_t cm_points_to_end(carom_world *world, uint32_t point);

_Static_assert(sizeof(cm_contact) == 12, "saved as it stands: no hidden padding");
_Static_assert(sizeof(cm_kept_manifold) == 56, "gathered as fourteen floats");
_Static_assert(sizeof(cm_kept_point) == 16, "gathered as four floats");
_Static_assert(sizeof(cm_contact_feature) == 4, "saved as it stands: no hidden padding");
_Static_assert(sizeof(cm_soft_contact) == 16, "gathered as four floats");
_Static_assert(sizeof(cm_soft_point) == 4, "gathered as one float");
_Static_assert(sizeof(cm_impulse_contact) == 32, "saved as it stands: no hidden padding");
_Static_assert(sizeof(cm_lcp_contact) == 108, "saved as it stands: no hidden padding");
_Static_assert(sizeof(cm_volume_contact) == 44, "saved as it stands: no hidden padding");

#endif
