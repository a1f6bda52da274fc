// The volume solver: what its files share. Private to shared/sim.
//
// Pairs whose stiffness is derived are solved together (implicit.c); the rest of this is of others.
// A tick is `substeps` steps of h seconds. A step: every body's rotation and inertia; every pair's
// normal, contact plane and intersection, its spring at once (and the static friction's spring);
// outside forces; then pair by pair in canonical order its dampers and its friction, each against
// the velocities at the end of the step (a 3 x 3 system), which no step is too long for; then
// poses. The spring is explicit: `substeps` 0 takes as many as keep it stable and smooth
// (rate.c).
//
// A contact is kept while a pair is near; point_count is 1 where the pieces met in the last
// substep. What is remembered of it: cm_volume_contact.
//
// Scratch: bodies | shapes | pairs | two pieces | the polyhedron's work, each on a cache line.
// Typical: 100 bodies, 200 pairs, 1 to 4 substeps.
#ifndef CM_SIM_SOLVE_VOLUME_VOLUME_H
#define CM_SIM_SOLVE_VOLUME_VOLUME_H

#include "shared/sim/solve/rules.h"
#include "shared/sim/solve/volume/friction.h"
#include "shared/sim/state/scratch.h"

#define CM_VOLUME_PAIRS_A_SECOND 2.5e5 // that one core can meet

typedef struct cm_volume_body {
    bool dynamic, moving, round; // round: one moment of inertia, nothing gyroscopic
    bool reports;                // its contacts' wrench
    uint8_t locks;               // CAROM_LOCK_…, with those of a planar world
    cm_d3 position;              // of the centre of mass
    cm_dquat orientation;
    cm_d3 velocity, spin;       // as the step goes on
    cm_d3 velocity0, spin0;     // at its start
    cm_dmat rotation;           // of the body
    cm_dmat inverse;            // of the inertia, world axes
    cm_d3 inverse_mass;         // of each world axis: 0 where locked
    cm_d3 inertia;              // principal
    cm_dquat principal;         // their axes in the body
    cm_d3 acceleration, torque; // of gravity and outside forces
    double linear_decay, angular_decay;
    cm_d3 impulse, angular_impulse; // of contacts, over the tick, about the centre of mass
} cm_volume_body;

typedef struct cm_volume_shape {
    cm_d3 local; // from the centre of mass, in the body
    cm_dmat turn;
    cm_d3 position; // world
    cm_dmat rotation;
} cm_volume_shape;

// A coordinate of a pair's relative motion, of b less a.
typedef struct cm_volume_axis {
    cm_d3 linear;
    cm_d3 arm_a, arm_b;   // torques of a unit force on each
    cm_d3 turn_a, turn_b; // what they do: inverse inertia times arm
} cm_volume_axis;

// A pair whose stiffness is derived, in a step (implicit.c). Impulses, N s and N m s.
typedef struct cm_volume_implicit {
    double rows[6][6];  // its coordinates, of the motion of its two bodies
    cm_dmat normal;     // E along the normal and the tilts
    cm_d3 normal_start; // the spring at the step's start
    double stuck;       // E of friction; the turn is measured at `reach`, m
    cm_d3 stuck_start;
    double reach, grip; // grip: what a force of 1 N along the normal holds, of friction 1
    double friction;    // coefficient, with the grip
    double drift[2];    // m/s, of the surfaces by themselves
    bool slides;
    double acted[6]; // of the first pair of two bodies: what all of them do
} cm_volume_implicit;

typedef struct cm_volume_pair {
    uint32_t shape_a, shape_b, body_a, body_b;
    bool sensor;
    bool meets;       // in this step
    bool sticks;      // its friction is a spring in this step
    bool is_round;    // its normal is that of cores
    uint32_t rollers; // shapes of it that roll: about an axis, a ball about any, which counts twice
    cm_d3 axis;       // of the last of them
    bool is_implicit; // stiffness derived, no pointer
    uint32_t last;    // of the old contacts; CM_NONE: it is new
    cm_d3 normal;     // the last one
    cm_volume_bristle bristle;
    double mass;             // kg, reduced
    double kinetic, still;   // coefficients
    cm_volume_law law;       // of this step
    cm_d3 drift;             // m/s, of b surface less that of a, beside the motion of their bodies
    cm_volume_region region; // point: relative to `origin`
    cm_d3 origin;
    cm_volume_patch patch;
    cm_volume_push spring;
    double normal_force;      // N along the normal, spring and damper, at the step's start
    cm_volume_shear shear;    // N, N m on a at the middle of the area
    double grip;              // what a force of 1 N along the normal holds along the static force
    cm_volume_axis along[3];  // the normal and the two tilts
    cm_volume_axis across[3]; // the two tangents and the turn about the normal, where it is pressed
    cm_dmat inverse_mass;     // of `across`
    cm_dmat damper, stuck;    // impulses to motions along and across, of half a step's
    cm_d3 normal_about_origin;              // implicit: as `normal_impulse`, about the origin
    cm_d3 normal_impulse, friction_impulse; // N s, N m s in this step, so far
    double impulse;                         // N s along the normal, over the tick
    float margin;                           // gap up to which it is near
    cm_volume_implicit implicit;
} cm_volume_pair;

