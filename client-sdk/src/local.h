// A room in this process, for carom_client_open_local: a game that is stepped as the clients'
// updates say that time passes, and a transport to it for each client. To its clients it is a
// server with exact sync: each tick is confirmed at once, so that a client has the whole world, and
// predicts the tick or two by which its clock is ahead.
//
// Everything that goes either way is encoded as on the wire: one code reads it, whatever it came
// by.
#ifndef CM_CLIENT_LOCAL_H
#define CM_CLIENT_LOCAL_H

#include "carom/client_more.h"

#include "shared/game/game_host.h"
#include "shared/transport/transport.h"
#include "shared/wire/control.h"

#define CM_LOCAL_AHEAD  64u     // ticks for which inputs are kept, before and after the newest
#define CM_LOCAL_EVENTS 256u    // joins, leaves and messages of one tick; more wait for the next
#define CM_LOCAL_BURST  8u      // ticks in one update: beyond them time stands still
#define CM_LOCAL_WAIT   250000u // us that the room waits for a client that has no update

// Something for the client, or an event of the game.
typedef struct cm_local_parcel {
    struct cm_local_parcel *next;
    uint32_t type, player; // a cm_transport_event_type or a cm_game_event_type; of an event
    carom_reason reason;
    cm_send_kind kind;
    size_t size;
    uint8_t bytes[];
} cm_local_parcel;

typedef struct cm_local_queue {
    cm_local_parcel *first, **last;
} cm_local_queue;

typedef enum cm_local_state {
    CM_LOCAL_KNOCKS = 0, // has not said hello
    CM_LOCAL_WAITS,      // its join is an event
    CM_LOCAL_JOINS,      // of the tick at hand
    CM_LOCAL_PLAYS,
    CM_LOCAL_GONE, // it leaves, or was sent away
} cm_local_state;

typedef struct cm_local_link {
    cm_transport transport; // first
    carom_allocator allocator;
    carom_local *local; // NULL: it ended before
    uint32_t player;
    uint64_t now_us; // of its last update
    cm_local_state state;
    char name[CAROM_PLAYER_NAME_MAX + 1];
    cm_local_queue inbox;  // for the client
    cm_local_parcel *held; // that poll gave out last
    cm_transport_status status;
    uint16_t sequence, messages;
    bool had_events;
    int32_t least_lead;                // 1/16 ticks, since the last view; INT32_MAX: none came
    uint64_t input_of[CM_LOCAL_AHEAD]; // tick of a row
    uint8_t inputs[CM_LOCAL_AHEAD][CAROM_INPUT_MAX];
} cm_local_link;

struct carom_local {
    carom_allocator allocator;
    cm_scene *scene;
    carom_game *game;
    uint8_t *packed; // the scene
    size_t packed_size;
    uint64_t seed;
    uint32_t max_players;
    bool began;
    uint64_t start_us, now_us; // of tick 0; to which it has come
    cm_local_queue events;     // for the next tick
    cm_local_link *links[CAROM_PLAYERS_MAX];
    bool closes;
};

// A client's way into the room. NULL without a place or memory.
cm_transport *cm_local_open(carom_local *local, const carom_allocator *allocator);
// The client's update begins, and it ends: then the room steps as far as all of its clients have
// come, so that no input is late, at whatever rate they are updated.
void cm_local_begin(cm_transport *link, uint64_t now_us);
void cm_local_end(cm_transport *link);

// Between local.c and local_link.c.
void cm_local_run(carom_local *local, uint64_t now_us);
bool cm_local_put(cm_local_queue *queue, const carom_allocator *allocator,
                  const cm_local_parcel *head, const void *bytes, size_t size);
cm_local_parcel *cm_local_take(cm_local_queue *queue);
void cm_local_clear(cm_local_queue *queue, const carom_allocator *allocator);
void cm_local_send(cm_local_link *link, const cm_control *control);
// The end of a link by the room's word.
void cm_local_send_away(cm_local_link *link, carom_reason reason);
// The input of a player for a tick, held or to come; NULL: not known.
const uint8_t *cm_local_input(void *local, uint32_t player, uint64_t tick);

#endif
