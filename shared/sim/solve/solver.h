// The solvers: what the step needs to know of each. Private to shared/sim.
//
// A solver advances velocities and poses by one tick from what the stages before it found, and ends
// with cm_report_contacts (report.h). Its folder is closed: its row here is the only way in.
#ifndef CM_SIM_SOLVE_SOLVER_H
#define CM_SIM_SOLVE_SOLVER_H

#include "shared/sim/solve/rules.h"
#include "shared/sim/state/scratch.h"

#define CM_REMEMBERS(section) (1u << (section))

typedef struct cm_solver {
    uint32_t remembers; // sections of contacts (state/contact.h): CM_REMEMBERS of each
    bool manifolds;     // wants cm_stage_collide; else it does its own narrow phase on the pairs
    bool sleeps;        // bodies at rest may fall asleep
    bool pointers;      // pointers meet what cannot move, too, and feel it
    // The step takes its substeps apart: pairs and contacts are found anew for each, `solve` is
    // called for each (scratch->round), and does a part of the tick. Else it is called once.
    bool rounds;
    // A tick's, where a world leaves them open; of more it looks less far ahead.
    uint32_t least_substeps;
    bool relaxes; // solves once more after the last poses, so it looks a substep past the tick
    void (*solve)(carom_world *world, cm_scratch *scratch);
    size_t (*scratch_size)(const carom_limits *limits, const carom_solver_def *def);
    const cm_scene_rules *rules; // what it asks of scenes
} cm_solver;

extern const cm_solver cm_solver_soft, cm_solver_impulse, cm_solver_lcp, cm_solver_volume;

// By carom_solver_type, which must be known.
const cm_solver *cm_solver_of(uint32_t type);

#endif
