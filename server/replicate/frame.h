// What of a room's world is no body's, as its clients were told: gravity, softness, joints. A rule
// of the game may change it in mid-match; whoever predicts must know.
#ifndef CM_SERVER_REPLICATE_FRAME_H
#define CM_SERVER_REPLICATE_FRAME_H

#include "carom/world.h"

typedef struct cm_announced_joint {
    uint64_t kind;  // hash of what it is; 0: to be told
    uint64_t drive; // of what it is driven by
} cm_announced_joint;

typedef struct cm_frame {
    uint32_t capacity;    // joint slots
    uint32_t slots;       // that were told of, at most
    uint64_t drives_tick; // when drives alone were told last
    uint64_t settings;
    cm_announced_joint *announced;
} cm_frame;

bool cm_frame_init(cm_frame *frame, const carom_world *world);
void cm_frame_free(cm_frame *frame);

// Joint slots that are not as they were told of, ascending, into `changed` (room for capacity);
// those that the world lacks since it went back are among them. True where there is anything to
// tell. What drives a joint (velocities, targets, their limits) may change with every tick: that
// alone is told at most every CM_FRAME_DRIVES ticks.
#define CM_FRAME_DRIVES 16u
bool cm_frame_changes(const cm_frame *frame, const carom_world *world, uint64_t tick,
                      uint32_t *changed, uint32_t *count);
// The settings, and these of the changed joints, went out as they are.
void cm_frame_sent(cm_frame *frame, const carom_world *world, uint64_t tick, const uint32_t *joints,
                   uint32_t count);
// A client that is told a body anew loses the body's joints: they are to be told again.
void cm_frame_forget(cm_frame *frame, const carom_world *world, uint32_t body);

#endif
