// A worker, as its three files share it: worker.c (its host, clients and loop), worker_rooms.c (its
// rooms: which are there, which are opened and closed, who comes into which) and worker_notices.c
// (what its players are told).
#ifndef CM_SERVER_NODE_WORKER_INNER_H
#define CM_SERVER_NODE_WORKER_INNER_H

#include "server/auth/ban_terms.h"
#include "server/session/clients.h"
#include "server/node/hosted_room.h"
#include "server/transport/enet/net.h"
#include "server/node/worker.h"

#define CM_WORKER_TOKEN_REASONS (CM_DATAGRAM_BANNED - CM_DATAGRAM_TOKEN + 1)
#define CM_WORKER_END_WAIT_US   1000000u // for the last ticks of a match to be durable

// A room that is closed: its last messages wait for the disk, then its spectators see the rest.
typedef struct cm_worker_ending {
    cm_hosted_room *room;
    uint64_t since_us;
    bool parted; // its players are gone
} cm_worker_ending;

struct cm_worker {
    cm_room_host given;       // its config, store, log and clocks among them
    cm_ban_terms ban_reasons; // of clients, those that are known
    void (*keep_used)(void *user, const cm_used_token *token);
    bool (*open_room)(void *user, const char *name);
    bool (*over_budget)(void *user, const char *name);

    carom_token_key ticket_key;
    void (*random)(void *user, void *bytes, size_t size);
    cm_host *host;
    cm_sockets *sockets; // of players by WebSocket; NULL: they are not let in
    cm_clients *clients;
    cm_hosted_room *rooms[CM_WORKER_ROOMS_MAX];
    uint64_t due_us[CM_WORKER_ROOMS_MAX]; // of each, when its next tick is
    uint32_t room_count;
    cm_worker_ending ending[CM_WORKER_ROOMS_MAX];
    uint32_t ending_count;
    char default_room[CAROM_ROOM_NAME_MAX + 1]; // the first that was opened
    bool has_default;
    const cm_room_directory *directory; // rooms of other workers; NULL: none
    uint16_t ports[CM_WORKERS_MAX];     // of all workers
    uint32_t port_count;
    uint32_t first; // room whose turn comes first
    cm_rng chance;  // match ids and seeds

    uint64_t now_us;
    uint64_t wall_unix_ms, wall_us; // the wall clock when it was told last, and when that was
    uint64_t second_us;             // when the present second of numbers began
    uint64_t second_sent;           // bytes sent by the host until then
    uint64_t second_refused[CM_WORKER_TOKEN_REASONS]; // tokens refused by the gate until then
    double kbit_per_client;                           // of the last whole second
    bool draining, parted, drained;                   // parted: everybody was sent away
    uint64_t drain_us;
    uint64_t end_us; // when the server ends; 0: nobody said
    uint64_t cut[CM_WORKER_CUT_MAX];
    uint32_t cut_count; // that were ever added
};

uint64_t cm_worker_unix_ms(const cm_worker *worker);                             // the wall clock
cm_hosted_room *cm_worker_room_named(const cm_worker *worker, const char *name); // NULL: none

// As cm_clients and cm_gate ask them, of a worker.
cm_roster *cm_worker_find_room(void *context, const cm_control *hello, const cm_token *token,
                               carom_reason *reason, uint16_t *port);
carom_reason cm_worker_check_slot(void *context, const cm_token *ticket);
const char *cm_worker_ban_reason(void *context, uint64_t client_id);
uint32_t cm_worker_list_rooms(void *context, cm_control_room *rooms, uint32_t capacity);

// Tells how long is left to those who have not heard it.
void cm_worker_tell_end(cm_worker *worker);

// Rooms that were closed go once all of their messages are out, or time is up.
void cm_worker_part_with_ended(cm_worker *worker);

#endif
