// One contact of the volume solver: two convex pieces in, what the solver makes of them out. Pure,
// in binary64; the solver calls the same formulas.
//
// Source: S. Hasegawa, N. Fujii, Y. Koike, M. Sato, "Real-time Rigid Body Simulation Based on
// Volumetric Penalty Method", HAPTICS 2003; numbers in brackets are its equations. The normal
// points from piece 1 to piece 0, forces act on piece 0 and piece 1 gets the opposite. SI units,
// world axes. Same bits on every machine. Nothing allocates; the caller gives memory for the work.
#ifndef CAROM_VOLUME_H
#define CAROM_VOLUME_H

#include "carom/impact.h"
#include "carom/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_volume_piece {
    carom_shape_type type; // round shapes are faceted
    // Sphere: radius; capsule, cylinder: radius, half height; box: half extents; plane: normal,
    // offset.
    double size[4];
    const carom_hull *hull;      // of a hull; else NULL
    const carom_dvec3 *vertices; // of a hull in their exact places, in its order; NULL: its own
    carom_dvec3 position;        // of the shape
    double orientation[4];       // of the shape, x y z w; normalised
    carom_dvec3 center;          // of the body's mass
    carom_dvec3 velocity;        // of the centre of mass
    carom_dvec3 spin;            // rad/s
} carom_volume_piece;

typedef struct carom_volume_law {
    double stiffness, damping;                 // along the normal: N/m^3, N s/m^3
    double tangent_stiffness, tangent_damping; // likewise
    double friction_kinetic, friction_static;  // coefficients; static at least kinetic
} carom_volume_law;

typedef enum carom_volume_state {
    CAROM_VOLUME_NONE = 0, // did not touch: nothing is remembered
    CAROM_VOLUME_STATIC = 1,
    CAROM_VOLUME_KINETIC = 2,
} carom_volume_state;
CAROM_ENUM_32(carom_volume_state);

// The state of a pair's friction that is kept from step to step.
typedef struct carom_volume_memory {
    carom_volume_state state;
    carom_dvec3 stretch; // m, of piece 0 against 1, in the contact plane
    double twist;        // rad, about the normal
} carom_volume_memory;

typedef struct carom_wrench {
    carom_dvec3 force, torque; // N, N m
} carom_wrench;

typedef struct carom_volume_touch {
    bool touching;
    carom_dvec3 normal; // unit
    // Apart:
    double distance;
    carom_dvec3 nearest[2]; // points of each piece
    // Touching:
    double depth;                // overlap along the normal
    carom_dvec3 point;           // c0, in the contact plane
    double volume, area;         // m^3, m^2, of the intersection and its projection
    carom_dvec3 centroid;        // of the volume
    carom_dvec3 area_centroid;   // in the plane
    bool clipped;                // the intersection came from clipping, not from the dual hull
    carom_wrench spring, damper; // (8)(9), (12)(13), on piece 0, torques about c0
    carom_wrench friction;       // on piece 0, torque about the area's centroid
    double kinetic, most_static; // sizes of the kinetic (14)-(16) and the largest static force, N
    carom_wrench total[2];       // of each piece about its body's centre of mass; never adhesion:
                                 // zero where spring and damper would pull
} carom_volume_touch;

// Bytes of work, aligned as malloc's.
CAROM_API size_t carom_volume_work_size(void);

// `normal` is the last one, of any length above 0; NULL: the direction of the nearest points, or of
// the least overlap. Friction moves `memory` on by dt seconds
// (0: as it is). segments: of round shapes, CAROM_SEGMENTS_MIN to CAROM_SEGMENTS_MAX. Errors:
// NOT_FINITE; ARGUMENT for two planes, a hull that is not there, sizes not above 0, an orientation
// or a normal of length 0, coefficients below 0 or out of order, segments out of range. `out` and
// `memory` are then as they were.
//
// Example: a box of half extents 1 at (0, 0.99, 0) that falls with 0.1 m/s onto the plane y = 0,
// with 1000 N/m^3 and 50 N s/m^3: a spring of 40 N and a damper of 20 N over 4 m^2.
CAROM_API carom_result carom_volume_meet(const carom_volume_piece pieces[2],
                                         const carom_volume_law *law, const carom_dvec3 *normal,
                                         double dt, uint32_t segments, void *work,
                                         carom_volume_memory *memory, carom_volume_touch *out);

// Stiffness (N/m) and damping (N s/m) of a whole contact of a pointer, and of a deepest point,
// where the scene gives none; other contacts are firmer. Bodies of reduced mass `mass` (kg;
// 1 / (1/m_a + 1/m_b), where what cannot be pushed has none; a pointer has its own) in a step of h
// seconds. Over an area A (m^2) that is K / A and B / A for each square metre; a deepest point has
// K and B. The derivation stands in shared/sim/solve/volume/README.md. 0 for a mass or step not
// above 0.
CAROM_API void carom_volume_contact_of(double mass, double h, carom_volume_contact contact,
                                       double *stiffness, double *damping);

// Substeps of a tick of dt seconds where the scene names neither them nor a stiffness, 1 to 64: 240
// a second, and 60 sqrt(g / L) under a gravity of g m/s^2 for the smallest dynamic body, L m across
// (0: none): ten cubes of side L, one on the other, then do not buckle. L is the square root of the
// largest section of a shape across its two longest sides.
CAROM_API uint32_t carom_volume_substeps(double dt, double gravity, double size);

// The most that the contact of a body can have in this world, N/m and N s/m: over its largest
// section where the world's numbers are given, else that of the body's own mass, which no reduced
// mass exceeds. 0 where the world's solver is another. ARGUMENT for a body that is not there.
CAROM_API carom_result carom_volume_bound(const carom_world *world, carom_body_id body,
                                          float *stiffness, float *damping);

#ifdef __cplusplus
}
#endif

#endif
