// The four-sided friction pyramid inside the pivoting, without rows of its own.
//
// A tangent x_t is free while |x_t| <= mu x_n. Clamped, it holds x_t - mu x_n = 0 (UPPER) or
// x_t + mu x_n = 0 (LOWER), by a force w on its row alone; so Q A^-1 W of projection.c is no
// longer symmetric, and is factored anew each pass. The first that offends moves: normals that
// pull, then low and high sides passed, then clamps that pull the wrong way. Boxes of other rows
// (limits, motors) go with the normals.
//
// A solution exists but the loop may cycle, the more the higher mu. A set that comes again (known
// by a hash) ends it: the caller falls back to estimated boxes. Source: JP2003526160A.
#include "shared/sim/solve/lcp/system.h"

#include <string.h>

typedef struct pyramid {
    const cm_lcp *problem;
    const cm_lcp_friction *friction;
    double *factor, *inverse, *matrix;
    double *free, *force, *column;
    uint32_t *at;
    uint8_t *known;
    uint64_t *visits;
    uint32_t count;
} pyramid;

static bool begin(pyramid *p, const cm_lcp *problem, const cm_lcp_friction *friction, double *work)
{
    uint32_t n = problem->n;
    size_t square = (size_t)n * n;
    *p = (pyramid){
        .problem = problem, .friction = friction, .factor = work, .inverse = work + square};
    p->matrix = work + 2 * square;
    p->free = work + 3 * square;
    p->force = p->free + n;
    p->column = p->force + n;
    p->at = (uint32_t *)(p->column + 2 * n);
    p->known = (uint8_t *)(p->column + 3 * n);
    p->visits = (uint64_t *)(p->column + 4 * n);
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

static const double *inverse_row(pyramid *p, uint32_t j)
{
    uint32_t n = p->problem->n;
    double *row = p->inverse + (size_t)j * n;
    if (!p->known[j]) {
        p->known[j] = 1;
        memset(row, 0, n * sizeof *row);
        row[j] = 1.0;
        cm_lcp_forward_from(p->factor, n, n, j, row);
        cm_lcp_backward(p->factor, n, n, row);
    }
    return row;
}

// Slope of the bound of a clamped row against its normal; 0 for a bound that stands by itself.
static double slope(const pyramid *p, const uint8_t *sets, uint32_t j)
{
    if (p->friction->normal[j] == CM_LCP_NO_NORMAL) {
        return 0.0;
    }
    return sets[j] == CM_LCP_LOWER ? -p->friction->coefficient[j] : p->friction->coefficient[j];
}

// Q x of a clamped row.
static double held(const pyramid *p, const uint8_t *sets, uint32_t j, const double *x)
{
    double s = slope(p, sets, j);
    return s != 0.0 ? x[j] - s * x[p->friction->normal[j]] : x[j];
}

static double bound_of(const pyramid *p, const uint8_t *sets, uint32_t j)
{
    if (p->friction->normal[j] != CM_LCP_NO_NORMAL) {
        return 0.0;
    }
    return sets[j] == CM_LCP_LOWER ? p->problem->lower[j] : p->problem->upper[j];
}

// Gauss with the largest pivot of each column; x in place of the right side.
static bool eliminate(double *m, uint32_t count, uint32_t stride, double *x)
{
    for (uint32_t k = 0; k < count; k++) {
        uint32_t best = k;
        for (uint32_t i = k + 1; i < count; i++) {
            bool more =
                cm_d_abs(m[(size_t)i * stride + k]) > cm_d_abs(m[(size_t)best * stride + k]);
            best = more ? i : best;
        }
        double *row = m + (size_t)k * stride, *other = m + (size_t)best * stride;
        for (uint32_t j = k; j < count && best != k; j++) {
            double t = row[j];
            row[j] = other[j];
            other[j] = t;
        }
        double t = x[k];
        x[k] = x[best];
        x[best] = t;
        if (!(cm_d_abs(row[k]) > 1.0e-200)) {
            return false;
        }
        for (uint32_t i = k + 1; i < count; i++) {
            double s = m[(size_t)i * stride + k] / row[k];
            if (s != 0.0) {
                cm_lcp_add(m + (size_t)i * stride + k + 1, -s, row + k + 1, count - k - 1);
                x[i] -= s * x[k];
            }
        }
    }
    for (uint32_t k = count; k-- > 0;) {
        const double *row = m + (size_t)k * stride;
        x[k] = (x[k] - cm_lcp_dot(row + k + 1, x + k + 1, count - k - 1)) / row[k];
    }
    return true;
}

static bool solve(pyramid *p, const uint8_t *sets, double *x, double *w)
{
    uint32_t n = p->problem->n;
    p->count = 0;
    for (uint32_t j = 0; j < n; j++) {
        x[j] = p->free[j];
        w[j] = 0.0;
        if (sets[j] != CM_LCP_FREE) {
            p->at[p->count++] = j;
        }
    }
    for (uint32_t j = 0; j < p->count; j++) {
        const double *row = inverse_row(p, p->at[j]);
        for (uint32_t i = 0; i < p->count; i++) {
            p->matrix[(size_t)i * n + j] = held(p, sets, p->at[i], row);
        }
    }
    for (uint32_t i = 0; i < p->count; i++) {
        p->force[i] = bound_of(p, sets, p->at[i]) - held(p, sets, p->at[i], p->free);
    }
    if (!eliminate(p->matrix, p->count, n, p->force)) {
        return false;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        cm_lcp_add(x, p->force[i], p->inverse + (size_t)p->at[i] * n, n);
        w[p->at[i]] = p->force[i];
    }
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t j = p->at[i];
        double s = slope(p, sets, j);
        x[j] = s != 0.0 ? s * x[p->friction->normal[j]] : bound_of(p, sets, j);
    }
    return true;
}

