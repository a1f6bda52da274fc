// A worker: one loop over ENet and its rooms, as one function of the time. It owns the host, the
// sessions and the rooms; the store is given. Tests hold whole workers in one process on a virtual
// net.
#ifndef CM_SERVER_NODE_WORKER_H
#define CM_SERVER_NODE_WORKER_H

#include "carom/token.h"

#include "server/config/config.h"
#include "server/node/room_directory.h"
#include "server/node/hosted_room.h"
#include "server/transport/enet/net.h"
#include "server/transport/websocket/sockets.h"
#include "server/node/worker_stats.h"
#include "server/record/store/store.h"
#include "shared/wire/packet.h"

#define CM_WORKER_ROOMS_MAX 256u

typedef struct cm_worker cm_worker;

typedef struct cm_worker_def {
    const cm_config *config;
    const cm_scene *scene;        // of the first room, which has no name; NULL: there is none yet
    cm_store *store;              // NULL: nothing is recorded
    const carom_module *module;   // of the first room; NULL: the one built in that the scene names
    const carom_token_keys *keys; // that tokens are opened with; NULL where the config is insecure
    // That tickets to come back are sealed with; kept over restarts by the caller. NULL: drawn.
    const carom_token_key *ticket_key;
    uint64_t seed; // of match and client ids, and of the world if the config has none
    // What keys of connections are made of. NULL: the operating system's; a test gives a seeded
    // one.
    void (*random)(void *user, void *bytes, size_t size);
    // Keeps what the gate must know after a restart, beside the bans; NULL: nobody does.
    void (*keep_used)(void *user, const cm_used_token *token);
    // A room that a player named, and that no worker has: opens it by cm_worker_open. False: no.
    // NULL: there are no such rooms.
    bool (*open_room)(void *user, const char *name);
    // A room's ticks take more than their share beside others (config.tick_budget_percent); asked
    // each second. True: it is seen to, by cm_worker_slow where nothing else is done. False, or
    // NULL: it is slowed.
    bool (*over_budget)(void *user, const char *name);
    uint64_t now_us;
    uint64_t started_unix_ms;             // the wall clock now
    uint64_t (*clock_us)(void *user);     // to measure ticks with; NULL: not measured
    uint64_t (*processor_us)(void *user); // what ticks cost; NULL: clock_us tells
    void (*log)(void *user, int level, const char *json_line);
    void *user;
    cm_crash_marker *crash_marker; // where its rooms mark their modules' callbacks; NULL: nowhere
    cm_tick_watch *tick_watch;     // of its rooms' ticks, with a clock; NULL: none
} cm_worker_def;

carom_result cm_worker_create(const cm_worker_def *def, cm_worker **worker, char *error,
                              size_t error_size);
void cm_worker_destroy(cm_worker *worker);

// One more room, recorded as the others.
typedef struct cm_worker_room {
    const char *name; // of visible ASCII characters, at most CAROM_ROOM_NAME_MAX, unlike the others
    const cm_scene *scene;      // kept by the caller until the room is closed
    const carom_module *module; // NULL: the one built in that the scene names
    cm_room_spec spec;          // its numbers; 0: the config's
    // To go on with, its scene and module; for the call. NULL: a new match.
    const cm_live_match *live;
} cm_worker_room;
// On failure `error` says why: CAROM_ERROR_ARGUMENT (the name), CAROM_ERROR_FULL, and those of
// cm_hosted_room_create.
carom_result cm_worker_open(cm_worker *worker, const cm_worker_room *room, char *error,
                            size_t error_size);
// Ends its match and sends everybody away, CAROM_REASON_ROOM_ENDED, once the last messages of its
// module have gone, which wait for the disk for a second at most; nobody finds it meanwhile. False:
// there is none.
bool cm_worker_close(cm_worker *worker, const char *name);
// Slows one to its share, if it is over its budget still and others are beside it.
void cm_worker_slow(cm_worker *worker, const char *name);
// Lets go of one, whose match has no end: another process goes on with it. Its players are dropped
// without a word and come back by their tickets. False: there is none.
bool cm_worker_release(cm_worker *worker, const char *name);
// The name of a room that is over (cm_hosted_room_is_over) and wants to be closed, or NULL.
const char *cm_worker_over(const cm_worker *worker);
// True if a room, or one that was closed and has not said all yet, is made of the scene.
bool cm_worker_uses(const cm_worker *worker, const cm_scene *scene);
// In the order in which they were opened; NULL beyond the last. Until the next close.
cm_hosted_room *cm_worker_room_at(const cm_worker *worker, uint32_t index);

