// Region of a contact: normal, plane, and integrals over the intersection.
// Private to shared/sim. Pure functions; SI units, binary64.
//
// Hasegawa et al. 2003. The normal n points from b to a; forces act on a, and b gets the opposite;
// torques are about `point` (c0), which lies in the contact plane. x and y are coordinates in that
// plane along t1 and t2, h is the height over it along n. Equation numbers are the paper's.
#ifndef CM_SIM_SOLVE_VOLUME_REGION_H
#define CM_SIM_SOLVE_VOLUME_REGION_H

#include "shared/sim/solve/volume/poly.h"

typedef struct cm_volume_region {
    bool clipped; // the intersection came from clipping
    cm_d3 normal, t1, t2, point;
    double depth; // m, overlap along the normal; negative: a gap
    // Of the volume: sum of s h, and its first moments about the plane's axes. Sides above and
    // below the plane both count (8)(9).
    double volume;     // m^3
    double hx, hy, hh; // integrals of x, y and h over the volume, m^4
    // Of the contact area C, the projection: every triangle with half its area, so that front and
    // back together count it once.
    double area;          // m^2
    double ax, ay;        // integrals of x, y over C, m^3
    double axx, axy, ayy; // m^4
} cm_volume_region;

// The direction from b to a, and the contact plane: the pair is moved apart along `last` (the
// normal of the previous step) by its overlap and a thousandth of its size; the nearest points then
// give the normal, and, moved back, the middle c0 of the plane. `last` must be of unit length.
// Fills normal, t1, t2, point, depth. False where the pieces are apart along `last` or the normal.
bool cm_volume_find_normal(const cm_volume_piece *a, const cm_volume_piece *b, cm_d3 last,
                           cm_volume_region *region);

// If nothing is remembered: the direction of the nearest points where the pieces are apart, else
// that in which they overlap least, whatever their motion. Unit length.
cm_d3 cm_volume_first_normal(const cm_volume_piece *a, const cm_volume_piece *b);

// Sums over the polyhedron in `work` (its vertices in the axes of `region->point`): fills the rest
// of region and work->flat.
void cm_volume_sum(cm_volume_work *work, cm_volume_region *region);

// All of it. False where they do not touch.
bool cm_volume_meet(const cm_volume_piece *a, const cm_volume_piece *b, cm_d3 last,
                    cm_volume_work *work, cm_volume_region *region);

// The same where the normal is known; neither is a half-space.
bool cm_volume_meet_along(const cm_volume_piece *a, const cm_volume_piece *b, cm_d3 normal,
                          cm_volume_work *work, cm_volume_region *region);

// Middle of the volume, and of the area in the plane.
cm_d3 cm_volume_centroid(const cm_volume_region *region);
void cm_volume_middle(const cm_volume_region *region, double *x, double *y);

// Kinematic quantities at c0 of b relative to a: velocity at c0 and angular velocity, in the axes
// t1, t2, n.
typedef struct cm_volume_slip {
    double x, y, n;    // m/s
    double wx, wy, wn; // rad/s
} cm_volume_slip;

// A force along n with the torque about c0 in the plane's axes, per unit of k or b (8)(9)(12)(13).
typedef struct cm_volume_push {
    double force, mx, my;
} cm_volume_push;

cm_volume_push cm_volume_spring(const cm_volume_region *region, double stiffness);
cm_volume_push cm_volume_damper(const cm_volume_region *region, double damping,
                                const cm_volume_slip *slip);

// Force in the plane and torque about n, at c0.
typedef struct cm_volume_shear {
    double x, y, m;
} cm_volume_shear;

// Distributed Coulomb friction (14)-(16) of coefficient 1: at each vertex the pressure times the
// unit vector along the field (gx - turn y, gy + turn x), linear over the triangles. The pressure
// of a side is stiffness |h| + damping v_n / 2.
cm_volume_shear cm_volume_coulomb(const cm_volume_work *work, double stiffness, double damping,
                                  const cm_volume_slip *slip, double gx, double gy, double turn);

#endif
