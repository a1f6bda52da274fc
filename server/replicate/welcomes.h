// Welcomes: the scene, and the world's keyframe of the tick in which a client is welcomed. A small
// keyframe is in the message. That of a large world is encoded once for all who join within a tenth
// of a second, and follows their welcomes in parts (keyframe_stream.h).
#ifndef CM_SERVER_REPLICATE_WELCOMES_H
#define CM_SERVER_REPLICATE_WELCOMES_H

#include "server/replicate/keyframe_stream.h"
#include "server/session/roster.h"

// The terms that all clients of a room are sent alike.
typedef struct cm_welcome_terms {
    uint32_t tick_rate, view_rate, input_rate, rewind_ms;
    carom_durability durability; // of the match
    uint64_t durable_tick;
} cm_welcome_terms;

typedef struct cm_welcomes {
    bool spectators;      // who are welcomed are none of the players
    bool confirmed;       // the world is that of the newest confirmed tick, not of the newest
    uint8_t *scene_frame; // packed and compressed
    size_t scene_frame_size;
    size_t keyframe_size; // of the last one, encoded
    uint64_t gather_tick; // when clients that wait for a large one are welcomed; 0: none wait
    uint64_t keyframes;   // encoded
    cm_keyframe_streams streams;
} cm_welcomes;

// The world of a tick, for all who are welcomed with it.
typedef struct cm_welcome_world {
    uint64_t tick, present;
    cm_bytes encoded;
    cm_keyframe *stream; // NULL: it goes in the welcomes
} cm_welcome_world;

// On failure `error` has the reason: a keyframe above the limit could not be sent to any client.
carom_result cm_welcomes_init(cm_welcomes *welcomes, const cm_scene *scene, const cm_room *room,
                              char *error, size_t error_size);
void cm_welcomes_free(cm_welcomes *welcomes);

// True if waiting clients may be welcomed in this tick: a large world waits for others who join.
bool cm_welcomes_may_begin(cm_welcomes *welcomes, uint64_t tick, uint32_t tick_rate);
// Encodes the world; the caller releases its stream. A reason other than NONE: no client can be
// served.
carom_reason cm_welcomes_encode(cm_welcomes *welcomes, cm_room *room, const cm_snapshot *snapshot,
                                cm_welcome_world *world);
// Sends the message to a client that has had `messages_before` messages, and begins its stream.
bool cm_welcomes_send(cm_welcomes *welcomes, cm_transport *transport, const cm_welcome_terms *terms,
                      const cm_room *room, const cm_welcome_world *world, const cm_client *client,
                      uint64_t messages_before);
// Once a tick: the next parts of large keyframes. Returns the players (bits) who cannot be served.
uint64_t cm_welcomes_send_parts(cm_welcomes *welcomes, cm_transport *transport,
                                const cm_roster *roster, uint32_t tick_rate);

#endif
