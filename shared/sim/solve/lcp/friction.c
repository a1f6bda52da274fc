// Box friction whose bounds follow the normal forces: solve, estimate anew, solve again.
//
// A solution that stays put from one round to the next obeys the pyramid's law. One round a step is
// usual, with the last step's normal forces as the first estimate; three settle a box at rest.
// Source: JP2003526160A.
#include "shared/sim/solve/lcp/system.h"

#define LEAST 0.1 // of the radius, so that a direction can come back: 0.5% beyond the circle

// A cone by two boxes: what is beyond the circle keeps its direction, what is within may grow as
// far as the circle goes.
double cm_lcp_cut(double most, double own, double other)
{
    double square = own * own + other * other, bound;
    if (square > most * most) {
        bound = most * cm_d_abs(own) / __builtin_sqrt(square);
    } else {
        bound = __builtin_sqrt(most * most - other * other);
    }
    return cm_d_max(bound, LEAST * most);
}

// Friction of the other tangent of the same point; they stand side by side.
static double other_of(const cm_lcp *problem, const cm_lcp_friction *friction,
                       const double *estimate, uint32_t j)
{
    if (j + 1 < problem->n && friction->normal[j + 1] == friction->normal[j]) {
        return estimate[j + 1];
    }
    return j > 0 && friction->normal[j - 1] == friction->normal[j] ? estimate[j - 1] : 0.0;
}

static void set_bounds(const cm_lcp *problem, const cm_lcp_friction *friction,
                       const double *estimate, double *lower, double *upper)
{
    for (uint32_t j = 0; j < problem->n; j++) {
        if (friction->normal[j] == CM_LCP_NO_NORMAL) {
            continue;
        }
        double force = estimate[friction->normal[j]],
               most = force > 0.0 ? friction->coefficient[j] * force : 0.0;
        most = most < friction->most[j] ? most : friction->most[j];
        most = friction->cone
                   ? cm_lcp_cut(most, estimate[j], other_of(problem, friction, estimate, j))
                   : most;
        lower[j] = -most;
        upper[j] = most;
    }
}

cm_lcp_answer cm_lcp_estimate(const cm_lcp *problem, const cm_lcp_friction *friction,
                              uint32_t rounds, double *lower, double *upper, double *estimate,
                              uint8_t *sets, double *x, double *w, double *work)
{
    cm_lcp_answer sum = {false, 0};
    cm_lcp boxed = *problem;
    boxed.lower = lower;
    boxed.upper = upper;
    for (uint32_t i = 0; i < rounds; i++) {
        set_bounds(problem, friction, estimate, lower, upper);
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
