// Edges of buttons: a press that is shorter than a tick, or than a frame, reaches the rules. The
// module names the bits of its input that are buttons; each change of one waits here for a tick of
// its own, so that each tick has at most one edge of a button, and none is left out.
//
// The newest state of a bit and the number of edges that wait give the state of every tick between:
// nothing else is kept. Typical: none waits.
#ifndef CM_CLIENT_BUTTONS_H
#define CM_CLIENT_BUTTONS_H

#include "carom/game.h"

// Of one bit: two presses. A player does not press faster for long, and what waits longer acts
// late: a press and its release beyond it are left out together.
#define CM_EDGES_MAX 4u

typedef struct cm_buttons {
    uint32_t count;                       // edges that wait, of all bits
    uint8_t waiting[8 * CAROM_INPUT_MAX]; // of each
} cm_buttons;

// The player's input becomes another. Both of the module's own bytes.
void cm_buttons_note(cm_buttons *buttons, const carom_module *module, const uint8_t *before,
                     const uint8_t *now);
// The next tick's, out of the newest: of each bit one edge less waits.
void cm_buttons_next(cm_buttons *buttons, const carom_module *module, uint8_t *input);

#endif
