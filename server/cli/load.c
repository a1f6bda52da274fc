// Scenes for commands, from files or a database.
#include "server/cli/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/node/module_loader.h"
#include "server/cli/cli.h"
#include "server/record/catalogue/scene_db.h"
#include "shared/scene/scene_json.h"

void cm_cli_scene_error_at(const char *name, const char *db, cm_scene_error *error)
{
    if (db == NULL) {
        cm_scene_find_lines_in(name, error, 1);
    }
    cm_cli_scene_error(name, error);
}

void cm_cli_module_error(const char *name, const char *db, const cm_scene *scene)
{
    cm_scene_error error = {.path = "$.module"};
    snprintf(error.message, sizeof error.message, CM_NO_MODULE, cm_scene_module(scene));
    cm_cli_scene_error_at(name, db, &error);
}

void cm_cli_scene_warnings(const char *name, cm_scene_error *warnings, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char message[sizeof warnings[i].message];
        snprintf(message, sizeof message, "warning: %.300s", warnings[i].message);
        memcpy(warnings[i].message, message, sizeof message);
        cm_cli_scene_error(name, &warnings[i]);
    }
}

static void warn(const char *name, const char *db, const cm_scene *scene, int solver)
{
    cm_scene_error *warnings = calloc(CM_SCENE_WARNINGS_MAX, sizeof *warnings);
    uint32_t count =
        warnings != NULL ? cm_scene_warnings(scene, solver, warnings, CM_SCENE_WARNINGS_MAX) : 0;
    if (db == NULL && count > 0) {
        cm_scene_find_lines_in(name, warnings, count);
    }
    cm_cli_scene_warnings(name, warnings, count);
    free(warnings);
}

void cm_cli_warn_loads(const char *name, const char *db, int solver, const cm_scene *scene,
                       const carom_world *world)
{
    cm_scene_error warnings[CM_SCENE_LOADS_MAX];
    uint32_t count = cm_scene_loads(scene, world, solver, warnings, CM_SCENE_LOADS_MAX);
    if (db == NULL && count > 0) {
        cm_scene_find_lines_in(name, warnings, count);
    }
    cm_cli_scene_warnings(name, warnings, count);
}

int cm_cli_suit_scene(const char *name, const char *db, int solver, const cm_scene *scene)
{
    cm_scene_error error;
    if (cm_scene_check_solver(scene, solver, &error) != CAROM_OK) {
        cm_cli_scene_error_at(name, db, &error);
        return CM_STATUS_USAGE;
    }
    warn(name, db, scene, solver);
    return CM_STATUS_DONE;
}

int cm_cli_load_scene(const char *name, const char *db, int solver, cm_scene **scene)
{
    cm_scene_error error;
    carom_result result = db == NULL ? cm_scene_from_file(name, scene, &error)
                                     : cm_scene_db_load(db, name, scene, &error);
    if (result != CAROM_OK) {
        cm_cli_scene_error(db == NULL ? name : db, &error);
        return db != NULL && result == CAROM_ERROR_IO ? CM_STATUS_FAILED : CM_STATUS_USAGE;
    }
    return cm_cli_suit_scene(name, db, solver, *scene);
}

int cm_cli_check_config(const char *name, const char *db, const cm_scene *scene)
{
    cm_scene_error error = {.path = "$.module_config"};
    const carom_module *module = cm_module_find(cm_scene_module(scene));
    if (module == NULL ||
        cm_game_takes_config(scene, module, error.message, sizeof error.message)) {
        return CM_STATUS_DONE;
    }
    cm_cli_scene_error_at(name, db, &error);
    return CM_STATUS_USAGE;
}

int cm_cli_load_modules(const cm_option_texts *files)
{
    for (uint32_t i = 0; i < files->count; i++) {
        char error[1024] = "";
        carom_result result = cm_module_load_list(files->texts[i], NULL, error, sizeof error);
        if (result != CAROM_OK) {
            return cm_cli_usage("%s", error);
        }
    }
    return CM_STATUS_DONE;
}

int cm_cli_load_inputs(const char *file, const cm_scene *scene, const carom_module *module,
                       cm_inputs *inputs)
{
    cm_scene_error error;
    carom_result result = cm_inputs_read(file, scene, module, inputs, &error);
    if (result == CAROM_OK) {
        return CM_STATUS_DONE;
    }
    cm_cli_scene_error(file, &error);
    return result == CAROM_ERROR_MEMORY ? CM_STATUS_FAILED : CM_STATUS_USAGE;
}
