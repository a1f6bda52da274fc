// 2,000 joints in the chains scene.
#include "server/tools/bench/joints.h"

#include <stdlib.h>
#include <string.h>

// A point in world axes, seen from a body.
static void attach(const carom_world *world, uint32_t slot, const double point[3], uint32_t *body,
                   double anchor[3])
{
    carom_body_state state;
    *body = CM_QUALITY_WORLD;
    memcpy(anchor, point, 3 * sizeof *anchor);
    if (slot == CM_SCENE_NO_BODY ||
        carom_body_get(world, carom_world_body_at(world, slot), &state) != CAROM_OK) {
        return;
    }
    const double orientation[4] = {state.orientation.x, state.orientation.y, state.orientation.z,
                                   state.orientation.w};
    const double from[3] = {point[0] - state.position.x, point[1] - state.position.y,
                            point[2] - state.position.z};
    double rows[3][3];
    cm_solid_rotation(orientation, rows);
    for (int i = 0; i < 3; i++) {
        anchor[i] = rows[0][i] * from[0] + rows[1][i] * from[1] + rows[2][i] * from[2];
    }
    *body = slot;
}

carom_result cm_bench_joints_load(const cm_scene *scene, const carom_world *world,
                                  cm_quality_joint **joints, uint32_t *count)
{
    uint32_t all = cm_scene_joint_count(scene), a, b;
    *joints = malloc((all + 1) * sizeof **joints);
    *count = 0;
    for (uint32_t i = 0; i < all && *joints != NULL; i++) {
        cm_quality_joint *joint = &(*joints)[*count];
        double point[3];
        if (cm_scene_joint_point(scene, i, &a, &b, point)) {
            attach(world, a, point, &joint->body_a, joint->anchor_a);
            attach(world, b, point, &joint->body_b, joint->anchor_b);
            (*count)++;
        }
    }
    return *joints != NULL ? CAROM_OK : CAROM_ERROR_MEMORY;
}
