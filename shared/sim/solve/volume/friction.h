// Friction of a contact region: distributed kinetic friction, a static spring and damper over the
// area, and the machine that chooses between them (Hasegawa et al. 2003, (14)-(28)). Private to
// shared/sim. Pure; binary64, SI.
//
// Forces act on a, velocities are of b relative to a (slip); the stretch is the displacement of a
// relative to b at the middle of the area. Everything about the middle of the area, where force and
// torque do not mix.
#ifndef CM_SIM_SOLVE_VOLUME_FRICTION_H
#define CM_SIM_SOLVE_VOLUME_FRICTION_H

#include "shared/sim/solve/volume/region.h"

typedef enum cm_volume_mode {
    CM_VOLUME_NONE = 0, // not touching: the record is discarded
    CM_VOLUME_STATIC = 1,
    CM_VOLUME_KINETIC = 2,
} cm_volume_mode;

// Memory of a touching pair.
typedef struct cm_volume_bristle {
    uint32_t mode;
    cm_d3 stretch; // m, in the contact plane
    double twist;  // rad, about the normal
} cm_volume_bristle;

typedef struct cm_volume_law {
    double stiffness, damping;                 // of the normal: N/m^3, N s/m^3
    double tangent_stiffness, tangent_damping; // likewise
    double kinetic, still;                     // coefficients of friction; still at least kinetic
} cm_volume_law;

// The patch that carries friction: a region with its polyhedron, or (work NULL) one point with a
// normal force, of area 1 and without extent.
typedef struct cm_volume_patch {
    const cm_volume_work *work;
    double force;      // N along the normal, of a point
    double area, turn; // m^2, and its second moment about the middle, m^4
    double x, y;       // middle of the area
    cm_volume_slip slip;
} cm_volume_patch;

// The patch of a region; slip is of c0.
cm_volume_patch cm_volume_patch_of(const cm_volume_region *region, const cm_volume_work *work,
                                   const cm_volume_slip *slip);

// Size of a force and torque about the middle: sqrt(f^2 + m^2 / l^2), l^2 = turn / area.
double cm_volume_shear_size(const cm_volume_patch *patch, const cm_volume_shear *shear);

// One step of the machine: adds the displacement of `dt` seconds at the present velocities to the
// stretch (not on first touch), chooses the state, and gives the force and torque on a at the
// middle of the area. In the kinetic state the stretch is set so that the static force equals it.
// In the static state `grip` (may be NULL) gets the size of friction of coefficient 1 along that
// force, N; 0 where it has no direction.
cm_volume_shear cm_volume_friction_step(const cm_volume_patch *patch, const cm_volume_law *law,
                                        const cm_volume_region *region, double dt,
                                        cm_volume_bristle *bristle, double *grip);

// Size of friction of coefficient 1 along the static spring, or where there is none along the slip.
double cm_volume_grip(const cm_volume_patch *patch, const cm_volume_law *law,
                      const cm_volume_region *region, const cm_volume_bristle *bristle);

// Sets the stretch so that the static force is `shear` at the present velocities.
void cm_volume_stretch_to(const cm_volume_patch *patch, const cm_volume_law *law,
                          const cm_volume_region *region, const cm_volume_shear *shear,
                          cm_volume_bristle *bristle);

#endif
