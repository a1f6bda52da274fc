// Reports what the contacts of a tick did: touching flags and events.
#ifndef CM_SIM_SOLVE_REPORT_H
#define CM_SIM_SOLVE_REPORT_H

#include "shared/sim/state/scratch.h"

// Call once every solver's impulses stand in the manifolds and before bodies move: points are taken
// at the poses of the start of the tick. Writes the contacts' touching and stats.touching, and adds
// to the events: a solver may call it in each of its substeps.
void cm_report_contacts(carom_world *world, cm_scratch *scratch);

#endif
