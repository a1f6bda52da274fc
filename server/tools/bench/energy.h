// Energies of a world, seen through its public interface, J a kg of what can move.
#ifndef CM_SERVER_TOOLS_BENCH_ENERGY_H
#define CM_SERVER_TOOLS_BENCH_ENERGY_H

#include "server/tools/bench/quality.h"

// 0 where nothing can move.
double cm_energy_kinetic(const carom_world *world);

// The same and the potential energy, whose zero is a body's origin in the world's.
double cm_energy_total(const carom_world *world);

// The total once every body that can move hangs at rest below the joint that holds it, straight
// down. A joint's first body is the upper one, and stands still or is held by an earlier joint; the
// centre of mass lies on the line through a body's joints. HUGE_VAL where something is held by
// none. CAROM_ERROR_MEMORY.
carom_result cm_energy_hanging(const carom_world *world, const cm_quality_joint *joints,
                               uint32_t joint_count, double *energy);

#endif
