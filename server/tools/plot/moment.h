// A snapshot of a world at one tick for a picture, kept while the world steps on.
#ifndef CM_SERVER_TOOLS_PLOT_MOMENT_H
#define CM_SERVER_TOOLS_PLOT_MOMENT_H

#include "server/tools/offline/offline.h"
#include "shared/base/dvec.h"

typedef struct cm_moment_body {
    char name[CM_NAME_MAX];
    carom_body_state state;
    // N s, what contacts and joints did in the tick that led here: the change of the momentum less
    // what gravity and held forces gave. Zero at tick 0.
    cm_d3 impulse;
    cm_d3 point; // where it acts: the contact that began in that tick, else the centre of mass
    uint32_t first_shape, shape_count;
} cm_moment_body;

typedef struct cm_moment_joint {
    carom_joint_state state;
    bool has_a;                    // false: it holds to the world or a static body
    carom_vec3 center_a, center_b; // of mass, of the two bodies
} cm_moment_joint;

typedef struct cm_moment {
    uint64_t tick;
    double time; // s
    cm_moment_body *bodies;
    uint32_t body_count;
    carom_shape_def *shapes; // hulls belong to the scene
    uint32_t shape_count;
    cm_moment_joint *joints;
    uint32_t joint_count;
} cm_moment;

// Velocities before a step: taken, then given to cm_moment_take after it. NULL velocities: tick 0.
typedef struct cm_before {
    carom_vec3 *velocity; // by slot
    uint32_t count;
} cm_before;

carom_result cm_before_take(const cm_offline *run, cm_before *before);
void cm_before_free(cm_before *before);

carom_result cm_moment_take(const cm_offline *run, const cm_before *before, cm_moment *moment);
void cm_moment_free(cm_moment *moment);

#endif
