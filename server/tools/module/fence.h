// Memory for a module's state that notices what is written, or read, beside it.
//
//   no access | red zone | state | red zone | no access
//
// A red zone has 4 KiB of one byte, compared after each callback of the module; whatever goes
// further ends the process. The byte is another for each game, so that a read beside the state is
// seen too. The state begins at a line of 64 bytes whose number is the game's modulo
// CM_FENCE_LINES.
#ifndef CM_SERVER_TOOLS_MODULE_FENCE_H
#define CM_SERVER_TOOLS_MODULE_FENCE_H

#include "carom/types.h"

#define CM_FENCE_LINES 2520u // the least number that 2 to 10 divide

typedef struct cm_fence {
    uint32_t *state;
    size_t size;
    uint8_t *first, *last; // bytes that can be used, zones included; last: after them
    uint8_t fill;
} cm_fence;

bool cm_fence_make(cm_fence *fence, size_t state_size, uint32_t line);
// False: nothing was written beside the state. Else the first such byte, counted from its begin.
bool cm_fence_is_broken(const cm_fence *fence, int64_t *offset);

#endif
