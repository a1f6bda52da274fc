// The inside of a worker, for its three files alone:
//   worker.c   making, the loop, the clock of the room, recording, draining, numbers
//   clients.c  what comes in: connects, hellos, inputs, messages; kicks
//   publish.c  what goes out: welcomes, world changes, views
#ifndef CM_SERVER_HOST_WORKER_STATE_H
#define CM_SERVER_HOST_WORKER_STATE_H

#include "server/host/log.h"
#include "server/host/metrics.h"
#include "server/host/net.h"
#include "server/host/outbox.h"
#include "server/host/replicate.h"
#include "server/host/room.h"
#include "server/host/session.h"
#include "server/host/worker.h"
#include "shared/base/rng.h"

#define CM_NO_PEER UINT32_MAX

// One peer of the host.
typedef struct cm_client {
    cm_session session;
    cm_replica *replica;   // while JOINED
    cm_outbox waiting;     // messages of the module, while JOINING
    uint64_t second_bytes; // view_bytes at the begin of the present second
    double kbit;           // of the last whole second
} cm_client;

struct cm_worker {
    cm_config config;
    const cm_scene *scene;
    cm_store *store;
    cm_match_handle match;
    void (*log)(void *user, int level, const char *json_line);
    uint64_t (*clock_us)(void *user);
    void *user;

    cm_host *host;
    cm_room *room;
    const carom_module *module;
    uint32_t view_rate, budget_kbit, input_rate, tick_rate;
    uint32_t input_size; // bytes of a player's input
    float interest_radius;
    cm_rng rng; // client ids

    // Tick n is due at origin_us + n / tick_rate.
    uint64_t origin_us, now_us;
    uint64_t second_us;     // when the present second of numbers began
    uint64_t second_slowed; // ticks' worth of time that the clock was moved by, in it
    uint32_t rate_permille; // as told to the clients
    uint64_t alarmed_contacts, alarmed_bodies, alarmed_messages; // as the log last said

    uint32_t peer_count;
    cm_client *clients; // by peer
    uint32_t peer_of[CAROM_PLAYERS_MAX];

    // What goes out.
    cm_view_config view_config;
    cm_snapshot snapshot;
    cm_announced *announced; // of each slot, as all clients were told
    carom_body_id *gone;
    uint32_t *spawned;
    uint8_t *packed_scene;
    size_t packed_scene_size;
    uint8_t *keyframe; // grows
    size_t keyframe_capacity;
    cm_view_out out;

    bool draining, drained;
    uint64_t drain_us;
    cm_metrics metrics;
    cm_worker_stats stats;          // counters; the rest is filled in when asked
    cm_room_profile second_profile; // at the begin of the present second
    uint64_t second_sent;           // bytes sent by the host at the begin of the present second
};

// Time at which a tick is due, us.
uint64_t cm_worker_due(const cm_worker *worker, uint64_t tick);
void cm_worker_log(cm_worker *worker, cm_log_level level, cm_line *line);

// clients.c
void cm_clients_receive(cm_worker *worker);
void cm_clients_overdue(cm_worker *worker);
// Says why (Refused before the join, Goodbye after it), frees the player's slot and lets the
// connection end once that has arrived.
void cm_clients_kick(cm_worker *worker, uint32_t peer, carom_reason reason);
bool cm_clients_send(cm_worker *worker, uint32_t peer, const cm_control *control);
uint32_t cm_clients_playing(const cm_worker *worker);

// publish.c
carom_result cm_publish_init(cm_worker *worker, char *error, size_t error_size);
void cm_publish_free(cm_worker *worker);
// After each frame.
void cm_publish(cm_worker *worker);
void cm_publish_messages(cm_worker *worker, const cm_history_slot *slot);
// The encoded game, in worker->keyframe; 0 where memory is short.
size_t cm_publish_encode(cm_worker *worker, const carom_game *game);

#endif
