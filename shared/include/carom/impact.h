// One collision in, one collision out: pure functions of two bodies, in binary64.
//
// Nothing is remembered and no world is needed; the `impulse` solver calls the same formulas. Three
// published responses, whose coefficients mean different things, so never exchange them:
//
//   interpolated  JP3308685B2: friction is the fraction of the impulse that sticking takes (0 slip,
//                 1 no tangential velocity left), restitution 0..1 by energy. Formulas (1) to (28).
//   normal        saharan, "rigid bodies with rotation", 2012: no friction, restitution of the
//                 velocity along the normal.
//   circle        zenn.dev article on colliding circles, 2023: discs without spin, the hit test
//                 rounded to whole pixels, overlap undone before velocities change.
//
// SI units (circle: any unit of length, frames as time). Where a source leaves a case open, the
// function's comment defines it. Same bits on every machine: + - * / and sqrt only.
#ifndef CAROM_IMPACT_H
#define CAROM_IMPACT_H

#include "carom/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Two bodies, `interpolated` and `normal` ----------------------------------------------------

typedef struct carom_impact_body {
    double mass;         // M, kg
    carom_dsym3 inertia; // I, kg m^2, about the centre of mass in body axes (xx, yy, zz alone where
                         // these are the principal ones, as the patent has them)
    carom_dvec3 center;  // O, m, world: of mass
    carom_dvec3 velocity;         // V, m/s, world: of the centre of mass
    carom_dmat3 attitude;         // S, body to world
    carom_dvec3 angular_velocity; // W, rad/s, in BODY axes
    double friction;              // mu, 0..1
    double restitution;           // epsilon, 0..1
    bool immovable;               // 1/M = 0 and I^-1 = 0: mass and inertia are not read
} carom_impact_body;

typedef struct carom_impact_case {
    carom_impact_body bodies[2];
    carom_dvec3 point;  // P, m, world
    carom_dvec3 normal; // N, world, of the common tangent plane; either way round, any length
    // Of the pair; negative: the product of the two bodies'.
    double friction, restitution;
    // False: bodies that separate at P, or do not move there along N, are not changed. The centres
    // of mass decide the direction of separation: N points from 1 to 2 where (O2 - O1).N > 0 (for
    // two movable bodies; else the movable one's centre and P decide), and is taken as given where
    // that is 0.
    bool regardless;
} carom_impact_case;

// The case of the patent's five that gave the impulse; first digit friction, second restitution.
typedef enum carom_impact_branch {
    CAROM_IMPACT_NONE, // the bodies do not approach
    CAROM_IMPACT_F00,
    CAROM_IMPACT_F01,
    CAROM_IMPACT_F10,
    CAROM_IMPACT_F11,
    CAROM_IMPACT_BILINEAR, // at least one coefficient is neither 0 nor 1
    CAROM_IMPACT_NORMAL,   // carom_impact_normal
} carom_impact_branch;
CAROM_ENUM_32(carom_impact_branch);

typedef struct carom_impact {
    carom_impact_branch branch;
    carom_dvec3 impulse;        // Ft, N s, world, on body 1; body 2 gets the opposite
    carom_dvec3 impulses[2];    // F1, F2: the same in each body's axes (7)
    carom_dvec3 arms[2];        // R1, R2, m, from the centre of mass to P in body axes (1)(2)
    carom_dvec3 velocities[2];  // V1', V2', m/s, world
    carom_dvec3 spins[2];       // W1', W2', rad/s, body axes
    carom_dvec3 world_spins[2]; // the same in world axes
    carom_dvec3 before;         // V0, m/s, world: velocity of 1 at P, less that of 2
    carom_dvec3 after;          // dV (15)
    double energy_before, energy_after; // E, E', J (13)(14), with the half; of movable bodies
    double friction, restitution;       // that were used
    // `normal` only: impulse = J N (N of length 1), vR = N.(v2 - v1), J = vR (1 + e) / denominator.
    double magnitude, approach, denominator;
} carom_impact;

// The intermediate values of the patent's formulas, also for bodies that do not approach.
typedef struct carom_impact_corners {
    carom_dvec3 velocity;           // V0, m/s
    carom_dsym3 response;           // Vf, 1/kg (17): dV = V0 + Vf Ft
    carom_dvec3 f00, f01, f10, f11; // N s, world, on body 1 (19)(22)(25)(27)
} carom_impact_corners;

// CAROM_OK for a case that can be computed. CAROM_ERROR_NOT_FINITE; CAROM_ERROR_ARGUMENT for masses
// not above 0, an inertia that is not positive definite, coefficients outside 0..1, a normal of
// length 0, an attitude more than 1e-6 from a rotation, two immovable bodies.
CAROM_API carom_result carom_impact_check(const carom_impact_case *input);

