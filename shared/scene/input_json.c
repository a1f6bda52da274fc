// Lines of input through the same mapper, ranges and messages as scenes. Typical: 100 bytes a line.
#include "shared/scene/input_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/scene/map_json.h"

static bool take_hex(cm_check *check, const char *hex, cm_input_json *out)
{
    size_t length = strlen(hex);
    if (length % 2 != 0 || length > 2 * CAROM_INPUT_MAX) {
        return cm_check_fail_at(check, "input", CAROM_ERROR_ARGUMENT,
                                "%zu digits, expected two for each of at most %d bytes", length,
                                CAROM_INPUT_MAX);
    }
    for (size_t i = 0; i < length / 2; i++) {
        const char digits[3] = {hex[2 * i], hex[2 * i + 1], 0};
        if (strspn(digits, "0123456789abcdefABCDEF") != 2) {
            return cm_check_fail_at(check, "input", CAROM_ERROR_ARGUMENT,
                                    "byte %zu is not hexadecimal, expected digits 0-9, a-f", i);
        }
        out->input[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    out->input_size = (uint32_t)(length / 2);
    return true;
}

static void take_vec(const Cm__Scene__Vec3 *from, bool *has, carom_vec3 *to)
{
    *has = from != NULL;
    *to = cm_scene_vec(from, *to);
}

static bool take_quat(cm_check *check, const Cm__Scene__Quat *q, cm_input_json *out)
{
    out->has_orientation = q != NULL;
    out->orientation = cm_scene_quat(q);
    return cm_check_rotation(check, "orientation", q);
}

// Checks the kind of a line: a player's input, a body's force, or a body's pose.
static bool check_kind(cm_check *check, const Cm__Scene__InputLine *line, const cm_input_json *out)
{
    bool forces = out->has_force || out->has_torque;
    bool pose = out->has_position || out->has_orientation || out->has_linear_velocity ||
                out->has_angular_velocity;
    bool of_player =
        line->has_player && line->input != NULL && line->body == NULL && !forces && !pose;
    bool of_body = !line->has_player && line->input == NULL && line->body != NULL && forces != pose;
    return of_player || of_body ||
           cm_check_fail(check, CAROM_ERROR_ARGUMENT,
                         "keys that do not go together, expected player and input, or body with "
                         "force and torque, or body with position, orientation and velocities");
}

static bool take_line(cm_check *check, const Cm__Scene__InputLine *line, cm_input_json *out)
{
    out->tick = line->tick;
    out->has_player = line->has_player;
    out->player = line->player;
    snprintf(out->body, sizeof out->body, "%s", line->body != NULL ? line->body : "");
    take_vec(line->force, &out->has_force, &out->force);
    take_vec(line->torque, &out->has_torque, &out->torque);
    take_vec(line->position, &out->has_position, &out->position);
    take_vec(line->linear_velocity, &out->has_linear_velocity, &out->linear_velocity);
    take_vec(line->angular_velocity, &out->has_angular_velocity, &out->angular_velocity);
    return take_quat(check, line->orientation, out) &&
           (line->input == NULL || take_hex(check, line->input, out)) &&
           check_kind(check, line, out);
}

carom_result cm_input_from_json(const char *text, size_t size, uint32_t line, cm_input_json *input,
                                cm_scene_error *error)
{
    cm_scene_error unused;
    cm_check check;
    cm_json_text json = {text, size, line};
    cm_pool pool;
    cm_check_init(&check, error != NULL ? error : &unused, 1);
    cm_pool_init(&pool, NULL);
    check.find_line = cm_json_find_line;
    check.context = &json;
    memset(input, 0, sizeof *input);
    ProtobufCMessage *message =
        cm_json_to_message(&json, &cm__scene__input_line__descriptor, &pool, &check);
    if (check.result == CAROM_OK && cm_check_values(&check, message)) {
        take_line(&check, (Cm__Scene__InputLine *)message, input);
    }
    cm_pool_release(&pool);
    return check.result;
}
