// Loading a scene for a command: from a file, or by name from a database of scenes.
#ifndef CM_SERVER_CLI_LOAD_H
#define CM_SERVER_CLI_LOAD_H

#include "server/config/options.h"
#include "server/tools/offline/inputs.h"
#include "server/tools/offline/offline.h"

// `db` NULL: `name` is a file. The scene suits `solver` (CM_SOLVER_OF_SCENE, or a carom_solver_type
// instead of its own), and that solver's warnings went to stderr. Returns an exit status; a message
// went to stderr where it is not 0.
int cm_cli_load_scene(const char *name, const char *db, int solver, cm_scene **scene);
// The second half of it, for one more solver.
int cm_cli_suit_scene(const char *name, const char *db, int solver, const cm_scene *scene);
// An error found when a scene is used, and warnings whose lines are known, to stderr.
void cm_cli_scene_error_at(const char *name, const char *db, cm_scene_error *error);
void cm_cli_scene_warnings(const char *name, cm_scene_error *warnings, uint32_t count);
// To stderr: what the scene's world, before its first step, will not stand with that solver.
void cm_cli_warn_loads(const char *name, const char *db, int solver, const cm_scene *scene,
                       const carom_world *world);

// The message for a scene whose module is not known: of a file, with its line.
void cm_cli_module_error(const char *name, const char *db, const cm_scene *scene);

// Checks that the scene's module accepts its module_config: an exit status, and a message on
// stderr.
int cm_cli_check_config(const char *name, const char *db, const cm_scene *scene);

// Adds the modules of `--module FILE.so` to those known; an exit status, and a message on stderr.
int cm_cli_load_modules(const cm_option_texts *files);

// The inputs of a run (`--inputs FILE`); module NULL: the scene has none. An exit status likewise.
int cm_cli_load_inputs(const char *file, const cm_scene *scene, const carom_module *module,
                       cm_inputs *inputs);

#endif
