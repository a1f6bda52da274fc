// The table of solvers, by carom_solver_type. It stands above their folders.
#include "shared/sim/solve/solver.h"

const cm_solver *cm_solver_of(uint32_t type)
{
    static const cm_solver *const solvers[] = {
        [CAROM_SOLVER_SOFT] = &cm_solver_soft,
#ifndef CM_SOFT_ALONE
        [CAROM_SOLVER_IMPULSE] = &cm_solver_impulse,
        [CAROM_SOLVER_LCP] = &cm_solver_lcp,
        [CAROM_SOLVER_VOLUME] = &cm_solver_volume,
#endif
    };
    return solvers[type];
}
