// The public half of the pure solvers (carom/lcp.h): checks what it is given, then calls them.
#include "carom/lcp.h"

#include "shared/sim/state/check.h"
#include "shared/base/fpenv.h"
#include "shared/sim/solve/lcp/system.h"

_Static_assert((int)CAROM_LCP_UPPER == (int)CM_LCP_UPPER, "sets are passed on");

static bool is_finite(double a)
{
    return a - a == 0.0;
}

// NaN is none of these.
static bool is_ordered(double low, double high)
{
    return low <= high && low < __builtin_inf() && high > -__builtin_inf();
}

size_t carom_lcp_work_size(uint32_t n)
{
    // Bounds, tangents and estimates of a problem that names none stand behind the solvers' work.
    return n > CAROM_LCP_ROWS_MAX ? 0 : cm_lcp_work(n) + 6 * (size_t)n + 8;
}

static carom_result check_numbers(const carom_lcp_problem *problem)
{
    uint32_t n = problem->n;
    for (size_t i = 0; i < (size_t)n * n; i++) {
        if (!is_finite(problem->matrix[i])) {
            return CAROM_ERROR_NOT_FINITE;
        }
        bool symmetric = problem->matrix[i] == problem->matrix[i % n * n + i / n];
        if (!symmetric) {
            return CAROM_ERROR_ARGUMENT;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!is_finite(problem->vector[i])) {
            return CAROM_ERROR_NOT_FINITE;
        }
        double low = problem->lower != NULL ? problem->lower[i] : -1.0;
        double high = problem->upper != NULL ? problem->upper[i] : __builtin_inf();
        if (!is_ordered(problem->lower != NULL ? low : (high < 0.0 ? high : low), high)) {
            return CAROM_ERROR_ARGUMENT;
        }
    }
    return CAROM_OK;
}

static carom_result check_friction(const carom_lcp_problem *problem)
{
    if (problem->normals == NULL) {
        return CAROM_OK;
    }
    for (uint32_t i = 0; i < problem->n; i++) {
        uint32_t normal = problem->normals[i];
        bool fine = problem->friction != NULL && normal < problem->n &&
                    (normal == i || (problem->normals[normal] == normal &&
                                     problem->friction[i] >= 0.0 && problem->friction[i] < 1e300));
        if (!fine) {
            return CAROM_ERROR_ARGUMENT;
        }
    }
    return CAROM_OK;
}

// Defaults of what the problem leaves open, in memory behind the solvers' work.
typedef struct rest {
    double *lower, *upper, *friction, *most, *estimate;
    uint32_t *normal;
} rest;

static rest fill_rest(const carom_lcp_problem *problem, double *work)
{
    uint32_t n = problem->n;
    double *at = work + cm_lcp_work(n);
    rest r = {at, at + n, at + 2 * n, at + 3 * n, at + 4 * n, (uint32_t *)(at + 5 * n)};
    for (uint32_t i = 0; i < n; i++) {
        bool tangent = problem->normals != NULL && problem->normals[i] != i;
        r.lower[i] = problem->lower != NULL ? problem->lower[i] : -__builtin_inf();
        r.upper[i] = problem->upper != NULL ? problem->upper[i] : __builtin_inf();
        r.friction[i] = tangent ? problem->friction[i] : 0.0;
        r.most[i] = r.upper[i];
        r.estimate[i] = problem->estimates != NULL ? problem->estimates[i] : 0.0;
        r.normal[i] = tangent ? problem->normals[i] : CM_LCP_NO_NORMAL;
    }
    return r;
}

CM_FP_BODY static carom_result solve(const carom_lcp_problem *problem, carom_lcp_method method,
                                     uint8_t *sets, double *x, double *w, double *work,
                                     uint32_t *solves)
{
    uint32_t cap = problem->cap > 0 ? problem->cap : 50 + 10 * problem->n;
    rest r = fill_rest(problem, work);
    cm_lcp lcp = {problem->n, problem->n, problem->matrix,  problem->vector,
                  r.lower,    r.upper,    problem->epsilon, problem->tolerance,
                  cap};
    cm_lcp_friction friction = {r.normal, r.friction, r.most, false};
    cm_lcp_answer answer = {false, 0};
    switch (method) {
    case CAROM_LCP_PROJECTION:
        answer = cm_lcp_project(&lcp, sets, x, w, work);
        break;
    case CAROM_LCP_MURTY:
        answer = cm_lcp_murty(&lcp, sets, x, w, work);
        break;
    case CAROM_LCP_PLAIN:
        answer = cm_lcp_plain(&lcp, sets, x, w, work);
        break;
    case CAROM_LCP_KOSTREVA:
        answer = cm_lcp_kostreva(&lcp, sets, x, w, work);
        break;
    case CAROM_LCP_PYRAMID:
        answer = cm_lcp_pyramid(&lcp, &friction, sets, x, w, work);
        break;
    case CAROM_LCP_ESTIMATE:
        answer = cm_lcp_estimate(&lcp, &friction, problem->rounds, r.lower, r.upper, r.estimate,
                                 sets, x, w, work);
        break;
    }
    for (uint32_t i = 0; answer.solved && i < problem->n; i++) {
        answer.solved = is_finite(x[i]) && is_finite(w[i]);
    }
    if (solves != NULL) {
        *solves = answer.solves;
    }
    return answer.solved ? CAROM_OK : CAROM_ERROR_STATE;
}

carom_result carom_lcp_solve(const carom_lcp_problem *problem, carom_lcp_method method,
                             uint8_t *sets, double *x, double *w, double *work, uint32_t *solves)
{
    if (problem == NULL || sets == NULL || x == NULL || w == NULL || work == NULL ||
        problem->n == 0 || problem->n > CAROM_LCP_ROWS_MAX || problem->matrix == NULL ||
        problem->vector == NULL || (unsigned)method > CAROM_LCP_ESTIMATE ||
        (method == CAROM_LCP_ESTIMATE && problem->rounds == 0)) {
        return CAROM_ERROR_ARGUMENT;
    }
    if (!is_finite(problem->epsilon) || !is_finite(problem->tolerance)) {
        return CAROM_ERROR_NOT_FINITE;
    }
    if (problem->epsilon < 0.0 || problem->tolerance <= 0.0) {
        return CAROM_ERROR_ARGUMENT;
    }
    CM_TRY(check_numbers(problem));
    CM_TRY(check_friction(problem));
    cm_fpenv saved = cm_fpenv_enter();
    carom_result result = solve(problem, method, sets, x, w, work, solves);
    cm_fpenv_leave(saved);
    return result;
}
