// Changes among the bodies that are drawn, for the def's body_changed: what an update of the client
// left is compared with what the one before it left, slot by slot. Nothing is kept, and nothing
// costs, where nobody asks for it.
#ifndef CM_CLIENT_WATCH_H
#define CM_CLIENT_WATCH_H

#include "carom/client.h"

typedef struct cm_watched_body {
    uint32_t generation; // of the body that was drawn; 0: none
    uint32_t owner;
    carom_vec3 position;
    float speed;
    uint32_t steered_generation, steered_by; // now, by the module; generation 0: by nobody
} cm_watched_body;

typedef struct cm_body_watch {
    cm_watched_body *bodies; // outlive a room: the next one's are compared with them
    uint32_t slots;
    uint64_t looked_us;
    bool telling; // a callback calls back
} cm_body_watch;

// A room of so many slots begins. False where memory is short.
bool cm_body_watch_begin(cm_body_watch *watch, const carom_allocator *allocator, uint32_t slots);
void cm_body_watch_free(cm_body_watch *watch, const carom_allocator *allocator);
// At the end of an update.
void cm_client_tell_bodies(carom_client *client);

#endif
