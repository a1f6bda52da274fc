// The `impulse` solver's rows: collisions as they stand in carom/impact.h, in rounds, and what
// presses. Private to shared/sim/solve; laws, units and what a tick does: README.md beside this
// file.
//
//   bodies (impulse.c) -> rows (pair.c) -> hits (hit.c) -> forces, contacts (contact.c) -> poses
//
// All arithmetic of a tick is binary64; poses and velocities are stored as binary32. What is
// remembered from tick to tick is the normal impulse of each point of what pressed.
#ifndef CM_SIM_SOLVE_IMPULSE_IMPULSE_H
#define CM_SIM_SOLVE_IMPULSE_IMPULSE_H

#include "shared/sim/solve/rules.h"
#include "shared/sim/solve/impulse/core.h"
#include "shared/sim/state/scratch.h"

#define CM_IMPULSE_TOUCH  1.0e-5 // gap that counts as touching, of the size
#define CM_IMPULSE_KEPT   1.0e-4 // overlap that stays, so that contact does not break, of the size
#define CM_IMPULSE_ROUNDS 256u   // of hits
#define CM_IMPULSE_PRESSED                                                                         \
    1.001 // of the approach that forces make: up to that it presses; rounding

// A row a body slot.
typedef struct cm_impulse_body {
    cm_impulse_side side; // r is filled for each hit; v and w are without the step's forces until
                          // the hits are over
    carom_dvec3 dv, dw;   // m/s, rad/s: what forces and damping add in this step
    carom_dvec3 load_v, load_w; // the same of the normal impulses of the step before
    double fastest;             // m/s, the largest approach of its hits in this step
    carom_dvec3 shift, twist;   // m, rad: beside the motion, at the end of the step
    carom_dvec3 push, turn;     // N s, N m s, about the centre of mass: what contacts did
    bool forced;                // forces or what presses act on it
    bool dynamic;               // else nothing pushes it: its inverse masses are 0
    bool reports;               // what contacts did to it is asked for
} cm_impulse_body;

// A direction in which two bodies push each other, b along it and a against it.
typedef struct cm_impulse_axis {
    carom_dvec3 along;          // length 1; 0 for a turn
    carom_dvec3 turn_a, turn_b; // r x along
    carom_dvec3 spin_a, spin_b; // J (r x along)
    double mass;                // kg, or kg m^2, effective; 0 where nothing can move
    double rate;                // m/s, rad/s: what the solution has at least, or exactly
    double impulse;             // N s, N m s
} cm_impulse_axis;

// A row a contact. Normal rates are those of separation.
typedef struct cm_impulse_row {
    carom_dvec3 normal;     // length 1, from a to b
    carom_dvec3 on_a, on_b; // m, centroid of the touching points, from the centres of mass
    double size;            // m, of the smaller shape
    double overlap;         // m, mean of the touching points
    double deepest;         // m, of them
    double force;           // m/s, approach at the centroid that one step's forces make, those of
                            // other contacts included
    double mu;
    double restitution; // of this round's hit: 0 below the threshold
    double still;       // m/s, rad/s: a change of less is none
    uint32_t points;    // a bit for each that touches; 0: the row has no part in the step
    uint32_t hits;      // in this step
    double carried;     // N s, along the normal, of the hits
    bool meets;         // hits in this round
    carom_dvec3 v0;     // m/s, of a less b, at the round's start, and
    double approach;    // along the normal
    double alone;       // N s, along the normal, of the hit if no other came at the same time
    double pushes;      // N s, of this round
    double parts;       // m/s, at which it parts
    double answer;      // 1/kg, along the normal
    double late;        // s, of the change of velocities by which the bodies move at once
    bool forced;        // forces act on a body of it
    bool rebounds;      // hit, with restitution
    bool loaded;        // carried something in the step before
    bool has_friction, sticks;
    double left;  // of the sliding, where it does not stick
    double reach; // m, root mean square of the touching points' distance from their centroid
    cm_impulse_axis normals[CM_MANIFOLD_MAX]; // along the normal, a point each
    cm_impulse_axis tangents[3]; // two tangents at the centroid, a turn about the normal
} cm_impulse_row;

// The time at which two overlapping bodies touched, all along the normal (hit.c).
typedef struct cm_impulse_touch {
    double depth; // m, overlap that came about since, d
    double speed; // m/s, true, s
    double late;  // s, how long ago, tau
    double lost;  // m/s, approach that forces have added since
} cm_impulse_touch;

typedef struct cm_impulse_circle {
    uint32_t body, shape;
    double reach;      // m
    carom_vec3 center; // m, at the start of the substep
} cm_impulse_circle;

typedef struct cm_impulse {
    cm_impulse_body *bodies;
    cm_impulse_row *rows;
    cm_impulse_circle *circles; // a row a shape
    double h;                   // s, of a substep
    double threshold;           // m/s: what meets slower does not rebound
    uint32_t planar;
} cm_impulse;

// pair.c: all contacts of a step.
void cm_impulse_collide(carom_world *world, const cm_scratch *scratch, cm_impulse *impulse);
// hit.c: the restitution of a pair; 0 below the threshold of approach.
double cm_impulse_restitution(const cm_impulse *impulse, double approach, double of_pair);
// Contacts that approach faster than forces press collide, in rounds until none does. False
// where rounds ran out.
bool cm_impulse_hit(uint32_t model, const cm_scratch *scratch, cm_impulse *impulse, uint32_t count);
// The touch of bodies that overlap by `depth` and approach at `approach`, of which one step's
// forces make `force` a step of h seconds.
cm_impulse_touch cm_impulse_find_touch(double depth, double force, double approach, double h);
// The distance that bodies gain after a hit that leaves them separating at `leaves`: where
// the parabola from the touch has them. `kept`: overlap that stays where there is no rebound.
double cm_impulse_shift(const cm_impulse_touch *touch, double force, double kept, double approach,
                        double leaves, double h);
// contact.c: what the points carried in the last step, onto the row and as loads of the bodies.
void cm_impulse_load(cm_impulse *impulse, const cm_manifold *m, const float *last,
                     cm_impulse_row *row);
// The step's forces act.
void cm_impulse_act(cm_impulse *impulse, uint32_t bodies);
// They do, and the approach that is left is taken away without rebound.
// False where rounds ran out.
bool cm_impulse_solve_contacts(uint32_t model, const cm_impulse_contact *contacts,
                               const cm_scratch *scratch, cm_impulse *impulse, uint32_t count,
                               uint32_t bodies);
void cm_impulse_separate(const cm_impulse *impulse, const cm_manifold *m,
                         const cm_impulse_row *row);
// circle.c: the loop of the article, before the step's forces act; what of them presses is taken
// out of them.
void cm_impulse_circles(const carom_world *world, const cm_scratch *scratch, cm_impulse *impulse);

// impact_circle.c: one pair of circles, of which one may be immovable, with a gap up to `touch` as
// a hit where there is no rounding.
// cm_circle_meet: steps 1 and 2 alone.
void cm_circle_meet(const carom_circle *a, const carom_circle *b, double pixel, double touch,
                    carom_circle_impact *out);
void cm_circle_collide(const carom_circle *a, const carom_circle *b, const bool fixed[2],
                       double restitution, double pixel, double touch, carom_circle_impact *out);

// rules.c: what this solver asks of scenes.
extern const cm_scene_rules cm_impulse_rules;

#endif
