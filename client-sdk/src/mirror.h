// The mirror: the room according to the server's views, or, with exact sync, its confirmed ticks. A
// game built from the scene and the keyframe of the welcome, the newest quantised value of each
// body, and the values that later packets may be coded against.
//
// All input is untrusted: checked, refused with a reason, never asserted.
#ifndef CM_CLIENT_MIRROR_H
#define CM_CLIENT_MIRROR_H

#include "carom/client.h"
#include "shared/game/game_host.h"
#include "shared/wire/control.h"
#include "shared/wire/packet.h"

// Twice the age that a delta may refer to: a packet that came early must not push out what one that
// comes late still needs.
#define CM_MIRROR_PACKETS (2u * (CM_BASELINE_AGE_MAX + 1u))

typedef struct cm_mirror_body {
    cm_view_body body; // newest value; meaningless until known
    cm_view_pose pose; // the same in the world's units: nothing else dequantises
    uint32_t tick;     // of it
    bool known;
} cm_mirror_body;

// One body, or one drive, as one packet brought it.
typedef struct cm_stored_entry {
    uint32_t index;
    uint32_t generation; // low 2 bits
    cm_view_body body;
} cm_stored_entry;

typedef struct cm_stored_packet {
    bool used;
    uint16_t sequence;
    uint32_t tick;
    uint32_t count, capacity;
    cm_stored_entry *entries; // ascending index
} cm_stored_packet;

// A public state that came by a view.
typedef struct cm_mirror_state {
    bool used;
    uint8_t number;
    uint32_t tick; // of the view
} cm_mirror_state;

typedef struct cm_mirror {
    const carom_allocator *allocator;
    cm_scene *scene;
    carom_game *game;
    carom_world *world;
    const carom_module *module;
    bool exact; // it is stepped with confirmed ticks (exact.c), and no view or change touches it
    cm_view_config config;
    uint32_t player;
    uint8_t epoch;
    uint32_t tick_rate, view_rate, input_rate;
    uint32_t slots; // capacity of `bodies`
    cm_mirror_body *bodies;
    uint32_t joints;       // slots
    uint32_t *drive_ticks; // of each joint: of the newest view that told what drives it
    uint64_t keyframe_tick;
    uint64_t newest_tick; // of the views received
    uint64_t public_tick; // at which the public state is known to be that of the game
    cm_mirror_state states[CM_STATES_KEPT]; // by number: what a view may refer to
    uint8_t *state_bytes;                   // of each
    bool has_wrench; // the server sent the wrench on the own pointer, of wrench_tick
    uint64_t wrench_tick;
    carom_vec3 force, torque;
    carom_durability durability; // of the match
    uint64_t durable_tick;
    uint32_t structure; // counts bodies that came or went, and players
    cm_stored_packet packets[CM_MIRROR_PACKETS];
    bool has_ack;
    uint16_t ack_sequence;
    uint32_t ack_bits;
    uint64_t received, lost; // packets
    // Slots that the last packet gave a new value.
    uint32_t *changed;
    uint32_t changed_count;
    cm_view_entry *entries; // of the packet in hand
} cm_mirror;

// Builds everything from a decoded welcome. `module`: one that the client brings, or NULL. On
// failure the reason why, else CAROM_REASON_NONE. `exact`: with exact sync, whatever the scene
// says.
carom_reason cm_mirror_create(const carom_allocator *allocator, const cm_control *welcome,
                              const carom_module *module, bool exact, cm_mirror **mirror);
void cm_mirror_destroy(cm_mirror *mirror);

// A view packet. Accepted: `header` is filled, `changed` tells which bodies have a newer value, and
// the mirror's world has their poses.
cm_packet_reason cm_mirror_view(cm_mirror *mirror, const uint8_t *bytes, size_t size,
                                cm_view_header *header);
// Bodies that came and went: false for what does not decode. `changed` as with a view, and slots
// that are empty now.
bool cm_mirror_change(cm_mirror *mirror, const cm_control *change);
// Writes the acks of received views into an input packet.
void cm_mirror_ack(const cm_mirror *mirror, cm_input_packet *packet);

#endif
