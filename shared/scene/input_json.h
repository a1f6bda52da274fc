// One line of a file of inputs for an offline run: JSON, checked for form and ranges. The caller,
// who has the scene, checks that player, body and module exist.
#ifndef CM_SCENE_INPUT_JSON_H
#define CM_SCENE_INPUT_JSON_H

#include "carom/game.h"
#include "shared/scene/scene.h"

typedef struct cm_input_json {
    uint64_t tick;
    bool has_player, has_force, has_torque;
    bool has_position, has_orientation, has_linear_velocity, has_angular_velocity;
    uint32_t player;
    uint32_t input_size; // bytes
    uint8_t input[CAROM_INPUT_MAX];
    char body[CM_NAME_MAX]; // "" for none
    carom_vec3 force, torque, position, linear_velocity, angular_velocity;
    carom_quat orientation;
} cm_input_json;

// `line` is the number of the line in its file, for the error.
carom_result cm_input_from_json(const char *text, size_t size, uint32_t line, cm_input_json *input,
                                cm_scene_error *error);

#endif
