// Murty's least-index method: plain, boxed, and what the other methods share with it.
//
// A pass solves for the free rows with the others at their bounds, looks for the least row that
// offends and moves it to its other set. For a positive definite matrix it ends, from any start.
// Source: JP2003526160A, (1)-(4) and (16), with w = M z + q also at the bounds, which
// the printed formula leaves out. Typical: 6 to 30 solves at 12 rows from all free.
#include "shared/sim/solve/lcp/system.h"

#define INFINITE __builtin_inf()

void cm_lcp_residual(const cm_lcp *problem, const double *x, double *w)
{
    uint32_t n = problem->n;
    for (uint32_t i = 0; i < n; i++) {
        w[i] = problem->epsilon * x[i] - problem->b[i];
    }
    // By columns, which are rows.
    for (uint32_t j = 0; j < n; j++) {
        if (x[j] != 0.0) {
            cm_lcp_add(w, x[j], problem->a + (size_t)j * problem->stride, n);
        }
    }
}

uint8_t cm_lcp_better(const cm_lcp *problem, uint8_t set, uint32_t j, double x, double w)
{
    if (set == CM_LCP_FREE) {
        double diagonal = problem->a[(size_t)j * problem->stride + j] + problem->epsilon;
        if ((x - problem->lower[j]) * diagonal < -problem->tolerance) {
            return CM_LCP_LOWER;
        }
        return (problem->upper[j] - x) * diagonal < -problem->tolerance ? CM_LCP_UPPER : set;
    }
    if (problem->lower[j] == problem->upper[j]) {
        return set; // fixed: w may have either sign
    }
    double outward = set == CM_LCP_LOWER ? w : -w;
    return outward < -problem->tolerance ? CM_LCP_FREE : set;
}

uint8_t cm_lcp_start_set(const cm_lcp *problem, uint8_t set, uint32_t j)
{
    double lower = problem->lower[j], upper = problem->upper[j];
    bool none =
        (set == CM_LCP_LOWER && lower == -INFINITE) || (set == CM_LCP_UPPER && upper == INFINITE);
    set = none || set > CM_LCP_UPPER ? CM_LCP_FREE : set;
    return lower == upper ? CM_LCP_LOWER : set;
}

void cm_lcp_start_sets(const cm_lcp *problem, uint8_t *sets)
{
    for (uint32_t j = 0; j < problem->n; j++) {
        sets[j] = cm_lcp_start_set(problem, sets[j], j);
    }
}

bool cm_lcp_solve_free(const cm_lcp *problem, const uint8_t *sets, double *x, double *w,
                       double *work)
{
    uint32_t n = problem->n, free = 0;
    double *factor = work, *column = work + (size_t)n * n, *rhs = column + 2 * n;
    uint32_t *index = (uint32_t *)(rhs + n);
    for (uint32_t j = 0; j < n; j++) {
        x[j] = sets[j] == CM_LCP_LOWER   ? problem->lower[j]
               : sets[j] == CM_LCP_UPPER ? problem->upper[j]
                                         : 0.0;
        if (sets[j] == CM_LCP_FREE) {
            index[free++] = j;
        }
    }
    cm_lcp_residual(problem, x, w);
    for (uint32_t i = 0; i < free; i++) {
        const double *row = problem->a + (size_t)index[i] * problem->stride;
        for (uint32_t j = 0; j <= i; j++) {
            factor[(size_t)i * n + j] = row[index[j]];
        }
        factor[(size_t)i * n + i] += problem->epsilon;
        rhs[i] = -w[index[i]];
    }
    if (!cm_lcp_factor(factor, free, n, free, CM_LCP_TINY, column)) {
        return false;
    }
    cm_lcp_forward(factor, free, n, rhs);
    cm_lcp_backward(factor, free, n, rhs);
    for (uint32_t i = 0; i < free; i++) {
        x[index[i]] = rhs[i];
    }
    cm_lcp_residual(problem, x, w);
    for (uint32_t i = 0; i < free; i++) {
        w[index[i]] = 0.0;
    }
    return true;
}

cm_lcp_answer cm_lcp_murty(const cm_lcp *problem, uint8_t *sets, double *x, double *w, double *work)
{
    cm_lcp_answer answer = {false, 0};
    cm_lcp_start_sets(problem, sets);
    while (answer.solves < problem->cap) {
        answer.solves++;
        if (!cm_lcp_solve_free(problem, sets, x, w, work)) {
            return answer;
        }
        uint32_t j = 0;
        while (j < problem->n && cm_lcp_better(problem, sets[j], j, x[j], w[j]) == sets[j]) {
            j++;
        }
        if (j == problem->n) {
            answer.solved = true;
            return answer;
        }
        sets[j] = cm_lcp_better(problem, sets[j], j, x[j], w[j]);
    }
    return answer;
}

cm_lcp_answer cm_lcp_plain(const cm_lcp *problem, uint8_t *sets, double *x, double *w, double *work)
{
    cm_lcp plain = *problem;
    double *lower = work, *upper = work + problem->n;
    for (uint32_t j = 0; j < problem->n; j++) {
        lower[j] = 0.0;
        upper[j] = INFINITE;
    }
    plain.lower = lower;
    plain.upper = upper;
    return cm_lcp_murty(&plain, sets, x, w, upper + problem->n);
}
