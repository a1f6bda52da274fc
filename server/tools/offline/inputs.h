// The inputs of an offline run (`--inputs FILE`): JSON lines ordered by tick, checked against the
// scene once, then applied by tick.
//
// A line of tick T acts on the step from tick T to T + 1. Held forces are resolved while the file
// is read, so that applying a line needs no memory of earlier ones.
#ifndef CM_SERVER_TOOLS_OFFLINE_INPUTS_H
#define CM_SERVER_TOOLS_OFFLINE_INPUTS_H

#include "carom/game.h"
#include "shared/scene/input_json.h"
#include "shared/scene/scene.h"

#define CM_INPUTS_FILE_MAX ((size_t)256 << 20) // bytes

typedef enum cm_line_kind { CM_LINE_PLAYER, CM_LINE_FORCE, CM_LINE_POSE } cm_line_kind;

typedef struct cm_input {
    cm_line_kind kind;
    uint32_t index;     // player, or body slot
    cm_input_json json; // of a force: both, as they are held; of a pose: what is absent stays
} cm_input;

typedef struct cm_inputs {
    cm_input *lines; // by tick; those of players of one tick by player
    uint32_t count;
} cm_inputs;

// The module may be NULL. Any result but CAROM_OK has an error: CAROM_ERROR_IO for a file that
// cannot be read, CAROM_ERROR_MEMORY, or that of the first line that is refused.
carom_result cm_inputs_read(const char *path, const cm_scene *scene, const carom_module *module,
                            cm_inputs *inputs, cm_scene_error *error);
void cm_inputs_free(cm_inputs *inputs);

// The lines of a tick: first to end - 1.
void cm_inputs_at(const cm_inputs *inputs, uint64_t tick, uint32_t *first, uint32_t *end);
// Forces and poses; a player's line is not applied here (it goes with the game's tick).
void cm_input_apply(const cm_input *input, carom_world *world);

#endif