typedef struct cm_volume {
    cm_volume_body *bodies;
    cm_volume_shape *shapes;
    cm_volume_pair *pairs;
    uint32_t *order; // of the pairs that are implicit, by their bodies
    uint32_t body_count, pair_count, order_count, substeps;
    cm_volume_piece *piece_a, *piece_b;
    cm_volume_work *work;
    double dt, h;
    bool deepest; // CAROM_VOLUME_DEEPEST_POINT
    uint32_t segments;
    cm_volume_law law; // as the scene gives it: negative: derived; no coefficients of friction
} cm_volume;

// body.c
void cm_volume_load_bodies(const carom_world *world, cm_volume *volume);
void cm_volume_begin_step(const carom_world *world, cm_volume *volume);
void cm_volume_push_bodies(cm_volume *volume); // outside forces
void cm_volume_move_bodies(cm_volume *volume);
void cm_volume_store_bodies(carom_world *world, const cm_volume *volume);

// rate.c: substeps of the tick; counts where they are more than the bounds allow.
uint32_t cm_volume_rate(carom_world *world, const cm_scratch *scratch, double dt);
// The same before any bound of work.
uint32_t cm_volume_wanted(const carom_world *world, double dt);

// Section of a shape across its two longest sides, m^2; 0 for a plane.
double cm_volume_section(const cm_shape *shape, const carom_hull *hull);
// Substeps that a body wants of a tick of dt seconds where the numbers are given.
typedef struct cm_volume_body_law {
    double stiffness, damping;
    bool point; // CAROM_VOLUME_DEEPEST_POINT
} cm_volume_body_law;
double cm_volume_steps(const cm_volume_body_law *law, double mass, double section, double dt);

// pair.c
void cm_volume_load_pairs(const carom_world *world, const cm_scratch *scratch, cm_volume *volume);
void cm_volume_meet_pair(const carom_world *world, cm_volume *volume, cm_volume_pair *pair);
// Rows, manifolds and counts from the pairs that are near, for the report.
void cm_volume_store_pairs(carom_world *world, cm_scratch *scratch, cm_volume *volume);
// The two pieces of a pair, about the pair's origin.
bool cm_volume_make_pieces(const carom_world *world, const cm_volume *volume,
                           const cm_volume_pair *pair);

// law.c: 1 / (1/m_a + 1/m_b), and the numbers of a contact whose region is known.
double cm_volume_pair_mass(const cm_body *a, const cm_body *b);
void cm_volume_set_law(const cm_volume *volume, cm_volume_pair *pair);

// force.c: what a pair does to its bodies: the springs; half of what is implicit, in the order of
// the pairs; the other half, in the opposite order, with what needs the whole.
void cm_volume_push_pair(cm_volume *volume, cm_volume_pair *pair);
void cm_volume_damp_pair(cm_volume *volume, cm_volume_pair *pair);
void cm_volume_settle_pair(cm_volume *volume, cm_volume_pair *pair);
// Its coordinates with what they turn, and the inverse mass of three of them.
void cm_volume_make_axes(cm_volume_pair *pair, const cm_volume_body *a, const cm_volume_body *b);
cm_dmat cm_volume_inverse_mass(const cm_volume_body *a, const cm_volume_body *b,
                               const cm_volume_axis k[3]);
// Adds what the pair did to its bodies to what they report.
void cm_volume_report(cm_volume *volume, const cm_volume_pair *pair);

// implicit.c: pairs whose stiffness is derived: their springs, then all of them together.
void cm_volume_order_pairs(cm_volume *volume);
void cm_volume_begin_implicit(cm_volume *volume);
void cm_volume_solve_implicit(cm_volume *volume);
// b relative to a at a point, from the velocities of the step's start or as they are now.
cm_volume_slip cm_volume_slip_at(const cm_volume *volume, const cm_volume_pair *pair, double x,
                                 double y, bool start);

// rules.c: what this solver asks of scenes.
extern const cm_scene_rules cm_volume_rules;

// cone.c: speeds of `across` with what the surfaces move by themselves; friction's last word.
cm_d3 cm_volume_slip_speeds(const cm_volume_pair *pair, const cm_volume_body *a,
                            const cm_volume_body *b);
void cm_volume_settle_friction(const cm_volume *volume, cm_volume_pair *pair, cm_volume_body *a,
                               cm_volume_body *b);

#endif
