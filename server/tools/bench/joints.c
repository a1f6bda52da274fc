// Reads "joints" of a scene file. 2,000 joints in the chains scene.
//
// The scene was checked before (shared/scene); what this reader does not understand it refuses.
#include "server/tools/bench/joints.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/config/json_reader.h"

#define SCENE_MAX ((size_t)64 << 20) // bytes of a scene file

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

static bool take_joint(const cm_json_value *item, const cm_scene *scene, const carom_world *world,
                       cm_quality_joint *joint)
{
    const char *a = cm_json_text_of(cm_json_member(item, "a"));
    const char *b = cm_json_text_of(cm_json_member(item, "b"));
    double point[3] = {0.0, 0.0, 0.0};
    cm_json_reader numbers = {.error = &(cm_scene_error){0}}; // of the scene, which is good
    cm_json_vector(&numbers, item, "anchor", true, point);
    return a != NULL && b != NULL && !cm_json_failed(&numbers) &&
           attach(scene, world, a, point, &joint->body_a, joint->anchor_a) &&
           attach(scene, world, b, point, &joint->body_b, joint->anchor_b);
}

// The whole file; free it. NULL: it cannot be read, or is too long.
static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *text = file != NULL ? malloc(SCENE_MAX + 1) : NULL;
    *size = text != NULL ? fread(text, 1, SCENE_MAX + 1, file) : 0;
    bool good = text != NULL && !ferror(file) && *size <= SCENE_MAX;
    if (file != NULL) {
        fclose(file);
    }
    if (!good) {
        free(text);
    }
    return good ? text : NULL;
}

static carom_result take_joints(const cm_json_value *list, const cm_scene *scene,
                                const carom_world *world, cm_quality_joint **joints,
                                uint32_t *count)
{
    uint32_t items = cm_json_count(list);
    *joints = malloc((items + 1) * sizeof **joints);
    if (*joints == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < items; i++) {
        const cm_json_value *item = cm_json_at(list, i);
        const char *type = cm_json_text_of(cm_json_member(item, "type"));
        if (type != NULL && !is_point_joint(type)) {
            continue;
        }
        if (type == NULL || !take_joint(item, scene, world, &(*joints)[*count])) {
            return CAROM_ERROR_CORRUPT;
        }
        (*count)++;
    }
    return CAROM_OK;
}

carom_result cm_bench_joints_load(const char *path, const cm_scene *scene, const carom_world *world,
                                  cm_quality_joint **joints, uint32_t *count)
{
    cm_json_reader reader;
    cm_scene_error error;
    size_t size;
    *joints = NULL;
    *count = 0;
    char *text = read_file(path, &size);
    if (text == NULL) {
        return CAROM_ERROR_IO;
    }
    const cm_json_value *root = cm_json_open(&reader, text, size, SCENE_MAX, &error);
    carom_result result =
        root != NULL ? take_joints(cm_json_member(root, "joints"), scene, world, joints, count)
                     : CAROM_ERROR_IO;
    cm_json_close(&reader);
    free(text);
    if (result != CAROM_OK) {
        free(*joints);
        *joints = NULL;
        *count = 0;
    }
    return result;
}
