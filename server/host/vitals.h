// What a worker is in the middle of, in memory that outlives it: once it is dead the supervisor
// reads whether it died in a module's callback, and in which room. Nothing is told by it while both
// live.
#ifndef CM_SERVER_HOST_VITALS_H
#define CM_SERVER_HOST_VITALS_H

#include <stdint.h>

#define CM_VITALS_ROOMS 256u // as many as a worker takes

typedef struct cm_vitals {
    volatile uint32_t mark;            // the room's tag and a cm_game_callback; 0: in no callback
    uint64_t matches[CM_VITALS_ROOMS]; // by room; 0: free
} cm_vitals;

// Of so many workers, zeroed, shared with all processes that are forked later. NULL: no memory.
cm_vitals *cm_vitals_create(uint32_t workers);
void cm_vitals_destroy(cm_vitals *vitals, uint32_t workers);

// A tag for the room of a match, 0 where all are given (its callbacks are not marked then).
uint32_t cm_vitals_take(cm_vitals *vitals, uint64_t match_id);
void cm_vitals_give_back(cm_vitals *vitals, uint32_t tag);
// The match whose module was called, 0: none; `callback` is which.
uint64_t cm_vitals_match(const cm_vitals *vitals, uint32_t *callback);

#endif
