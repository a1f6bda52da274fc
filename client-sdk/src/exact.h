// Exact sync, for rooms whose scene says "sync": "inputs": the mirror is the room's whole world,
// stepped with each confirmed tick (shared/wire/confirmed.h), and its hash must then be the
// server's. A client whose world is another names the first such tick, asks for a welcome, and goes
// on; by the welcome's keyframe it names the body and the field too. It uploads no state.
//
// Typical: 10 messages a second, of 6 ticks each.
#ifndef CM_CLIENT_EXACT_H
#define CM_CLIENT_EXACT_H

#include "client-sdk/src/mirror.h"

typedef struct cm_exact {
    uint64_t differs;  // first tick since the welcome after which the hash was another; 0: none
    uint64_t asked_us; // when that was said last
    uint64_t began_us; // when the welcome came
} cm_exact;

// A welcome comes: takes a mirror that differs out of the client, or NULL; and once the welcome's
// own mirror is made (or none could be) names in which body the two differ, and releases it.
cm_mirror *cm_exact_detach(carom_client *client);
void cm_exact_begin(carom_client *client, cm_mirror *diverged);
// Confirmed ticks came.
void cm_client_confirmed(carom_client *client, const cm_control *control);

#endif
