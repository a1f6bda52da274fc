// The table of solvers, by carom_solver_type.
#include "shared/sim/solve/solver.h"

const cm_solver *cm_solver_of(uint32_t type)
{
    static const cm_solver soft = {true, true, cm_solve_soft, cm_soft_scratch_size};
    static const cm_solver impulse = {true, false, cm_solve_impulse, cm_impulse_scratch_size};
    static const cm_solver volume = {false, false, cm_solve_volume, cm_volume_scratch_size};
    static const cm_solver lcp = {true, true, cm_solve_lcp, cm_lcp_scratch_size};
    switch (type) {
    case CAROM_SOLVER_SOFT:
        return &soft;
    case CAROM_SOLVER_IMPULSE:
        return &impulse;
    case CAROM_SOLVER_VOLUME:
        return &volume;
    case CAROM_SOLVER_LCP:
        return &lcp;
    default:
        return NULL;
    }
}
