// The table of solvers, by carom_solver_type.
#include "shared/sim/solve/solver.h"

const cm_solver *cm_solver_of(uint32_t type)
{
    static const cm_solver soft = {4, true, cm_solve_soft, cm_soft_scratch_size};
    switch (type) {
    case CAROM_SOLVER_SOFT:
        return &soft;
    default:
        return NULL;
    }
}