// Services ENet, steps what is due, sends views, records. Returns when it next has something to do
// (us, on the same clock) unless a datagram comes first.
uint64_t cm_worker_run_once(cm_worker *worker, uint64_t now_us);
// The wall clock at the last turn: tokens end by it, and matches that begin are dated by it. From
// then on it goes as the turns' clock does; a machine's may be set, or wake up, in between.
void cm_worker_set_wall_clock(cm_worker *worker, uint64_t unix_ms);

// No new players; confirms the last ticks, ends the records, sends goodbyes after the last messages
// (as cm_worker_close).
void cm_worker_drain(cm_worker *worker, uint64_t now_us);
// Other token keys from now on; connections stay.
void cm_worker_set_keys(cm_worker *worker, const carom_token_keys *keys);

// The one to kick: a client id, or an address by cm_address_network.
// Kick sends away who is there, gives back the slots of who is away, and returns how many; they may
// join again. Ban does so too, and lets nobody of that id or address in until unban. False:
// CM_BANS_MAX are banned.
uint32_t cm_worker_kick(cm_worker *worker, bool by_address, uint64_t who);
// One player of a room, there or away. False: there is no such room, or nobody has that slot.
bool cm_worker_kick_player(cm_worker *worker, const char *room, uint32_t player);
bool cm_worker_ban(cm_worker *worker, bool by_address, uint64_t who);
void cm_worker_unban(cm_worker *worker, bool by_address, uint64_t who);
// Keeps the reason of a ban, for when the client comes again. False: memory is short.
bool cm_worker_keep_ban_reason(cm_worker *worker, uint64_t client_id, const char *reason);
// Restores a token used before a restart; call it before the first turn. False: there is no place.
bool cm_worker_recall_used(cm_worker *worker, const cm_used_token *token);

bool cm_worker_drained(const cm_worker *worker);

// Sends an operator's text to a room's players, or to one (CM_WORKER_EVERYBODY: to all who are
// there). False: there is no such room, or nobody plays with that number.
#define CM_WORKER_EVERYBODY UINT32_MAX
bool cm_worker_notify(cm_worker *worker, const char *room, uint32_t player, const char *text);
// Says why to whoever is to be banned, and is here.
void cm_worker_tell_ban(cm_worker *worker, bool by_address, uint64_t who, const char *reason);
// The server ends at `end_us`: no room opens any more, and everybody in a room, and whoever comes
// into one, is told how long is left.
void cm_worker_wind_down(cm_worker *worker, uint64_t end_us);
// A match that could not go on after a restart: who comes back to it is told so. Up to
// CM_WORKER_CUT_MAX, then the first ones are forgotten.
#define CM_WORKER_CUT_MAX 256u
void cm_worker_match_cut(cm_worker *worker, uint64_t match_id);

void cm_worker_stats_get(const cm_worker *worker, cm_worker_stats *stats);
// The same without those of its rooms: of its host and clients.
void cm_worker_host_stats_get(const cm_worker *worker, cm_worker_stats *stats);
// The same with the numbers and players of one room, whose kbit_per_client are of its players;
// those of the host are of all.
void cm_worker_room_stats_get(const cm_worker *worker, uint32_t index, cm_worker_stats *stats);
// Rooms that other workers have: who wants one is sent there, ELSEWHERE. Kept by the caller, who
// may change them between turns. NULL: there are none.
void cm_worker_set_directory(cm_worker *worker, const cm_room_directory *directory);
// Ports of all workers, this one's among them, that tokens may name beside the address of `listen`.
void cm_worker_set_ports(cm_worker *worker, const uint16_t *ports, uint32_t count);
// One who plays by WebSocket, as cm_sockets_add has it.
void cm_worker_add_socket(cm_worker *worker, int descriptor, const cm_address *from,
                          const char *accept);
int cm_worker_descriptor(const cm_worker *worker);         // for poll
int cm_worker_sockets_descriptor(const cm_worker *worker); // likewise; -1: there is none
uint16_t cm_worker_port(const cm_worker *worker);

#endif
