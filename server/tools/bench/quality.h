// The quality of a simulation, measured from poses alone: overlap of bodies and error of joints.
#ifndef CM_SERVER_TOOLS_BENCH_QUALITY_H
#define CM_SERVER_TOOLS_BENCH_QUALITY_H

#include "server/tools/bench/solid.h"

#ifdef __cplusplus
extern "C" {
#endif

// Pairs apart by less than this count as touching in the mean.
#define CM_QUALITY_NEAR 0.02 // m

// A joint that holds a point of one body at a point of another.
typedef struct cm_quality_joint {
    uint32_t body_a, body_b;         // CM_QUALITY_WORLD: the point stands still
    double anchor_a[3], anchor_b[3]; // in the body (of the world: in world axes), m
} cm_quality_joint;

#define CM_QUALITY_WORLD 0xffffffffu

typedef struct cm_quality_pose {
    double position[3];    // of the body's origin, m
    double orientation[4]; // x, y, z, w
} cm_quality_pose;

typedef struct cm_quality {
    uint32_t pairs;          // touching, or nearer than CM_QUALITY_NEAR
    double max_penetration;  // m, 0 where nothing overlaps
    double mean_penetration; // m: sum of the overlaps over `pairs`
    double top_height;       // m: highest origin of a body that can move; 0 without any
    double joint_error;      // m: largest distance of two points that a joint holds together
} cm_quality;

// Pairs of solids. Two bodies that a joint holds do not meet. `top_height` is left alone. False
// without memory.
bool cm_quality_of_solids(const cm_solid *solids, uint32_t count, const cm_quality_joint *joints,
                          uint32_t joint_count, cm_quality *quality);

// The largest joint error at poses given: of body i, poses[i].
double cm_quality_joint_error(const cm_quality_pose *poses, const cm_quality_joint *joints,
                              uint32_t joint_count);

// All of it for a world, through its public interface; joints name body slots. CAROM_ERROR_MEMORY,
// or CAROM_ERROR_NOT_BUILT for a shape that is not known here.
carom_result cm_quality_of_world(const carom_world *world, const cm_quality_joint *joints,
                                 uint32_t joint_count, cm_quality *quality);

#ifdef __cplusplus
}
#endif
#endif
