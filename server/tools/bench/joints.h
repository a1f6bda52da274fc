// The joints of a scene as the quality measurement wants them: from what the scene says and not
// from the engine, so that an engine that placed a joint wrongly is found out.
#ifndef CM_SERVER_TOOLS_BENCH_JOINTS_H
#define CM_SERVER_TOOLS_BENCH_JOINTS_H

#include "server/tools/bench/quality.h"
#include "shared/scene/scene.h"

// Joints that hold two points together (ball, hinge, fixed); others are left out. Anchors are taken
// from world axes into the bodies at the poses of `world`: the scene as written, at tick 0.
// `joints` is to be freed with free. CAROM_ERROR_MEMORY, or CAROM_OK.
carom_result cm_bench_joints_load(const cm_scene *scene, const carom_world *world,
                                  cm_quality_joint **joints, uint32_t *count);

#endif
