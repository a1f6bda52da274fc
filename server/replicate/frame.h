// The parts of a room's world beside its bodies, as sent to clients: gravity, softness, joints. The
// rules may change them in mid-match, and predicting clients need the change.
#ifndef CM_SERVER_REPLICATE_FRAME_H
#define CM_SERVER_REPLICATE_FRAME_H

#include "carom/world.h"

typedef struct cm_frame {
    uint32_t capacity; // joint slots
    uint32_t slots;    // that were sent, at most
    uint64_t settings;
    uint64_t *announced; // of each slot, a hash of the joint; 0: to be sent
} cm_frame;

bool cm_frame_init(cm_frame *frame, const carom_world *world);
void cm_frame_free(cm_frame *frame);

// Writes the slots of joints that differ from those sent, ascending, into `changed` (room for
// capacity); joints that a rewind removed are among them. What drives a joint makes no other joint
// of it: that is in the views. True if there is anything to send.
bool cm_frame_changes(const cm_frame *frame, const carom_world *world, uint32_t *changed,
                      uint32_t *count);
// Notes that the settings, and these of the changed joints, were sent as they are.
void cm_frame_sent(cm_frame *frame, const carom_world *world, const uint32_t *joints,
                   uint32_t count);
// A client that is sent a body again loses the body's joints, so they are marked to be sent again.
void cm_frame_forget(cm_frame *frame, const carom_world *world, uint32_t body);

#endif
