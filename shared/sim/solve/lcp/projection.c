// Full-inverse projection: pivoting without a new factor of the free rows.
//
// A is factored once. With clamped rows c at bounds g, forces w_c on these rows alone hold them:
//     x = A^-1 (b + W w_c),   (Q A^-1 W) w_c = g - Q A^-1 b,
// W the unit columns and Q the unit rows of c. A row of A^-1 is worked out when its row is first
// clamped; the factor of Q A^-1 W gains or loses a row as an index moves. Source: JP2003526160A,
// where g = 0 is printed.
//
// All rows that offend move at once while their number falls, or has not stood still for PATIENCE
// passes (J. Judice and F. Pires, "Block principal pivoting", Computers and Operations Research 21,
// 1994). Where that stalls, as in the impact of a body with fifty points, the least index alone
// would take thousands of passes: projected Newton steps find sets to go on from, and only if these
// fail too the least moves alone, until the number falls again: so it ends as Murty's does.
#include "shared/sim/solve/lcp/system.h"

#define PATIENCE 6u

// Of work: three squares of n, then vectors.
typedef struct projection {
    const cm_lcp *problem;
    double *factor;  // of A
    double *inverse; // rows of A^-1, where known
    double *clamp;   // factor of the clamped rows' part of A^-1
    double *free;    // A^-1 b
    double *force;   // w of the clamped rows, in the order of `at`
    double *row, *column;
    uint32_t *at;   // clamped rows, in the order of the factor
    uint8_t *known; // rows of the inverse
    uint32_t count;
} projection;

static bool begin(projection *p, const cm_lcp *problem, double *work)
{
    uint32_t n = problem->n;
    size_t square = (size_t)n * n;
    *p = (projection){.problem = problem, .factor = work, .inverse = work + square};
    p->clamp = work + 2 * square;
    p->free = work + 3 * square;
    p->force = p->free + n;
    p->row = p->force + n;
    p->column = p->row + n;
    p->at = (uint32_t *)(p->column + 2 * n);
    p->known = (uint8_t *)(p->column + 3 * n);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j <= i; j++) {
            p->factor[(size_t)i * n + j] = problem->a[(size_t)i * problem->stride + j];
        }
        p->factor[(size_t)i * n + i] += problem->epsilon;
        p->free[i] = problem->b[i];
        p->known[i] = 0;
    }
    if (!cm_lcp_factor(p->factor, n, n, n, CM_LCP_TINY, p->column)) {
        return false;
    }
    cm_lcp_forward(p->factor, n, n, p->free);
    cm_lcp_backward(p->factor, n, n, p->free);
    return true;
}

static const double *inverse_row(projection *p, uint32_t j)
{
    uint32_t n = p->problem->n;
    double *row = p->inverse + (size_t)j * n;
    if (!p->known[j]) {
        p->known[j] = 1;
        for (uint32_t i = 0; i < n; i++) {
            row[i] = i == j ? 1.0 : 0.0;
        }
        cm_lcp_forward_from(p->factor, n, n, j, row);
        cm_lcp_backward(p->factor, n, n, row);
    }
    return row;
}

static bool clamp_row(projection *p, uint32_t j)
{
    const double *row = inverse_row(p, j);
    for (uint32_t i = 0; i < p->count; i++) {
        p->row[i] = row[p->at[i]];
    }
    p->row[p->count] = row[j];
    if (!cm_lcp_factor_add(p->clamp, p->count, p->problem->n, CM_LCP_TINY, p->row)) {
        return false;
    }
    p->at[p->count++] = j;
    return true;
}

static bool clamp_all(projection *p, const uint8_t *sets)
{
    for (uint32_t j = 0; j < p->problem->n; j++) {
        if (sets[j] != CM_LCP_FREE && !clamp_row(p, j)) {
            return false;
        }
    }
    return true;
}

static void free_row(projection *p, uint32_t j)
{
    uint32_t at = 0;
    while (p->at[at] != j) {
        at++;
    }
    cm_lcp_factor_remove(p->clamp, p->count, p->problem->n, at, p->column);
    p->count--;
    for (uint32_t i = at; i < p->count; i++) {
        p->at[i] = p->at[i + 1];
    }
}

static double bound_of(const cm_lcp *problem, const uint8_t *sets, uint32_t j)
{
    return sets[j] == CM_LCP_LOWER ? problem->lower[j] : problem->upper[j];
}

static void solve(projection *p, const uint8_t *sets, double *x, double *w)
{
    uint32_t n = p->problem->n;
    for (uint32_t i = 0; i < p->count; i++) {
        p->force[i] = bound_of(p->problem, sets, p->at[i]) - p->free[p->at[i]];
    }
    cm_lcp_forward(p->clamp, p->count, n, p->force);
    cm_lcp_backward(p->clamp, p->count, n, p->force);
    for (uint32_t j = 0; j < n; j++) {
        x[j] = p->free[j];
        w[j] = 0.0;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        cm_lcp_add(x, p->force[i], p->inverse + (size_t)p->at[i] * n, n);
        w[p->at[i]] = p->force[i];
    }
    for (uint32_t i = 0; i < p->count; i++) {
        x[p->at[i]] = bound_of(p->problem, sets, p->at[i]);
    }
}

// Moves a row to another set; false where the factor would break.
static bool move(projection *p, uint8_t *sets, uint32_t j, uint8_t to)
{
    uint8_t from = sets[j];
    sets[j] = to;
    if (from != CM_LCP_FREE && to == CM_LCP_FREE) {
        free_row(p, j);
    }
    return from != CM_LCP_FREE || to == CM_LCP_FREE || clamp_row(p, j);
}

cm_lcp_answer cm_lcp_project(const cm_lcp *problem, uint8_t *sets, double *x, double *w,
                             double *work)
{
    cm_lcp_answer answer = {false, 0};
    projection p;
    cm_lcp_start_sets(problem, sets);
    if (!begin(&p, problem, work)) {
        return answer;
    }
    if (!clamp_all(&p, sets)) {
        return answer;
    }
    uint32_t fewest = problem->n + 1, patience = PATIENCE;
    bool helped = false;
    while (answer.solves < problem->cap) {
        answer.solves++;
        solve(&p, sets, x, w);
        uint32_t offending = 0;
        for (uint32_t j = 0; j < problem->n; j++) {
            offending += cm_lcp_better(problem, sets[j], j, x[j], w[j]) != sets[j];
        }
        if (offending == 0) {
            answer.solved = true;
            return answer;
        }
        if (patience == 0 && !helped) {
            helped = true;
            cm_lcp_answer help = cm_lcp_newton(problem, sets, x, w, work);
            answer.solves += help.solves;
            if (help.solved) {
                answer.solved = true;
                return answer;
            }
            if (!begin(&p, problem, work) || !clamp_all(&p, sets)) {
                return answer;
            }
            continue;
        }
        patience = offending < fewest ? PATIENCE : patience - (patience > 0);
        fewest = offending < fewest ? offending : fewest;
        for (uint32_t j = 0; j < problem->n; j++) {
            uint8_t to = cm_lcp_better(problem, sets[j], j, x[j], w[j]);
            if (to == sets[j]) {
                continue;
            }
            if (!move(&p, sets, j, to)) {
                return answer;
            }
            if (patience == 0) {
                break;
            }
        }
    }
    return answer;
}
