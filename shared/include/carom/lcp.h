// Linear complementarity problems, and helpers of constrained motion: pure functions, in binary64
// unless noted. They do one case at a time what the lcp solver does inside a world.
//
// Source: JP2003526160A. Nothing allocates; the caller gives memory for the work.
#ifndef CAROM_LCP_H
#define CAROM_LCP_H

#include "carom/limits.h"
#include "carom/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum carom_lcp_method {
    CAROM_LCP_PROJECTION = 0, // boxed, one factor of the matrix; the world's
    CAROM_LCP_MURTY = 1,      // boxed, least index, a factor of the free rows each pass
    CAROM_LCP_PLAIN = 2,      // x >= 0 alone, least index; bounds are not read
    CAROM_LCP_KOSTREVA = 3,   // boxed, with a diagonal, then none: for semi-definite matrices
    CAROM_LCP_PYRAMID = 4,    // boxed, with four-sided friction pyramids; may cycle (not solved)
    CAROM_LCP_ESTIMATE = 5,   // boxed, friction boxes from estimated normal forces, `rounds` times
} carom_lcp_method;
CAROM_ENUM_32(carom_lcp_method);

enum { CAROM_LCP_FREE = 0, CAROM_LCP_LOWER = 1, CAROM_LCP_UPPER = 2 };

// w = (A + epsilon 1) x - b with lower <= x <= upper; w >= 0 where x = lower, w <= 0 where
// x = upper, else w = 0. A is symmetric, n x n, row by row. Units of a world: A 1/kg, b m/s^2 (what
// acceleration is asked for), x N, w m/s^2.
typedef struct carom_lcp_problem {
    uint32_t n; // 1 to CAROM_LCP_ROWS_MAX
    const double *matrix;
    const double *vector;        // b; for w = A x + q give b = -q
    const double *lower, *upper; // NULL: none; infinite elements are fine; lower <= upper
    double epsilon;              // 0 or more
    double tolerance;            // of w's sign, above 0; 1e-6 in the source
    uint32_t cap;                // most solves; 0: 50 + 10 n
    // Pyramid and estimate alone: row j is a tangent of row normals[j] (its own index: it is none),
    // with this coefficient. NULL: no tangents.
    const uint32_t *normals;
    const double *friction;
    const double *estimates; // estimate: first normal forces, by row; NULL: 0
    uint32_t rounds;         // estimate: 1 or more
} carom_lcp_problem;

// Doubles of work for n rows, or 0 above CAROM_LCP_ROWS_MAX.
CAROM_API size_t carom_lcp_work_size(uint32_t n);

// Writes x and w (n each) and the sets (n; their start when the call is made: zeros for all free).
// `solves` counts linear systems; it may be NULL. Errors: ARGUMENT, NOT_FINITE; STATE where there
// is no solution within the cap, or a matrix that is not definite.
CAROM_API carom_result carom_lcp_solve(const carom_lcp_problem *problem, carom_lcp_method method,
                                       uint8_t *sets, double *x, double *w, double *work,
                                       uint32_t *solves);

// A damped spring as a row's epsilon (1/kg) and gamma: k N/m, d N s/m, both 0 or more and not both
// 0; h the step, s. Then the row is the implicit spring k p* + d v*, whatever the mass (the
// source's appendix 3).
CAROM_API carom_result carom_lcp_spring(double h, double stiffness, double damping, double *epsilon,
                                        double *gamma);

// Partial implicit integration of outside forces: for y' = f(y, x(y)), with jacobian the
// n x n product of df/dx and dx/dy, row by row, the change of y over a step of h:
// (1 - h jacobian) change = h f. matrix: room for n x n. STATE where it is singular.
CAROM_API carom_result carom_lcp_implicit_step(uint32_t n, double h, const double *jacobian,
                                               const double *f, double *matrix, double *change);
// The derivative df/dx of velocities under constraints, for n velocities with inverse masses (n x
// n, symmetric), m independent rows J (m x n) and an outside force N x of one input x (n): column =
// M^-1 (N - J^T (J M^-1 J^T)^-1 J M^-1 N). work: m x m + m x n + 3 m doubles.
CAROM_API carom_result carom_lcp_implicit_column(uint32_t n, uint32_t m, const double *inverse_mass,
                                                 const double *rows, const double *force,
                                                 double *work, double *column);

// Kinematic helpers, binary32 -------------------------------------------------------------------

// A segment that telescopes between bodies 1 and 2: where body 3 was along the way from 1 to 2, as
// a fraction, and how far off it, in body 1's axes.
typedef struct carom_telescope {
    float fraction;
    carom_vec3 offset;
} carom_telescope;

CAROM_API carom_telescope carom_telescope_make(carom_vec3 position_1, carom_quat orientation_1,
                                               carom_vec3 position_2, carom_vec3 position_3);
CAROM_API carom_vec3 carom_telescope_place(const carom_telescope *telescope, carom_vec3 position_1,
                                           carom_quat orientation_1, carom_vec3 position_2);

// A body 2 that keeps its place against body 1: from what both were, and what 1 is now.
CAROM_API carom_vec3 carom_keep_place(carom_vec3 first_position_1, carom_quat first_orientation_1,
                                      carom_vec3 first_position_2, carom_vec3 position_1,
                                      carom_quat orientation_1);

#ifdef __cplusplus
}
#endif
#endif