// The set to which a row has to go.
static uint8_t better(const pyramid *p, const uint8_t *sets, uint32_t j, const double *x,
                      const double *w)
{
    if (p->friction->normal[j] == CM_LCP_NO_NORMAL) {
        return cm_lcp_better(p->problem, sets[j], j, x[j], w[j]);
    }
    double most = p->friction->coefficient[j] * x[p->friction->normal[j]],
           tolerance = p->problem->tolerance;
    if (sets[j] == CM_LCP_FREE) {
        double diagonal = p->problem->a[(size_t)j * p->problem->stride + j] + p->problem->epsilon;
        if ((most + x[j]) * diagonal < -tolerance) {
            return CM_LCP_LOWER;
        }
        return (most - x[j]) * diagonal < -tolerance ? CM_LCP_UPPER : CM_LCP_FREE;
    }
    double outward = sets[j] == CM_LCP_LOWER ? w[j] : -w[j];
    return outward < -tolerance ? CM_LCP_FREE : sets[j];
}

// Order of the search: normals and boxes, sides passed, clamps that pull.
static uint32_t kind_of(const pyramid *p, const uint8_t *sets, uint32_t j)
{
    bool tangent = p->friction->normal[j] != CM_LCP_NO_NORMAL, clamped = sets[j] != CM_LCP_FREE;
    return clamped ? 2u : (tangent ? 1u : 0u);
}

static uint32_t first_offending(const pyramid *p, const uint8_t *sets, const double *x,
                                const double *w)
{
    uint32_t found = p->problem->n, best = 3;
    for (uint32_t j = 0; j < p->problem->n; j++) {
        uint32_t kind = kind_of(p, sets, j);
        if (kind < best && better(p, sets, j, x, w) != sets[j]) {
            best = kind;
            found = j;
        }
    }
    return found;
}

static bool seen(pyramid *p, const uint8_t *sets, uint32_t pass)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t j = 0; j < p->problem->n; j++) {
        hash = (hash ^ sets[j]) * 0x100000001b3u;
    }
    for (uint32_t i = 0; i < pass; i++) {
        if (p->visits[i] == hash) {
            return true;
        }
    }
    p->visits[pass] = hash;
    return false;
}

cm_lcp_answer cm_lcp_pyramid(const cm_lcp *problem, const cm_lcp_friction *friction, uint8_t *sets,
                             double *x, double *w, double *work)
{
    cm_lcp_answer answer = {false, 0};
    pyramid p;
    for (uint32_t j = 0; j < problem->n; j++) {
        bool tangent = friction->normal[j] != CM_LCP_NO_NORMAL;
        uint8_t known = sets[j] > CM_LCP_UPPER ? CM_LCP_FREE : sets[j];
        sets[j] = tangent ? known : cm_lcp_start_set(problem, sets[j], j);
    }
    if (!begin(&p, problem, friction, work)) {
        return answer;
    }
    uint32_t cap = problem->cap < CM_LCP_VISITS ? problem->cap : CM_LCP_VISITS;
    while (answer.solves < cap && !seen(&p, sets, answer.solves)) {
        answer.solves++;
        if (!solve(&p, sets, x, w)) {
            return answer;
        }
        uint32_t j = first_offending(&p, sets, x, w);
        if (j == problem->n) {
            answer.solved = true;
            return answer;
        }
        sets[j] = better(&p, sets, j, x, w);
    }
    return answer;
}
