// Reads a file of inputs whole, line by line, into an array. Typical: thousands of lines; the file
// is capped, so the array is.
#include "server/tools/offline/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/array.h"
#include "shared/game/pointer.h"
#include "shared/scene/scene_json.h"

// The lines read so far, against which the next one is checked.
typedef struct reader {
    const cm_scene *scene;
    const carom_module *module;
    cm_inputs *inputs;
    uint32_t capacity;
    uint32_t line;
    carom_vec3 *force, *torque; // held, a row a body of the scene
    cm_scene_error *error;
} reader;

static carom_result fail(const reader *r, carom_result result, const char *path,
                         const char *message)
{
    r->error->line = r->line;
    snprintf(r->error->path, sizeof r->error->path, "%s", path);
    snprintf(r->error->message, sizeof r->error->message, "%s", message);
    return result;
}

static carom_result refuse(const reader *r, const char *path, const char *message)
{
    return fail(r, CAROM_ERROR_ARGUMENT, path, message);
}

static cm_input *append(reader *r)
{
    cm_inputs *inputs = r->inputs;
    bool room =
        cm_array_reserve(&inputs->lines, &r->capacity, inputs->count + 1, sizeof *inputs->lines);
    if (room) {
        inputs->lines[inputs->count++] = (cm_input){0};
    }
    return room ? &inputs->lines[inputs->count - 1] : NULL;
}

static carom_result take_player(reader *r, const cm_input_json *json, cm_input *line)
{
    char text[160];
    uint32_t pose_size = cm_scene_pointer_bytes(r->scene);
    uint32_t size = pose_size + (r->module != NULL ? r->module->input_size : 0);
    if (r->module == NULL && pose_size == 0) {
        return refuse(r, "$.player",
                      "the scene has no module and no pointer, expected lines of bodies only");
    }
    if (json->input_size != size) {
        const char *pose = pose_size > 0 ? "a pointer's pose of 52" : "";
        snprintf(text, sizeof text, "%u bytes, expected %u: %s%s%s%s", (unsigned)json->input_size,
                 (unsigned)size, pose, pose_size > 0 && r->module != NULL ? ", then " : "",
                 r->module != NULL ? "the input of module " : "",
                 r->module != NULL ? r->module->name : "");
        return refuse(r, "$.input", text);
    }
    carom_pointer_pose pose;
    cm_pointer_reason reason =
        pose_size > 0 ? cm_pointer_read(json->input, &pose) : CM_POINTER_NONE;
    if (reason > CM_POINTER_NONE) {
        return refuse(r, "$.input", cm_pointer_reason_text(reason));
    }
    uint8_t rest[CAROM_INPUT_MAX] = {0};
    memcpy(rest, json->input + pose_size, size - pose_size);
    if (r->module != NULL && r->module->check_input != NULL && !r->module->check_input(rest)) {
        return refuse(r, "$.input", "refused by the module, expected finite values in range");
    }
    line->kind = CM_LINE_PLAYER;
    line->index = json->player;
    for (uint32_t i = r->inputs->count - 1;
         i-- > 0 && r->inputs->lines[i].json.tick == json->tick;) {
        const cm_input *other = &r->inputs->lines[i];
        if (other->kind == CM_LINE_PLAYER && other->index == line->index) {
            return refuse(r, "$.player", "a second input for this tick, expected one");
        }
    }
    return CAROM_OK;
}

static carom_result take_body(reader *r, const cm_input_json *json, cm_input *line)
{
    uint32_t body = cm_scene_find_body(r->scene, json->body);
    if (body == CM_SCENE_NO_BODY) {
        return refuse(r, "$.body", "no such body, expected a name of the scene");
    }
    carom_body_def def;
    cm_scene_body_def(r->scene, body, &def);
    bool forces = json->has_force || json->has_torque;
    if (forces && def.type != CAROM_BODY_DYNAMIC) {
        return refuse(r, "$.body", "a force on a body that is not dynamic, expected a dynamic one");
    }
    if (!forces && def.type != CAROM_BODY_KINEMATIC) {
        return refuse(r, "$.body",
                      "a pose for a body that is not kinematic, expected a kinematic "
                      "one");
    }
    line->index = body;
    line->kind = forces ? CM_LINE_FORCE : CM_LINE_POSE;
    carom_vec3 *force = &r->force[body], *torque = &r->torque[body];
    *force = line->json.force = json->has_force ? json->force : *force;
    *torque = line->json.torque = json->has_torque ? json->torque : *torque;
    return CAROM_OK;
}

