// The linear complementarity problem and its solvers: pure functions in binary64, each one case in,
// one answer out, on memory of the caller. Private to shared/sim; carom/lcp.h is the public half.
//
//     w = (A + epsilon 1) x - b,   lower <= x <= upper,
//     x = lower where w > 0,  x = upper where w < 0,  w = 0 in between.
//
// A is symmetric and positive definite, or semi-definite with an epsilon. Rows keep the order in
// which they are given: where an index is chosen it is the least, so order is part of the result
// only where the solution is not unique. Iterations are bounded by counts. Source:
// JP2003526160A. Typical: 10 to 100 rows, 1 to 5 solves from the last step's sets.
#ifndef CM_SIM_SOLVE_LCP_SYSTEM_H
#define CM_SIM_SOLVE_LCP_SYSTEM_H

#include "shared/base/dvec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_LCP_NO_NORMAL 0xffffffffu
#define CM_LCP_VISITS    1024u   // passes that the pyramid's cycle guard remembers
#define CM_LCP_TINY      1.0e-14 // of a diagonal: a smaller pivot is none

enum { CM_LCP_FREE = 0, CM_LCP_LOWER = 1, CM_LCP_UPPER = 2 };

typedef struct cm_lcp {
    uint32_t n;
    uint32_t stride;     // from row to row of A, at least n
    const double *a;     // the whole matrix, both triangles
    const double *b;     //
    const double *lower; // may be -infinity
    const double *upper; // may be infinity; equal to lower: fixed
    double epsilon;      // added to the diagonal
    double tolerance;    // of the sign tests, in units of w; of x it is tolerance / A_jj
    uint32_t cap;        // most solves
} cm_lcp;

typedef struct cm_lcp_answer {
    bool solved;     // false: the cap was reached, the matrix is not definite, or a set came again
    uint32_t solves; // of linear systems
} cm_lcp_answer;

// Cholesky (cholesky.c) ---------------------------------------------------------------------
// Lower triangle, rows of `stride`. Zeros of the profile are skipped, so what is sparse is cheap.

// Factors the first `columns` columns of n in place and leaves the complement of the rest in the
// rest. `column` is room for 2 n. False where a pivot is not above `tiny` times its first diagonal.
bool cm_lcp_factor(double *l, uint32_t n, uint32_t stride, uint32_t columns, double tiny,
                   double *column);
// x := L^-1 x and x := L^-T x, of the first n rows.
void cm_lcp_forward(const double *l, uint32_t n, uint32_t stride, double *x);
// The same where x is zero before row `first`.
void cm_lcp_forward_from(const double *l, uint32_t n, uint32_t stride, uint32_t first, double *x);
void cm_lcp_backward(const double *l, uint32_t n, uint32_t stride, double *x);
// A factor that grows by a row (`row` holds count + 1 elements; it is overwritten) or loses one.
// False where the pivot is not above `tiny` times the diagonal: the factor is as it was.
bool cm_lcp_factor_add(double *l, uint32_t count, uint32_t stride, double tiny, double *row);
void cm_lcp_factor_remove(double *l, uint32_t count, uint32_t stride, uint32_t at, double *column);

// Pivoting ---------------------------------------------------------------------------------------

// Plain Murty (murty.c): w = A z + q, z >= 0, w >= 0, z . w = 0. One index a pass, the least.
// sets: in the start, out the end; FREE or LOWER. bounds are not read. b is -q.
cm_lcp_answer cm_lcp_plain(const cm_lcp *problem, uint8_t *sets, double *x, double *w,
                           double *work);
// Boxed Murty, one index a pass, a factor of the free rows each pass.
cm_lcp_answer cm_lcp_murty(const cm_lcp *problem, uint8_t *sets, double *x, double *w,
                           double *work);
// Full-inverse projection (projection.c): one factor of A; a pivot costs a row of the inverse
// and an update of a factor of the clamped rows. Moves all that offend at once while that helps,
// then one at a time. The factor of A is left in work.
cm_lcp_answer cm_lcp_project(const cm_lcp *problem, uint8_t *sets, double *x, double *w,
                             double *work);
// Projected Newton (newton.c), for systems on which pivoting stalls: from x, clamped, through
// ever smaller values of the quadratic form to the solution and its sets.
cm_lcp_answer cm_lcp_newton(const cm_lcp *problem, uint8_t *sets, double *x, double *w,
                            double *work);
// Kostreva (kostreva.c): with 1e-6 of the mean diagonal on top, then none; where that fails with
// less on top, and none again. Solved where the conditions hold without it; `solves` counts all.
cm_lcp_answer cm_lcp_kostreva(const cm_lcp *problem, uint8_t *sets, double *x, double *w,
                              double *work);

// Friction ------------------------------------------------------------------------------------
// normal[j]: the row whose force bounds row j by coefficient[j] times itself, or CM_LCP_NO_NORMAL.

// Box friction with estimated normal forces (friction.c): bounds of the tangent rows from
// `estimate` (by normal row), solve, estimate anew, `rounds` times. Writes lower and upper of the
// tangent rows; `most` caps them. The first estimate is the caller's.
typedef struct cm_lcp_friction {
    const uint32_t *normal;
    const double *coefficient;
    const double *most; // of |x|; infinity: none. Of tangent rows alone
    bool cone;          // the two tangents of a point share a circle, not a square
} cm_lcp_friction;

// Bound of a tangent's force in a cone of radius `most`, from its last force and the other's.
double cm_lcp_cut(double most, double own, double other);

cm_lcp_answer cm_lcp_estimate(const cm_lcp *problem, const cm_lcp_friction *friction,
                              uint32_t rounds, double *lower, double *upper, double *estimate,
                              uint8_t *sets, double *x, double *w, double *work);
// Four-sided pyramid in the pivoting itself (pyramid.c). It may cycle: a set that comes again
// ends it, unsolved. sets of tangents: LOWER is x = -friction x_n, UPPER is x = friction x_n.
cm_lcp_answer cm_lcp_pyramid(const cm_lcp *problem, const cm_lcp_friction *friction, uint8_t *sets,
                             double *x, double *w, double *work);

// Doubles of work that any of these needs for n rows.
static inline size_t cm_lcp_work(uint32_t n)
{
    return 3u * (size_t)n * n + 9u * (size_t)n + CM_LCP_VISITS;
}

// Shared pieces -----------------------------------------------------------------------------------

// A sum in four chains, in one order on every machine.
static inline double cm_lcp_dot(const double *a, const double *b, uint32_t n)
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < n; i++) {
        s0 += a[i] * b[i];
    }
    return (s0 + s1) + (s2 + s3);
}

// to += s from
static inline void cm_lcp_add(double *to, double s, const double *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        to[i] += s * from[i];
    }
}

// w = (A + epsilon 1) x - b.
void cm_lcp_residual(const cm_lcp *problem, const double *x, double *w);
// x of the free rows with the others at their bounds, and w of those; work: n^2 + 4 n.
bool cm_lcp_solve_free(const cm_lcp *problem, const uint8_t *sets, double *x, double *w,
                       double *work);
// If a row at a bound, or free, offends: the set it has to go to, else its own.
uint8_t cm_lcp_better(const cm_lcp *problem, uint8_t set, uint32_t j, double x, double w);
// A set that bounds do not allow (a bound that is infinite) becomes free; equal bounds: LOWER.
uint8_t cm_lcp_start_set(const cm_lcp *problem, uint8_t set, uint32_t j);
void cm_lcp_start_sets(const cm_lcp *problem, uint8_t *sets);

#endif
