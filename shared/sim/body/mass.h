// Mass, centre of mass and principal axes of inertia of a body from its shapes. Private to
// shared/sim.
//
// Computed once, when a body is created, in binary64 with + - * / and square roots only.
#ifndef CM_SIM_BODY_MASS_H
#define CM_SIM_BODY_MASS_H

#include "shared/sim/state/image.h"

typedef struct cm_mass {
    float mass;                     // kg
    carom_vec3 center_of_mass;      // in the body
    carom_vec3 inertia;             // kg m^2, principal, about the centre of mass
    carom_quat inertia_orientation; // principal axes in the body
} cm_mass;

// Mass is that of the shapes' densities, then the definition overrides it:
//   mass            alone scales the inertia; where all densities are 0, unit density is scaled
//   center_of_mass  the shapes' inertia is taken about it
//   inertia         with its orientation replaces all of the inertia
// In a planar world (planar) a shape is the sheet where the plane z = 0 through the body's origin
// cuts it, in the orientation of the definition, and density is that of the sheet, kg/m^2.
// Planes have no mass. The result may be zero or beyond its range: the caller checks. The shapes
// must have passed cm_shape_from_def.
cm_mass cm_mass_of(const carom_body_def *def, const carom_shape_def *shapes, uint32_t count,
                   bool planar);

// Eigenvalues and eigenvectors of a symmetric matrix a[3][3] by cyclic Jacobi rotations, a fixed
// number of sweeps (Golub and Van Loan, Matrix Computations, 8.5). Columns of `axes` are a
// right-handed set; a diagonal matrix keeps the axes it has.
void cm_eigen(double a[3][3], double values[3], double axes[3][3]);

#endif