static carom_result take_line(reader *r, const char *text, size_t size)
{
    cm_input_json json;
    carom_result result = cm_input_from_json(text, size, r->line, &json, r->error);
    if (result != CAROM_OK) {
        return result;
    }
    if (r->inputs->count > 0 && json.tick < r->inputs->lines[r->inputs->count - 1].json.tick) {
        return refuse(r, "$.tick", "earlier than the line before, expected lines ordered by tick");
    }
    cm_input *line = append(r);
    if (line == NULL) {
        return fail(r, CAROM_ERROR_MEMORY, "", "out of memory");
    }
    line->json = json;
    return json.has_player ? take_player(r, &json, line) : take_body(r, &json, line);
}

static bool is_blank(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r') {
            return false;
        }
    }
    return true;
}

static carom_result take_text(reader *r, const char *text, size_t size)
{
    carom_result result = CAROM_OK;
    for (size_t at = 0; at < size && result == CAROM_OK;) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t length = newline != NULL ? (size_t)(newline - text) - at : size - at;
        r->line++;
        if (!is_blank(text + at, length)) {
            result = take_line(r, text + at, length);
        }
        at += length + 1;
    }
    return result;
}

// By tick, then kind, then player; bodies stay in the order of the file.
static void sort_players(cm_inputs *inputs)
{
    for (uint32_t i = 1; i < inputs->count; i++) {
        cm_input line = inputs->lines[i];
        uint32_t at = i;
        while (line.kind == CM_LINE_PLAYER && at > 0 &&
               inputs->lines[at - 1].json.tick == line.json.tick &&
               (inputs->lines[at - 1].kind != CM_LINE_PLAYER ||
                inputs->lines[at - 1].index > line.index)) {
            inputs->lines[at] = inputs->lines[at - 1];
            at--;
        }
        inputs->lines[at] = line;
    }
}

carom_result cm_inputs_read(const char *path, const cm_scene *scene, const carom_module *module,
                            cm_inputs *inputs, cm_scene_error *error)
{
    size_t size = 0;
    memset(inputs, 0, sizeof *inputs);
    memset(error, 0, sizeof *error);
    char *text = cm_scene_read_file(path, CM_INPUTS_FILE_MAX, &size, error);
    if (text == NULL) {
        return CAROM_ERROR_IO;
    }
    uint32_t bodies = cm_scene_body_count(scene);
    reader r = {.scene = scene, .module = module, .inputs = inputs, .error = error};
    r.force = calloc(2 * (size_t)bodies + 1, sizeof(carom_vec3));
    carom_result result = CAROM_OK;
    if (r.force == NULL) {
        result = fail(&r, CAROM_ERROR_MEMORY, "", "out of memory");
    } else {
        r.torque = r.force + bodies;
        for (uint32_t i = 0; i < bodies; i++) {
            carom_body_def def;
            cm_scene_body_def(scene, i, &def);
            r.force[i] = def.force;
            r.torque[i] = def.torque;
        }
        result = take_text(&r, text, size);
    }
    free(r.force);
    free(text);
    if (result == CAROM_OK) {
        sort_players(inputs);
    } else {
        cm_inputs_free(inputs);
    }
    return result;
}

void cm_inputs_free(cm_inputs *inputs)
{
    free(inputs->lines);
    memset(inputs, 0, sizeof *inputs);
}

void cm_inputs_at(const cm_inputs *inputs, uint64_t tick, uint32_t *first, uint32_t *end)
{
    uint32_t low = 0, high = inputs->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (inputs->lines[middle].json.tick < tick) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *first = low;
    while (low < inputs->count && inputs->lines[low].json.tick == tick) {
        low++;
    }
    *end = low;
}

void cm_input_apply(const cm_input *input, carom_world *world)
{
    if (input->kind == CM_LINE_PLAYER) {
        return;
    }
    const cm_input_json *json = &input->json;
    carom_body_id id = carom_world_body_at(world, input->index);
    carom_body_state state;
    if (carom_body_get(world, id, &state) != CAROM_OK) {
        return; // destroyed by the module since
    }
    if (input->kind == CM_LINE_FORCE) {
        carom_body_set_force(world, id, json->force, json->torque);
        return;
    }
    if (json->has_position || json->has_orientation) {
        carom_body_set_pose(world, id, json->has_position ? json->position : state.position,
                            json->has_orientation ? json->orientation : state.orientation);
    }
    if (json->has_linear_velocity || json->has_angular_velocity) {
        carom_body_set_velocity(
            world, id, json->has_linear_velocity ? json->linear_velocity : state.linear_velocity,
            json->has_angular_velocity ? json->angular_velocity : state.angular_velocity);
    }
}
