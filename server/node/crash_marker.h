// The work that a worker is in the middle of, in memory that outlives it: once it is dead the
// supervisor reads whether it died in a module's callback, and in which room. Nothing is told by it
// while both live.
#ifndef CM_SERVER_NODE_CRASH_MARKER_H
#define CM_SERVER_NODE_CRASH_MARKER_H

#include <stdbool.h>
#include <stdint.h>

#include "carom/limits.h"
#include "shared/scene/scene.h"

#define CM_CRASH_MARKER_ROOMS 256u // as many as a worker takes

typedef struct cm_crash_marker_room {
    bool taken;
    char name[CAROM_ROOM_NAME_MAX + 1], scene[CM_NAME_MAX];
} cm_crash_marker_room;

typedef struct cm_crash_marker {
    volatile uint32_t mark; // the room's tag and a cm_game_callback; 0: in no callback
    cm_crash_marker_room rooms[CM_CRASH_MARKER_ROOMS];
} cm_crash_marker;

// Of one worker, zeroed, in a file of no name, whose descriptor its process is given. NULL: no
// memory.
cm_crash_marker *cm_crash_marker_create(int *descriptor);
// In the worker: that of its descriptor.
cm_crash_marker *cm_crash_marker_open(int descriptor);
void cm_crash_marker_destroy(cm_crash_marker *crash_marker);

// A tag for a room, 0 where all are given (its callbacks are not marked then).
uint32_t cm_crash_marker_read(cm_crash_marker *crash_marker, const char *name, const char *scene);
void cm_crash_marker_release(cm_crash_marker *crash_marker, uint32_t tag);
// The room whose module was called, NULL: none; `callback` is which.
// A worker that went wild may have written anything there: the texts are ended.
const cm_crash_marker_room *cm_crash_marker_called(cm_crash_marker *crash_marker,
                                                   uint32_t *callback);

#endif
