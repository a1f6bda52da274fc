// The solvers: what the step needs to know of each. Private to shared/sim.
//
// A solver advances velocities and poses by one tick from what the stages before it found, and ends
// with cm_report_contacts (report.h).
#ifndef CM_SIM_SOLVE_SOLVER_H
#define CM_SIM_SOLVE_SOLVER_H

#include "shared/sim/state/stage.h"

typedef struct cm_solver {
    bool manifolds; // wants cm_stage_collide; else it does its own narrow phase on the pairs
    bool sleeps;    // bodies at rest may fall asleep
    void (*solve)(carom_world *world, cm_scratch *scratch);
    size_t (*scratch_size)(const carom_limits *limits, const carom_solver_def *def);
} cm_solver;

// Of a carom_solver_type; NULL for one that is not built.
const cm_solver *cm_solver_of(uint32_t type);

// One pair of functions a solver.
void cm_solve_soft(carom_world *world, cm_scratch *scratch);
size_t cm_soft_scratch_size(const carom_limits *limits, const carom_solver_def *def);
void cm_solve_impulse(carom_world *world, cm_scratch *scratch);
size_t cm_impulse_scratch_size(const carom_limits *limits, const carom_solver_def *def);
void cm_solve_volume(carom_world *world, cm_scratch *scratch);
size_t cm_volume_scratch_size(const carom_limits *limits, const carom_solver_def *def);
void cm_solve_lcp(carom_world *world, cm_scratch *scratch);
size_t cm_lcp_scratch_size(const carom_limits *limits, const carom_solver_def *def);

#endif
