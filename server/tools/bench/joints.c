// Reads "joints" of a scene file with the JSON library. 2,000 joints in the chains scene.
//
// The scene was checked before (shared/scene); what this reader does not understand it refuses.
#include "server/tools/bench/joints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static bool is_point_joint(const char *type)
{
    return strcmp(type, "ball") == 0 || strcmp(type, "hinge") == 0 || strcmp(type, "fixed") == 0;
}

// A point in world axes, seen from the body of that name.
static bool attach(const cm_scene *scene, const carom_world *world, const char *name,
                   const double point[3], uint32_t *body, double anchor[3])
{
    if (strcmp(name, "world") == 0) {
        *body = CM_QUALITY_WORLD;
        memcpy(anchor, point, 3 * sizeof *anchor);
        return true;
    }
    carom_body_state state;
    uint32_t slot = cm_scene_find_body(scene, name);
    if (slot == CM_SCENE_NO_BODY ||
        carom_body_get(world, carom_world_body_at(world, slot), &state) != CAROM_OK) {
        return false;
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
    return true;
}

static bool take_joint(const json_t *item, const cm_scene *scene, const carom_world *world,
                       cm_quality_joint *joint)
{
    const char *a = json_string_value(json_object_get(item, "a"));
    const char *b = json_string_value(json_object_get(item, "b"));
    const json_t *anchor = json_object_get(item, "anchor");
    double point[3] = {0.0, 0.0, 0.0};
    for (size_t i = 0; i < json_array_size(anchor) && i < 3; i++) {
        point[i] = json_number_value(json_array_get(anchor, i));
    }
    return a != NULL && b != NULL &&
           attach(scene, world, a, point, &joint->body_a, joint->anchor_a) &&
           attach(scene, world, b, point, &joint->body_b, joint->anchor_b);
}

carom_result cm_bench_joints_load(const char *path, const cm_scene *scene, const carom_world *world,
                                  cm_quality_joint **joints, uint32_t *count)
{
    *joints = NULL;
    *count = 0;
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) {
        return CAROM_ERROR_IO;
    }
    const json_t *list = json_object_get(root, "joints");
    size_t items = json_array_size(list);
    carom_result result = CAROM_OK;
    *joints = malloc((items + 1) * sizeof **joints);
    if (*joints == NULL) {
        result = CAROM_ERROR_MEMORY;
    }
    for (size_t i = 0; i < items && result == CAROM_OK; i++) {
        const json_t *item = json_array_get(list, i);
        const char *type = json_string_value(json_object_get(item, "type"));
        if (type != NULL && !is_point_joint(type)) {
            continue;
        }
        if (type == NULL || !take_joint(item, scene, world, &(*joints)[*count])) {
            result = CAROM_ERROR_CORRUPT;
        } else {
            (*count)++;
        }
    }
    json_decref(root);
    if (result != CAROM_OK) {
        free(*joints);
        *joints = NULL;
        *count = 0;
    }
    return result;
}
