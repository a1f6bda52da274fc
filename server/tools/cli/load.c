// Scenes for commands, from files or a database.
#include "server/tools/cli/load.h"

#include <stdio.h>

#include "server/tools/cli/cli.h"
#include "server/record/scene_db.h"
#include "shared/scene/scene_json.h"

void cm_cli_module_error(const char *name, const char *db, const cm_scene *scene)
{
    cm_scene_error error = {.line = db == NULL ? cm_scene_key_line(name, "module") : 0,
                            .path = "$.module"};
    snprintf(error.message, sizeof error.message,
             "no module '%.64s' is built in, expected sandbox or none", cm_scene_module(scene));
    cm_cli_scene_error(name, &error);
}

static void warn(const char *name, const cm_scene *scene)
{
    if (cm_scene_ignores_restitution(scene)) {
        cm_cli_error("%s: warning: restitution has no meaning to this solver and is ignored", name);
    }
}

int cm_cli_load_scene(const char *name, const char *db, cm_scene **scene)
{
    cm_scene_error error;
    if (db == NULL) {
        if (cm_scene_from_file(name, scene, &error) != CAROM_OK) {
            cm_cli_scene_error(name, &error);
            return CM_STATUS_USAGE;
        }
        warn(name, *scene);
        return CM_STATUS_DONE;
    }
    carom_result result = cm_scene_db_load(db, name, scene, &error);
    if (result != CAROM_OK) {
        cm_cli_scene_error(db, &error);
        return result == CAROM_ERROR_IO ? CM_STATUS_FAILED : CM_STATUS_USAGE;
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
