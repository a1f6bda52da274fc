// Kostreva's sequence, for matrices that are only semi-definite: rows that depend on each other.
//
// A diagonal of 1e-6 makes the problem definite; its solution is where the next one starts: none at
// all. Where that one has no solution beside it, the diagonal shrinks and both are solved again.
// Without a diagonal the free rows are factored in order; a row that depends on those before it
// keeps the force of the solve before, which shared it out, and the others are solved for with it.
// If the conditions hold then, that is a solution, to the tolerance asked for. Where there is none,
// dependent rows contradict each other, at any diagonal. Source: JP2003526160A (M. Kostreva,
// "Generalization of Murty's direct algorithm to linear and convex quadratic programming", Journal
// of Optimization Theory and Applications 62, 1989). Typical: two to five solves.
#include "shared/sim/solve/lcp/system.h"

#define DEPENDENT 1.0e-10 // of a diagonal: a smaller pivot is a row that depends on others

// x of the free rows that do not depend on each other, the rest as they are, and w. Returns the
// count of the rows solved for; they come first in `index`, those that keep their force after them.
static uint32_t solve_independent(const cm_lcp *problem, const uint8_t *sets, double *x, double *w,
                                  double *work, uint32_t *index)
{
    uint32_t n = problem->n, count = 0, kept = 0;
    double *factor = work, *row = work + (size_t)n * n;
    uint32_t *rest = index + n;
    for (uint32_t j = 0; j < n; j++) {
        if (sets[j] != CM_LCP_FREE) {
            x[j] = sets[j] == CM_LCP_LOWER ? problem->lower[j] : problem->upper[j];
            continue;
        }
        const double *from = problem->a + (size_t)j * problem->stride;
        for (uint32_t i = 0; i < count; i++) {
            row[i] = from[index[i]];
        }
        row[count] = from[j] + problem->epsilon;
        if (cm_lcp_factor_add(factor, count, n, DEPENDENT, row)) {
            index[count++] = j;
            x[j] = 0.0;
        } else {
            rest[kept++] = j;
        }
    }
    cm_lcp_residual(problem, x, w);
    for (uint32_t i = 0; i < count; i++) {
        row[i] = -w[index[i]];
    }
    cm_lcp_forward(factor, count, n, row);
    cm_lcp_backward(factor, count, n, row);
    for (uint32_t i = 0; i < count; i++) {
        x[index[i]] = row[i];
    }
    cm_lcp_residual(problem, x, w);
    for (uint32_t i = 0; i < count; i++) {
        w[index[i]] = 0.0;
    }
    for (uint32_t i = 0; i < kept; i++) {
        index[count + i] = rest[i];
    }
    return count;
}

// From sets and x of the solve before: the least row that offends moves, as Murty's does.
static cm_lcp_answer solve_without(const cm_lcp *problem, uint8_t *sets, double *x, double *w,
                                   double *work)
{
    cm_lcp_answer answer = {false, 0};
    uint32_t n = problem->n;
    uint32_t *index = (uint32_t *)(work + (size_t)n * n + n);
    while (answer.solves < problem->cap) {
        answer.solves++;
        uint32_t free = 0, j = 0;
        for (uint32_t i = 0; i < n; i++) {
            free += sets[i] == CM_LCP_FREE;
        }
        for (uint32_t i = solve_independent(problem, sets, x, w, work, index); i < free; i++) {
            if (!(cm_d_abs(w[index[i]]) <= problem->tolerance)) {
                return answer; // a contradiction
            }
        }
        while (j < n && cm_lcp_better(problem, sets[j], j, x[j], w[j]) == sets[j]) {
            j++;
        }
        if (j == n) {
            answer.solved = true;
            return answer;
        }
        sets[j] = cm_lcp_better(problem, sets[j], j, x[j], w[j]);
    }
    return answer;
}

cm_lcp_answer cm_lcp_kostreva(const cm_lcp *problem, uint8_t *sets, double *x, double *w,
                              double *work)
{
    static const double sequence[] = {1.0e-6, 1.0e-8, 1.0e-10};
    cm_lcp_answer answer = {false, 0};
    cm_lcp softened = *problem;
    double mean = 0.0;
    for (uint32_t j = 0; j < problem->n; j++) {
        mean += cm_d_abs(problem->a[(size_t)j * problem->stride + j]) / (double)problem->n;
    }
    for (uint32_t k = 0; k < 3 && !answer.solved; k++) {
        softened.epsilon = problem->epsilon + sequence[k] * (mean > 0.0 ? mean : 1.0);
        cm_lcp_answer soft = cm_lcp_project(&softened, sets, x, w, work);
        answer.solves += soft.solves;
        if (!soft.solved) {
            return answer;
        }
        cm_lcp_answer hard = solve_without(problem, sets, x, w, work);
        answer.solves += hard.solves;
        answer.solved = hard.solved;
    }
    return answer;
}
