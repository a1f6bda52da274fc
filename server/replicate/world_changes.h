// World changes: what clients cannot know from views. Bodies that came, went or became another;
// gravity, softness, joints (frame.h). Each is sent to all who are welcomed, and remembered as
// announced.
#ifndef CM_SERVER_REPLICATE_WORLD_CHANGES_H
#define CM_SERVER_REPLICATE_WORLD_CHANGES_H

#include "server/replicate/frame.h"
#include "server/replicate/snapshot.h"
#include "server/session/roster.h"

typedef struct cm_world_changes {
    cm_announced *announced; // of each slot, as sent to all clients
    cm_frame frame;
    carom_body_id *gone; // those of the last send:
    uint32_t *spawned;   // slots
    uint32_t *joints;    // likewise
    uint32_t gone_count, spawned_count, joint_count;
    uint64_t lost; // changes that could not be encoded
} cm_world_changes;

// Takes the snapshot's world for announced. False where memory is short.
bool cm_world_changes_init(cm_world_changes *changes, const carom_world *world,
                           const cm_snapshot *snapshot);
void cm_world_changes_free(cm_world_changes *changes);
// Sends what differs from what was announced.
void cm_world_changes_send(cm_world_changes *changes, const carom_world *world,
                           const cm_snapshot *snapshot, const cm_roster *roster,
                           cm_transport *transport);

#endif
