// Worlds of packed scenes (`carom scene pack`, shared/scene/scene.h) for JavaScript: each world has
// its scene, whose hulls it holds. Steps, bodies and questions are those of carom-sim.
#include <stdlib.h>
#include <string.h>

#include "carom/world.h"

#include "shared/scene/scene.h"

typedef struct cw_scene {
    cm_scene *scene;
    carom_world *world;
    void *memory;
    cm_scene_error error;
} cw_scene;

CAROM_API void cw_scene_destroy(cw_scene *s)
{
    if (s != NULL) {
        cm_scene_free(s->scene);
        free(s->memory);
        free(s);
    }
}

static carom_result make_world(cw_scene *s, int solver, uint32_t tick_rate)
{
    carom_world_def def;
    carom_result result = cm_scene_check_solver(s->scene, solver, &s->error);
    if (result != CAROM_OK) {
        return result;
    }
    cm_scene_world_def_with(s->scene, solver, &def);
    def.tick_rate = tick_rate > 0 ? tick_rate : def.tick_rate;
    size_t size = (carom_world_size(&def) + 63) / 64 * 64;
    s->memory = size > 0 ? aligned_alloc(64, size) : NULL;
    if (s->memory == NULL) {
        return size == 0 ? CAROM_ERROR_ARGUMENT : CAROM_ERROR_MEMORY;
    }
    result = carom_world_create(&def, s->memory, size, &s->world);
    return result == CAROM_OK ? cm_scene_populate(s->scene, s->world) : result;
}

// `solver`: a carom_solver_type with its defaults, or negative for the scene's own; `tick_rate`: 0
// for the scene's own. NULL: no memory. What is wrong otherwise is in cw_scene_error.
CAROM_API cw_scene *cw_scene_create(const uint8_t *bytes, size_t size, int solver,
                                    uint32_t tick_rate)
{
    cw_scene *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    carom_result result = cm_scene_unpack(bytes, size, NULL, &s->scene, &s->error);
    result = result == CAROM_OK ? make_world(s, solver, tick_rate) : result;
    if (result != CAROM_OK) {
        s->world = NULL;
        if (s->error.message[0] == '\0') {
            strncpy(s->error.message, carom_result_text(result), sizeof s->error.message - 1);
        }
    }
    return s;
}

// "" once there is a world.
CAROM_API const char *cw_scene_error(const cw_scene *s)
{
    return s->error.message;
}

CAROM_API carom_world *cw_scene_world(const cw_scene *s)
{
    return s->world;
}

CAROM_API const char *cw_scene_name(const cw_scene *s)
{
    return cm_scene_name(s->scene);
}

CAROM_API uint32_t cw_scene_tick_rate(const cw_scene *s)
{
    carom_world_def def;
    cm_scene_world_def(s->scene, &def);
    return (uint32_t)def.tick_rate;
}
