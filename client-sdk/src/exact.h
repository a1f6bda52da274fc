// Exact sync, for rooms whose scene says "sync": "inputs": the mirror is the room's whole world,
// stepped with each confirmed tick (shared/wire/confirmed.h), and its hash must then be the
// server's. A client whose world is another names the first such tick, asks for a welcome, and goes
// on; by the welcome's keyframe it names the body and the field too. It uploads no state.
//
// Typical: 10 messages a second, of 6 ticks each; at 1 kHz of 100, which wait and are stepped a few
// in each update of a device.
#ifndef CM_CLIENT_EXACT_H
#define CM_CLIENT_EXACT_H

#include "client-sdk/src/mirror.h"

typedef struct cm_exact {
    uint64_t differs;  // first tick since the welcome after which the hash was another; 0: none
    uint64_t asked_us; // when that was said last
    uint64_t began_us; // when the welcome came
    bool came;         // ticks did since the last update
    // Ticks that came and wait, where a device's period bounds an update: bytes.
    uint8_t *waiting;
    size_t have, used, room;
} cm_exact;

// A welcome comes: takes a mirror that differs out of the client, or NULL; and once the welcome's
// own mirror is made (or none could be) names in which body the two differ, and releases it.
cm_mirror *cm_exact_detach(carom_client *client);
void cm_exact_begin(carom_client *client, cm_mirror *diverged);
// Confirmed ticks came.
void cm_client_confirmed(carom_client *client, const cm_control *control);
// Steps ticks that wait: an update's share, `elapsed` ticks after the last; or all, since something
// else builds on them. False where the connection ended by that.
bool cm_exact_step(carom_client *client, double elapsed);
uint64_t cm_exact_share(double elapsed);
bool cm_exact_step_all(carom_client *client);
// At most *left of them, which is what is left then. True where none waits any more.
bool cm_exact_step_some(carom_client *client, uint64_t *left);
void cm_exact_forget(carom_client *client);

#endif
