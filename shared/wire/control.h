// Control messages as plain structs; the protobuf types stay in control.c. Decoding caps size and
// count before it allocates anything, and checks every field: bytes come from outside.
#ifndef CM_WIRE_CONTROL_H
#define CM_WIRE_CONTROL_H

#include "carom/durability.h"
#include "carom/id.h"
#include "carom/reason.h"

#define CM_CONTROL_MAX_FROM_CLIENT 2048        // bytes
#define CM_CONTROL_MAX_FROM_SERVER (8 << 20)   // bytes: a welcome with its scene and keyframe
#define CM_CONTROL_KEYFRAME_MAX    (64 << 20)  // bytes of a keyframe that comes in parts
#define CM_CONTROL_PART_SIZE       (256 << 10) // bytes of it in each part but the last
#define CM_CONTROL_BODIES_MAX      4096        // in one world change
#define CM_CONTROL_ROOMS_MAX       64          // in one message
#define CM_CONTROL_SCENE_NAME_MAX  127         // bytes
#define CM_CONTROL_FRAME_MAX       65536       // bytes of a world change's frame
#define CM_CONTROL_TEXT_MAX        256         // bytes of a text for people
#define CM_CONTROL_TICKS_MAX       (256 << 10) // bytes of confirmed ticks in one message

#define CM_CONTROL_SPECTATOR       UINT32_MAX // in place of a player

typedef enum cm_control_type {
    CM_CONTROL_HELLO = 1,
    CM_CONTROL_WELCOME,
    CM_CONTROL_REFUSED,
    CM_CONTROL_WORLD_CHANGE,
    CM_CONTROL_GAME_MESSAGE,
    CM_CONTROL_ROOM_CLOCK,
    CM_CONTROL_GOODBYE,
    CM_CONTROL_PLAYERS,
    CM_CONTROL_DURABILITY,
    CM_CONTROL_EVENTS,
    CM_CONTROL_ROOMS_ASK,
    CM_CONTROL_ROOMS,
    CM_CONTROL_KEYFRAME_PART,
    CM_CONTROL_NOTICE,
    CM_CONTROL_CONFIRMED,
} cm_control_type;

typedef struct cm_bytes {
    const uint8_t *data;
    size_t size;
} cm_bytes;

// A player of a room, as sent to the others.
typedef struct cm_control_player {
    uint32_t player;
    const char *name;
    carom_body_id body; // the null id: none
    uint32_t rtt_ms;
    bool away;
} cm_control_player;

// A room of the server, as sent to players.
typedef struct cm_control_room {
    const char *name, *scene, *module;
    uint32_t players, max_players;
    uint16_t port;
} cm_control_room;

// Fields that the type does not use are zero. Pointers of a decoded message point into it.
typedef struct cm_control {
    cm_control_type type;
    uint32_t protocol, engine;                            // hello
    const char *name;                                     // hello
    cm_bytes user_data;                                   // hello
    bool predict, spectate;                               // hello
    const char *room;                                     // hello; NULL or "": the first one
    uint32_t player;                                      // welcome
    uint64_t client_id;                                   // welcome
    uint32_t tick_rate, view_rate, input_rate, rewind_ms; // welcome
    const char *module;                                   // welcome; hello, NULL: none
    uint32_t module_version;                              // welcome, hello
    uint32_t module_abi;                                  // welcome, hello
    uint64_t seed;                                        // welcome: of the match
    const char *module_source;                            // welcome, hello; NULL or "" for none
    cm_bytes scene, keyframe; // welcome: packed scene, encoded game (not compressed here; they are
                              // compressed on the wire, size-capped when decoded)
    cm_bytes scene_frame;     // welcome, to encode: `scene` as cm_control_compress made it, so that
                              // many welcomes share the work; empty: compressed anew
    uint32_t keyframe_size;   // welcome: of a keyframe that follows in parts; 0: it is here
    uint64_t present;         // welcome
    bool comes_back;          // hello: epoch and messages_had are set
    uint8_t epoch;            // welcome, hello
    uint64_t messages;        // welcome
    uint64_t messages_had;    // hello
    uint64_t messages_before; // welcome
    cm_bytes ticket;          // welcome; empty: none, and then no key either
    cm_bytes ticket_key;      // welcome: CM_KEY_BYTES
    uint32_t grace_ms;        // welcome
    carom_durability durability; // welcome, durability
    uint64_t durable_tick;       // welcome
    uint64_t tick;               // welcome, world_change, game_message, durability, events;
                                 // confirmed, of a client: the first that differed
    const cm_bytes *spawned;     // world_change
    uint32_t spawned_count;
    const carom_body_id *gone; // world_change
    uint32_t gone_count;
    cm_bytes frame;                   // world_change; empty: none
    cm_bytes payload;                 // game_message; events: rows (events.h); keyframe_part;
                                      // confirmed, of a server: ticks (confirmed.h)
    uint32_t rate_permille;           // room_clock
    carom_reason reason;              // refused, goodbye, notice
    const char *text;                 // refused, notice
    uint32_t seconds_left;            // notice, of a server that ends
    uint32_t port;                    // refused, with ELSEWHERE: of the same host; else 0
    const cm_control_player *players; // players: ascending slots
    uint32_t player_count;
    uint32_t first, total;        // rooms
    const cm_control_room *rooms; // rooms
    uint32_t room_count;
} cm_control;

// Bytes of the encoded message in memory of the allocator (NULL: malloc); release it with
// cm_control_release_bytes.
carom_result cm_control_encode(const cm_control *control, const carom_allocator *allocator,
                               uint8_t **bytes, size_t *size);
// One zstd frame with the bytes, as messages have them; released likewise.
carom_result cm_control_compress(const carom_allocator *allocator, cm_bytes bytes, uint8_t **frame,
                                 size_t *size);
void cm_control_release_bytes(const carom_allocator *allocator, uint8_t *bytes);

// from_client chooses which types and sizes are acceptable. *control is one block, released with
// cm_control_free.
carom_result cm_control_decode(const uint8_t *bytes, size_t size, bool from_client,
                               const carom_allocator *allocator, cm_control **control);
void cm_control_free(const carom_allocator *allocator, cm_control *control);

#endif
