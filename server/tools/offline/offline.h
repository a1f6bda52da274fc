// A scene run without a server: a world, or a game where the scene names a module, behind one face.
//
// Inputs are a function of the tick and of the state alone, so a run that is restored to an earlier
// tick does the same again.
#ifndef CM_SERVER_TOOLS_OFFLINE_OFFLINE_H
#define CM_SERVER_TOOLS_OFFLINE_OFFLINE_H

#include "server/tools/offline/inputs.h"
#include "shared/game/game_host.h"

// m/s: the hit speed of a scene without hit_speed. It does not affect the state; a game's module,
// whose state it could affect, receives hits by its scene's own value only.
#define CM_OFFLINE_HIT_SPEED 1.0f

typedef struct cm_offline {
    const cm_scene *scene;
    const cm_inputs *inputs; // may be NULL
    carom_world *world;      // of the game, or its own
    carom_game *game;        // NULL: the scene has no module
    void *memory;            // of the world without a game
    int solver;              // CM_SOLVER_OF_SCENE, or instead of the scene's
} cm_offline;

// Errors: CAROM_ERROR_NOT_FOUND for a module that is not known; those of world and game.
carom_result cm_offline_create(const cm_scene *scene, const cm_inputs *inputs, cm_offline *run);
// Likewise with a solver instead of the scene's: a carom_solver_type, or CM_SOLVER_OF_SCENE. One of
// another type than the scene's has its own defaults. Errors: CAROM_ERROR_NOT_BUILT for a solver
// that is not, and for a scene with a module, which takes the scene's.
#define CM_SOLVER_OF_SCENE (-1)
#define CM_SOLVER_UNKNOWN  (-2)
carom_result cm_offline_create_with(const cm_scene *scene, const cm_inputs *inputs, int solver,
                                    cm_offline *run);
void cm_offline_destroy(cm_offline *run);

// The solver of a name ("soft", …), or CM_SOLVER_UNKNOWN; and the name of a carom_solver_type.
int cm_offline_solver(const char *name);
const char *cm_offline_solver_name(int solver);
// True if a scene consists of circles for the impulse solver's model "circle".
bool cm_offline_is_circle(const cm_scene *scene, int solver);

// The inputs of the present tick, then one step.
void cm_offline_step(cm_offline *run);

uint64_t cm_offline_hash(const cm_offline *run);
size_t cm_offline_save_bound(const cm_offline *run);
size_t cm_offline_save(const cm_offline *run, void *image, size_t size);
carom_result cm_offline_restore(cm_offline *run, const void *image, size_t size);

// The name of a body or a joint by its slot: the scene's, or body_SLOT for what came later,
// also into a slot that the scene's has left.
void cm_offline_body_name(const cm_offline *run, uint32_t slot, char *name, size_t size);
void cm_offline_joint_name(const cm_offline *run, uint32_t slot, char *name, size_t size);

#endif
