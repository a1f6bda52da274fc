// Keyframes that are too large for one message, on their way to clients that join: cut into parts,
// each compressed once for all who joined in the same tick, and paced for each client. Pure: the
// publisher asks which part may go, and sends it.
//
// Compressing a part takes about a millisecond, so one is compressed in a tick. A client gets the
// next part once most of the one before has arrived, so that its path sets the pace and the game's
// messages do not wait behind megabytes. Typical: none.
#ifndef CM_SERVER_REPLICATE_KEYFRAME_STREAM_H
#define CM_SERVER_REPLICATE_KEYFRAME_STREAM_H

#include "carom/limits.h"
#include "server/replicate/snapshot.h"
#include "shared/wire/control.h"

#define CM_KEYFRAME_WINDOW                                                                         \
    (64u << 10)                 // bytes on their way to a client, above which no part follows
#define CM_KEYFRAME_KBIT 16000u // to each client, whatever its path takes

typedef struct cm_keyframe cm_keyframe; // of one tick, shared

typedef struct cm_keyframe_streams {
    struct {
        cm_keyframe *keyframe; // NULL: none is on its way
        uint32_t part;         // the next
        int64_t credit;        // bytes that may go
    } of[CAROM_PLAYERS_MAX];
} cm_keyframe_streams; // all zeros: none

// For so many bytes, more than CM_CONTROL_PART_SIZE, which the caller writes before the next tick;
// of the snapshot's tick. NULL where memory is short. The caller holds it until it releases it.
cm_keyframe *cm_keyframe_create(size_t size, const cm_snapshot *snapshot);
uint8_t *cm_keyframe_bytes(cm_keyframe *keyframe);
void cm_keyframe_release(cm_keyframe *keyframe);

// Begins sending it to this player, from its first part on; replaces one that was on its way.
void cm_keyframe_streams_begin(cm_keyframe_streams *streams, uint32_t player,
                               cm_keyframe *keyframe);
void cm_keyframe_streams_end(cm_keyframe_streams *streams, uint32_t player);
bool cm_keyframe_streams_has(const cm_keyframe_streams *streams, uint32_t player);

// Once a tick, before the parts: compresses at most one part for which a player waits. False
// without memory: none of its players can be served.
bool cm_keyframe_streams_tick(cm_keyframe_streams *streams, uint32_t tick_rate);
// The part that may go to a player with so many unacknowledged bytes: an encoded message, valid
// until the player's stream ends. NULL: not now.
const uint8_t *cm_keyframe_streams_part(const cm_keyframe_streams *streams, uint32_t player,
                                        size_t outstanding, size_t *size);
void cm_keyframe_streams_sent(cm_keyframe_streams *streams, uint32_t player);
// The keyframe's moment, once all of its parts are sent; else NULL. The caller ends the stream.
const cm_snapshot_moment *cm_keyframe_streams_whole(const cm_keyframe_streams *streams,
                                                    uint32_t player);

#endif
