// Box friction whose bounds follow the normal forces: solve, estimate anew, solve again.
//
// What stays put from one round to the next obeys the pyramid's law. One round a step is usual,
// with the last step's normal forces as the first estimate; three settle a box at rest. Source:
// JP2003526160A.
#include "shared/sim/solve/lcp/system.h"

static void set_bounds(const cm_lcp *problem, const cm_lcp_rub *rub, const double *estimate,
                       double *lower, double *upper)
{
    for (uint32_t j = 0; j < problem->n; j++) {
        if (rub->normal[j] == CM_LCP_NO_NORMAL) {
            continue;
        }
        double force = estimate[rub->normal[j]],
               most = force > 0.0 ? rub->friction[j] * force : 0.0;
        most = most < rub->most[j] ? most : rub->most[j];
        lower[j] = -most;
        upper[j] = most;
    }
}

cm_lcp_answer cm_lcp_estimate(const cm_lcp *problem, const cm_lcp_rub *rub, uint32_t rounds,
                              double *lower, double *upper, double *estimate, uint8_t *sets,
                              double *x, double *w, double *work)
{
    cm_lcp_answer sum = {false, 0};
    cm_lcp boxed = *problem;
    boxed.lower = lower;
    boxed.upper = upper;
    for (uint32_t i = 0; i < rounds; i++) {
        set_bounds(problem, rub, estimate, lower, upper);
        cm_lcp_answer one = cm_lcp_project(&boxed, sets, x, w, work);
        sum.solves += one.solves;
        sum.solved = one.solved;
        if (!one.solved) {
            return sum;
        }
        for (uint32_t j = 0; j < problem->n; j++) {
            estimate[j] = x[j];
        }
    }
    return sum;
}
