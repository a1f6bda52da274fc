// Worlds and games run by `carom sim`: creation, stepping with inputs, saving.
#include "server/tools/offline/offline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const SOLVERS[] = {"soft", "impulse", "lcp", "volume"};
#define SOLVER_COUNT ((int)(sizeof SOLVERS / sizeof SOLVERS[0]))

int cm_offline_solver(const char *name)
{
    for (int i = 0; i < SOLVER_COUNT; i++) {
        if (strcmp(name, SOLVERS[i]) == 0) {
            return i;
        }
    }
    return CM_SOLVER_UNKNOWN;
}

const char *cm_offline_solver_name(int solver)
{
    return solver >= 0 && solver < SOLVER_COUNT ? SOLVERS[solver] : "unknown";
}

bool cm_offline_is_circle(const cm_scene *scene, int solver)
{
    carom_world_def def;
    cm_scene_world_def_with(scene, solver, &def);
    return def.solver.type == CAROM_SOLVER_IMPULSE &&
           def.solver.impulse.model == CAROM_IMPULSE_CIRCLE;
}

static bool is_of_scene(const cm_scene *scene, int solver)
{
    carom_world_def def;
    cm_scene_world_def(scene, &def);
    return solver == CM_SOLVER_OF_SCENE || solver == (int)def.solver.type;
}

static bool has_players(const cm_inputs *inputs)
{
    for (uint32_t i = 0; inputs != NULL && i < inputs->count; i++) {
        if (inputs->lines[i].kind == CM_LINE_PLAYER) {
            return true;
        }
    }
    return false;
}

static carom_result create_world(const cm_scene *scene, int solver, cm_offline *run)
{
    carom_world_def def;
    carom_result result = cm_scene_check_solver(scene, solver, NULL);
    if (result != CAROM_OK) {
        return result;
    }
    cm_scene_world_def_with(scene, solver, &def);
    if (def.hit_speed <= 0.0f) {
        def.hit_speed = CM_OFFLINE_HIT_SPEED;
    }
    size_t size = carom_world_size(&def);
    if (size == 0) {
        return CAROM_ERROR_ARGUMENT;
    }
    size = (size + 63) / 64 * 64;
    run->memory = aligned_alloc(64, size);
    if (run->memory == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    result = carom_world_create(&def, run->memory, size, &run->world);
    return result == CAROM_OK ? cm_scene_populate(scene, run->world) : result;
}

carom_result cm_offline_create(const cm_scene *scene, const cm_inputs *inputs, cm_offline *run)
{
    return cm_offline_create_with(scene, inputs, CM_SOLVER_OF_SCENE, run);
}

carom_result cm_offline_create_with(const cm_scene *scene, const cm_inputs *inputs, int solver,
                                    cm_offline *run)
{
    memset(run, 0, sizeof *run);
    run->scene = scene;
    run->inputs = inputs;
    run->solver = solver;
    // A pointer is moved by a player, and players are a game's affair.
    if (cm_scene_module(scene)[0] == '\0' && !has_players(inputs)) {
        return create_world(scene, solver, run);
    }
    if (!is_of_scene(scene, solver)) {
        return CAROM_ERROR_NOT_BUILT;
    }
    const carom_module *module = cm_module_find(cm_scene_module(scene));
    if (module == NULL) {
        return CAROM_ERROR_NOT_FOUND;
    }
    carom_world_def def;
    cm_scene_world_def(scene, &def);
    carom_result result = cm_game_create(scene, module, def.seed, NULL, &run->game);
    if (result == CAROM_OK) {
        run->world = carom_game_world(run->game);
    }
    return result;
}

void cm_offline_destroy(cm_offline *run)
{
    if (run->game != NULL) {
        cm_game_destroy(run->game);
    }
    free(run->memory);
    memset(run, 0, sizeof *run);
}

static void step_game(cm_offline *run, uint32_t first, uint32_t end)
{
    cm_game_event events[CAROM_PLAYERS_MAX];
    carom_player_input inputs[CAROM_PLAYERS_MAX];
    cm_tick_input tick = {events, 0, inputs, 0};
    for (uint32_t i = first; i < end; i++) {
        const cm_input *line = &run->inputs->lines[i];
        if (line->kind != CM_LINE_PLAYER) {
            continue;
        }
        if (!cm_game_player_present(run->game, line->index)) {
            cm_game_event *join = &events[tick.event_count++];
            memset(join, 0, sizeof *join);
            join->type = CM_EVENT_JOIN;
            join->player = line->index;
            join->client_id = (uint64_t)line->index + 1;
        }
        carom_player_input *input = &inputs[tick.input_count++];
        memset(input, 0, sizeof *input);
        input->player = line->index;
        memcpy(input->bytes, line->json.input, CAROM_INPUT_MAX);
    }
    cm_game_tick(run->game, &tick);
}

void cm_offline_step(cm_offline *run)
{
    uint32_t first = 0, end = 0;
    if (run->inputs != NULL) {
        cm_inputs_at(run->inputs, carom_world_tick(run->world), &first, &end);
    }
    for (uint32_t i = first; i < end; i++) {
        cm_input_apply(&run->inputs->lines[i], run->world);
    }
    if (run->game != NULL) {
        step_game(run, first, end);
    } else {
        carom_world_step(run->world);
    }
}

uint64_t cm_offline_hash(const cm_offline *run)
{
    return run->game != NULL ? cm_game_hash(run->game) : carom_world_hash(run->world);
}

size_t cm_offline_save_bound(const cm_offline *run)
{
    return run->game != NULL ? cm_game_save_bound(run->game) : carom_world_save_bound(run->world);
}

size_t cm_offline_save(const cm_offline *run, void *image, size_t size)
{
    return run->game != NULL ? cm_game_save(run->game, image, size)
                             : carom_world_save(run->world, image, size);
}

carom_result cm_offline_restore(cm_offline *run, const void *image, size_t size)
{
    return run->game != NULL ? cm_game_restore(run->game, image, size)
                             : carom_world_restore(run->world, image, size);
}

void cm_offline_joint_name(const cm_offline *run, uint32_t slot, char *name, size_t size)
{
    carom_joint_id joint = carom_world_joint_at(run->world, slot);
    cm_scene_call_joint(run->scene, (carom_joint_id){slot, joint.generation}, name, size);
}

void cm_offline_body_name(const cm_offline *run, uint32_t slot, char *name, size_t size)
{
    carom_body_id body = carom_world_body_at(run->world, slot);
    cm_scene_call_body(run->scene, (carom_body_id){slot, body.generation}, name, size);
}
