// The `impulse` solver's rows: collisions as they stand in carom/impact.h, one a pair and tick.
// Private to shared/sim/solve; laws, units and what a tick does: README.md beside this file.
//
// All arithmetic of a tick is binary64; poses and velocities are stored as binary32. Nothing is
// remembered from tick to tick but of each contact how many steps in a row it has touched
// (cm_impulse_contact).
#ifndef CM_SIM_SOLVE_IMPULSE_IMPULSE_H
#define CM_SIM_SOLVE_IMPULSE_IMPULSE_H

#include "shared/sim/solve/rules.h"
#include "shared/sim/solve/impulse/core.h"
#include "shared/sim/state/scratch.h"

#define CM_IMPULSE_TOUCH  1.0e-5 // gap that counts as touching, of the size
#define CM_IMPULSE_ROUNDS 128u   // of repeated collisions of what is pressed

// A row a body slot.
typedef struct cm_impulse_body {
    cm_impulse_side side;   // r is filled for each collision
    double pull;            // m/s, what forces have added in this step
    carom_dvec3 shift;      // m, beside the motion: what separates overlapping bodies
    carom_dvec3 push, turn; // N s, N m s, about the centre of mass: what contacts did
} cm_impulse_body;

// A row a contact.
typedef struct cm_impulse_row {
    carom_dvec3 normal; // length 1, from a to b
    double touch;       // m, a gap up to this touches
    double deepest;     // m, separation of the deepest point
    uint32_t points;    // a bit for each that touches
    uint32_t pressed;
} cm_impulse_row;

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
    uint32_t planar;
} cm_impulse;

// pair.c: each pair once, in order; then what is pressed, again and again.
void cm_impulse_collide(const carom_world *world, const cm_scratch *scratch, cm_impulse *impulse);
// circle.c: the loop of the article.
void cm_impulse_circles(const carom_world *world, const cm_scratch *scratch, cm_impulse *impulse);

// impact_circle.c: one pair of circles, of which one may be immovable, with a gap up to `touch` as
// a hit where there is no rounding.
void cm_circle_collide(const carom_circle *a, const carom_circle *b, const bool fixed[2],
                       double restitution, double pixel, double touch, carom_circle_impact *out);

// rules.c: what this solver asks of scenes.
extern const cm_scene_rules cm_impulse_rules;

#endif