// The interpolated response (JP3308685B2). Poses do not change. At (1, 1) the root is the one that
// separates: sign(k) = -sign(V0.N). The result does not depend on the sign of N. Errors: of
// carom_impact_check, `out` is then zero.
//
// Example, figure 5: two solid spheres of radius and mass 1 at (-1, 0, 0) and (1, 0, 0), inertia
// 0.4, V = (1, 0, 0) and (-1, 0, 0), W = (0, 0, 1), P = 0, N = (1, 0, 0), both coefficients 1 give
// Ft = (-2.133893, -0.285714, 0) and W' = (0, 0, 0.285714).
CAROM_API carom_result carom_impact_interpolated(const carom_impact_case *input, carom_impact *out);
CAROM_API carom_result carom_impact_corner_impulses(const carom_impact_case *input,
                                                    carom_impact_corners *out);
// Figures 15, 16: E' (J) where friction is column / (columns - 1) and restitution row / (rows - 1);
// `energies` has rows x columns, row by row; both at least 2.
CAROM_API carom_result carom_impact_energy_map(const carom_impact_case *input, uint32_t rows,
                                               uint32_t columns, double *energies);
// E = 1/2 (M V.V + W.I W), J, the body's share of (13); 0 for an immovable body.
CAROM_API double carom_impact_energy(const carom_impact_body *body);

// The response along the normal alone (saharan). The friction of the case is not used. Errors as
// above.
//
// Example: a square of side 1 and mass 1 (inertia 1/6) at (-0.5, 0.5, 0) falls with V = (0, -1, 0)
// on an immovable floor, P = 0, N = (0, 1, 0), restitution 0.5: denominator 2.5, J 0.6,
// V' = (0, -0.4, 0), W' = (0, 0, 1.8).
CAROM_API carom_result carom_impact_normal(const carom_impact_case *input, carom_impact *out);

// The same in the plane, inertia a number: r from the centre of mass to the contact, in world axes.
typedef struct carom_impact_flat_body {
    double mass, inertia; // kg, kg m^2
    double r[2], velocity[2], spin;
    bool immovable;
} carom_impact_flat_body;

// Changes velocities and spins; returns J along `normal` (length 1, from body 2 to body 1), N s, 0
// for bodies that do not approach. Nothing is checked: finite values, positive masses.
CAROM_API double carom_impact_flat(carom_impact_flat_body *body_1, carom_impact_flat_body *body_2,
                                   const double normal[2], double restitution);

// Circles in the plane -------------------------------------------------------------------------

typedef struct carom_circle {
    double position[2], velocity[2]; // of the centre; y up or down, it does not matter
    double radius, mass;
} carom_circle;

// Names of the article: x along the centre line, y the rest; 2 after the collision.
typedef struct carom_circle_impact {
    bool hit;           // the test of step 2
    bool collided;      // and they approached: velocities changed
    double ab[2], n[2]; // n: from a to b
    double gap;         // |ab| less the radii, before separation
    carom_circle a, b;  // after
    double as, bs;      // along n, before; the rest is only filled by a hit
    double avx[2], avy[2], bvx[2], bvy[2];
    double as2, bs2, avx2[2], bvx2[2];
} carom_circle_impact;

// The article's steps 1 to 6. Hit: the gap, rounded to whole pixels (halves away from zero; `pixel`
// in units of length), is below 0; pixel 0: the gap is below 0 without rounding. On a hit the
// circles are moved apart along n until they touch, the heavier one less, and where they approach
// (as > bs) velocities change, with n from before. Coincident centres: n = (1, 0). Errors:
// CAROM_ERROR_NOT_FINITE; CAROM_ERROR_ARGUMENT for a mass or radius not above 0, restitution
// outside 0..1, a negative pixel.
CAROM_API carom_result carom_circle_collide(const carom_circle *a, const carom_circle *b,
                                            double restitution, double pixel,
                                            carom_circle_impact *out);
// The same with step 5 on vectors, as the article's slower variant: equal to rounding.
CAROM_API carom_result carom_circle_collide_vectors(const carom_circle *a, const carom_circle *b,
                                                    double restitution, double pixel,
                                                    carom_circle_impact *out);
// v - 2 (v.n) n: for contrast, this is not what restitution 1 does (equal masses swap instead).
CAROM_API void carom_circle_mirror(const double velocity[2], const double n[2], double out[2]);
// One frame of the article's loop: each pair i < j in order runs steps 1 to 6, then each circle
// moves by its velocity. Returns the hits. Values as checked above.
CAROM_API uint32_t carom_circle_frame(carom_circle *circles, uint32_t count, double restitution,
                                      double pixel);

#ifdef __cplusplus
}
#endif
#endif
